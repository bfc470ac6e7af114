package storagetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/comity-dev/comity/storage"
)

func testFollow(t *testing.T, h Harness) {
	t.Run("backlog, then live", func(t *testing.T) { testJoin(t, h) })
	t.Run("waits for the ledger to begin", func(t *testing.T) { testFollowAbsent(t, h) })
	t.Run("under load", func(t *testing.T) { testFollowLoad(t, h) })
	t.Run("a slow one delays nobody", func(t *testing.T) { testSlowFollower(t, h) })
	t.Run("ends with its context", func(t *testing.T) { testFollowContext(t, h) })
	t.Run("ends with the ledger", func(t *testing.T) { testFollowDelete(t, h) })
	t.Run("ends with the store", func(t *testing.T) { testFollowClose(t, h) })
	t.Run("is woken", func(t *testing.T) { testFollowIsWoken(t, h) })
}

// A follower is a Follow that runs.
type follower struct {
	next uint64
	recs chan storage.Record
	err  chan error // what it ended with
	stop context.CancelFunc
}

func follow(t testing.TB, l storage.Ledger, name string, from uint64) *follower {
	ctx, stop := context.WithCancel(t.Context())
	f := &follower{max(from, 1), make(chan storage.Record), make(chan error, 1), stop}
	go func() {
		for rec, err := range l.Follow(ctx, name, from) {
			if err != nil {
				f.err <- err
				return
			}
			select {
			case f.recs <- rec:
			case <-ctx.Done():
			}
		}
		f.err <- errors.New("no error from Follow at its end")
	}()
	return f
}

// want takes the next record.
func (f *follower) want(t testing.TB, data string) {
	t.Helper()
	select {
	case rec := <-f.recs:
		if rec.Seq != f.next || string(rec.Data) != data {
			t.Fatalf("followed to record %d, %q, want %d, %q", rec.Seq, rec.Data, f.next, data)
		}
		f.next++
	case err := <-f.err:
		t.Fatalf("Follow ended with %v, want record %d, %q", err, f.next, data)
	}
}

// ends takes the error, behind which there are no records.
func (f *follower) ends(t testing.TB) error {
	t.Helper()
	select {
	case rec := <-f.recs:
		t.Fatalf("followed to record %d, %q, want the end", rec.Seq, rec.Data)
		return nil
	case err := <-f.err:
		return err
	}
}

func testJoin(t *testing.T, h Harness) {
	views := h.views(t, 2)
	l := views[0].Ledger()
	for i := range 10 {
		mustAppend(t, l, "a", fmt.Sprint(i+1))
	}
	var fs []*follower
	for from := range uint64(14) {
		fs = append(fs, follow(t, views[from%2].Ledger(), "a", from))
	}
	for i := 10; i < 20; i += 2 {
		mustAppend(t, l, "a", fmt.Sprint(i+1), fmt.Sprint(i+2))
		mustAppend(t, l, "other", "not to be seen")
	}
	for _, f := range fs {
		for f.next <= 20 {
			f.want(t, fmt.Sprint(f.next))
		}
		f.stop()
		if err := f.ends(t); !errors.Is(err, context.Canceled) {
			t.Errorf("Follow ended with %v, want context.Canceled", err)
		}
	}
}

func testFollowAbsent(t *testing.T, h Harness) {
	views := h.views(t, 2)
	f := follow(t, views[1].Ledger(), "a", 1)
	beyond := follow(t, views[1].Ledger(), "a", 3)
	mustAppend(t, views[0].Ledger(), "a", "one")
	f.want(t, "one")
	mustAppend(t, views[0].Ledger(), "a", "two", "three")
	f.want(t, "two")
	f.want(t, "three")
	beyond.want(t, "three")
	f.stop()
	beyond.stop()
	f.ends(t)
	beyond.ends(t)
}

func testFollowLoad(t *testing.T, h Harness) {
	followers, records := 50, uint64(10_000)
	if testing.Short() {
		records = 1000
	}
	views := h.views(t, 3)
	rnd := rand.New(rand.NewPCG(1, 2))
	joins := make([]uint64, followers) // at which tip each one joins
	for i := range joins {
		joins[i] = rnd.Uint64N(records)
	}
	slices.Sort(joins)
	var wg sync.WaitGroup
	var tip storage.Tip
	for tip.Seq < records {
		for len(joins) > 0 && joins[0] <= tip.Seq {
			l, from := views[len(joins)%len(views)].Ledger(), 1+rnd.Uint64N(records)
			wg.Go(func() { followThrough(t, l, from, records) })
			joins = joins[1:]
		}
		batch := make([][]byte, min(1+rnd.Uint64N(20), records-tip.Seq))
		for i := range batch {
			batch[i] = fmt.Append(nil, "record ", tip.Seq+uint64(i)+1)
		}
		next, err := views[0].Ledger().Append(t.Context(), "a", tip, batch...)
		if err != nil {
			t.Fatalf("Append at %v: %v", tip, err)
		}
		tip = next
	}
	for range joins {
		wg.Go(func() { followThrough(t, views[0].Ledger(), records, records) })
	}
	wg.Wait()
}

