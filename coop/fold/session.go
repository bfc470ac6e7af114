package fold

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

// A session is a name in a runtime and all that is known of it.
type session struct {
	rt      *runtime
	sid     string
	threads few[thread] // one per record that says something of it, in no order
	live    *[]holder   // claims and reviews that stand, in no order; nil while none does and it is not open
	origin  [2]*mark    // since() of an opening, as it was last asked for
	info    *info       // as it was last told, and words of a claim: to be held once
	words   *words
	claims  int32 // that stand
	open    bool
	dirty   dirt
	rescan  bool // all its streams are being looked at again
	told    bool // among the changed
	active  bool // among those of its runtime
}

// dirt says why a session is to be looked at again.
type dirt uint8

const (
	clean dirt = iota
	changed
	ends // something may have ended or stands again
)

// A line is what one stream says of one session, its listing apart.
type line struct {
	sess      *session
	st        *stream
	thread    *thread
	opens     []*mark  // openings in effect, by seq
	closes    []*mark  // closes in effect, by seq
	inherited []holder // written before any opening of this stream: they rest on the listing
}

// A mark is an opening of a session, or a close when info is nil.
type mark struct {
	act
	info   *info
	reason *string // of a close
}

func (rt *runtime) session(sid string) *session {
	x := rt.sessions[sid]
	if x == nil {
		x = &session{rt: rt, sid: strings.Clone(sid)}
		rt.sessions[x.sid] = x
	}
	return x
}

// things are the claims and reviews of x that stand.
func (x *session) things() []holder {
	if x.live == nil {
		return nil
	}
	return *x.live
}

func (x *session) id() ident.SessionID { return ident.SessionID{Runtime: x.rt.id, SID: x.sid} }

func (s *State) line(st *stream, sid string) *line {
	if st.latest != nil && st.latest.sess.sid == sid {
		return st.latest
	}
	t := st.rt.session(sid).thread(st.rec)
	ln := t.lines.find(st)
	if ln == nil {
		ln = &line{sess: t.sess, st: st, thread: t}
		t.lines.add(ln)
	}
	st.latest = ln
	return ln
}

func (s *State) readOpened(st *stream, h head, b event.SessionOpened) *mark {
	m := &mark{act: s.act(st, h, b.Info.Session)}
	x := m.ln.sess
	x.info = s.info(x.info, &b.Info)
	m.info = x.info
	return m
}

func (s *State) readClosed(st *stream, h head, b event.SessionClosed) *mark {
	return &mark{act: s.act(st, h, b.Session), reason: s.word(b.Reason)}
}

func (m *mark) body() event.Body {
	if m.info == nil {
		return event.SessionClosed{Session: m.ln.sess.sid, Reason: said(m.reason)}
	}
	return event.SessionOpened{Info: m.info.of(m.ln.sess.sid)}
}

func (m *mark) on(s *State) {
	ln, t, was := m.ln, m.ln.thread, m.ln.last()
	t.learn()
	list := ln.list(m)
	*list = slices.Insert(*list, markPlace(*list, m.seq), m)
	s.unsettle(ln.sess, false)
	if m.info == nil {
		t.closed.add(ln)
		t.ends(m)
		s.close(m)
		return
	}
	t.opened.add(ln)
	until, first := t.settles(m)
	if was == nil || was.info == nil || ln.last() != m || was.info.checkout() != m.info.checkout() {
		s.reopen(ln, until, first)
	}
}

// close looks again at what a close may end: what lives of the session, and what
// rests on the listing of a later run that finds the close when it looks down. What
// stands behind a mark in its own stream is there only when the mark is out of its
// turn, and then the whole stream is looked through.
func (s *State) close(m *mark) {
	for _, h := range m.ln.sess.things() {
		if h.it().precedes(&m.act) {
			s.doubt(h)
		}
	}
	t := m.ln.thread
	for _, heir := range after(t.heirs(), m.ln.st) {
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
	for _, heir := range after(t.heirs(), ln.st) {
		widened := first && (until == nil || heir.st.number() <= until.number())
		if !widened && t.opened.lastBefore(heir.st) != ln {
			return
		}
		s.doubtInherited(heir)
	}
}

func (m *mark) off(s *State) {
	ln, t := m.ln, m.ln.thread
	list := ln.list(m)
	if i := slices.Index(*list, m); i >= 0 {
		*list = slices.Delete(*list, i, i+1)
	}
	if len(ln.opens) == 0 {
		t.opened.remove(ln)
	}
	if len(ln.closes) == 0 {
		t.closed.remove(ln)
	}
	t.stale = true
	s.unsettle(ln.sess, true)
	if m.info == nil { // what it ended may stand again
		s.rescanAll(ln.sess)
	}
}

// list is where the line keeps a mark.
func (ln *line) list(m *mark) *[]*mark {
	if m.info != nil {
		return &ln.opens
	}
	return &ln.closes
}

// markPlace counts those of marks, by seq, that come before a place.
func markPlace(marks []*mark, seq uint64) int {
	i, _ := slices.BinarySearchFunc(marks, seq, func(m *mark, seq uint64) int { return cmp.Compare(m.seq, seq) })
	return i
}

// end is the last of marks, nil when there is none.
func end(marks []*mark) *mark {
	if len(marks) == 0 {
		return nil
	}
	return marks[len(marks)-1]
}

func (ln *line) opening() *mark { return end(ln.opens) }
func (ln *line) closing() *mark { return end(ln.closes) }

// before is the last mark before a place, nil when there is none.
func (ln *line) before(seq uint64) *mark {
	return later(end(ln.opens[:markPlace(ln.opens, seq)]), end(ln.closes[:markPlace(ln.closes, seq)]))
}

// last is the last mark, nil when there is none.
func (ln *line) last() *mark {
	if ln == nil {
		return nil
	}
	return later(ln.opening(), ln.closing())
}

// later is the later of two marks of a line, either of which may be nil.
func later(m, n *mark) *mark {
	if m == nil || n != nil && n.seq > m.seq {
		return n
	}
	return m
}

// first is the opening since which its stream shows the session open up to m, an
// opening in effect.
func (m *mark) first() *mark {
	after := uint64(0)
	if c := end(m.ln.closes[:markPlace(m.ln.closes, m.seq)]); c != nil {
		after = c.seq
	}
	return m.ln.opens[markPlace(m.ln.opens, after)]
}

// closes are the closes of the session that a precedes: of each record some, but
// the last by the order that all runtimes share is among them.
func (x *session) closes(a *act) iter.Seq[*mark] {
	return func(yield func(*mark) bool) {
		for _, t := range x.threads.all() {
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
