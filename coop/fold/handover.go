package fold

import (
	"slices"
	"strings"

	"github.com/comity-dev/comity/coop/event"
)

// A handover is all that is said of one text, by whomever.
type handover struct {
	id      string
	pubs    []*publication
	takings []*taking
	open    bool
	told    bool // among the changed
}

// A publication offers a handover. It is a thing for what withdraws it.
type publication struct {
	thing
	in   *handover
	to   string
	what event.Handover
}

func (s *State) handover(id string) *handover {
	h := s.handovers[id]
	if h == nil {
		h = &handover{id: strings.Clone(id)}
		s.handovers[h.id] = h
	}
	return h
}

func (s *State) readPublication(st *stream, h head, b event.HandoverPublished) *publication {
	p := &publication{thing: thing{act: s.act(st, h, b.Session)}, in: s.handover(b.Handover.ID), to: b.To, what: b.Handover}
	if len(p.in.pubs) > 0 && p.in.pubs[0].what.Body == p.what.Body {
		p.what.Body = p.in.pubs[0].what.Body // held once
	}
	st.adopt(&p.thing)
	return p
}

func (p *publication) body() event.Body {
	return event.HandoverPublished{Session: p.ln.sess.sid, To: p.to, Handover: p.what}
}

func (p *publication) on(s *State) {
	p.held = true
	p.in.pubs = append(p.in.pubs, p)
	s.renew(p.in)
}

func (p *publication) off(s *State) {
	p.held = false
	p.in.pubs = slices.DeleteFunc(p.in.pubs, func(q *publication) bool { return p == q })
	s.renew(p.in)
}

// withdrawn tells whether the session that published it took it back.
func (p *publication) withdrawn() bool {
	for f := range p.refs.all() {
		if w, ok := f.(*withdrawal); ok && p.own(&w.act) {
			return true
		}
	}
	return false
}

// A taking takes or declines a handover, in the publications it was seen in.
type taking struct {
	act
	id       string
	of       []ref
	declined bool
	reason   *string
}

func (t *taking) body() event.Body {
	if t.declined {
		return event.HandoverDeclined{Handover: t.id, Publications: keysOf(t.of), Session: t.ln.sess.sid, Reason: said(t.reason)}
	}
	return event.HandoverConsumed{Handover: t.id, Publications: keysOf(t.of), Session: t.ln.sess.sid}
}

func (t *taking) on(s *State) {
	h := s.handover(t.id)
	h.takings = append(h.takings, t)
	s.renew(h)
}

func (t *taking) off(s *State) {
	h := s.handover(t.id)
	h.takings = slices.DeleteFunc(h.takings, func(u *taking) bool { return t == u })
	s.renew(h)
}

// A withdrawal takes a publication back.
type withdrawal struct {
	act
	of ref
}

func (w *withdrawal) body() event.Body {
	return event.HandoverWithdrawn{Publication: w.of.key(), Session: w.ln.sess.sid}
}

func (w *withdrawal) on(s *State)  { s.doubt(w.of.join(w)) }
func (w *withdrawal) off(s *State) { s.doubt(w.of.part(w)) }

// renew looks again at whether a handover is open: some publication of it is
// neither withdrawn nor named by a taking. Who takes one publication leaves
// what is published again later.
func (s *State) renew(h *handover) {
	taken := map[ref]bool{}
	for _, t := range h.takings {
		if !t.declined {
			for _, r := range t.of {
				taken[r] = true
			}
		}
	}
	h.open = slices.ContainsFunc(h.pubs, func(p *publication) bool {
		return !p.withdrawn() && !taken[ref{p.ln.st, p.seq}]
	})
	if h.open {
		s.offers[h] = struct{}{}
	} else {
		delete(s.offers, h)
	}
	if !h.told {
		h.told = true
		s.work.handovers = append(s.work.handovers, h)
	}
}