// followThrough wants each record from one to the last, once and in order.
func followThrough(t testing.TB, l storage.Ledger, from, last uint64) {
	next := from
	for rec, err := range l.Follow(t.Context(), "a", from) {
		if err != nil {
			t.Errorf("a follower from %d ended at %d: %v", from, next, err)
			return
		}
		if rec.Seq != next || string(rec.Data) != fmt.Sprint("record ", next) {
			t.Errorf("a follower from %d got record %d, %q, want %d", from, rec.Seq, rec.Data, next)
			return
		}
		if next++; next > last {
			return
		}
	}
}

func testSlowFollower(t *testing.T, h Harness) {
	l := h.open(t).Ledger()
	mustAppend(t, l, "a", "1")
	slow := follow(t, l, "a", 1) // takes one and holds it
	quick := follow(t, l, "a", 1)
	quick.want(t, "1")
	for i := 2; i <= 400; i++ {
		mustAppend(t, l, "a", fmt.Sprint(i))
		quick.want(t, fmt.Sprint(i))
	}
	for i := 1; i <= 400; i++ {
		slow.want(t, fmt.Sprint(i))
	}
	slow.stop()
	quick.stop()
	slow.ends(t)
	quick.ends(t)
}

func testFollowContext(t *testing.T, h Harness) {
	l := h.open(t).Ledger()
	mustAppend(t, l, "a", "one")
	cause := errors.New("enough")
	ctx, stop := context.WithCancelCause(t.Context())
	defer stop(nil)
	n := 0
	var end error
	for _, err := range l.Follow(ctx, "a", 1) {
		if err != nil {
			end = err
			break
		}
		n++
		stop(cause)
	}
	if n != 1 || !errors.Is(end, cause) {
		t.Errorf("Follow gave %d records and ended with %v, want 1 and the cause of the context", n, end)
	}
	for range l.Follow(t.Context(), "a", 1) { // stopping by itself is fine
		break
	}
	mustAppend(t, l, "a", "two")
}

func testFollowDelete(t *testing.T, h Harness) {
	views := h.views(t, 2)
	l := views[0].Ledger()
	mustAppend(t, l, "a", "one")
	f := follow(t, views[1].Ledger(), "a", 1)
	f.want(t, "one")
	if err := l.Delete(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, l, "a", "uno", "due")
	err := f.ends(t)
	var deleted *storage.DeletedError
	if !errors.As(err, &deleted) || deleted.Name != "a" || deleted.Seq != 2 {
		t.Errorf("Follow of a deleted ledger ended with %#v, want a *DeletedError at 2", err)
	}
}

func testFollowClose(t *testing.T, h Harness) {
	b := h.open(t)
	mustAppend(t, b.Ledger(), "a", "one")
	f := follow(t, b.Ledger(), "a", 1)
	absent := follow(t, b.Ledger(), "none", 1)
	f.want(t, "one")
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	for _, f := range []*follower{f, absent} {
		if err := f.ends(t); !errors.Is(err, storage.ErrClosed) {
			t.Errorf("Follow of a closed store ended with %v, want ErrClosed", err)
		}
	}
}

// testFollowIsWoken runs on virtual time: whoever polls comes late by a part of
// its interval.
func testFollowIsWoken(t *testing.T, h Harness) {
	if !h.Bubble {
		t.Skip("the backend cannot run on virtual time")
	}
	synctest.Test(t, func(t *testing.T) {
		b := h.Open(t)
		defer b.Close()
		f := follow(t, b.Ledger(), "a", 1)
		for i := range 20 {
			time.Sleep(time.Duration(i*i)*7919*time.Microsecond + time.Duration(i)*time.Hour)
			at := time.Now()
			mustAppend(t, b.Ledger(), "a", fmt.Sprint(i))
			f.want(t, fmt.Sprint(i))
			if late := time.Since(at); late != 0 {
				t.Fatalf("a follower got record %d %v after its append", i+1, late)
			}
		}
		f.stop()
		f.ends(t)
	})
}
