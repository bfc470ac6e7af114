package fold

import "github.com/comity-dev/comity/coop/event"

// A lifetime is what all streams together say of a session.
type lifetime struct {
	open    *stream // the run it now lives in, nil when it is not open
	latest  *mark   // the last word on it
	opening *mark   // the last opening: who it is
}

// state works out what the session is. In each record only the latest run
// counts: it lists the session or has ended it.
func (x *session) state() lifetime {
	var l lifetime
	var in *thread
	var since act
	for _, t := range x.threads.all() {
		for _, u := range t.rec.top() {
			a, ok := t.anchor(u)
			if ok && (in == nil || since.order(&a) < 0) && !x.closed(&a) {
				since, l.open, in = a, u, t
			}
		}
	}
	if in != nil {
		l.latest, l.opening = in.last()
		return l
	}
	for _, t := range x.threads.all() {
		m, o := t.last()
		if m != nil && (l.latest == nil || l.latest.order(&m.act) < 0) {
			l.latest, l.opening = m, o
		}
	}
	return l
}

// last is the thread's last word on its session, and its last opening.
func (t *thread) last() (m, opening *mark) {
	o := t.opened.last()
	if o != nil {
		opening = o.opening()
	}
	return latest(o, t.closed.last()), opening
}

// anchor is what keeps the session open in u: its last opening there, else its
// listing. There is none when a close follows.
func (t *thread) anchor(u *stream) (a act, ok bool) {
	ln := t.line(u)
	if m := ln.last(); m != nil {
		return m.act, m.info != nil
	}
	if u.run == nil || !u.run.lists(t.sess) || !t.backed(u) {
		return a, false
	}
	if ln == nil {
		ln = &line{sess: t.sess, st: u, thread: t}
	}
	return act{ln: ln, spot: u.run.spot}, true
}

// since is the opening from which the session shows open without a break, up
// to opening m and over the runs that carried it.
func (x *session) since(m *mark) *mark {
	if x.origin[0] != m {
		x.origin = [2]*mark{m, m.origin()}
	}
	return x.origin[1]
}

func (m *mark) origin() *mark {
	m = m.first()
	for m.ln.before(m.seq) == nil && m.ln.st.run != nil && m.ln.st.run.lists(m.ln.sess) {
		before, _ := m.ln.thread.beneath(m.ln.st)
		if before == nil || before.info == nil {
			break
		}
		m = before.first()
	}
	return m
}

func (l lifetime) info() event.SessionInfo {
	if l.opening == nil {
		return event.SessionInfo{}
	}
	return l.opening.info.of(l.opening.ln.sess.sid)
}
