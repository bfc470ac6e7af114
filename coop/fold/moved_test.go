package fold_test

import (
	"testing"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/fold"
)

// An opening that was lost and comes late moves the claims behind it to its
// checkout, and what they beat there is beaten.
func TestOpeningThatComesLateMovesClaims(t *testing.T) {
	w := newWriter(t, 2)
	a, b := w.stream(0, 1), w.stream(1, 1)
	claim := func(sid string) event.ClaimAcquired {
		return event.ClaimAcquired{Session: sid, Scope: set(t, "path:x.go"), Mode: event.ModeCheckout}
	}
	first := w.write(a, open("ann", '1'))
	late := w.write(a, open("ann", '2'))
	low := w.write(a, claim("ann"))
	other := w.write(b, open("bob", '2'))
	high := w.write(b, claim("bob"))

	s := fold.New()
	s.Apply(first)
	s.Skip(a, late.Seq, late.Seq)
	for _, e := range []*event.Event{low, other, high} {
		s.Apply(e)
	}
	mustState(t, s, low, fold.StandingHeld)
	mustState(t, s, high, fold.StandingHeld)
	digest := func(s *fold.State) string { return string(s.Form()) }
	s.Apply(late)
	mustState(t, s, low, fold.StandingHeld)
	mustState(t, s, high, fold.StandingConflicted)
	whole := fold.New()
	for _, e := range w.events {
		whole.Apply(e)
	}
	if got, want := digest(s), digest(whole); got != want {
		t.Errorf("what stands is\n%s\nwant\n%s", got, want)
	}
	s.Undo(b, 1)
	mustState(t, s, high, fold.StandingReleased)
}
