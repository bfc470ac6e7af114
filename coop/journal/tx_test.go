package journal_test

import (
	"errors"
	"testing"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/journal"
)

// A decision that appends twice decides the second time on the first.
func TestDecisionSeesWhatItAppended(t *testing.T) {
	j := inMemory(t, nil)
	_, err := j.Decide(t.Context(), func(tx *journal.Tx) error {
		before := tx.Clock()
		one, err := tx.Append(opened("s1"))
		if err != nil {
			return err
		}
		pending := tx.Pending()
		if len(pending) != 2 || pending[0].Seq != 1 || pending[1] != one {
			t.Errorf("Pending has %d events, want the run's first and this one", len(pending))
		}
		if tx.Clock() != before+2 || one.Lamport != before+2 {
			t.Errorf("Clock = %d, stamp %d; want both %d", tx.Clock(), one.Lamport, before+2)
		}
		if tx.State().Head(one.Stream) != 0 {
			t.Error("the fold has an event that is not written")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// When nothing comes of an append, the run it would have begun has not begun.
func TestRefusedFirstAppendDoesNotBeginTheRun(t *testing.T) {
	j := inMemory(t, nil)
	all, err := j.Decide(t.Context(), func(tx *journal.Tx) error {
		var bound *event.BoundError
		if _, err := tx.Append(opened("a b")); !errors.As(err, &bound) {
			t.Errorf("Append of a bad session = %v, want a BoundError", err)
		}
		return nil
	})
	if err != nil || len(all) != 0 || j.Stream() != "" || j.Health().Events != 0 {
		t.Errorf("Decide = %v, %v; stream %q, %d events", all, err, j.Stream(), j.Health().Events)
	}
}

// A panic of a decision must not keep the lock.
func TestDecisionThatPanicsLeavesTheJournalUsable(t *testing.T) {
	j := inMemory(t, nil)
	func() {
		defer func() { recover() }()
		j.Decide(t.Context(), func(tx *journal.Tx) error {
			tx.Append(opened("s1"))
			panic("no")
		})
	}()
	if a := mustAppend(t, j, opened("s2")); a.Event.Seq != 2 {
		t.Errorf("seq = %d, want 2", a.Event.Seq)
	}
}
