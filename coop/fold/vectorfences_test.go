package fold_test

import "github.com/comity-dev/comity/coop/event"

var fenceVectors = histories{
	"fence_alive": {"while a claim lives that fences another, the other is conflicted by it, though it has the lower stamp", func(w *scribe) {
		a, b := w.begin(0, "ada", '1'), w.begin(1, "bob", '2')
		x := w.claim(a, "ada", event.ModeExclusive, "dir:src")
		w.fence(b, "bob", "path:src/main.go", x)
	}},
	"fence_breaks": {"a fence that breaks a claim fences it like any other", func(w *scribe) {
		a, b := w.begin(0, "ada", '1'), w.begin(1, "bob", '2')
		x := w.claim(a, "ada", event.ModeExclusive, "dir:src")
		c := w.fencing("bob", event.ModeExclusive, "dir:src", x)
		c.Breaks, c.Reason = c.Fences, "ada is on holiday"
		w.write(b, c)
	}},
	"fence_second": {"of two claims that fence a third the first is released, and the third is conflicted by the second", func(w *scribe) {
		a, b := w.begin(0, "ada", '1'), w.begin(1, "bob", '2')
		w.write(b, open("cyd", '3'))
		x := w.claim(a, "ada", event.ModeExclusive, "path:a")
		y := w.fence(b, "bob", "path:a", x)
		w.release(b, "bob", y)
		w.fence(b, "cyd", "path:a", x)
	}},
	"fence_over": {"two claims that fence a third are over, and the third is expired by the first of them", func(w *scribe) {
		a, b := w.begin(0, "ada", '1'), w.begin(1, "bob", '2')
		w.write(b, open("cyd", '3'))
		x := w.claim(a, "ada", event.ModeExclusive, "path:a")
		y := w.fence(b, "bob", "path:a", x)
		w.release(b, "bob", y)
		z := w.fence(b, "cyd", "path:a", x)
		w.release(b, "cyd", z)
	}},
	"fence_closed": {"the session of a claim that fences another is closed, and the other is expired", func(w *scribe) {
		a, b := w.begin(0, "ada", '1'), w.begin(1, "bob", '2')
		x := w.claim(a, "ada", event.ModeExclusive, "path:a")
		w.fence(b, "bob", "path:a", x)
		w.end(b, "bob")
	}},
	"fence_low": {"fences by claims of the same and of a lower epoch do not count: once those are released, the claim is held", func(w *scribe) {
		a, b := w.begin(0, "ada", '1'), w.begin(1, "bob", '2')
		x := event.Key{Stream: a, Seq: 3}
		c := claim(w.writer, "bob", event.ModeExclusive, "path:a")
		c.Fences = []event.Key{x}
		low := w.writeAt(b, 9, c)
		same := w.writeAt(b, 10, c)
		w.writeAt(a, 10, claim(w.writer, "ada", event.ModeExclusive, "path:a"))
		w.release(b, "bob", low)
		w.release(b, "bob", same)
	}},
	"fence_void": {"fences by the own session, of what does not meet, by an advisory claim and of one do not count: all are held", func(w *scribe) {
		a, b := w.begin(0, "ada", '1'), w.begin(1, "bob", '2')
		x := w.claim(a, "ada", event.ModeExclusive, "path:a")
		w.fence(a, "ada", "path:a", x)
		w.fence(b, "bob", "path:b", x)
		w.write(b, w.fencing("bob", event.ModeAdvisory, "path:a", x))
		y := w.claim(a, "ada", event.ModeAdvisory, "path:c")
		w.fence(b, "bob", "path:c", y)
	}},
	"fence_early": {"a claim that fences another arrives before it", func(w *scribe) {
		a, b := w.begin(0, "ada", '1'), w.begin(1, "bob", '2')
		x := w.claim(a, "ada", event.ModeExclusive, "path:a")
		y := w.fence(b, "bob", "path:a", x)
		w.release(b, "bob", y)
		w.arrive(b, a)
	}},
	"fence_checkout": {"in mode checkout a fence counts in one checkout and not in two", func(w *scribe) {
		a := w.begin(0, "ada", '1')
		w.write(a, open("bob", '1'))
		w.write(a, open("cyd", '2'))
		x := w.claim(a, "ada", event.ModeCheckout, "path:a")
		w.write(a, w.fencing("bob", event.ModeCheckout, "path:a", x))
		y := w.claim(a, "ada", event.ModeCheckout, "path:b")
		w.write(a, w.fencing("cyd", event.ModeCheckout, "path:b", y))
	}},
	"fence_checkouts": {"a session that goes on may have been in each checkout that it was opened in before: a fence counts in the earlier one", func(w *scribe) {
		a, b := w.begin(0, "ada", '1'), w.stream(0, 1)
		w.write(a, open("ada", '2'))
		w.write(b, succeeded(2, []string{"ada"}, a))
		x := w.claim(b, "ada", event.ModeCheckout, "path:a")
		w.write(b, open("bob", '1'))
		y := w.write(b, w.fencing("bob", event.ModeCheckout, "path:a", x))
		w.release(b, "bob", y)
	}},
	"fence_listed": {"a listing that does not count ends a claim, and its session may still have been in the checkout of its opening before: its fence counts", func(w *scribe) {
		a, b, c := w.begin(0, "ada", '1'), w.stream(0, 1), w.stream(0, 2)
		w.end(a, "ada")
		w.write(c, otherRecord(1))
		w.write(c, open("bob", '1'))
		x := w.claim(c, "bob", event.ModeCheckout, "path:a")
		w.write(b, succeeded(2, []string{"ada"}))
		w.write(b, w.fencing("ada", event.ModeCheckout, "path:a", x))
	}},
	"fence_unlisted": {"a claim whose session has no mark before it and is not listed has no checkout: its fence in mode checkout does not count", func(w *scribe) {
		a, b, c := w.begin(0, "ada", '1'), w.stream(0, 1), w.stream(0, 2)
		w.write(c, otherRecord(1))
		w.write(c, open("bob", '1'))
		x := w.claim(c, "bob", event.ModeCheckout, "path:a")
		w.write(b, succeeded(2, nil, a))
		w.write(b, w.fencing("ada", event.ModeCheckout, "path:a", x))
	}},
}
