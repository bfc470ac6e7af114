package fold

import (
	"slices"

	"github.com/comity-dev/comity/coop/ident"
)

// A thing is what others refer to by its event: a claim, a review request, a
// publication. The first two stand while their session does.
type thing struct {
	act
	refs    refs
	opening *mark // of birthOpen; of birthListed that of an earlier run, as a claim last looked for it
	place   int32 // where it stands in its session's live
	held    bool  // in effect itself
	birth   birth
	live    bool
	noted   noted
}

// noted says in which lists of work a thing is.
type noted uint8

const (
	notedDirty   noted = 1 << iota // to be looked at again
	notedTouched                   // among the changed
)

// birth says what the thing's session rests on in its own stream, which is held
// up to the thing, so that nothing of another stream can change it.
type birth uint8

const (
	birthNone   birth = iota // the session was not open: it never stands
	birthOpen                // an opening
	birthListed              // the succession that begins the stream
	birthLost                // nothing held, but something is lost here
)

// A holder is a fact that others may refer to.
type holder interface {
	fact
	it() *thing
}

func (t *thing) it() *thing { return t }

// born looks up what t rests on.
func (t *thing) born() {
	ln, after := t.ln, uint64(0)
	was := t.opening
	t.birth, t.opening = birthNone, nil
	if m := ln.before(t.seq); m != nil {
		if after = m.seq; m.info != nil {
			t.birth, t.opening = birthOpen, m
			return
		}
	} else if ln.st.run != nil && ln.st.run.lists(ln.sess) {
		t.birth, t.opening = birthListed, was
		return
	}
	if ln.st.lostBetween(after, t.seq) {
		t.birth = birthLost
	}
}

// enter puts a claim or review into effect, leave takes it out.
func (s *State) enter(h holder) {
	t := h.it()
	t.held = true
	was := t.opening
	t.born()
	if c, ok := h.(*claim); ok && c.live && !sameCheckout(was, c.opening) {
		c.moved = true
	}
	if t.birth == birthListed {
		t.ln.inherited = append(t.ln.inherited, h)
		t.ln.thread.inherits().heirs.add(t.ln)
	}
	s.doubt(h)
}

func (s *State) leave(h holder) {
	t := h.it()
	t.held = false
	if i := slices.Index(t.ln.inherited, h); i >= 0 {
		t.ln.inherited = slices.Delete(t.ln.inherited, i, i+1)
	}
	s.doubt(h)
}

// The ways in which a thing ends with its session.
const (
	endUnopened  = "unopened"  // its session was not open
	endSucceeded = "succeeded" // a later run did not carry it
)

// opened tells whether t's session was open when it wrote t.
func (t *thing) opened() bool {
	return t.birth != birthNone && (t.birth != birthListed || t.ln.thread.backed(t.ln.st))
}

// stands tells whether t has not ended with its session.
func (t *thing) stands() bool {
	return t.opened() && !t.ln.sess.closed(&t.act) && t.ln.thread.carried(t.ln.st)
}

// ended tells how t ended with its session, "" when it did not.
func (t *thing) ended() string {
	if !t.opened() {
		return endUnopened
	}
	if c := t.ln.sess.closedAfter(&t.act); c != nil {
		return said(c.reason)
	}
	if !t.ln.thread.carried(t.ln.st) {
		return endSucceeded
	}
	return ""
}

// enliven counts h among what lives of its session, or not any more.
func enliven(h holder, live bool) {
	t := h.it()
	x := t.ln.sess
	t.live = live
	if _, ok := h.(*claim); ok && live {
		x.claims++
	} else if ok {
		x.claims--
	}
	if live {
		if x.live == nil {
			x.live = new([]holder)
		}
		t.place = int32(len(*x.live))
		*x.live = append(*x.live, h)
		return
	}
	all := *x.live
	last := all[len(all)-1]
	all[t.place], last.it().place = last, t.place
	all[len(all)-1] = nil
	*x.live = all[:len(all)-1]
}

// own tells whether an act is by t's session: only its runs may end it.
func (t *thing) own(a *act) bool { return a.ln.sess == t.ln.sess }

// checkouts are the checkouts in which t's session may have been: the one that
// its own stream tells, else all that earlier runs told. A set, so that a fence
// that counted still counts when more of the earlier runs arrives.
func (t *thing) checkouts() []ident.CheckoutID {
	switch t.birth {
	case birthOpen:
		return []ident.CheckoutID{t.opening.info.checkout()}
	case birthListed:
		return t.ln.thread.checkouts(t.ln.st)
	}
	return nil
}

// checkout is where t's session was when it wrote t, as far as is known: the
// latest opening before it. nil while none is held.
func (t *thing) checkout() *mark {
	if t.birth != birthListed {
		return t.opening
	}
	return t.ln.thread.opening(t.ln.st)
}
