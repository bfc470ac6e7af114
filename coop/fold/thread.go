package fold

import (
	"iter"
	"slices"
	"sort"

	"github.com/comity-dev/comity/coop/ident"
)

// A thread is what the runs of one record say of a session. Its lists are in the
// order of the runs, so that a question about a run is a search and not a walk.
type thread struct {
	sess   *session
	rec    *record
	lines  lines // what each run says, its listing apart
	opened lines // those with an opening
	closed lines // those with a close
	past   *past // nil when no run lists it

	// What marks add up to, worked out again when one was taken away.
	stale bool
	end   *mark     // the last close by the order that all runtimes share
	stays few[mark] // for each checkout, one of the first run that tells it
}

// A past is what more runs than one make of a thread.
type past struct {
	lists []*stream // the runs that list the session
	heirs lines     // those that may have something that rests on their listing
}

// lists are the runs that list the session.
func (t *thread) lists() []*stream {
	if t.past == nil {
		return nil
	}
	return t.past.lists
}

// heirs are the lines that may have something that rests on their listing.
func (t *thread) heirs() []*line {
	if t.past == nil {
		return nil
	}
	return t.past.heirs.all()
}

// inherits is t's past, made when there was none.
func (t *thread) inherits() *past {
	if t.past == nil {
		t.past = new(past)
	}
	return t.past
}

// thread returns x's thread in a record, made when there was none. A session
// has few: one for each copy of its runtime's home.
func (x *session) thread(rec *record) *thread {
	if t := x.find(rec); t != nil {
		return t
	}
	t := &thread{sess: x, rec: rec}
	x.threads.add(t)
	return t
}

func (x *session) find(rec *record) *thread {
	for _, t := range x.threads.all() {
		if t.rec == rec {
			return t
		}
	}
	return nil
}

// line is that of a run, nil when there is none.
func (t *thread) line(u *stream) *line {
	return t.lines.find(u)
}

// take removes the lines of a stream from their threads and returns them; put
// adds one to that of the record which its stream is now known to be of.
func (st *stream) take() (taken []*line) {
	st.latest = nil
	for _, x := range st.rt.sessions {
		t := x.find(st.rec)
		if t == nil || t.line(st) == nil {
			continue
		}
		ln := t.line(st)
		for _, list := range []*lines{&t.lines, &t.opened, &t.closed, &t.inherits().heirs} {
			list.remove(ln)
		}
		if len(t.lines.all())+len(t.lists()) == 0 {
			x.threads.drop(t)
		}
		taken = append(taken, ln)
	}
	return taken
}

func (ln *line) put() {
	t := ln.sess.thread(ln.st.rec)
	ln.thread, t.stale = t, true
	t.lines.add(ln)
	if len(ln.opens) > 0 {
		t.opened.add(ln)
	}
	if len(ln.closes) > 0 {
		t.closed.add(ln)
	}
	if len(ln.inherited) > 0 {
		t.inherits().heirs.add(ln)
	}
}

// join and part say that a run lists the session, or not any more.
func (t *thread) join(u *stream) {
	p := t.inherits()
	if i, ok := slices.BinarySearchFunc(p.lists, u, byRun); !ok {
		p.lists = slices.Insert(p.lists, i, u)
	}
}

func (t *thread) part(u *stream) {
	if i, ok := slices.BinarySearchFunc(t.lists(), u, byRun); ok {
		t.past.lists = slices.Delete(t.past.lists, i, i+1)
	}
}

// heard is the last mark of the latest run with one before u, nil when there is none.
func (t *thread) heard(u *stream) *mark {
	return latest(t.opened.lastBefore(u), t.closed.lastBefore(u))
}

func latest(o, c *line) *mark {
	if o == nil || c != nil && byRun(o.st, c.st) < 0 {
		o = c
	}
	return o.last()
}

