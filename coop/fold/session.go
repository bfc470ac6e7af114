package fold

import (
	"cmp"
	"slices"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

// A session is a name in a runtime and all that is known of it.
type session struct {
	rt    *runtime
	sid   string
	lines []*line  // one per stream that says something of it, in no order
	live  []*thing // claims and reviews that stand, in no order
	lists int      // successions that list it
	open  bool
	dirty bool
	ends  bool // dirty because something may have ended
}

// A line is what one stream says of one session.
type line struct {
	sess      *session
	st        *stream
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

// in returns the line of st, nil when there is none.
func (x *session) in(st *stream) *line {
	for _, ln := range slices.Backward(x.lines) {
		if ln.st == st {
			return ln
		}
	}
	return nil
}

func (s *State) line(st *stream, sid string) *line {
	x := st.rt.session(sid)
	ln := x.in(st)
	if ln == nil {
		ln = &line{sess: x, st: st}
		x.lines = append(x.lines, ln)
	}
	return ln
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
	ln := m.ln
	i, _ := ln.place(m.seq)
	ln.marks = slices.Insert(ln.marks, i, m)
	ln.chain(i)
	if last := ln.latest(m.info != nil); *last == nil || (*last).seq < m.seq {
		*last = m
	}
	s.marked(m)
}

func (m *mark) off(s *State) {
	ln := m.ln
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
	s.marked(m)
	if m.info == nil { // what it ended may stand again
		for _, ln := range ln.sess.lines {
			s.rescan(ln.st)
		}
	}
}

// latest is where the line keeps its last opening or close.
func (ln *line) latest(opening bool) **mark {
	if opening {
		return &ln.opening
	}
	return &ln.closing
}

// marked looks again at what a mark can change: the session, what lives of it
// (a close ends it), what rests on its listing in later runs (an opening tells
// its checkout). What stands behind the mark in its own stream is there only
// when the mark is out of its turn, and then the whole stream is looked through.
func (s *State) marked(m *mark) {
	s.unsettle(m.ln.sess, m.info == nil)
	for _, ln := range m.ln.sess.lines {
		if ln.st != m.ln.st {
			s.doubtInherited(ln)
		}
	}
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

// closedAfter returns a close of the session that a precedes, nil when there is none.
func (x *session) closedAfter(a *act) *mark {
	var found *mark
	for _, ln := range x.lines {
		if c := ln.closing; c != nil && a.precedes(&c.act) && (found == nil || found.order(&c.act) < 0) {
			found = c
		}
	}
	return found
}

// backed tells whether the listing of sid by run u stands for an opening. A
// session is listed because its process lives, and its opening may not be held
// here yet; but a listing does not bring back what is known to have ended
// before. So it counts unless the latest end known before u (a close, or a run
// that did not list it) is followed by no opening held and by no run that u
// names, in which an opening could still come.
func (x *session) backed(u *stream) bool {
	runs := u.rt.records[u.run.record]
	i, _ := slices.BinarySearchFunc(runs, u, byRun)
	named := x.namesUnknown(u)
	for i--; i >= 0; i-- {
		v := runs[i]
		if v.run.run == u.run.run {
			continue
		}
		named = named || u.run.names(v)
		if m := x.in(v).last(); m != nil {
			return m.info != nil || named
		}
		if !v.run.lists(x.sid) {
			return named
		}
	}
	return true
}

// namesUnknown tells whether u names a stream of which it is not known yet
// which run it is.
func (x *session) namesUnknown(u *stream) bool {
	for _, id := range u.run.streams {
		if st := x.rt.known(id); st == nil || !st.holds(1) {
			return true
		}
	}
	return false
}
