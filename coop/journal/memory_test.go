package journal_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/fold"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/journal"
	"github.com/comity-dev/comity/internal/clock"
	"github.com/comity-dev/comity/internal/vfs"
)

const checkout = ident.CheckoutID("0123456789abcdef")

func newKey(t testing.TB, name string) *ident.Key {
	t.Helper()
	seed := sha256.Sum256([]byte(name))
	k, err := ident.KeyFromSeed(seed[:])
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func newRepo(t testing.TB) ident.RepositoryID {
	t.Helper()
	id, err := ident.RepositoryDeclared("journal-test")
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func newClock() clock.Clock {
	return clock.NewFake(time.Unix(1_700_000_000, 0), time.Hour, "boot")
}

// inMemory opens a journal without a disk.
func inMemory(t testing.TB, change func(*journal.Config)) *journal.Journal {
	t.Helper()
	cfg := journal.Config{Key: newKey(t, "ada"), Repo: newRepo(t), Machine: "m1"}
	if change != nil {
		change(&cfg)
	}
	j, err := journal.OpenOn(t.Context(), cfg, vfs.OS(), newClock())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close(context.Background()) })
	return j
}

func opened(sid string) event.Body {
	return event.SessionOpened{Info: event.SessionInfo{Session: sid, Client: "test", Checkout: checkout}}
}

func mustAppend(t testing.TB, j *journal.Journal, b event.Body) journal.Appended {
	t.Helper()
	a, err := j.Append(t.Context(), b)
	if err != nil {
		t.Fatalf("Append(%s): %v", b.Kind(), err)
	}
	return a
}

// walk follows pages of limit events to the end.
func walk(t testing.TB, j *journal.Journal, cursor string, limit int) []journal.Arrival {
	t.Helper()
	var all []journal.Arrival
	for {
		p, err := j.Page(cursor, limit)
		if err != nil {
			t.Fatalf("Page(%q): %v", cursor, err)
		}
		if len(p.Arrivals) > limit {
			t.Fatalf("Page(%q, %d) has %d events", cursor, limit, len(p.Arrivals))
		}
		all, cursor = append(all, p.Arrivals...), p.Next
		if !p.More {
			return all
		}
		if len(p.Arrivals) != limit {
			t.Fatalf("Page(%q, %d) has %d events and there is more", cursor, limit, len(p.Arrivals))
		}
	}
}

func keys(all []journal.Arrival) []event.Key {
	var ks []event.Key
	for _, a := range all {
		ks = append(ks, a.Event.Key())
	}
	return ks
}

func TestFirstAppendBeginsTheRun(t *testing.T) {
	j := inMemory(t, nil)
	if s := j.Stream(); s != "" {
		t.Errorf("Stream before the first append = %q, want none", s)
	}
	a := mustAppend(t, j, opened("s1"))
	if a.Event.Seq != 2 || a.Durability != journal.Memory || a.Cause != nil {
		t.Errorf("first append = %+v, want seq 2, in memory", a)
	}
	all := walk(t, j, "", 10)
	if len(all) != 2 {
		t.Fatalf("%d events, want the run's first and one", len(all))
	}
	b, ok := all[0].Event.Body.(event.StreamSucceeded)
	if !ok || b.Run != 1 || len(b.Sessions)+len(b.Streams) != 0 || !ident.IsHex(b.Record, 32) {
		t.Errorf("first event = %+v, want an empty first run", all[0].Event.Body)
	}
	if all[0].Event.Stream != j.Stream() {
		t.Errorf("Stream = %q, first event's %q", j.Stream(), all[0].Event.Stream)
	}
}

func TestDecisionThatFailsChangesNothing(t *testing.T) {
	j := inMemory(t, nil)
	stop := errors.New("no")
	_, err := j.Decide(t.Context(), func(tx *journal.Tx) error {
		if _, err := tx.Append(opened("s1")); err != nil {
			return err
		}
		tx.PutLocal("k", "a", []byte("1"))
		return stop
	})
	if !errors.Is(err, stop) {
		t.Fatalf("Decide = %v, want f's error", err)
	}
	if all := walk(t, j, "", 10); len(all) != 0 || j.Stream() != "" || len(j.Local("k")) != 0 {
		t.Errorf("after a refused decision: %d events, stream %q, rows %v", len(all), j.Stream(), j.Local("k"))
	}
	if a := mustAppend(t, j, opened("s2")); a.Event.Seq != 2 || a.Event.Lamport != 2 {
		t.Errorf("next append has seq %d, stamp %d; want 2, 2", a.Event.Seq, a.Event.Lamport)
	}
}

func TestBodyOutOfBoundsIsRefusedAloneAndNumbersGoOn(t *testing.T) {
	j := inMemory(t, nil)
	var bound *event.BoundError
	all, err := j.Decide(t.Context(), func(tx *journal.Tx) error {
		if _, err := tx.Append(opened("a b")); !errors.As(err, &bound) {
			t.Errorf("Append of a bad session = %v, want a BoundError", err)
		}
		_, err := tx.Append(opened("ok"))
		return err
	})
	if err != nil || len(all) != 1 || all[0].Event.Seq != 2 {
		t.Fatalf("Decide = %v, %v; want the good one alone, seq 2", all, err)
	}
	if _, err := j.Append(t.Context(), opened("a b")); !errors.As(err, &bound) {
		t.Errorf("Append = %v, want a BoundError", err)
	}
	if a := mustAppend(t, j, opened("ok")); a.Event.Seq != 3 {
		t.Errorf("next seq = %d, want 3", a.Event.Seq)
	}
}

// Seq order, log order and the order in which the fold saw the events must be
// the same, whoever shares a sync with whom.
func TestManyWritersShareOneOrder(t *testing.T) {
	var seen []journal.Arrival
	j := inMemory(t, func(cfg *journal.Config) {
		cfg.Observe = func(_ journal.View, a journal.Arrival, _ fold.Changes) { seen = append(seen, a) }
	})
	checkOneOrder(t, j, 20, 25)
	j.View(func(journal.View) {
		all := walkLocked(seen)
		if len(all) != 1+20*25 {
			t.Errorf("Observe saw %d events", len(all))
		}
	})
}

func walkLocked(seen []journal.Arrival) []event.Key {
	for i, a := range seen {
		if a.Event.Seq != uint64(i+1) || i > 0 && a.Index <= seen[i-1].Index {
			panic(fmt.Sprintf("observed %d: seq %d at %d", i, a.Event.Seq, a.Index))
		}
	}
	return keys(seen)
}

func checkOneOrder(t *testing.T, j *journal.Journal, writers, each int) {
	t.Helper()
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for i := range each {
				a, err := j.Append(t.Context(), opened(fmt.Sprintf("s%d.%d", w, i)))
				if err != nil || a.Durability == journal.Failed {
					t.Errorf("append: %+v, %v", a, err)
				}
			}
		})
	}
	group.Wait()
	all := walk(t, j, "", 7)
	if len(all) != 1+writers*each {
		t.Fatalf("%d events, want %d", len(all), 1+writers*each)
	}
	for i, a := range all {
		e := a.Event
		if e.Seq != uint64(i+1) {
			t.Fatalf("event %d has seq %d", i, e.Seq)
		}
		if i == 0 {
			continue
		}
		before := all[i-1]
		if e.Prev != fmt.Sprintf("%x", before.Event.Hash) || e.Lamport <= before.Event.Lamport || a.Index <= before.Index {
			t.Fatalf("event %d does not follow: prev %s, stamp %d after %d", i, e.Prev, e.Lamport, before.Event.Lamport)
		}
	}
}
