package fold_test

import (
	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

// Whether a claim was written in an open session, when a place is lost. Its stream
// is damaged then and in no digest: only the form of all shows it.
var doubtVectors = histories{
	"doubt_mark": {"a place is lost between a close and a claim, and the claim is live; one whose session was closed behind the lost place is ended", func(w *scribe) {
		a := w.begin(0, "ada", '1')
		w.write(a, open("bob", '1'))
		w.end(a, "ada")
		x := w.write(a, open("ada", '1'))
		w.end(a, "bob")
		w.claim(a, "ada", event.ModeExclusive, "path:a")
		w.claim(a, "bob", event.ModeExclusive, "path:b")
		w.lose(x)
	}},
	"doubt_mark_listed": {"a place is lost between a close and a claim, and the claim is live, though the listing of its session does not count", func(w *scribe) {
		a, b := w.begin(0, "ada", '1'), w.stream(0, 1)
		w.end(a, "ada")
		w.write(b, succeeded(2, []string{"ada"}))
		w.write(b, open("ada", '1'))
		w.end(b, "ada")
		x := w.write(b, open("ada", '1'))
		w.claim(b, "ada", event.ModeExclusive, "path:a")
		w.lose(x)
	}},
	"doubt_start": {"a place is lost between the start and the claim of a session without a mark, and the claim is live; one that is behind the claim does not matter", func(w *scribe) {
		a, b := w.stream(0, 0), w.stream(1, 0)
		w.write(a, run1())
		x := w.write(a, open("ada", '1'))
		w.claim(a, "ada", event.ModeExclusive, "path:a")
		w.write(b, run1())
		w.claim(b, "bob", event.ModeExclusive, "path:b")
		y := w.write(b, open("bob", '1'))
		w.claim(b, "cyd", event.ModeExclusive, "path:c")
		w.lose(x)
		w.lose(y)
	}},
	"doubt_first": {"place 1 is lost, and the claim at place 2 is live, though no opening is held", func(w *scribe) {
		a := w.stream(0, 0)
		x := w.write(a, succeeded(2, []string{"ada"}, w.stream(0, 1)))
		w.claim(a, "ada", event.ModeExclusive, "path:a")
		w.lose(x)
	}},
	"doubt_first_removed": {"place 1 is lost and a checkpoint does not name it: it stays lost, and the claim at place 2 is live", func(w *scribe) {
		a := w.stream(0, 0)
		x := w.write(a, succeeded(2, []string{"ada"}, w.stream(0, 1)))
		w.claim(a, "ada", event.ModeExclusive, "path:a")
		w.write(a, w.without([]ident.Stream{a}, x))
		w.lose(x)
	}},
	"doubt_listed": {"a place is lost before a claim whose session is listed and has no mark, and the listing does not count: the claim is ended", func(w *scribe) {
		a, b := w.begin(0, "ada", '1'), w.stream(0, 1)
		w.end(a, "ada")
		w.write(b, succeeded(2, []string{"ada"}))
		x := w.write(b, open("ada", '1'))
		w.claim(b, "ada", event.ModeExclusive, "path:a")
		w.lose(x)
	}},
	"doubt_removed": {"a checkpoint leaves out the place that is lost before a claim: there is no doubt, and the claim is ended", func(w *scribe) {
		a := w.stream(0, 0)
		w.write(a, run1())
		x := w.write(a, open("ada", '1'))
		w.claim(a, "ada", event.ModeExclusive, "path:a")
		w.write(a, w.without([]ident.Stream{a}, x))
		w.lose(x)
	}},
}
