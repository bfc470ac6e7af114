package fold_test

import "github.com/comity-dev/comity/coop/event"

var newerVectors = histories{
	"newer": {"events of a kind, a mode and with members that a reader does not know stand between others and hold nothing up", func(w *scribe) {
		a := w.begin(0, "ada", '1')
		w.edited(a, event.SessionClosed{Session: "ada", Reason: "done"}, `"session_closed"`, `"session_moved"`)
		w.claim(a, "ada", event.ModeExclusive, "path:a")
		w.edited(a, claim(w.writer, "ada", event.ModeExclusive, "path:b"), `"exclusive"`, `"shared"`)
		w.edited(a, claim(w.writer, "ada", event.ModeExclusive, "path:c"), `"mode":`, `"lease":{"days":2},"mode":`)
		w.edited(a, open("bob", '1'), `"v":1`, `"v":1,"zone":"utc"`)
		w.edited(a, open("cyd", '1'), `"client":"cli"`, `"client":"cli","colour":"red"`)
	}},
	"newer_release": {"the release of a claim that is unreadable says nothing, and what it covers is free", func(w *scribe) {
		a, b := w.begin(0, "ada", '1'), w.begin(1, "bob", '2')
		x := w.edited(a, claim(w.writer, "ada", event.ModeExclusive, "path:a"), `"exclusive"`, `"shared"`)
		w.fence(b, "bob", "path:a", x)
		w.release(a, "ada", x)
	}},
}
