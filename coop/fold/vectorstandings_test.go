package fold_test

import "github.com/comity-dev/comity/coop/event"

var standingVectors = histories{
	"checkout_exclusive": {"a claim in mode checkout and an exclusive one exclude each other in one checkout and not in two", func(w *scribe) {
		a := w.begin(0, "ada", '1')
		w.write(a, open("bob", '1'))
		w.write(a, open("cyd", '2'))
		w.claim(a, "ada", event.ModeExclusive, "path:a")
		w.claim(a, "bob", event.ModeCheckout, "path:a")
		w.claim(a, "cyd", event.ModeCheckout, "path:a")
	}},
	"checkout_both": {"two claims in mode checkout exclude each other in one checkout and not in two", func(w *scribe) {
		a := w.begin(0, "ada", '1')
		w.write(a, open("bob", '2'))
		w.write(a, open("cyd", '1'))
		w.claim(a, "ada", event.ModeCheckout, "dir:.")
		w.claim(a, "bob", event.ModeCheckout, "dir:d")
		w.claim(a, "cyd", event.ModeCheckout, "glob:d/*")
	}},
	"checkout_moved": {"the checkout of a claim is that of its session's latest opening when it was written", func(w *scribe) {
		a := w.begin(0, "ada", '1')
		w.write(a, open("bob", '2'))
		w.claim(a, "ada", event.ModeCheckout, "path:a")
		w.write(a, open("ada", '2'))
		w.claim(a, "ada", event.ModeCheckout, "path:b")
		w.claim(a, "bob", event.ModeCheckout, "path:a", "path:b")
	}},
	"standing_chain": {"of three claims the second meets both others: it is conflicted by the first, and so the third is held", func(w *scribe) {
		a := w.begin(0, "ada", '1')
		w.write(a, open("bob", '1'))
		w.write(a, open("cyd", '1'))
		w.claim(a, "ada", event.ModeExclusive, "dir:a")
		w.claim(a, "bob", event.ModeExclusive, "path:a/x", "path:b")
		w.claim(a, "cyd", event.ModeExclusive, "path:b")
	}},
	"standing_first": {"a claim that two held ones exclude is conflicted by the first of them", func(w *scribe) {
		a, b := w.begin(0, "ada", '1'), w.begin(1, "bob", '2')
		w.write(b, open("cyd", '3'))
		w.claim(a, "ada", event.ModeExclusive, "path:a")
		w.claim(b, "bob", event.ModeExclusive, "path:b")
		w.claim(b, "cyd", event.ModeExclusive, "path:a", "path:b")
	}},
	"standing_tie": {"of two claims with one stamp that of the lower stream is held", func(w *scribe) {
		a, b := w.begin(0, "ada", '1'), w.begin(1, "bob", '2')
		w.writeAt(a, 9, claim(w.writer, "ada", event.ModeExclusive, "path:a"))
		w.writeAt(b, 9, claim(w.writer, "bob", event.ModeExclusive, "path:a"))
	}},
	"standing_own": {"claims of one session do not exclude each other", func(w *scribe) {
		a := w.begin(0, "ada", '1')
		w.claim(a, "ada", event.ModeExclusive, "path:a")
		w.claim(a, "ada", event.ModeExclusive, "dir:.")
	}},
	"standing_advisory": {"an advisory claim excludes nobody and is held beside any other", func(w *scribe) {
		a, b := w.begin(0, "ada", '1'), w.begin(1, "bob", '2')
		w.claim(a, "ada", event.ModeAdvisory, "dir:src")
		w.claim(b, "bob", event.ModeExclusive, "path:src/main.go")
		w.claim(a, "ada", event.ModeAdvisory, "glob:src/*.go")
	}},
	"checkout_listed": {"a session that was opened in two checkouts goes on: what it claims is in the latest, and excludes in that one alone", func(w *scribe) {
		a, b := w.begin(0, "ada", '1'), w.stream(0, 1)
		w.write(a, open("ada", '2'))
		w.write(b, succeeded(2, []string{"ada"}, a))
		w.write(b, open("bob", '1'))
		w.write(b, open("cyd", '2'))
		w.claim(b, "ada", event.ModeCheckout, "path:a")
		w.claim(b, "bob", event.ModeCheckout, "path:a")
		w.claim(b, "cyd", event.ModeCheckout, "path:a")
	}},
}
