package fold_test

import (
	"slices"
	"testing"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/fold"
	"github.com/comity-dev/comity/coop/ident"
)

func TestCloseInAnEarlierRunEndsWhatRestsOnAListingThatDoesNotNameIt(t *testing.T) {
	w := newWriter(t, 1)
	a, b := w.stream(0, 0), w.stream(0, 1)
	w.write(a, run1())
	w.write(a, open("ada", '1'))
	w.write(b, succeeded(2, []string{"ada"}))
	c := w.write(b, claim(w, "ada", event.ModeExclusive, "path:a"))
	w.orders(t, func(t *testing.T, s *fold.State) { mustState(t, s, c, fold.StandingHeld) })
	w.write(a, event.SessionClosed{Session: "ada", Reason: "done"})
	w.orders(t, func(t *testing.T, s *fold.State) { mustState(t, s, c, fold.StandingReleased) })
}

// Of two runs with one number, which a copied record gives, either may rest on
// what a run below them ended.
func TestRunBetweenEndsWhatRestsOnListingsOfEachOfTwoLaterRuns(t *testing.T) {
	for _, lister := range []int{2, 3} {
		w := newWriter(t, 1)
		first, between := w.stream(0, 0), w.stream(0, 1)
		w.write(first, run1())
		w.write(first, open("ada", '1'))
		w.write(between, succeeded(2, nil))
		var c *event.Event
		for _, instance := range []int{2, 3} {
			st, sids := w.stream(0, instance), []string{"bob"}
			if instance == lister {
				sids = []string{"ada"}
			}
			w.write(st, succeeded(3, sids))
			if instance == lister {
				c = w.write(st, claim(w, "ada", event.ModeExclusive, "path:a"))
			}
		}
		w.orders(t, func(t *testing.T, s *fold.State) { mustState(t, s, c, fold.StandingReleased) })
	}
}

// A session that is closed tells since when it was open, and a run that turns out
// to have ended it in between changes that.
func TestRunBetweenChangesSinceWhenAClosedSessionWasOpen(t *testing.T) {
	w := newWriter(t, 1)
	a, b, c := w.stream(0, 0), w.stream(0, 1), w.stream(0, 2)
	id := w.session(0, "ada")
	w.write(a, run1())
	old := w.write(a, open("ada", '1'))
	between := w.write(b, succeeded(2, nil, a))
	w.write(c, succeeded(3, []string{"ada"}, a))
	again := w.write(c, open("ada", '1'))
	w.write(c, event.SessionClosed{Session: "ada", Reason: "done"})
	s := fold.New()
	for _, e := range w.events {
		if e != between {
			s.Apply(e)
		}
	}
	if x, _ := s.Session(id); x.Opened != old.Key() {
		t.Errorf("Opened = %v, want that of the first run, %v", x.Opened, old.Key())
	}
	if changed := s.Apply(between).Sessions; !slices.Contains(changed, id) {
		t.Errorf("Changes.Sessions = %v, want %v among them", changed, id)
	}
	if x, _ := s.Session(id); x.Opened != again.Key() {
		t.Errorf("Opened = %v, want that of the last run, %v", x.Opened, again.Key())
	}
}

// Streams that no record orders are ordered by their stamps. When it turns out
// that one is the earlier run, what it closed stands again.
func TestFirstEventThatComesLateRevivesWhatOnlyStampsEnded(t *testing.T) {
	w := newWriter(t, 1)
	a, b := w.stream(0, 0), w.stream(0, 1)
	first := w.write(a, run1())
	w.write(b, succeeded(2, nil, a))
	w.write(b, open("ada", '1'))
	c := w.write(b, claim(w, "ada", event.ModeExclusive, "path:a"))
	w.write(a, event.SessionClosed{Session: "ada", Reason: "done"}) // with the highest stamp
	s := fold.New()
	for _, e := range w.events {
		if e != first {
			s.Apply(e)
		}
	}
	mustState(t, s, c, fold.StandingReleased)
	s.Apply(first)
	mustState(t, s, c, fold.StandingHeld)
}

// A claim of a session that was carried fences in each checkout in which an
// earlier run may have been, also when the opening that tells it is undone and
// comes again.
func TestUndoneOpeningThatComesAgainFencesAgain(t *testing.T) {
	for _, back := range []bool{false, true} { // whether a later run goes back to that checkout
		undoneOpening(t, back)
	}
}

