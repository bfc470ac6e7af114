package store_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/session/store"
	"github.com/comity-dev/comity/storage"
	"github.com/comity-dev/comity/storage/memstore"
	"github.com/comity-dev/comity/storage/storagetest"
)

// Any number of owners, of which the earlier ones do not hear that they are none
// any more, on a store that loses writes, keeps them silently, or does them later:
// what was acknowledged is in the place that was told, once; what was refused is
// nowhere, ever; what was resolved is what it was resolved to.
func TestManyOwnersOnAnUnreliableStore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ctx := context.Background()
		b := memstore.New()
		defer b.Close()
		var fate atomic.Int32 // of the next append or blob
		f := storagetest.NewFaults(b, func(_ int, op, _ string) storagetest.Fate {
			if op == "append" || op == "put blob" {
				return storagetest.Fate(fate.Swap(int32(storagetest.Pass)))
			}
			return storagetest.Pass
		})
		s, err := store.New(f, &store.Options{InlineBytes: 50, CheckpointRecords: 3, Attempts: rapid.IntRange(1, 3).Draw(t, "attempts")})
		if err != nil {
			t.Fatal(err)
		}
		var owners []*store.Writer
		defer func() {
			for _, w := range owners {
				w.Close()
			}
		}()
		acked := make(map[string]uint64)
		refused := make(map[string]bool)
		doubt := make(map[*store.Writer]string)
		drawFate := func(t *rapid.T) { fate.Store(int32(rapid.IntRange(0, 3).Draw(t, "fate"))) }
		n := 0
		settled := func(w *store.Writer, id string, res []journal.CommittedAppendResult, err error) {
			var unknown *journal.AmbiguousAckError
			switch {
			case errors.As(err, &unknown):
				doubt[w] = id
			case err != nil:
				refused[id] = true
				delete(doubt, w)
			case len(res) > 0:
				acked[id], acked[id+"'"] = res[0].Sequence, res[1].Sequence
				delete(doubt, w)
			}
		}
		pick := func(t *rapid.T) *store.Writer {
			if len(owners) == 0 {
				t.Skip("no owner")
			}
			return owners[rapid.IntRange(max(0, len(owners)-3), len(owners)-1).Draw(t, "owner")]
		}
		t.Repeat(map[string]func(*rapid.T){
			"open": func(t *rapid.T) {
				drawFate(t)
				defer fate.Store(0)
				epoch, _ := f.Leaser().Holder(ctx, ledger)
				lease, err := s.Takeover(ctx, session, storage.Proof{Epoch: max(epoch, 1), Reason: "test"})
				if err != nil {
					t.Fatal(err)
				}
				w, err := s.OpenUnder(ctx, deafLease{lease}, nil)
				if err == nil {
					owners = append(owners, w)
				}
			},
			"append": func(t *rapid.T) {
				w := pick(t)
				n++
				id := fmt.Sprint(n)
				before, pending := doubt[w]
				drawFate(t)
				res, err := w.AppendBatch(ctx, note(id, string(make([]byte, rapid.IntRange(0, 100).Draw(t, "size")))), note(id+"'", "x"))
				fate.Store(0)
				var unknown *journal.AmbiguousAckError
				if pending { // it was settled first, or is still in doubt
					if errors.As(err, &unknown) && unknown.MsgID == before {
						refused[id] = true // it was not tried
						return
					}
					delete(doubt, w)
				}
				settled(w, id, res, err)
			},
			"resolve": func(t *rapid.T) {
				w := pick(t)
				id, pending := doubt[w]
				drawFate(t)
				res, err := w.Resolve(ctx)
				fate.Store(0)
				if !pending {
					if res != nil || err != nil {
						t.Fatalf("Resolve of nothing = %v, %v", res, err)
					}
					return
				}
				settled(w, id, res, err)
			},
			"land":       func(t *rapid.T) { f.Land() },
			"checkpoint": func(t *rapid.T) { pick(t).Checkpoint(ctx) },
			"": func(t *rapid.T) {
				there := make(map[string]uint64)
				for rec, err := range b.Ledger().Read(ctx, ledger, 0) {
					if err != nil {
						t.Fatal(err)
					}
					frame, err := journal.ParseFrame(rec.Data)
					if err != nil {
						t.Fatal(err)
					}
					if frame.Family == journal.FamilyFence {
						continue
					}
					if was, ok := there[frame.ID]; ok {
						t.Fatalf("record %s is there twice, at %d and %d", frame.ID, was, rec.Seq)
					}
					there[frame.ID] = rec.Seq
				}
				for id, seq := range acked {
					if there[id] != seq {
						t.Fatalf("record %s was acknowledged at %d and is at %d", id, seq, there[id])
					}
				}
				for id := range refused {
					if there[id] != 0 || there[id+"'"] != 0 {
						t.Fatalf("record %s was refused and is at %d", id, there[id])
					}
				}
			},
		})
		f.Land()
		if r, err := s.Verify(ctx, session); err != nil || len(r.Problems) > 0 {
			t.Fatalf("Verify = %+v, %v", r, err)
		}
	})
}
