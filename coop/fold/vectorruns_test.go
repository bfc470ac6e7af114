package fold_test

import "github.com/comity-dev/comity/coop/event"

var runVectors = histories{
	"run_unnamed": {"a later run lists a session and does not name its stream: the claim there is ended, the session is open", func(w *scribe) {
		a, b := w.begin(0, "ada", '1'), w.stream(0, 1)
		w.claim(a, "ada", event.ModeExclusive, "path:a")
		w.write(b, succeeded(2, []string{"ada"}))
		w.claim(b, "ada", event.ModeExclusive, "path:b")
	}},
	"run_unlisted": {"a later run names a stream and does not list the session: its claims are ended, it is not open and claims nothing", func(w *scribe) {
		a, b := w.begin(0, "ada", '1'), w.stream(0, 1)
		w.claim(a, "ada", event.ModeExclusive, "path:a")
		w.write(b, succeeded(2, nil, a))
		w.claim(b, "ada", event.ModeExclusive, "path:b")
		w.write(b, event.ReviewRequested{Session: "ada", Subject: "parser"})
	}},
	"run_skips": {"a run in the middle does not list a session: what it claimed before is ended, though the last run lists it and names the stream", func(w *scribe) {
		a, b, c := w.begin(0, "ada", '1'), w.stream(0, 1), w.stream(0, 2)
		w.claim(a, "ada", event.ModeExclusive, "path:a")
		w.write(b, succeeded(2, nil, a))
		w.write(b, open("ada", '2'))
		w.claim(b, "ada", event.ModeExclusive, "path:b")
		w.write(c, succeeded(3, []string{"ada"}, a, b))
	}},
	"run_unheld": {"a run of which nothing is held may have opened the session that was closed before it: the listing that names it counts", func(w *scribe) {
		a, c := w.begin(0, "ada", '1'), w.stream(0, 2)
		w.claim(a, "ada", event.ModeExclusive, "path:a")
		w.write(c, succeeded(3, []string{"ada"}, w.stream(0, 1)))
		w.claim(c, "ada", event.ModeExclusive, "path:c")
		w.end(a, "ada")
	}},
	"run_closed": {"a listing does not bring back a session whose latest end known before it is a close, when no run is named in which it could have been opened", func(w *scribe) {
		a, b := w.begin(0, "ada", '1'), w.stream(0, 1)
		w.end(a, "ada")
		w.write(b, succeeded(2, []string{"ada"}))
		w.claim(b, "ada", event.ModeExclusive, "path:b")
	}},
	"run_more": {"a listing that names the run with the close counts: more of that run may come", func(w *scribe) {
		a, b := w.begin(0, "ada", '1'), w.stream(0, 1)
		w.end(a, "ada")
		w.write(b, succeeded(2, []string{"ada"}, a))
		w.claim(b, "ada", event.ModeExclusive, "path:b")
	}},
	"run_record": {"a run under another record says nothing of the earlier ones: a claim stands where it was written", func(w *scribe) {
		a, b := w.begin(0, "ada", '1'), w.stream(0, 1)
		w.claim(a, "ada", event.ModeExclusive, "path:a")
		other := succeeded(2, nil, a)
		other.Record = record(1)
		w.write(b, other)
	}},
	"run_equal": {"of two runs with one number neither is later, and each may end what the first run left; what both carry lives in the higher stream", func(w *scribe) {
		a, b, c := w.begin(0, "ada", '1'), w.stream(0, 1), w.stream(0, 2)
		w.write(a, open("bob", '1'))
		w.claim(a, "ada", event.ModeExclusive, "path:a")
		w.claim(a, "bob", event.ModeExclusive, "path:b")
		w.write(b, succeeded(2, []string{"ada", "bob"}, a))
		w.write(c, succeeded(2, []string{"ada"}, a))
		w.claim(b, "ada", event.ModeExclusive, "path:c")
		w.claim(c, "ada", event.ModeExclusive, "path:d")
	}},
	"run_reopened": {"a session that a later run did not list is opened in it: what it claimed before stays ended", func(w *scribe) {
		a, b := w.begin(0, "ada", '1'), w.stream(0, 1)
		w.claim(a, "ada", event.ModeExclusive, "path:a")
		w.write(b, succeeded(2, nil, a))
		w.write(b, open("ada", '2'))
		w.claim(b, "ada", event.ModeExclusive, "path:b")
	}},
	"run_close": {"a session is closed and opened again in one run: what it claimed before and between stays ended", func(w *scribe) {
		a := w.begin(0, "ada", '1')
		w.claim(a, "ada", event.ModeExclusive, "path:a")
		w.write(a, event.ReviewRequested{Session: "ada", Subject: "parser"})
		w.end(a, "ada")
		w.claim(a, "ada", event.ModeExclusive, "path:b")
		w.write(a, open("ada", '1'))
		w.claim(a, "ada", event.ModeExclusive, "path:c")
	}},
	"run_close_later": {"a close in a later run ends what the session claimed in the earlier one, whatever the stamps", func(w *scribe) {
		a, b := w.begin(0, "ada", '1'), w.stream(0, 1)
		w.write(b, succeeded(2, []string{"ada"}, a))
		w.claim(b, "ada", event.ModeExclusive, "path:b")
		w.end(b, "ada")
		w.writeAt(a, 100, claim(w.writer, "ada", event.ModeExclusive, "path:a"))
	}},
	"run_recordless": {"streams without a first event of a run are ordered by (lamport, stream, seq): a close in one ends what was claimed below it in the other", func(w *scribe) {
		a, b := w.stream(0, 0), w.stream(0, 1)
		w.write(a, open("ada", '1'))
		w.claim(a, "ada", event.ModeExclusive, "path:a")
		w.write(b, open("ada", '2'))
		w.end(b, "ada")
		w.claim(a, "ada", event.ModeExclusive, "path:b")
	}},
	"run_late": {"a stream_succeeded that is not the first event of its stream says nothing", func(w *scribe) {
		a, b := w.begin(0, "ada", '1'), w.stream(0, 1)
		w.claim(a, "ada", event.ModeExclusive, "path:a")
		w.write(b, open("bob", '1'))
		w.write(b, succeeded(2, nil, a))
		w.claim(b, "bob", event.ModeExclusive, "path:b")
	}},
	"run_review": {"a review goes on with its session as a claim does, and ends as one", func(w *scribe) {
		a, b := w.begin(0, "ada", '1'), w.stream(0, 1)
		w.write(a, open("bob", '1'))
		w.write(a, event.ReviewRequested{Session: "ada", Subject: "parser"})
		w.write(a, event.ReviewRequested{Session: "bob", Subject: "printer"})
		w.write(b, succeeded(2, []string{"ada"}, a))
	}},
}
