package fold

import (
	"iter"
	"slices"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

// SessionState says whether a session goes on, by events alone.
type SessionState string

const (
	SessionOpen   SessionState = "open"
	SessionClosed SessionState = "closed"
	SessionEnded  SessionState = "ended" // its run was succeeded without it
)

// Session is the view of a session. Info and Opened are empty while its opening
// is not held: a later run listed it.
type Session struct {
	ID       ident.SessionID
	Info     event.SessionInfo // of the latest opening
	State    SessionState
	Reason   string       // of the close
	Opened   event.Key    // the opening since which it is open without a break
	OpenedAt int64        // Unix seconds, its author's clock
	Stream   ident.Stream // the run it lives in now, or in which it was last heard of
	Claims   int          // live
}

// Session returns a session that an event opened, closed or listed.
func (s *State) Session(id ident.SessionID) (Session, bool) {
	rt := s.runtimes[id.Runtime]
	if rt == nil || rt.sessions[id.SID] == nil {
		return Session{}, false
	}
	return rt.sessions[id.SID].view()
}

// Sessions yields all sessions, also closed ones, in the order of their ids.
func (s *State) Sessions() iter.Seq[Session] {
	var all []*session
	for _, rt := range s.runtimes {
		for _, x := range rt.sessions {
			if x.known() {
				all = append(all, x)
			}
		}
	}
	return views(all)
}

// OpenSessions yields the open ones, in the order of their ids. It costs what they are.
func (s *State) OpenSessions() iter.Seq[Session] {
	var all []*session
	for _, rt := range s.runtimes {
		for x := range rt.active {
			if x.open {
				all = append(all, x)
			}
		}
	}
	return views(all)
}

func views(all []*session) iter.Seq[Session] {
	slices.SortFunc(all, func(a, b *session) int { return a.id().Compare(b.id()) })
	return sorted(all, func(x *session) Session {
		v, _ := x.view()
		return v
	})
}

// known tells whether an event in effect opened, closed or listed the session.
func (x *session) known() bool {
	return slices.ContainsFunc(x.threads.all(), func(t *thread) bool { return len(t.lists())+len(t.opened.all())+len(t.closed.all()) > 0 })
}

func (x *session) view() (Session, bool) {
	if !x.known() {
		return Session{}, false
	}
	l := x.state()
	v := Session{ID: x.id(), Info: l.info(), State: SessionEnded, Claims: int(x.claims)}
	if l.opening != nil {
		first := x.since(l.opening)
		v.Opened, v.OpenedAt, v.Stream = first.key(), first.at, l.opening.ln.st.id
	}
	switch {
	case l.open != nil:
		v.State, v.Stream = SessionOpen, l.open.id
	case l.latest != nil && l.latest.info == nil:
		v.State, v.Reason, v.Stream = SessionClosed, said(l.latest.reason), l.latest.ln.st.id
	}
	return v, true
}
