package fold

import (
	"container/heap"
	"slices"
	"strings"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

// Changes names everything whose view or standing by events may differ now,
// each list sorted and without repeats: also the claims that the change of
// another one beats or frees. A second end of what has ended already, which can
// change the reason that a view gives, is not named, nor is who published a
// handover when only that session's info changes.
type Changes struct {
	Sessions  []ident.SessionID
	Claims    []event.Key
	Handovers []string
	Reviews   []event.Key
}

// work is what one event leaves to be looked at again, and what it changed.
type work struct {
	streams   []*stream
	sessions  []*session
	things    []*thing
	queue     queue
	touched   map[fact]struct{}
	sess      map[*session]struct{}
	handovers map[*handover]struct{}
}

func add[K comparable](m *map[K]struct{}, k K) {
	if *m == nil {
		*m = map[K]struct{}{}
	}
	(*m)[k] = struct{}{}
}

// touch notes that the view of a claim or review changed.
func (w *work) touch(f fact) { add(&w.touched, f) }

func (w *work) push(c *claim) {
	if !c.queued {
		c.queued = true
		heap.Push(&w.queue, c)
	}
}

// doubt has t looked at again; nil is nothing.
func (s *State) doubt(t *thing) {
	if t != nil && !t.dirty {
		t.dirty = true
		s.work.things = append(s.work.things, t)
	}
}

// doubtInherited has what rests on a line's listing looked at again, and what
// it fences: whether that counts depends on the checkout of both.
func (s *State) doubtInherited(ln *line) {
	for _, t := range ln.inherited {
		s.doubt(t)
		s.doubtFences(t)
	}
}

func (s *State) doubtFences(t *thing) {
	if c, ok := t.self.(*claim); ok {
		for _, r := range c.fencesOf() {
			s.doubt(r.st.target(r.seq))
		}
	}
}

// unsettle has x looked at again, and what lives of it when something may have ended it.
func (s *State) unsettle(x *session, ends bool) {
	x.ends = x.ends || ends
	if !x.dirty {
		x.dirty = true
		s.work.sessions = append(s.work.sessions, x)
	}
}

// rescan has everything in a stream looked at again.
func (s *State) rescan(st *stream) {
	if !slices.Contains(s.work.streams, st) {
		s.work.streams = append(s.work.streams, st)
	}
}

// settle works off what the last event left, until nothing is left.
func (s *State) settle() Changes {
	w := &s.work
	s.version++
	s.digest = ""
	for _, st := range w.streams {
		s.rebirth(st)
	}
	w.streams = w.streams[:0]
	for len(w.sessions) > 0 || len(w.things) > 0 {
		for len(w.sessions) > 0 {
			x := w.sessions[len(w.sessions)-1]
			w.sessions = w.sessions[:len(w.sessions)-1]
			s.refresh(x)
		}
		for len(w.things) > 0 {
			t := w.things[len(w.things)-1]
			w.things = w.things[:len(w.things)-1]
			t.dirty = false
			switch f := t.self.(type) {
			case *claim:
				f.weigh(s)
			case *review:
				f.weigh(s)
			case *publication:
				s.renew(f.in)
			}
		}
	}
	s.judge()
	return w.changes()
}

// rebirth looks again at what rests on the marks of a stream that changed out
// of turn.
func (s *State) rebirth(st *stream) {
	var standing []*thing
	for i := range st.entries {
		switch f := st.entries[i].fact.(type) {
		case *mark:
			s.unsettle(f.ln.sess, true)
		case *publication:
		case holder:
			f.it().ln.inherited = nil
			standing = append(standing, f.it())
		}
	}
	for _, t := range standing {
		if t.held {
			s.enter(t)
			s.doubtFences(t)
		}
	}
}

// refresh looks again at a session.
func (s *State) refresh(x *session) {
	if x.ends {
		for _, t := range x.live {
			s.doubt(t)
		}
		for _, ln := range x.lines {
			s.doubtInherited(ln)
		}
	}
	x.dirty, x.ends = false, false
	x.open = x.state().open != nil
	s.counted(x)
}

// counted notes that the view of a session changed, or how much lives of it.
func (s *State) counted(x *session) {
	add(&s.work.sess, x)
	if x.open || len(x.live) > 0 {
		x.rt.active[x] = struct{}{}
	} else {
		delete(x.rt.active, x)
	}
}

// forgetAll empties a set and keeps it only while it is small: one large event
// must not make every later one sweep what it needed.
func forgetAll[K comparable](m *map[K]struct{}) {
	if len(*m) > 64 {
		*m = nil
	}
	clear(*m)
}

func (w *work) changes() Changes {
	var c Changes
	for x := range w.sess {
		c.Sessions = append(c.Sessions, x.id())
	}
	for f := range w.touched {
		switch f := f.(type) {
		case *claim:
			c.Claims = append(c.Claims, f.key())
		case *review:
			c.Reviews = append(c.Reviews, f.key())
		}
	}
	for h := range w.handovers {
		c.Handovers = append(c.Handovers, h.id)
	}
	forgetAll(&w.sess)
	forgetAll(&w.touched)
	forgetAll(&w.handovers)
	slices.SortFunc(c.Sessions, ident.SessionID.Compare)
	slices.SortFunc(c.Claims, event.Key.Compare)
	slices.SortFunc(c.Reviews, event.Key.Compare)
	slices.SortFunc(c.Handovers, strings.Compare)
	return c
}
