package store_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/session/store"
	"github.com/comity-dev/comity/storage"
)

// A counter is a backend that counts what is read of it.
type counter struct {
	storage.Backend
	follows, others atomic.Int64 // begun
}

func (c *counter) Ledger() storage.Ledger { return countedLedger{c.Backend.Ledger(), c} }

func (c *counter) KV() storage.KV {
	c.others.Add(1)
	return c.Backend.KV()
}

func (c *counter) Blobs() storage.Blobs {
	c.others.Add(1)
	return c.Backend.Blobs()
}

type countedLedger struct {
	storage.Ledger
	c *counter
}

func (l countedLedger) Tip(ctx context.Context, name string) (storage.Tip, error) {
	l.c.others.Add(1)
	return l.Ledger.Tip(ctx, name)
}

func (l countedLedger) Read(ctx context.Context, name string, from uint64) iter.Seq2[storage.Record, error] {
	l.c.others.Add(1)
	return l.Ledger.Read(ctx, name, from)
}

func (l countedLedger) Follow(ctx context.Context, name string, from uint64) iter.Seq2[storage.Record, error] {
	l.c.follows.Add(1)
	return l.Ledger.Follow(ctx, name, from)
}

// wantFollows wants that many followings to have begun, and no other call.
func (c *counter) wantFollows(t *testing.T, want int64) {
	t.Helper()
	if follows, others := c.follows.Load(), c.others.Load(); follows != want || others != 0 {
		t.Errorf("%d followers made %d followings and %d other calls", want, follows, others)
	}
}

func crowdID(seq uint64) string { return fmt.Sprint("record ", seq) }

// spoken are the records from first to last, whose ids and contents tell their
// sequences.
func spoken(first, last uint64) (recs []journal.JournalRecord) {
	for seq := first; seq <= last; seq++ {
		r := note(crowdID(seq), crowdID(seq))
		r.Public = r.Body
		recs = append(recs, r)
	}
	return recs
}

// followAll follows from a record on until it has seen the last one, and returns
// an error unless it has seen each once and in order. Record 1 is the fence.
func followAll(ctx context.Context, s *store.Store, from, last uint64, public bool) error {
	want := max(from, 1)
	if public {
		want = max(want, 2)
		for item, err := range s.FollowPublic(ctx, session, from) {
			if err != nil {
				return err
			}
			if item.Seq != want || item.ID != crowdID(want) || string(item.Body) != crowdID(want) {
				return fmt.Errorf("public record %d is %q, want %d", item.Seq, item.ID, want)
			}
			if want++; want > last {
				return nil
			}
		}
		return errors.New("it ended")
	}
	c, err := s.Records().Open(ctx, journal.ReplayRequest{SessionID: session, From: journal.FromSeq(from), Follow: true})
	if err != nil {
		return err
	}
	defer c.Close()
	for ; want <= last; want++ {
		rec, seq, err := c.Next(ctx)
		if err != nil {
			return err
		}
		if seq != want {
			return fmt.Errorf("record %d, want %d", seq, want)
		}
		if o, ok := rec.(journal.OpaqueRecord); seq > 1 && (!ok || o.ID != crowdID(seq) || string(o.Body) != crowdID(seq)) {
			return fmt.Errorf("record %d is %v", seq, rec)
		}
	}
	return nil
}

// Fifty followers join at random records, behind the end too, while ten thousand
// (on a server, two) are appended: each sees each record from its start on once and in order, and
// asks the store for one following and for nothing else.
func TestCrowdMissesNothing(t *testing.T) {
	const followers = 50
	each(t, func(t *testing.T, b storage.Backend) {
		last, batch := uint64(10_000), uint64(1)
		switch b.Traits().Durable {
		case storage.Synced: // an append waits for the disk
			batch = 20
		case storage.Replicas: // and for a server
			last, batch = 2_000, 20
		}
		if testing.Short() || raceDetector {
			last = 1_000
		}
		counted := &counter{Backend: b}
		s := newStore(t, counted, nil)
		dice := rand.New(rand.NewPCG(1, last))
		var wg sync.WaitGroup
		joined := uint64(0)
		join := func(tip uint64) {
			from, public := dice.Uint64N(min(tip+tip/8+2, last)), joined%2 == 1
			joined++
			wg.Go(func() {
				if err := followAll(t.Context(), s, from, last, public); err != nil {
					t.Errorf("a follower from %d, public %v: %v", from, public, err)
				}
			})
		}
		join(0) // before the journal begins
		w := open(t, newStore(t, b, nil))
		for tip := uint64(1); tip < last; {
			to := min(tip+batch, last)
			if _, err := w.AppendBatch(t.Context(), spoken(tip+1, to)...); err != nil {
				t.Fatal(err)
			}
			for tip = to; joined < followers && joined*(last/followers) <= tip; {
				join(tip)
			}
		}
		wg.Wait()
		if joined != followers {
			t.Fatalf("%d followers joined", joined)
		}
		counted.wantFollows(t, followers)
	})
}

// While nothing is appended, a crowd of followers makes no call, for an hour. One
// record wakes each of them, once.
func TestCrowdRests(t *testing.T) {
	for _, name := range []string{"memstore", "filestore"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := backends[name](t)
				w := open(t, newStore(t, b, nil))
				if _, err := w.AppendBatch(t.Context(), spoken(2, 100)...); err != nil {
					t.Fatal(err)
				}
				counted := &counter{Backend: b}
				s := newStore(t, counted, nil)
				ctx, stop := context.WithCancel(t.Context())
				var wg sync.WaitGroup
				var seen atomic.Int64
				const followers = 50
				for i := range followers {
					wg.Go(func() {
						want := uint64(2 + i)
						for item, err := range s.FollowPublic(ctx, session, want) {
							switch {
							case err != nil && ctx.Err() != nil:
								return
							case err != nil || item.Seq != want:
								t.Errorf("follower %d: record %d, %v, want %d", i, item.Seq, err, want)
								return
							}
							want++
							seen.Add(1)
						}
					})
				}
				backlog := int64(0)
				for i := range followers {
					backlog += int64(99 - i)
				}
				for round := range int64(3) {
					time.Sleep(time.Hour) // of the bubble
					synctest.Wait()
					if got, want := seen.Load(), backlog+round*followers; got != want {
						t.Errorf("%d records were seen, want %d", got, want)
					}
					counted.wantFollows(t, followers)
					mustAppend(t, w, spoken(101+uint64(round), 101+uint64(round))...)
				}
				stop()
				wg.Wait()
				counted.wantFollows(t, followers)
			})
		})
	}
}
