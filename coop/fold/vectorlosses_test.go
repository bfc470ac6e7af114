package fold_test

import (
	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

var lossVectors = histories{
	"lost": {"a stream with a lost place is left out: what its claim excluded is held", func(w *scribe) {
		a, b := w.begin(0, "ada", '1'), w.begin(1, "bob", '2')
		x := w.claim(a, "ada", event.ModeExclusive, "path:a")
		w.claim(a, "ada", event.ModeExclusive, "path:b")
		w.claim(b, "bob", event.ModeExclusive, "path:b")
		w.lose(x)
	}},
	"lost_first": {"a run whose first event is lost is left out: nothing says that it succeeded the one before", func(w *scribe) {
		a, b := w.begin(0, "ada", '1'), w.stream(0, 1)
		w.claim(a, "ada", event.ModeExclusive, "path:a")
		e := w.write(b, succeeded(2, nil, a))
		w.write(b, open("bob", '1'))
		w.lose(e)
	}},
	"lost_last": {"a lost place at the end of a stream is one too", func(w *scribe) {
		a, b := w.begin(0, "ada", '1'), w.begin(1, "bob", '2')
		w.claim(b, "bob", event.ModeExclusive, "path:b")
		w.lose(w.claim(a, "ada", event.ModeExclusive, "path:a"))
	}},
	"lost_removed": {"a lost place that a checkpoint leaves out is no damage", func(w *scribe) {
		a := w.begin(0, "ada", '1')
		x := w.claim(a, "ada", event.ModeExclusive, "path:a")
		w.claim(a, "ada", event.ModeExclusive, "path:b")
		w.write(a, w.without([]ident.Stream{a}, x))
		w.lose(x)
	}},
	"lost_first_removed": {"no checkpoint leaves out the first event of a stream whose first event is lost: it may say whose the stream is", func(w *scribe) {
		a, b := w.stream(0, 0), w.begin(1, "bob", '2')
		e := w.write(a, run1())
		w.write(a, open("ada", '1'))
		w.claim(a, "ada", event.ModeExclusive, "path:a")
		w.write(a, w.without([]ident.Stream{a}, e))
		w.claim(b, "bob", event.ModeExclusive, "path:a")
		w.lose(e)
	}},
	"lost_checkpoint": {"a stream that is left out takes with it the checkpoint that made another one whole: both are left out", func(w *scribe) {
		a, b, c := w.begin(0, "ada", '1'), w.stream(0, 1), w.begin(1, "bob", '2')
		x := w.claim(a, "ada", event.ModeExclusive, "path:a")
		w.claim(a, "ada", event.ModeExclusive, "path:b")
		w.write(b, succeeded(2, []string{"ada"}, a))
		w.write(b, w.without([]ident.Stream{a, b}, x))
		y := w.claim(b, "ada", event.ModeExclusive, "path:c")
		w.claim(b, "ada", event.ModeExclusive, "path:d")
		w.claim(c, "bob", event.ModeExclusive, "path:b")
		w.lose(x)
		w.lose(y)
	}},
	"lost_head_removed": {"the last place of a stream is lost and a checkpoint of a later run leaves it out: no damage, and the history has that number and no hash", func(w *scribe) {
		a, b := w.begin(0, "ada", '1'), w.stream(0, 1)
		w.claim(a, "ada", event.ModeExclusive, "path:a")
		x := w.claim(a, "ada", event.ModeExclusive, "path:b")
		w.write(b, succeeded(2, []string{"ada"}, a))
		w.write(b, w.without([]ident.Stream{a, b}, x))
		w.lose(x)
	}},
}
