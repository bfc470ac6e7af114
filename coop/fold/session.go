package fold

import (
	"cmp"
	"iter"
	"slices"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

// A session is a name in a runtime and all that is known of it.
type session struct {
	rt      *runtime
	sid     string
	threads []*thread // one per record that says something of it, in no order
	live    []*thing  // claims and reviews that stand, in no order
	claims  int       // of them
	origin  [2]*mark  // since() of an opening, as it was last asked for
	open    bool
	dirty   bool
	ends    bool // dirty because something may have ended or stands again
	rescan  bool // all its streams are being looked at again
	told    bool // among the changed
}

// A line is what one stream says of one session, its listing apart.
type line struct {
	sess      *session
	st        *stream
	thread    *thread
	marks     []*mark // openings and closes in effect, by seq
	opening   *mark   // the last of each, nil when there is none
	closing   *mark
	inherited []*thing // written before any opening of this stream: they rest on the listing
}

// A mark is an opening of a session, or a close when info is nil.
type mark struct {
	act
	info   *event.SessionInfo
	reason string
	first  *mark // the opening since which this stream shows it open; of openings
}

func (rt *runtime) session(sid string) *session {
	x := rt.sessions[sid]
	if x == nil {
		x = &session{rt: rt, sid: sid}
		rt.sessions[sid] = x
	}
	return x
}

func (x *session) id() ident.SessionID { return ident.SessionID{Runtime: x.rt.id, SID: x.sid} }

func (s *State) line(st *stream, sid string) *line {
	t := st.rt.session(sid).thread(st.rec)
	i, ok := slices.BinarySearchFunc(t.lines, st, lineRun)
	if !ok {
		t.lines = slices.Insert(t.lines, i, &line{sess: t.sess, st: st, thread: t})
	}
	return t.lines[i]
}

func (s *State) readOpened(st *stream, h head, b event.SessionOpened) *mark {
	m := &mark{act: s.act(st, h, b.Info.Session), info: &b.Info}
	if n := len(m.ln.marks); n > 0 {
		if last := m.ln.marks[n-1].info; last != nil && sameInfo(last, m.info) {
			m.info = last
		}
	}
	return m
}

func sameInfo(a, b *event.SessionInfo) bool {
	x, y := *a, *b
	x.Dirty, y.Dirty = nil, nil
	return x == y && (a.Dirty == b.Dirty || a.Dirty != nil && b.Dirty != nil && *a.Dirty == *b.Dirty)
}

func (s *State) readClosed(st *stream, h head, b event.SessionClosed) *mark {
	return &mark{act: s.act(st, h, b.Session), reason: b.Reason}
}

func (m *mark) body() event.Body {
	if m.info == nil {
		return event.SessionClosed{Session: m.ln.sess.sid, Reason: m.reason}
	}
	return event.SessionOpened{Info: *m.info}
}

func (m *mark) on(s *State) {
	ln, t, was := m.ln, m.ln.thread, m.ln.last()
	t.learn()
	i, _ := ln.place(m.seq)
	ln.marks = slices.Insert(ln.marks, i, m)
	ln.chain(i)
	if last := ln.latest(m.info != nil); *last == nil || (*last).seq < m.seq {
		*last = m
	}
	s.unsettle(ln.sess, false)
	if m.info == nil {
		add(&t.closed, ln)
		t.ends(m)
		s.close(m)
		return
	}
	add(&t.opened, ln)
	until, first := t.settles(m)
	if was == nil || was.info == nil || ln.last() != m || was.info.Checkout != m.info.Checkout {
		s.reopen(ln, until, first)
	}
}

// close looks again at what a close may end: what lives of the session, and what
// rests on the listing of a later run that finds the close when it looks down. What
// stands behind a mark in its own stream is there only when the mark is out of its
// turn, and then the whole stream is looked through.
func (s *State) close(m *mark) {
	for _, t := range m.ln.sess.live {
		if t.precedes(&m.act) {
			s.doubt(t)
		}
	}
	t := m.ln.thread
	for _, heir := range after(t.heirs, m.ln.st) {
		if _, v := t.beneath(heir.st); v != m.ln.st {
			return
		}
		s.doubtInherited(heir)
	}
}

// reopen looks again at what rests on listings of runs after an opening: up to
// the next run with an opening it is backed by this one and in its checkout, and
// up to the run that told first of the checkout, which is until, there is one
// more in which the session may have been.
func (s *State) reopen(ln *line, until *stream, first bool) {
	t := ln.thread
	for _, heir := range after(t.heirs, ln.st) {
		widened := first && (until == nil || heir.st.number() <= until.number())
		if !widened && last(before(t.opened, heir.st)) != ln {
			return
		}
		s.doubtInherited(heir)
	}
}

func (m *mark) off(s *State) {
	ln, t := m.ln, m.ln.thread
	if i, ok := ln.place(m.seq); ok {
		ln.marks = slices.Delete(ln.marks, i, i+1)
		ln.chain(i)
	}
	if last := ln.latest(m.info != nil); *last == m {
		*last = nil
		for _, n := range slices.Backward(ln.marks) {
			if (n.info != nil) == (m.info != nil) {
				*last = n
				break
			}
		}
	}
	if ln.opening == nil {
		remove(&t.opened, ln)
	}
	if ln.closing == nil {
		remove(&t.closed, ln)
	}
	t.stale = true
	s.unsettle(ln.sess, true)
	if m.info == nil { // what it ended may stand again
		s.rescanAll(ln.sess)
	}
}

// latest is where the line keeps its last opening or close.
func (ln *line) latest(opening bool) **mark {
	if opening {
		return &ln.opening
	}
	return &ln.closing
}

// place is where seq stands or would stand among the marks.
func (ln *line) place(seq uint64) (int, bool) {
	return slices.BinarySearchFunc(ln.marks, seq, func(m *mark, seq uint64) int { return cmp.Compare(m.seq, seq) })
}

// chain sets first in the run of openings that a change at place i began, cut
// or joined.
func (ln *line) chain(i int) {
	if i < len(ln.marks) && ln.marks[i].info == nil {
		i++
	}
	for ; i < len(ln.marks) && ln.marks[i].info != nil; i++ {
		m := ln.marks[i]
		m.first = m
		if i > 0 && ln.marks[i-1].info != nil {
			m.first = ln.marks[i-1].first
		}
	}
}

// last is the last mark, nil when there is none.
func (ln *line) last() *mark {
	if ln == nil || len(ln.marks) == 0 {
		return nil
	}
	return ln.marks[len(ln.marks)-1]
}

// closes are the closes of the session that a precedes: of each record some, but
// the last by the order that all runtimes share is among them.
func (x *session) closes(a *act) iter.Seq[*mark] {
	return func(yield func(*mark) bool) {
		for _, t := range x.threads {
			for m := range t.closes(a) {
				if !yield(m) {
					return
				}
			}
		}
	}
}

// closed tells whether a close of the session follows a.
func (x *session) closed(a *act) bool {
	for range x.closes(a) {
		return true
	}
	return false
}

// closedAfter returns the last close that follows a, nil when there is none.
func (x *session) closedAfter(a *act) *mark {
	var found *mark
	for m := range x.closes(a) {
		if found == nil || found.order(&m.act) < 0 {
			found = m
		}
	}
	return found
}