// unlisted is the latest run before u that does not list the session, nil when
// there is none. The runs that list it are a part of the record's, so going down
// both side by side they agree up to there and never again.
func (t *thread) unlisted(u *stream) *stream {
	runs, lists := t.rec.runs[:below(t.rec.runs, u)], t.lists()[:below(t.lists(), u)]
	n := sort.Search(len(lists), func(i int) bool { return runs[len(runs)-1-i] != lists[len(lists)-1-i] })
	if n == len(runs) {
		return nil
	}
	return runs[len(runs)-1-n]
}

// beneath is where the walk down from u to what a listing by u may rest on ends:
// at the latest run that has a mark, or that does not list the session, which
// ended it. Nil when all list it and nothing is held that opened it.
func (t *thread) beneath(u *stream) (m *mark, v *stream) {
	m, v = t.heard(u), t.unlisted(u)
	if m != nil && (v == nil || byRun(m.ln.st, v) >= 0) {
		return m, m.ln.st
	}
	return nil, v
}

// backed tells whether the listing by run u stands for an opening. A session is
// listed because its process lives, and its opening may not be held here yet;
// but a listing does not bring back what is known to have ended before. So it
// counts unless the latest end known before u (a close, or a run that did not
// list it) is followed by no opening held and by no run that u names, in which
// an opening could still come.
func (t *thread) backed(u *stream) bool {
	m, v := t.beneath(u)
	switch {
	case v == nil, m != nil && m.info != nil, u.run.unknown > 0:
		return true
	}
	return u.run.highest != nil && byRun(u.run.highest, v) >= 0
}

// carried tells whether what stands of the session in st goes on in every later
// run: each lists the session and names st.
func (t *thread) carried(st *stream) bool {
	n := above(t.rec.runs, st)
	return n == st.carriers && n == above(t.lists(), st)
}

// closes are the closes of the thread that a precedes, the latest run's first.
func (t *thread) closes(a *act) iter.Seq[*mark] {
	return func(yield func(*mark) bool) {
		if t.rec != a.ln.st.rec { // no record orders them
			if t.learn(); t.end != nil && a.order(&t.end.act) < 0 {
				yield(t.end)
			}
			return
		}
		for _, ln := range slices.Backward(t.closed.all()) {
			if ln.st.number() < a.ln.st.number() {
				return
			}
			if m := ln.closing(); a.precedes(&m.act) && !yield(m) {
				return
			}
		}
	}
}

// learn sums up the marks when one was taken away since.
func (t *thread) learn() {
	if !t.stale {
		return
	}
	t.stale, t.end, t.stays = false, nil, few[mark]{}
	for _, ln := range t.closed.all() {
		t.ends(ln.closing())
	}
	for _, ln := range t.opened.all() {
		for _, m := range ln.opens {
			t.settles(m)
		}
	}
}

func (t *thread) ends(m *mark) {
	if t.end == nil || t.end.order(&m.act) < 0 {
		t.end = m
	}
}

// settles notes in which checkout an opening tells the session to have been. It
// returns whether no earlier run says so, and the first run that did say it, nil
// when none did.
func (t *thread) settles(m *mark) (until *stream, first bool) {
	for i, p := range t.stays.all() {
		if p.info.checkout() != m.info.checkout() {
			continue
		}
		if byRun(p.ln.st, m.ln.st) <= 0 {
			return nil, false
		}
		t.stays.all()[i] = m
		return p.ln.st, true
	}
	t.stays.add(m)
	return nil, true
}

// checkouts are all in which earlier runs than u tell the session to have been.
func (t *thread) checkouts(u *stream) (all []ident.CheckoutID) {
	t.learn()
	for _, p := range t.stays.all() {
		if p.ln.st.before(u) {
			all = append(all, p.info.checkout())
		}
	}
	return all
}

// opening is that of the latest run before u that has one, nil when none has.
func (t *thread) opening(u *stream) *mark {
	if ln := t.opened.lastBefore(u); ln != nil {
		return ln.opening()
	}
	return nil
}
