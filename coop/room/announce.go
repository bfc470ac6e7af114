package room

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/fold"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/journal"
)

// observe hears of every event that was applied, under the lock: also of those
// that a reload reads, so that notices are the same after a restart. It keeps
// what the room remembers, announces what concerns own sessions, and lets
// waiting claims try again.
func (r *Room) observe(v journal.View, a journal.Arrival, ch fold.Changes) {
	e := a.Event
	r.names.add(e.Stream)
	if !r.others && (e.Stream.Runtime() != r.runtime || r.opened && v.Liveness(e.Stream) != journal.Own) {
		r.others = true
		r.poke() // from now on there are heartbeats
	}
	switch b := e.Body.(type) {
	case event.ClaimAcquired:
		r.noteOverlaps(v, a, b)
	case event.HandoverPublished, event.HandoverConsumed, event.HandoverDeclined:
		r.noteHandover(v, a)
	case event.ReviewRequested, event.ReviewAnswered:
		r.noteReview(v, a)
	}
	for _, id := range ch.Sessions {
		r.noteSession(v, a, id)
	}
	for _, k := range ch.Claims {
		r.noteClaim(v, a, k)
	}
	r.wakeChanged(v, ch)
}

// noteSession follows a session's life. One that a new run left behind, because
// more lived than fit, still gets its close, which says so.
func (r *Room) noteSession(v journal.View, a journal.Arrival, id ident.SessionID) {
	s, known := v.State().Session(id)
	if s.State == fold.SessionOpen {
		r.ages.open(s, a.Reloaded, r.reading(a))
		return
	}
	delete(r.ages.sessions, id)
	if !r.own(id) {
		return
	}
	if known {
		delete(r.losses, id.SID)
		delete(r.ended, id.SID)
	}
	if r.reading(a) { // owners are taken up when all is read
		delete(r.notices, id.SID)
		return
	}
	switch o := r.owners[id.SID]; {
	case r.openByEvents(v, id.SID): // it is being opened again
		delete(r.notices, id.SID)
	case s.State == fold.SessionEnded && o != nil:
		o.closing = cmp.Or(o.closing, endedBy(a.Event))
		r.poke()
	default:
		r.forget(id.SID)
	}
}

// reading tells that an event is read back by the opening of the journal. One that
// is believed again is read back too, and is news.
func (r *Room) reading(a journal.Arrival) bool { return a.Reloaded && !r.opened }

// endedBy is why the first event of a run left a session behind: it named others
// and there was no place, or it named none, since the run before was away for too
// long.
func endedBy(e *event.Event) string {
	if first, ok := e.Body.(event.StreamSucceeded); ok && len(first.Sessions) == 0 {
		return reasonAway
	}
	return reasonMany
}

// A standing is what a claim's holder was last told of it.
type standing struct {
	state  fold.StandingState
	fenced bool
}

// noteClaim compares a claim with what its holder knows of it. What is read back
// from disk is judged by events alone, as nobody has been heard yet. An arrival
// without an event tells that something else has changed what stands.
func (r *Room) noteClaim(v journal.View, a journal.Arrival, k event.Key) {
	c, ok := v.State().Claim(k)
	if !ok || !c.Live() {
		if old, known := r.standings[k]; known && ok {
			r.remember(v, c)
			r.noteEnd(v, a, c, old)
		}
		delete(r.standings, k)
		delete(r.ages.claims, k)
		if row := k.String(); v.Local(rowAuto, row) != nil {
			r.spent = append(r.spent, row)
			r.poke()
		}
		return
	}
	if _, known := r.ages.claims[k]; !known {
		r.ages.claims[k] = r.ages.since(c.At, a.Reloaded)
	}
	if !r.own(c.Session) {
		return
	}
	gone := r.gone(v)
	if r.reading(a) {
		gone = nil
	}
	st := v.State().Standing(k, gone)
	now := standing{st.State, len(c.FencedBy) > 0}
	old, known := r.standings[k]
	r.standings[k] = now
	if now.fenced && !old.fenced {
		r.fenced = append(r.fenced, k)
		r.lose(c)
		r.poke()
	}
	if known && old == now || !known && now.state == fold.StandingHeld || plantNotice && now.fenced {
		return
	}
	r.tell(v, a, c.Session, standingNotice(v, c, st, now))
}

func standingNotice(v journal.View, c fold.Claim, st fold.Standing, now standing) api.Notice {
	n := api.Notice{Claim: c.Key.String()}
	winner, by := "another claim", v.State()
	if w, ok := by.Claim(st.By); ok {
		winner = w.Session.SID
		if w.Reason != "" && now.fenced {
			winner += " (" + w.Reason + ")"
		}
	}
	switch {
	case now.fenced:
		n.Kind, n.Text = api.NoticeFenced, fmt.Sprintf("your claim on %s was taken over by %s: stop writing there, claim again", showSet(c.Scope), winner)
	case now.state == fold.StandingConflicted:
		n.Kind, n.Text = api.NoticeConflicted, fmt.Sprintf("your claim on %s lost against %s", showSet(c.Scope), winner)
	case now.state == fold.StandingExpired:
		n.Kind, n.Text = api.NoticeExpired, fmt.Sprintf("your claim on %s has expired", showSet(c.Scope))
	default:
		n.Kind, n.Text = api.NoticeHeld, fmt.Sprintf("you hold %s now", showSet(c.Scope))
	}
	return n
}

