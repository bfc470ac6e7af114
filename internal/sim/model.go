package sim

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/fold"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/journal"
)

// A model is the state that some events make, worked out from all of them at once
// by the rules as the design says them, with no index and no memory. It knows
// honest machines only: no key that two of them use, no damage, no checkpoints.
type model struct {
	events []*event.Event
	first  map[ident.Stream]event.StreamSucceeded
	claims []*modelClaim
	latest map[string]uint64 // run, by record
}

type modelClaim struct {
	*event.Event
	event.ClaimAcquired
	checkout ident.CheckoutID
	session  ident.SessionID
	live     bool
	fenced   bool
	held     bool
}

func newModel(events []*event.Event) *model {
	m := &model{events: events, first: map[ident.Stream]event.StreamSucceeded{}, latest: map[string]uint64{}}
	for _, e := range events {
		if b, ok := e.Body.(event.StreamSucceeded); ok && e.Seq == 1 {
			m.first[e.Stream] = b
			m.latest[b.Record] = max(m.latest[b.Record], b.Run)
		}
	}
	for _, e := range events {
		if b, ok := e.Body.(event.ClaimAcquired); ok {
			id, _ := e.Session()
			m.claims = append(m.claims, &modelClaim{Event: e, ClaimAcquired: b, session: id})
		}
	}
	slices.SortFunc(m.claims, func(a, b *modelClaim) int {
		return cmp.Or(cmp.Compare(a.Lamport, b.Lamport), a.Key().Compare(b.Key()))
	})
	for _, c := range m.claims {
		c.live, c.checkout = !m.ended(c), m.checkoutOf(c)
	}
	for _, c := range m.claims {
		c.fenced = slices.ContainsFunc(m.claims, func(by *modelClaim) bool { return m.fences(by, c) })
	}
	for i, c := range m.claims {
		c.held = c.live && !c.fenced && !slices.ContainsFunc(m.claims[:i], func(d *modelClaim) bool { return d.held && m.against(d, c) })
	}
	return m
}

// precedes is the order of two events of one runtime.
func (m *model) precedes(a, b *event.Event) bool {
	if a.Stream == b.Stream {
		return a.Seq < b.Seq
	}
	fa, fb := m.first[a.Stream], m.first[b.Stream]
	return fa.Record == fb.Record && fa.Run < fb.Run
}

func (m *model) ended(c *modelClaim) bool {
	for _, e := range m.events {
		if e.Stream.Runtime() != c.Stream.Runtime() {
			continue
		}
		switch b := e.Body.(type) {
		case event.ClaimReleased:
			if b.Claim == c.Key() && b.Session == c.Session() {
				return true
			}
		case event.SessionClosed:
			if b.Session == c.Session() && m.precedes(c.Event, e) {
				return true
			}
		case event.StreamSucceeded:
			mine := m.first[c.Stream]
			if b.Record == mine.Record && b.Run > mine.Run && !(slices.Contains(b.Sessions, c.Session()) && slices.Contains(b.Streams, c.Stream)) {
				return true
			}
		}
	}
	return false
}

// Session is the session's own name.
func (c *modelClaim) Session() string { return c.ClaimAcquired.Session }

// checkoutOf is where the session said that it is, last before the claim.
func (m *model) checkoutOf(c *modelClaim) (id ident.CheckoutID) {
	var last *event.Event
	for _, e := range m.events {
		b, ok := e.Body.(event.SessionOpened)
		if ok && e.Stream.Runtime() == c.Stream.Runtime() && b.Info.Session == c.Session() && m.precedes(e, c.Event) && (last == nil || m.precedes(last, e)) {
			last, id = e, b.Info.Checkout
		}
	}
	return id
}

func (m *model) against(a, b *modelClaim) bool {
	if a.session == b.session || !excludes(a.Mode, a.checkout, b.Mode, b.checkout) {
		return false
	}
	_, ok := a.Scope.Meets(b.Scope)
	return ok
}

func (m *model) fences(by, c *modelClaim) bool {
	return slices.Contains(by.Fences, c.Key()) && by.Lamport > c.Lamport && m.against(by, c)
}

// open are the open sessions.
func (m *model) open() map[ident.SessionID]bool {
	out := map[ident.SessionID]bool{}
	for s, f := range m.first {
		if f.Run != m.latest[f.Record] {
			continue
		}
		for _, sid := range f.Sessions {
			out[ident.SessionID{Runtime: s.Runtime(), SID: sid}] = true
		}
		marks := slices.DeleteFunc(slices.Clone(m.events), func(e *event.Event) bool { return e.Stream != s })
		slices.SortFunc(marks, func(a, b *event.Event) int { return cmp.Compare(a.Seq, b.Seq) })
		for _, e := range marks {
			id, _ := e.Session()
			switch e.Body.(type) {
			case event.SessionOpened:
				out[id] = true
			case event.SessionClosed:
				delete(out, id)
			}
		}
	}
	return out
}

// checkModel holds m's state against the model of what it holds.
func (m *machine) checkModel() {
	if m.disk.failing { // it may not be readable
		return
	}
	p, err := m.j.Page("", 1<<20)
	if err != nil {
		fail(WalkedOnce, "%s: %v", m.name, err)
	}
	var events []*event.Event
	for _, a := range p.Arrivals {
		if !m.w.honest(a.Event.Stream) {
			return // what a hostile key says is not the model's
		}
		events = append(events, a.Event)
	}
	if len(m.j.Health().SecondUsers) > 0 || m.w.cloned {
		return
	}
	want := newModel(events)
	m.j.View(func(v journal.View) {
		if d := want.differs(v.State()); d != "" {
			fail(AsTheModel, "%s: %s", m.name, d)
		}
	})
}

func (m *model) differs(s *fold.State) string {
	for _, c := range m.claims {
		have, ok := s.Claim(c.Key())
		st := s.Standing(c.Key(), nil).State
		held := c.held || c.live && c.Mode == event.ModeAdvisory
		switch {
		case !ok:
			return fmt.Sprintf("claim %s is not known", c.Key())
		case have.Live() != c.live:
			return fmt.Sprintf("claim %s lives: %v, want %v", c.Key(), have.Live(), c.live)
		case len(have.FencedBy) > 0 != c.fenced:
			return fmt.Sprintf("claim %s is fenced: %v, want %v", c.Key(), have.FencedBy, c.fenced)
		case (st == fold.StandingHeld) != held:
			return fmt.Sprintf("claim %s is %s, want held %v", c.Key(), st, held)
		}
	}
	open := m.open()
	for sess := range s.OpenSessions() {
		if !open[sess.ID] {
			return fmt.Sprintf("session %s is open\n%s", sess.ID, m.said(sess.ID))
		}
		delete(open, sess.ID)
	}
	for id := range open {
		return fmt.Sprintf("session %s is not open\n%s", id, m.said(id))
	}
	return ""
}

// said is all that was said of a session, for a message.
func (m *model) said(id ident.SessionID) (out string) {
	for _, e := range m.events {
		of, _ := e.Session()
		b, first := e.Body.(event.StreamSucceeded)
		if of == id || first && e.Stream.Runtime() == id.Runtime {
			out += fmt.Sprintf("%s at %d: %s run %d of %.4s lists %v\n", e.Key(), e.Lamport, e.Body.Kind(), m.first[e.Stream].Run, m.first[e.Stream].Record, b.Sessions)
		}
	}
	return out
}
