package storagetest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/comity-dev/comity/storage"
)

func testWriters(t *testing.T, h Harness) {
	t.Run("exactly one wins each tip", func(t *testing.T) { testOneWinner(t, h) })
	t.Run("a race to begin", func(t *testing.T) { testRaceToBegin(t, h) })
	t.Run("batches are not mixed", func(t *testing.T) { testMixedBatches(t, h) })
	t.Run("each its own ledger", func(t *testing.T) { testOwnLedgers(t, h) })
	t.Run("rows", func(t *testing.T) { testRowWriters(t, h) })
	t.Run("leases", func(t *testing.T) { testRaceForLease(t, h) })
}

// append1 appends one record and resolves an ambiguous outcome by reading the
// place, which the record must tell from all others.
func append1(t testing.TB, l storage.Ledger, name string, expected storage.Tip, rec string) (storage.Tip, error) {
	for {
		tip, err := l.Append(t.Context(), name, expected, []byte(rec))
		var unknown *storage.AmbiguousError
		var conflict *storage.ConflictError
		if !errors.As(err, &unknown) && !errors.As(err, &conflict) {
			return tip, err
		}
		for got, rerr := range l.Read(t.Context(), name, expected.Seq+1) {
			if rerr != nil {
				return storage.Tip{}, rerr
			}
			if string(got.Data) == rec {
				tip, rerr := l.Tip(t.Context(), name)
				return storage.Tip{Gen: tip.Gen, Seq: expected.Seq + 1}, rerr
			}
			return storage.Tip{}, &storage.ConflictError{Name: name, Expected: expected}
		}
		if conflict != nil {
			return storage.Tip{}, err
		}
	}
}

func testOneWinner(t *testing.T, h Harness) {
	const writers, goal = 8, 120
	views := h.views(t, writers)
	var mu sync.Mutex
	won := map[uint64][]string{}
	var wg sync.WaitGroup
	for w, b := range views {
		wg.Go(func() {
			for n := 0; ; n++ {
				tip, err := b.Ledger().Tip(t.Context(), "a")
				if err != nil || tip.Seq >= goal {
					if err != nil {
						t.Errorf("Tip: %v", err)
					}
					return
				}
				rec := fmt.Sprint(w, " ", n)
				next, err := append1(t, b.Ledger(), "a", tip, rec)
				var conflict *storage.ConflictError
				switch {
				case err == nil:
					mu.Lock()
					won[next.Seq] = append(won[next.Seq], rec)
					mu.Unlock()
				case !errors.As(err, &conflict):
					t.Errorf("Append: %v", err)
					return
				}
			}
		})
	}
	wg.Wait()
	got := readAll(t, views[0].Ledger(), "a", 1)
	if len(got) < goal || len(won) != len(got) {
		t.Errorf("%d records for %d tips that were won, want at least %d of both", len(got), len(won), goal)
	}
	for i, rec := range got {
		if list := won[uint64(i+1)]; len(list) != 1 || list[0] != rec {
			t.Errorf("record %d is %q, and %q say that they won its place", i+1, rec, list)
		}
	}
}

func testRaceToBegin(t *testing.T, h Harness) {
	views := h.views(t, 8)
	for round := range 10 {
		name := fmt.Sprint("l", round)
		var winners [8]bool
		var wg sync.WaitGroup
		for w, b := range views {
			wg.Go(func() {
				_, err := append1(t, b.Ledger(), name, storage.Tip{}, fmt.Sprint(w))
				winners[w] = err == nil
			})
		}
		wg.Wait()
		got := readAll(t, views[0].Ledger(), name, 1)
		n := slices.Index(winners[:], true)
		if len(got) != 1 || n < 0 || got[0] != fmt.Sprint(n) || slices.Contains(winners[n+1:], true) {
			t.Errorf("the ledger holds %q, winners are %v", got, winners)
		}
	}
}