// noteEnd tells a holder of an end that it did not write itself. That of a
// fenced claim was told with the fence.
func (r *Room) noteEnd(v journal.View, a journal.Arrival, c fold.Claim, old standing) {
	if a.Event == nil {
		return
	}
	b, ok := a.Event.Body.(event.ClaimReleased)
	if !ok || b.Claim != c.Key || b.By == "" || old.fenced {
		return
	}
	r.tell(v, a, c.Session, api.Notice{
		Kind: api.NoticeReleasedBy, Claim: c.Key.String(),
		Text: fmt.Sprintf("your claim on %s was released by %s: %s", showSet(c.Scope), b.By, words(b.Reason)),
	})
}

// noteOverlaps tells holders of a new claim that meets theirs without excluding
// it: each once, however many of its claims that meets.
func (r *Room) noteOverlaps(v journal.View, a journal.Arrival, b event.ClaimAcquired) {
	fresh, ok := v.State().Claim(a.Event.Key())
	if !ok || !fresh.Live() {
		return
	}
	told := map[ident.SessionID]bool{fresh.Session: true}
	for c := range v.State().Meeting(b.Scope) {
		if told[c.Session] || !r.own(c.Session) || len(c.FencedBy) > 0 || excludes(b.Mode, fresh.Checkout, c.Mode, c.Checkout) {
			continue
		}
		told[c.Session] = true
		m, _ := b.Scope.Meets(c.Scope)
		r.tell(v, a, c.Session, api.Notice{
			Kind: api.NoticeOverlapped, Claim: c.Key.String(),
			Text: join(fmt.Sprintf("%s works on %s too (%s)", fresh.Session.SID, m.Witness, b.Mode), b.Intent),
		})
	}
}

// addressed tells whether a word names a session: by its id, its client or its
// person.
func addressed(to string, s fold.Session) bool {
	for _, name := range []string{s.ID.SID, s.ID.String(), s.Info.Client, s.Info.By, s.Info.Worker} {
		if name != "" && strings.EqualFold(name, to) {
			return true
		}
	}
	return false
}

// ownSessions calls f for every own open session but one.
func (r *Room) ownSessions(v journal.View, but ident.SessionID, f func(fold.Session)) {
	for s := range v.State().OpenSessions() {
		if s.ID != but && r.own(s.ID) {
			f(s)
		}
	}
}

func (r *Room) noteHandover(v journal.View, a journal.Arrival) {
	from, _ := a.Event.Session()
	switch b := a.Event.Body.(type) {
	case event.HandoverPublished:
		text := join(fmt.Sprintf("%s offers handover %s", from.SID, shortID(b.Handover.ID)), firstLine(b.Handover.Body))
		r.ownSessions(v, from, func(s fold.Session) {
			if b.To == "" && b.Handover.Branch == s.Info.Branch || b.To != "" && addressed(b.To, s) {
				r.tell(v, a, s.ID, api.Notice{Kind: api.NoticeHandover, Text: text})
			}
		})
	case event.HandoverConsumed:
		r.tellPublishers(v, a, b.Handover, from, fmt.Sprintf("%s took your handover %s", from.SID, shortID(b.Handover)))
	case event.HandoverDeclined:
		r.tellPublishers(v, a, b.Handover, from, join(fmt.Sprintf("%s declined your handover %s", from.SID, shortID(b.Handover)), b.Reason))
	}
}

func (r *Room) tellPublishers(v journal.View, a journal.Arrival, id string, from ident.SessionID, text string) {
	h, ok := v.State().Handover(id)
	if !ok {
		return
	}
	told := map[ident.SessionID]bool{from: true}
	for _, p := range h.Publications {
		if !told[p.Session] {
			told[p.Session] = true
			r.tell(v, a, p.Session, api.Notice{Kind: api.NoticeHandover, Text: text})
		}
	}
}

func (r *Room) noteReview(v journal.View, a journal.Arrival) {
	from, _ := a.Event.Session()
	switch b := a.Event.Body.(type) {
	case event.ReviewRequested:
		text := fmt.Sprintf("%s asks for a review: %s", from.SID, b.Subject)
		r.ownSessions(v, from, func(s fold.Session) {
			if b.Reviewer == "" || addressed(b.Reviewer, s) {
				r.tell(v, a, s.ID, api.Notice{Kind: api.NoticeReview, Text: text})
			}
		})
	case event.ReviewAnswered:
		if q, ok := v.State().Review(b.Request); ok && q.Session != from {
			text := fmt.Sprintf("%s answered your review %q: %s", from.SID, q.Request.Subject, words(string(b.Verdict)))
			r.tell(v, a, q.Session, api.Notice{Kind: api.NoticeAnswer, Text: text})
		}
	}
}
