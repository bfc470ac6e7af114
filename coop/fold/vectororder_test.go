package fold_test

import (
	"strings"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

// Of the two nodes of a vector the first writes first and has the higher id: the
// order of events is not that of keys.
var orderVectors = histories{
	"order_lists": {"claims, reviews and sessions are listed by id, handovers by theirs; publications, declines and answers in the order (lamport, stream, seq)", func(w *scribe) {
		a, b := w.begin(0, "ada", '1'), w.begin(1, "bob", '2')
		w.write(a, open("cyd", '1'))
		for _, text := range []string{"# one", "# two"} {
			to := handover("bob", text)
			to.To = "codex"
			p := w.write(a, handover("ada", text))
			q := w.write(b, to)
			decline := event.HandoverDeclined{Handover: to.Handover.ID, Publications: []event.Key{p.Key(), q.Key()}, Reason: "busy"}
			decline.Session = "cyd"
			w.write(a, decline)
			decline.Session = "bob"
			w.write(b, decline)
		}
		r := w.write(a, event.ReviewRequested{Session: "cyd", Subject: "parser"})
		w.write(a, event.ReviewAnswered{Request: r.Key(), Session: "ada", Verdict: event.VerdictCommented})
		w.write(b, event.ReviewAnswered{Request: r.Key(), Session: "bob", Verdict: event.VerdictApproved})
		tie := w.stamp + 1
		w.writeAt(a, tie, event.ReviewAnswered{Request: r.Key(), Session: "ada", Verdict: event.VerdictChangesRequested})
		w.writeAt(b, tie, event.ReviewAnswered{Request: r.Key(), Session: "bob", Verdict: event.VerdictCommented})
		w.write(b, event.ReviewRequested{Session: "bob", Subject: "printer"})
		w.claim(a, "ada", event.ModeExclusive, "path:a")
		w.claim(b, "bob", event.ModeExclusive, "path:b")
	}},
	"order_numbers": {"keys of one stream are listed by number: /9 before /10", func(w *scribe) {
		a := w.begin(0, "ada", '1')
		for _, path := range []string{"path:a", "path:b", "path:c"} {
			w.release(a, "ada", w.claim(a, "ada", event.ModeExclusive, path))
		}
		w.claim(a, "ada", event.ModeExclusive, "path:i")
		w.claim(a, "ada", event.ModeExclusive, "path:j")
	}},
	"handover_withdrawn": {"a withdrawn publication stands beside an open one of the same text", func(w *scribe) {
		a := w.begin(0, "ada", '1')
		p := w.write(a, handover("ada", "# rest"))
		w.write(a, handover("ada", "# rest"))
		w.write(a, event.HandoverWithdrawn{Publication: p.Key(), Session: "ada"})
	}},
	"handover_both": {"a publication that is both taken and withdrawn is called withdrawn", func(w *scribe) {
		a, b := w.begin(0, "ada", '1'), w.begin(1, "bob", '2')
		p := w.write(a, handover("ada", "# rest"))
		w.write(a, handover("ada", "# rest"))
		w.write(b, event.HandoverConsumed{Handover: event.HandoverID("# rest"), Publications: []event.Key{p.Key()}, Session: "bob"})
		w.write(a, event.HandoverWithdrawn{Publication: p.Key(), Session: "ada"})
	}},
	"handover_other": {"a taking and a decline count for the handover whose id they give, and not for another one whose publication they name", func(w *scribe) {
		a, b := w.begin(0, "ada", '1'), w.begin(1, "bob", '2')
		p := w.write(a, handover("ada", "# one"))
		w.write(a, handover("ada", "# two"))
		w.write(b, event.HandoverConsumed{Handover: event.HandoverID("# two"), Publications: []event.Key{p.Key()}, Session: "bob"})
		w.write(b, event.HandoverDeclined{Handover: event.HandoverID("# two"), Publications: []event.Key{p.Key()}, Session: "bob"})
	}},
	"handover_closed": {"a handover outlives the session that published it", func(w *scribe) {
		a := w.begin(0, "ada", '1')
		w.write(a, handover("ada", "# rest"))
		w.end(a, "ada")
	}},
	"release_before": {"a release counts that stands before its claim, in the same stream and in an earlier run", func(w *scribe) {
		a, b := w.begin(0, "ada", '1'), w.stream(0, 1)
		w.write(a, event.ClaimReleased{Claim: event.Key{Stream: a, Seq: 5}, Session: "ada", Reason: "done"})
		w.write(a, event.ClaimReleased{Claim: event.Key{Stream: b, Seq: 2}, Session: "ada", Reason: "done"})
		w.claim(a, "ada", event.ModeExclusive, "path:a")
		w.write(b, succeeded(2, []string{"ada"}, a))
		w.claim(b, "ada", event.ModeExclusive, "path:b")
		w.claim(b, "ada", event.ModeExclusive, "path:c")
	}},
	"review_own": {"an answer by the session that asked does not count, one by another session of its runtime does", func(w *scribe) {
		a := w.begin(0, "ada", '1')
		w.write(a, open("cyd", '1'))
		r := w.write(a, event.ReviewRequested{Session: "ada", Subject: "parser"})
		w.write(a, event.ReviewAnswered{Request: r.Key(), Session: "ada", Verdict: event.VerdictApproved})
		w.write(a, event.ReviewAnswered{Request: r.Key(), Session: "cyd", Verdict: event.VerdictApproved})
	}},
	"others": {"a release, a withdrawal and a close of a review by another session do not count, in the same runtime or of the same name in another", func(w *scribe) {
		a, b := w.begin(0, "ada", '1'), w.begin(1, "ada", '2')
		w.write(a, open("cyd", '1'))
		c := w.claim(a, "ada", event.ModeExclusive, "path:a")
		p := w.write(a, handover("ada", "# rest"))
		r := w.write(a, event.ReviewRequested{Session: "ada", Subject: "parser"})
		w.meddle(a, "cyd", c, p, r)
		w.meddle(b, "ada", c, p, r)
	}},
	"session_told": {"a session is listed with all that its latest opening says, under its first", func(w *scribe) {
		a, dirty := w.begin(0, "ada", '1'), false
		w.write(a, event.SessionOpened{Info: event.SessionInfo{
			Session: "ada", Client: "codex", By: "Ada Lovelace", Host: "engine", Checkout: "0000000000000002", Branch: "main",
			Head: strings.Repeat("ab", 20), Intent: "count \"all\"\nof it", Issue: "#7", Task: "ab", Worker: "w1", Context: "tmux: ü", Dirty: &dirty,
		}})
	}},
}

// meddle is what only the session of a claim, a publication and a review may do.
func (w *scribe) meddle(st ident.Stream, sid string, claim, publication, request *event.Event) {
	w.release(st, sid, claim)
	w.write(st, event.HandoverWithdrawn{Publication: publication.Key(), Session: sid})
	w.write(st, event.ReviewClosed{Request: request.Key(), Session: sid, Reason: "merged"})
}
