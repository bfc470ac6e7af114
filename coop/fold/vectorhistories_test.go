package fold_test

import (
	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

var firstVectors = histories{
	"conflict": {"two nodes claim what meets; the lower stamp holds, the other names it", func(w *scribe) {
		a, b := w.stream(0, 0), w.stream(1, 0)
		w.write(a, run1())
		w.write(b, run1())
		w.write(a, open("ada", '1'))
		w.write(b, open("bob", '2'))
		w.write(a, claim(w.writer, "ada", event.ModeExclusive, "dir:src"))
		w.write(b, claim(w.writer, "bob", event.ModeExclusive, "path:src/main.go"))
		w.write(b, claim(w.writer, "bob", event.ModeAdvisory, "glob:**/*.md"))
	}},
	"fence": {"a claim fences another and ends; what it fenced is expired", func(w *scribe) {
		a, b := w.stream(0, 0), w.stream(1, 0)
		w.write(a, run1())
		w.write(b, run1())
		w.write(a, open("ada", '1'))
		lost := w.write(a, claim(w.writer, "ada", event.ModeExclusive, "res:port/3000"))
		w.write(b, open("bob", '2'))
		c := claim(w.writer, "bob", event.ModeExclusive, "res:port/3000")
		c.Fences = []event.Key{lost.Key()}
		by := w.write(b, c)
		w.write(b, event.ClaimReleased{Claim: by.Key(), Session: "bob", Reason: "done"})
	}},
	"succession": {"a second run carries one session of two", func(w *scribe) {
		a, b := w.stream(0, 0), w.stream(0, 1)
		w.write(a, run1())
		w.write(a, open("ada", '1'))
		w.write(a, open("bob", '1'))
		w.write(a, claim(w.writer, "ada", event.ModeExclusive, "path:a"))
		w.write(a, claim(w.writer, "bob", event.ModeExclusive, "path:b"))
		w.write(b, event.StreamSucceeded{Record: record(0), Run: 2, Sessions: []string{"ada"}, Streams: []ident.Stream{a}})
		w.write(b, claim(w.writer, "ada", event.ModeCheckout, "path:c"))
	}},
	"cooperation": {"a handover published twice and taken once, one withdrawn, a review answered and open, one closed", func(w *scribe) {
		a, b := w.stream(0, 0), w.stream(1, 0)
		w.write(a, run1())
		w.write(b, run1())
		w.write(a, open("ada", '1'))
		w.write(b, open("bob", '2'))
		h := event.HandoverPublished{Session: "ada", Handover: event.Handover{ID: event.HandoverID("# rest"), Body: "# rest"}}
		p := w.write(a, h)
		w.write(b, event.HandoverConsumed{Handover: h.Handover.ID, Publications: []event.Key{p.Key()}, Session: "bob"})
		w.write(a, h)
		gone := event.HandoverPublished{Session: "ada", Handover: event.Handover{ID: event.HandoverID("# no"), Body: "# no"}}
		p = w.write(a, gone)
		w.write(a, event.HandoverWithdrawn{Publication: p.Key(), Session: "ada"})
		r := w.write(a, event.ReviewRequested{Session: "ada", Subject: "parser"})
		w.write(b, event.ReviewAnswered{Request: r.Key(), Session: "bob", Verdict: event.VerdictApproved})
		r = w.write(a, event.ReviewRequested{Session: "ada", Subject: "printer"})
		w.write(a, event.ReviewClosed{Request: r.Key(), Session: "ada", Reason: "merged"})
	}},
	"checkpoint": {"a checkpoint of two runs leaves out what is over", func(w *scribe) {
		a, b := w.stream(0, 0), w.stream(0, 1)
		w.write(a, run1())
		w.write(a, open("ada", '1'))
		w.write(a, claim(w.writer, "ada", event.ModeExclusive, "path:a"))
		w.write(a, claim(w.writer, "ada", event.ModeExclusive, "path:b"))
		w.write(b, event.StreamSucceeded{Record: record(0), Run: 2, Sessions: []string{"ada"}, Streams: []ident.Stream{a}})
		w.write(b, claim(w.writer, "ada", event.ModeExclusive, "path:c"))
		w.write(b, w.checkpoint([]ident.Stream{a, b}, func(e *event.Event) bool { return e.Stream == a && e.Seq <= 3 }))
		w.write(b, claim(w.writer, "ada", event.ModeExclusive, "path:d"))
	}},
}