func undoneOpening(t *testing.T, back bool) {
	w := newWriter(t, 2)
	other, a, b, c, d := w.stream(1, 0), w.stream(0, 0), w.stream(0, 1), w.stream(0, 2), w.stream(0, 3)
	w.write(other, open("bob", '1'))
	beaten := w.write(other, claim(w, "bob", event.ModeCheckout, "path:a"))
	w.write(a, run1())
	opening := w.write(a, open("ada", '1'))
	w.write(b, succeeded(2, []string{"ada"}, a))
	w.write(b, open("ada", '2'))
	w.write(c, succeeded(3, []string{"ada"}, a, b))
	fence := claim(w, "ada", event.ModeCheckout, "path:a")
	fence.Fences = []event.Key{beaten.Key()}
	w.write(c, fence)
	if back {
		w.write(d, succeeded(4, []string{"ada"}, a, b, c))
		w.write(d, open("ada", '1'))
	}
	s := fold.New()
	for _, e := range w.events {
		s.Apply(e)
	}
	fenced := func(want int) {
		t.Helper()
		if v, _ := s.Claim(beaten.Key()); len(v.FencedBy) != want {
			t.Errorf("FencedBy = %v, want %d", v.FencedBy, want)
		}
		if got := s.Standing(beaten.Key(), nil).State == fold.StandingHeld; got != (want == 0) {
			t.Errorf("held = %v, fenced by %d", got, want)
		}
	}
	fenced(1)
	s.Undo(a, opening.Seq)
	fenced(0)
	s.Apply(opening)
	fenced(1)

	// Also when another fence counts all the time and nobody asks in between.
	w.write(other, open("cid", '1'))
	more := claim(w, "cid", event.ModeCheckout, "path:a")
	more.Fences = fence.Fences
	w.write(other, more)
	s = fold.New()
	for _, st := range []ident.Stream{other, a, b, c, d} {
		for _, e := range w.events {
			if e.Stream == st {
				s.Apply(e)
			}
		}
	}
	s.Undo(a, opening.Seq)
	if changed := s.Apply(opening).Claims; !slices.Contains(changed, beaten.Key()) {
		t.Errorf("Changes.Claims = %v, want %v among them, which it fences", changed, beaten.Key())
	}
	fenced(2)
}

// A listing by the fourth run, after a close, counts while an opening could come
// in a run that it names: one that is not known, or one known after the close.
func TestUndoneRunIsOneThatIsNotKnown(t *testing.T) {
	for _, tt := range []struct {
		name  string
		named []int
		known fold.StandingState // once the third turns out to be no run of the record
	}{
		{"alone", []int{2}, fold.StandingReleased},
		{"beside another", []int{1, 2}, fold.StandingHeld},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWriter(t, 1)
			a, b, c, d := w.stream(0, 0), w.stream(0, 1), w.stream(0, 2), w.stream(0, 3)
			var named []ident.Stream
			for _, i := range tt.named {
				named = append(named, w.stream(0, i))
			}
			w.write(a, run1())
			w.write(a, open("ada", '1'))
			w.write(a, event.SessionClosed{Session: "ada", Reason: "done"})
			w.write(b, succeeded(2, []string{"ada"}))
			third := w.write(c, succeeded(3, []string{"ada"}))
			fourth := w.write(d, succeeded(4, []string{"ada"}, named...))
			held := w.write(d, claim(w, "ada", event.ModeExclusive, "path:a"))
			none := newWriter(t, 1).write(c, open("bob", '1'))

			s := fold.New()
			for _, e := range w.events {
				s.Apply(e)
			}
			mustState(t, s, held, fold.StandingHeld)
			s.Undo(c, 1)
			mustState(t, s, held, fold.StandingHeld)
			s.Apply(none)
			mustState(t, s, held, tt.known)
			s.Undo(c, 1)
			s.Undo(d, 1) // nobody names it any more
			s.Apply(third)
			s.Apply(fourth)
			s.Apply(held)
			mustState(t, s, held, fold.StandingHeld)
		})
	}
}

// Also when all that followed the lost first event was undone meanwhile.
func TestFirstEventThatComesLateAfterAnUndoDecidesWhatIsOpen(t *testing.T) {
	w := newWriter(t, 1)
	a, b := w.stream(0, 0), w.stream(0, 1)
	w.write(a, run1())
	w.write(a, open("ada", '1'))
	w.write(a, event.SessionClosed{Session: "ada", Reason: "done"})
	first := w.write(b, succeeded(2, []string{"ada"}))
	c := w.write(b, claim(w, "ada", event.ModeExclusive, "path:a"))
	s := fold.New()
	for _, e := range w.events[:3] {
		s.Apply(e)
	}
	s.Skip(b, 1, 1)
	s.Apply(c)
	s.Undo(b, 2)
	s.Apply(first)
	mustSession(t, s, w.session(0, "ada"), fold.SessionClosed)
}

// When it becomes known in which checkout a carried session is, those that its
// claims meet exclude them or not any more, and are named.
func TestOpeningThatComesLateChangesWhatItsClaimsOverlap(t *testing.T) {
	w := newWriter(t, 2)
	other, a, b := w.stream(1, 0), w.stream(0, 0), w.stream(0, 1)
	w.write(other, open("bob", '1'))
	lower := w.write(other, claim(w, "bob", event.ModeCheckout, "path:a"))
	w.write(a, run1())
	opening := w.write(a, open("ada", '1'))
	w.write(b, succeeded(2, []string{"ada"}, a))
	c := w.write(b, claim(w, "ada", event.ModeCheckout, "path:a"))
	s := fold.New()
	for _, e := range w.events {
		if e != opening {
			s.Apply(e)
		}
	}
	if got := s.Standing(lower.Key(), nil).Overlaps; !slices.Equal(got, []event.Key{c.Key()}) {
		t.Errorf("Overlaps = %v, want that of an unknown checkout, %v", got, c.Key())
	}
	if changed := s.Apply(opening).Claims; !slices.Contains(changed, lower.Key()) {
		t.Errorf("Changes.Claims = %v, want %v among them", changed, lower.Key())
	}
	if got := s.Standing(lower.Key(), nil).Overlaps; got != nil {
		t.Errorf("Overlaps = %v, want none in the same checkout", got)
	}
	mustState(t, s, c, fold.StandingConflicted)
}
