package fold_test

import "github.com/comity-dev/comity/coop/event"

var sessionVectors = histories{
	"session_records": {"a session that was opened in another record before is open since its opening in the record in which it is", func(w *scribe) {
		a, b, c := w.stream(0, 0), w.stream(0, 1), w.stream(0, 2)
		w.write(c, otherRecord(1))
		w.write(c, open("ada", '3'))
		w.write(a, run1())
		w.write(b, succeeded(2, []string{"ada"}, a))
		w.write(b, open("ada", '2'))
	}},
	"session_higher": {"a session is open in two records: it is in the stream whose anchor is last in order, and told as that record says, though the other has the higher number", func(w *scribe) {
		a, b := w.stream(0, 0), w.stream(0, 1)
		w.write(b, otherRecord(7))
		w.write(b, open("ada", '2'))
		w.write(a, run1())
		w.write(a, open("ada", '1'))
	}},
	"session_twins": {"a session is open in two runs with one number: it is in the one whose anchor is last, and what is said of it comes from the higher stream", func(w *scribe) {
		a, b := w.stream(0, 0), w.stream(0, 1)
		w.write(b, run1())
		w.write(b, open("ada", '2'))
		w.write(a, run1())
		w.write(a, open("ada", '1'))
	}},
	"session_since": {"a session is opened again in a later run that lists it: it is told as that opening says, and open since the first; one that was closed between is open since the second", func(w *scribe) {
		a, b, c := w.begin(0, "ada", '1'), w.stream(0, 1), w.stream(0, 2)
		w.write(a, open("bob", '1'))
		w.end(a, "bob")
		w.write(b, succeeded(2, []string{"ada", "bob"}, a))
		w.write(c, succeeded(3, []string{"ada", "bob"}, a, b))
		w.write(c, open("ada", '2'))
		w.write(c, open("bob", '2'))
	}},
	"listing_passed": {"a listing counts when it names a run that was passed on the way down to the close, and does not when it names none", func(w *scribe) {
		for node, sid := range []string{"ada", "bob"} {
			a, b, c := w.begin(node, sid, '1'), w.stream(node, 1), w.stream(node, 2)
			w.end(a, sid)
			w.write(b, succeeded(2, []string{sid}))
			if sid == "ada" {
				w.write(c, succeeded(3, []string{sid}, b))
			} else {
				w.write(c, succeeded(3, []string{sid}))
			}
			w.claim(c, sid, event.ModeExclusive, "path:"+sid)
		}
	}},
	"listing_twin": {"a listing does not look at the other run with its number, which does not list the session", func(w *scribe) {
		a, b, c := w.begin(0, "ada", '1'), w.stream(0, 1), w.stream(0, 2)
		w.write(b, succeeded(2, nil))
		w.write(c, succeeded(2, []string{"ada"}))
		w.claim(a, "ada", event.ModeExclusive, "path:a")
		w.claim(c, "ada", event.ModeExclusive, "path:c")
	}},
	"listing_twins": {"of two earlier runs with one number a listing looks at the higher stream first: an opening there counts before a close in the lower, and the other way round it does not", func(w *scribe) {
		for node, sid := range []string{"ada", "bob"} {
			low, high, next := w.stream(node, 0), w.stream(node, 1), w.stream(node, 2)
			closed, opened := low, high
			if sid == "bob" {
				closed, opened = high, low
			}
			w.write(closed, run1())
			w.write(closed, open(sid, '1'))
			w.end(closed, sid)
			w.write(opened, run1())
			w.write(opened, open(sid, '2'))
			w.write(next, succeeded(2, []string{sid}))
			w.claim(next, sid, event.ModeExclusive, "path:"+sid)
		}
	}},
}

// otherRecord is the first event of a run of another record.
func otherRecord(run uint64) event.StreamSucceeded {
	return event.StreamSucceeded{Record: record(1), Run: run}
}
