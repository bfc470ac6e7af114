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
	things    []holder
	queue     queue
	met       []*claim // by the one that is judged
	held      []*claim // of those that heldBy meets
	heldBy    *covered // nil when some came to be held since, or not any more
	touched   []holder
	sess      []*session
	handovers []*handover
}

// touch notes that the view of a claim or review changed.
func (w *work) touch(h holder) {
	if t := h.it(); t.noted&notedTouched == 0 {
		t.noted |= notedTouched
		w.touched = append(w.touched, h)
	}
}

func (w *work) push(c *claim) {
	if !c.queued {
		c.queued = true
		heap.Push(&w.queue, c)
	}
}

// doubt has a thing looked at again; nil is nothing.
func (s *State) doubt(h holder) {
	if h == nil {
		return
	}
	if t := h.it(); t.noted&notedDirty == 0 {
		t.noted |= notedDirty
		s.work.things = append(s.work.things, h)
	}
}

// doubtInherited has what rests on a line's listing looked at again, and what
// it fences: whether that counts depends on the checkout of both.
func (s *State) doubtInherited(ln *line) {
	for _, h := range ln.inherited {
		s.doubt(h)
		s.doubtFences(h)
	}
}

// doubtLive has those of things that stand looked at again.
func (s *State) doubtLive(things []holder) {
	for _, h := range things {
		if h.it().live {
			s.doubt(h)
		}
	}
}

func (s *State) doubtFences(h holder) {
	if c, ok := h.(*claim); ok {
		for _, r := range c.fencesOf() {
			s.doubt(r.st.target(r.seq))
		}
	}
}

// unsettle has x looked at again; with ended also what lives of it and what rests
// on its listings.
func (s *State) unsettle(x *session, ended bool) {
	if x.dirty == clean {
		x.dirty = changed
		s.work.sessions = append(s.work.sessions, x)
	}
	if ended {
		x.dirty = ends
	}
}

// rescan has everything in a stream looked at again, rescanAll everything in all
// streams that say something of a session.
func (s *State) rescan(st *stream) {
	if !st.rescan {
		st.rescan = true
		s.work.streams = append(s.work.streams, st)
	}
}

func (s *State) rescanAll(x *session) {
	if x.rescan {
		return
	}
	x.rescan = true
	for _, t := range x.threads.all() {
		for _, ln := range t.lines.all() {
			s.rescan(ln.st)
		}
	}
	s.unsettle(x, false) // which ends it
}

// settle works off what the last event left, until nothing is left.
func (s *State) settle() Changes {
	w := &s.work
	s.version++
	s.digest = ""
	for _, st := range w.streams {
		st.rescan = false
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
			h := w.things[len(w.things)-1]
			w.things = w.things[:len(w.things)-1]
			h.it().noted &^= notedDirty
			switch f := h.(type) {
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
	var standing []holder
	for one := range st.entries.all() {
		switch f := one.(type) {
		case *mark:
			s.unsettle(f.ln.sess, true)
		case *publication:
		case holder:
			f.it().ln.inherited = nil
			standing = append(standing, f)
		}
	}
	for _, h := range standing {
		if h.it().held {
			s.enter(h)
			s.doubtFences(h)
		}
	}
}

// refresh looks again at a session.
func (s *State) refresh(x *session) {
	if x.dirty == ends {
		for _, t := range x.things() {
			s.doubt(t)
		}
		for _, t := range x.threads.all() {
			for _, ln := range t.heirs() {
				s.doubtInherited(ln)
			}
		}
	}
	x.dirty, x.rescan, x.origin = clean, false, [2]*mark{}
	x.open = x.state().open != nil
	s.counted(x)
}

// counted notes that the view of a session changed, or how much lives of it.
func (s *State) counted(x *session) {
	if !x.told {
		x.told = true
		s.work.sess = append(s.work.sess, x)
	}
	active := x.open || len(x.things()) > 0
	switch {
	case active == x.active:
		return
	case active:
		x.rt.active[x] = struct{}{}
	default:
		x.live = nil
		delete(x.rt.active, x)
	}
	x.active = active
}

func (w *work) changes() Changes {
	var c Changes
	for _, x := range w.sess {
		x.told = false
		c.Sessions = append(c.Sessions, x.id())
	}
	for _, h := range w.touched {
		t := h.it()
		t.noted &^= notedTouched
		switch h.(type) {
		case *claim:
			c.Claims = append(c.Claims, t.key())
		case *review:
			c.Reviews = append(c.Reviews, t.key())
		}
	}
	for _, h := range w.handovers {
		h.told = false
		c.Handovers = append(c.Handovers, h.id)
	}
	forget(&w.sess)
	forget(&w.touched)
	forget(&w.handovers)
	slices.SortFunc(c.Sessions, ident.SessionID.Compare)
	slices.SortFunc(c.Claims, event.Key.Compare)
	slices.SortFunc(c.Reviews, event.Key.Compare)
	slices.SortFunc(c.Handovers, strings.Compare)
	return c
}

// forget empties a list and keeps its room only while that is small.
func forget[X any](list *[]X) {
	clear(*list)
	if *list = (*list)[:0]; cap(*list) > 256 {
		*list = nil
	}
}
