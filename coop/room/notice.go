package room

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/fold"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/journal"
)

// MaxNotices is how many unread notices a session keeps; older ones give way,
// and the first that is shown says so.
const MaxNotices = 256

// perEvent bounds the notices that one event causes for one session; with it a
// notice's id is its event's place in the log, and the same after a restart.
const perEvent = 256

// A noticeList holds what one session has not acknowledged.
type noticeList struct {
	notices []api.Notice
	told    uint64 // id of the last one that was acknowledged
	dropped int
}

func (l *noticeList) unread() []api.Notice {
	for i, n := range l.notices {
		if n.ID > l.told {
			return l.notices[i:]
		}
	}
	return nil
}

func (l *noticeList) add(index uint64, n api.Notice) {
	n.ID = index * perEvent
	if k := len(l.notices); k > 0 && l.notices[k-1].ID >= n.ID {
		n.ID = l.notices[k-1].ID + 1
	}
	l.notices = append(l.notices, n)
	if len(l.notices) > MaxNotices {
		l.notices = l.notices[1:]
		l.dropped++
	}
}

// A standing is what a claim's holder was last told of it.
type standing struct {
	state  fold.StandingState
	fenced bool
}

// observe hears of every event that was applied, under the lock: also of those
// that a reload reads, so that notices are the same after a restart. It keeps
// what the room remembers of own sessions and lets waiting claims try again.
func (r *Room) observe(v journal.View, a journal.Arrival, ch fold.Changes) {
	e := a.Event
	switch b := e.Body.(type) {
	case event.SessionClosed:
		if id, ok := e.Session(); ok && r.own(id) {
			r.forget(b.Session)
		}
	case event.SessionOpened:
		if id, ok := e.Session(); ok && !a.Reloaded {
			r.see(id.String())
		}
	case event.ClaimAcquired:
		if !a.Reloaded {
			r.see(e.Key().String())
		}
		r.noteOverlaps(v, a, b)
	case event.HandoverPublished, event.HandoverConsumed, event.HandoverDeclined:
		r.noteHandover(v, a)
	case event.ReviewRequested, event.ReviewAnswered:
		r.noteReview(v, a)
	}
	for _, k := range ch.Claims {
		r.noteStanding(v, a, k)
	}
	r.wakeLocked()
}

func (r *Room) see(name string) {
	if _, ok := r.seen[name]; !ok {
		r.seen[name] = r.clock.Boot()
	}
}

// tell adds a notice for an own session that is open.
func (r *Room) tell(v journal.View, a journal.Arrival, id ident.SessionID, n api.Notice) {
	s, ok := v.State().Session(id)
	if !ok || !r.own(id) || s.State != fold.SessionOpen {
		return
	}
	l := r.notices[id.SID]
	if l == nil {
		l = &noticeList{told: toldIn(v.Local(rowTold, id.SID))}
		r.notices[id.SID] = l
	}
	n.Event, n.At = a.Event.Key().String(), a.Event.At
	l.add(a.Index, n)
}

func toldIn(row []byte) uint64 {
	var told uint64
	if json.Unmarshal(row, &told) != nil {
		return 0 // told again rather than never
	}
	return told
}

// noteStanding compares a claim with what its holder knows of it.
func (r *Room) noteStanding(v journal.View, a journal.Arrival, k event.Key) {
	c, ok := v.State().Claim(k)
	if !ok || !c.Live() {
		if old, known := r.standings[k]; known && ok {
			r.noteEnd(v, a, c, old)
		}
		delete(r.standings, k)
		delete(r.seen, k.String())
		return
	}
	if !r.own(c.Session) {
		return
	}
	st := v.State().Standing(k, r.gone(v))
	now := standing{st.State, len(c.FencedBy) > 0}
	old, known := r.standings[k]
	r.standings[k] = now
	if known && old == now || !known && now.state == fold.StandingHeld {
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
// it.
func (r *Room) noteOverlaps(v journal.View, a journal.Arrival, b event.ClaimAcquired) {
	fresh, ok := v.State().Claim(a.Event.Key())
	if !ok {
		return
	}
	for c := range v.State().Meeting(b.Scope) {
		if !c.Live() || c.Session == fresh.Session || !r.own(c.Session) || excludes(b.Mode, fresh.Checkout, c.Mode, c.Checkout) {
			continue
		}
		m, _ := b.Scope.Meets(c.Scope)
		r.tell(v, a, c.Session, api.Notice{
			Kind: api.NoticeOverlapped, Claim: c.Key.String(),
			Text: join(fmt.Sprintf("%s works on %s too (%s)", fresh.Session.SID, m.Witness, b.Mode), b.Intent),
		})
	}
}

// Notices shows what changed for the acting session without consuming it; with
// Ack it first acknowledges everything up to that id.
func (r *Room) Notices(ctx context.Context, a Actor, req api.NoticesRequest) (api.Notices, error) {
	out := api.Notices{Notices: []api.Notice{}}
	sid, err := r.named(a, "")
	if err != nil {
		return out, err
	}
	out.Session = sid
	if req.Ack > 0 {
		if err := r.acknowledge(ctx, sid, req.Ack); err != nil {
			return out, err
		}
	}
	r.view(func(v look) {
		r.touch(sid)
		l := r.notices[sid]
		if l == nil {
			return
		}
		for _, n := range l.unread() {
			n.AgeMS = max(0, r.clock.Now().Unix()-n.At) * 1000
			out.Notices = append(out.Notices, n)
		}
		out.Dropped = l.dropped
	})
	return out, nil
}

func (r *Room) acknowledge(ctx context.Context, sid string, id uint64) error {
	_, err := r.decide(ctx, func(tx *journal.Tx) error {
		l := r.notices[sid]
		if l == nil || id <= l.told {
			return errUnchanged
		}
		if n := len(l.notices); n == 0 || id > l.notices[n-1].ID {
			return api.Errorf(api.CodeUsage, "notice %d is not known", id).WithHint("acknowledge the id of one that comity notices showed")
		}
		tx.PutLocal(rowTold, sid, []byte(fmt.Sprint(id)))
		l.told, l.dropped = id, 0
		return nil
	})
	return err
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
	for s := range v.State().Sessions() {
		if s.State == fold.SessionOpen && s.ID != but && r.own(s.ID) {
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
