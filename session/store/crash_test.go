package store_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/comity-dev/comity/internal/vfs/vfstest"
	"github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/session/store"
	"github.com/comity-dev/comity/storage/filestore"
)

// A played script, by record: what its writer was told.
type played struct {
	done, refused map[string]bool
}

// play writes a session by two owners on a disk that may fail at any moment.
func play(disk *vfstest.Disk) played {
	p := played{make(map[string]bool), make(map[string]bool)}
	ctx := context.Background()
	b, err := filestore.OpenOn(disk, nil, "store", nil)
	if err != nil {
		return p
	}
	defer b.Close()
	s, err := store.New(b, &store.Options{InlineBytes: 500, CheckpointRecords: 4, Attempts: 2})
	if err != nil {
		return p
	}
	long := strings.Repeat("x", 1000)
	for owner := range 2 {
		w, err := s.Open(ctx, session, nil)
		if err != nil {
			continue
		}
		for i, recs := range [][]journal.JournalRecord{
			{note("a", "x")}, {note("b", long)}, {note("c", "x"), note("d", long), ev(10 + owner)}, {note("e", "x")},
		} {
			for j := range recs {
				if r, ok := recs[j].(journal.OpaqueRecord); ok {
					r.ID += fmt.Sprint(owner)
					recs[j] = r
				}
			}
			_, err := w.AppendBatch(ctx, recs...)
			var unknown *journal.AmbiguousAckError
			for _, r := range recs {
				p.done[r.IdempotencyID()] = err == nil
				p.refused[r.IdempotencyID()] = err != nil && !errors.As(err, &unknown)
			}
			if errors.As(err, &unknown) && i == 1 {
				if _, err := w.Resolve(ctx); err == nil {
					p.done[recs[0].IdempotencyID()] = true
				}
			}
		}
		w.Close()
	}
	return p
}

// check opens what a crash has left.
func (p played) check(disk *vfstest.Disk) error {
	ctx := context.Background()
	b, err := filestore.OpenOn(disk, nil, "store", nil)
	if err != nil {
		return fmt.Errorf("open the store: %w", err)
	}
	defer b.Close()
	s, err := store.New(b, &store.Options{InlineBytes: 500, CheckpointRecords: 4})
	if err != nil {
		return err
	}
	r, err := s.Verify(ctx, session)
	if err != nil || len(r.Problems) > 0 {
		return fmt.Errorf("Verify = %+v, %w", r, err)
	}
	there := make(map[string]int)
	c, err := s.Records().Open(ctx, journal.ReplayRequest{SessionID: session})
	if err != nil {
		return err
	}
	for {
		rec, _, err := c.Next(ctx)
		if err != nil {
			break
		}
		if _, fence := rec.(journal.FenceRecord); !fence {
			there[rec.IdempotencyID()]++
		}
	}
	c.Close()
	for name, done := range p.done {
		switch n := there[name]; {
		case done && n != 1:
			return fmt.Errorf("record %s was acknowledged and is there %d times", name, n)
		case p.refused[name] && n > 0:
			return fmt.Errorf("record %s was refused and is there", name)
		case n > 1:
			return fmt.Errorf("record %s is there %d times", name, n)
		}
	}
	for owner := range 2 {
		if there["c"+fmt.Sprint(owner)] != there["d"+fmt.Sprint(owner)] || there["c"+fmt.Sprint(owner)] != there[string(id(10+owner))] {
			return fmt.Errorf("half of a batch is there: %v", there)
		}
	}
	w, err := s.Open(ctx, session, nil)
	if err != nil {
		return fmt.Errorf("open the session: %w", err)
	}
	defer w.Close()
	for name, n := range there {
		if rec := note(name, "something else"); n > 0 && len(name) == 2 {
			var collision *journal.IdempotencyCollisionError
			if _, err := w.Append(ctx, rec); !errors.As(err, &collision) {
				return fmt.Errorf("the id of record %s is not known any more: %w", name, err)
			}
		}
	}
	if res, err := w.AppendIdempotent(ctx, note("new", "x")); err != nil || !res.Appended {
		return fmt.Errorf("append: %+v, %w", res, err)
	}
	return nil
}

// The power fails at any operation of the disk, and any of what was not synced is
// lost: what was acknowledged is there, once, with its content; what was refused is
// not; no batch is there in half; and the session goes on.
func TestPowerLossAtEveryOperation(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	whole := vfstest.New()
	if p := play(whole); len(p.done) != 12 || !p.done["a0"] || !p.done["e1"] {
		t.Fatalf("without a fault: %+v", p)
	}
	step := 1
	if testing.Short() {
		step = 7
	}
	states := 0
	for n := 0; n <= whole.Ops(); n += step {
		disk := vfstest.New()
		disk.PowerOff(n)
		p := play(disk)
		disk.Repair()
		for i, choose := range []func(int) int{
			func(int) int { return 0 }, func(n int) int { return n - 1 }, func(n int) int { return rnd.IntN(n) },
		} {
			states++
			if err := p.check(disk.Crash(choose)); err != nil {
				t.Fatalf("power lost at operation %d, way %d, told %+v: %v", n, i, p, err)
			}
		}
	}
	if states < 100 && !testing.Short() {
		t.Errorf("only %d states", states)
	}
}
