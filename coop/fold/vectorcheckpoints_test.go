package fold_test

import (
	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

var checkpointVectors = histories{
	"checkpoint_wrong": {"a checkpoint whose digest is not that of what it names is of no force", func(w *scribe) {
		a := w.begin(0, "ada", '1')
		x := w.claim(a, "ada", event.ModeExclusive, "path:a")
		k := w.without([]ident.Stream{a}, x)
		k.Digest = record(0) + record(0)
		w.write(a, k)
	}},
	"checkpoint_itself": {"a checkpoint that names itself is of no force", func(w *scribe) {
		a := w.begin(0, "ada", '1')
		x := w.claim(a, "ada", event.ModeExclusive, "path:a")
		y := w.claim(a, "ada", event.ModeExclusive, "path:b")
		k := w.without([]ident.Stream{a}, x)
		k.Kept[a][1] = event.Range{First: y.Seq, Last: y.Seq + 1}
		w.write(a, k)
	}},
	"checkpoint_above": {"a checkpoint that names what comes after it in its stream is of no force, and makes nothing incomplete", func(w *scribe) {
		a := w.begin(0, "ada", '1')
		x := w.claim(a, "ada", event.ModeExclusive, "path:a")
		y := w.claim(a, "ada", event.ModeExclusive, "path:b")
		k := w.without([]ident.Stream{a}, x)
		k.Kept[a] = append(k.Kept[a], event.Range{First: y.Seq + 2, Last: y.Seq + 2})
		w.write(a, k)
	}},
	"checkpoint_unheld": {"a checkpoint names an event that is not held: it is in force, and the stream that is incomplete is left out", func(w *scribe) {
		a, b := w.begin(0, "ada", '1'), w.stream(0, 1)
		x := w.claim(a, "ada", event.ModeExclusive, "path:a")
		w.write(b, succeeded(2, []string{"ada"}, a))
		y := w.claim(b, "ada", event.ModeExclusive, "path:b")
		w.claim(b, "ada", event.ModeExclusive, "path:c")
		k := w.without([]ident.Stream{a, b}, y)
		k.Kept[a] = []event.Range{{First: 1, Last: x.Seq + 1}}
		w.write(b, k)
	}},
	"checkpoint_foreign": {"a checkpoint has no force in streams of another runtime, nor in an earlier run that its own stream does not name; in its own it has", func(w *scribe) {
		a, b, c := w.begin(0, "ada", '1'), w.begin(1, "bob", '2'), w.stream(1, 1)
		w.claim(a, "ada", event.ModeExclusive, "path:a")
		w.write(c, succeeded(2, []string{"bob"}))
		w.claim(c, "bob", event.ModeExclusive, "path:b")
		w.write(b, event.ReviewRequested{Session: "bob", Subject: "parser"})
		w.write(b, handover("bob", "# rest"))
		y := w.claim(c, "bob", event.ModeExclusive, "path:c")
		w.write(c, w.keeping([]ident.Stream{a, b, c}, y))
	}},
	"checkpoint_removed": {"a later checkpoint leaves out an earlier one and names what that one left out, which is there again", func(w *scribe) {
		a := w.begin(0, "ada", '1')
		x := w.claim(a, "ada", event.ModeExclusive, "path:a")
		k := w.write(a, w.without([]ident.Stream{a}, x))
		w.write(a, w.without([]ident.Stream{a}, k))
	}},
	"checkpoint_two": {"of two checkpoints in force each leaves out what it does not name", func(w *scribe) {
		a := w.begin(0, "ada", '1')
		x := w.claim(a, "ada", event.ModeExclusive, "path:a")
		y := w.claim(a, "ada", event.ModeExclusive, "path:b")
		w.claim(a, "ada", event.ModeExclusive, "path:c")
		w.write(a, w.without([]ident.Stream{a}, x))
		w.write(a, w.without([]ident.Stream{a}, y))
	}},
	"checkpoint_release": {"a checkpoint leaves out the release of a claim that it names: the claim stands again", func(w *scribe) {
		a := w.begin(0, "ada", '1')
		x := w.claim(a, "ada", event.ModeExclusive, "path:a")
		w.write(a, w.without([]ident.Stream{a}, w.release(a, "ada", x)))
	}},
	"checkpoint_first": {"a checkpoint that names nothing leaves the first event of each run: its listing shows the session open, though what the opening said is gone", func(w *scribe) {
		a, b := w.begin(0, "ada", '1'), w.stream(0, 1)
		w.write(b, succeeded(2, []string{"ada"}, a))
		w.claim(b, "ada", event.ModeExclusive, "path:a")
		k := w.keeping([]ident.Stream{a, b})
		w.write(b, k)
		w.claim(b, "ada", event.ModeExclusive, "path:b")
	}},
	"checkpoint_numbers": {"the checkpoint of a later run with the lower id leaves out that of an earlier one, and names what that one left out", func(w *scribe) {
		a, b := w.stream(0, 1), w.stream(0, 0)
		w.write(a, run1())
		w.write(a, open("ada", '1'))
		x := w.claim(a, "ada", event.ModeExclusive, "path:a")
		k := w.write(a, w.without([]ident.Stream{a}, x))
		w.write(b, succeeded(2, []string{"ada"}, a))
		w.write(b, w.without([]ident.Stream{a, b}, k))
	}},
}
