package fold

import (
	"cmp"

	"github.com/comity-dev/comity/coop/event"
)

// A lifetime is what all streams together say of a session.
type lifetime struct {
	open    *stream // the run it now lives in, nil when it is not open
	latest  *mark   // the last word on it
	opening *mark   // the last opening: who it is
}

// A hearing is the last word on a session in one record, or in a stream of none.
type hearing struct{ latest, opening *mark }

// state works out what the session is. In each record only the latest run
// counts: it lists the session or has ended it.
func (x *session) state() lifetime {
	var l lifetime
	heard := x.hearings()
	var since *act
	for _, u := range x.tops() {
		a := x.anchor(u)
		if a != nil && x.closedAfter(a) == nil && (since == nil || since.order(a) < 0) {
			since, l.open = a, u
		}
	}
	if l.open != nil {
		h := heard[l.open.group()]
		l.latest, l.opening = h.latest, h.opening
		return l
	}
	for _, h := range heard {
		if l.latest == nil || l.latest.order(&h.latest.act) < 0 {
			l.latest, l.opening = h.latest, h.opening
		}
	}
	return l
}

// group names the record of st, or st itself when it has none.
func (st *stream) group() string {
	if st.run != nil {
		return st.run.record
	}
	return string(st.id)
}

// after orders streams of one group.
func (st *stream) after(u *stream) bool { return st.run != nil && byRun(st, u) > 0 }

func (x *session) hearings() map[string]hearing {
	all := make(map[string]hearing, 1)
	for _, ln := range x.lines {
		if len(ln.marks) == 0 {
			continue
		}
		g := ln.st.group()
		h := all[g]
		if h.latest == nil || ln.st.after(h.latest.ln.st) {
			h.latest = ln.last()
		}
		if o := ln.opening; o != nil && (h.opening == nil || ln.st.after(h.opening.ln.st)) {
			h.opening = o
		}
		all[g] = h
	}
	return all
}

// tops are the streams in which the session can be open now.
func (x *session) tops() []*stream {
	var all []*stream
	for _, runs := range x.rt.records {
		all = append(all, top(runs)...)
	}
	for _, ln := range x.lines {
		if ln.st.run == nil {
			all = append(all, ln.st)
		}
	}
	return all
}

// anchor is what keeps the session open in u: its last opening there, else its
// listing. nil when there is none or a close follows.
func (x *session) anchor(u *stream) *act {
	ln := x.in(u)
	if m := ln.last(); m != nil {
		if m.info == nil {
			return nil
		}
		return &m.act
	}
	if u.run == nil || !u.run.lists(x.sid) || !x.backed(u) {
		return nil
	}
	return &act{ln: cmp.Or(ln, &line{sess: x, st: u}), seq: 1, lamport: u.run.lamport}
}

// since is the opening from which the session shows open without a break, up
// to opening m and over the runs that carried it.
func (x *session) since(m *mark) *mark {
	m = m.first
	for m.ln.marks[0] == m && m.ln.st.run != nil && m.ln.st.run.lists(x.sid) {
		before := x.carriedFrom(m.ln.st)
		if before == nil {
			break
		}
		m = before.first
	}
	return m
}

// carriedFrom is the opening of an earlier run that u carried on, nil when none is held.
func (x *session) carriedFrom(u *stream) *mark {
	runs := u.rt.records[u.run.record]
	for i := len(runs) - 1; i >= 0; i-- {
		v := runs[i]
		if !v.before(u) {
			continue
		}
		if m := x.in(v).last(); m != nil {
			if m.info == nil {
				return nil
			}
			return m
		}
		if !v.run.lists(x.sid) {
			return nil
		}
	}
	return nil
}

func (l lifetime) info() event.SessionInfo {
	if l.opening == nil {
		return event.SessionInfo{}
	}
	return *l.opening.info
}