func testMixedBatches(t *testing.T, h Harness) {
	const writers, size = 4, 5
	views := h.views(t, writers)
	var wg sync.WaitGroup
	for w, b := range views {
		wg.Go(func() {
			batch := slices.Repeat([][]byte{fmt.Append(nil, w)}, size)
			for n := 0; n < 10; {
				tip, err := b.Ledger().Tip(t.Context(), "a")
				if err != nil {
					t.Error(err)
					return
				}
				if _, err = b.Ledger().Append(t.Context(), "a", tip, batch...); err == nil {
					n++
				}
				var conflict *storage.ConflictError
				var unknown *storage.AmbiguousError
				if err != nil && !errors.As(err, &conflict) && !errors.As(err, &unknown) {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	got := readAll(t, views[0].Ledger(), "a", 1)
	if len(got) < writers*10*size || len(got)%size != 0 {
		t.Errorf("%d records, want whole batches of %d, at least %d", len(got), size, writers*10)
	}
	for i, rec := range got {
		if rec != got[i-i%size] {
			t.Fatalf("record %d, of writer %s, lies in a batch of writer %s", i+1, rec, got[i-i%size])
		}
	}
}

func testOwnLedgers(t *testing.T, h Harness) {
	const writers, records = 16, 50
	views := h.views(t, 2)
	var wg sync.WaitGroup
	for w := range writers {
		l := views[w%2].Ledger()
		wg.Go(func() {
			var tip storage.Tip
			var err error
			for i := range records {
				if tip, err = append1(t, l, fmt.Sprint("w", w), tip, fmt.Sprint(i)); err != nil {
					t.Errorf("nobody else writes to ledger w%d, but: %v", w, err)
					return
				}
			}
		})
	}
	wg.Wait()
	for w := range writers {
		if got := readAll(t, views[1].Ledger(), fmt.Sprint("w", w), 1); len(got) != records || got[records-1] != fmt.Sprint(records-1) {
			t.Errorf("ledger w%d has %d records, want %d", w, len(got), records)
		}
	}
}

// testRowWriters has writers count in one row: no count may be lost.
func testRowWriters(t *testing.T, h Harness) {
	const writers, goal = 6, 60
	views := h.views(t, writers)
	var wins [writers]int
	var wg sync.WaitGroup
	for w, b := range views {
		wg.Go(func() {
			for {
				value, rev, err := b.KV().Get(t.Context(), "row")
				var none *storage.NotFoundError
				if err != nil && !errors.As(err, &none) {
					t.Error(err)
					return
				}
				if len(value) >= goal {
					return
				}
				_, err = b.KV().Put(t.Context(), "row", rev, append(value, byte('a'+w)))
				var lost *storage.RevisionError
				if err == nil {
					wins[w]++
				} else if !errors.As(err, &lost) {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	value, _, err := views[0].KV().Get(t.Context(), "row")
	if err != nil {
		t.Fatal(err)
	}
	for w, n := range wins {
		got := 0
		for _, c := range value {
			if c == byte('a'+w) {
				got++
			}
		}
		if got != n {
			t.Errorf("writer %d wrote %d times with success, and %d of them are in the row", w, n, got)
		}
	}
}

func testRaceForLease(t *testing.T, h Harness) {
	views := h.views(t, 8)
	var before uint64
	for range 10 {
		var granted [8]storage.Lease
		var wg sync.WaitGroup
		for w, b := range views {
			wg.Go(func() {
				l, err := b.Leaser().Acquire(t.Context(), "a")
				var held *storage.HeldError
				if err == nil {
					granted[w] = l
				} else if !errors.As(err, &held) {
					t.Errorf("Acquire: %v", err)
				}
			})
		}
		wg.Wait()
		var holder storage.Lease
		for _, l := range granted {
			if l != nil && holder != nil {
				t.Fatalf("epochs %d and %d hold one name", holder.Epoch(), l.Epoch())
			}
			if l != nil {
				holder = l
			}
		}
		if holder == nil {
			t.Fatal("nobody was granted a free name")
		}
		if holder.Epoch() <= before {
			t.Fatalf("epoch %d came after %d", holder.Epoch(), before)
		}
		before = holder.Epoch()
		mustRelease(t, holder)
	}
}
