package fold

import (
	"slices"
	"strings"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

// A claim is one acquired claim, for as long as its event is held.
type claim struct {
	thing
	scope *covered
	words *words // nil when nothing more was said

	mode   mode
	fenced bool // by a fence that counts
	holds  bool // a live, unfenced claim that nobody beats
	queued bool
	news   bool // queued, and it came or went
	moved  bool // queued, and it is known to be in another checkout
}

// words are what a claim says beside its scope. Those without fences are shared
// by the claims of a session that say the same.
type words struct {
	intent, issue, reason string
	fences                *fences // nil when it fences nothing
}

type fences struct{ of, breaks []ref }

func (c *claim) said() words {
	if c.words == nil {
		return words{}
	}
	return *c.words
}

// fencesOf are the claims that c lists.
func (c *claim) fencesOf() []ref {
	if c.words == nil || c.words.fences == nil {
		return nil
	}
	return c.words.fences.of
}

func (c *claim) breaksOf() []ref {
	if c.words == nil || c.words.fences == nil {
		return nil
	}
	return c.words.fences.breaks
}

type mode uint8

const (
	advisory mode = iota
	exclusive
	inCheckout
)

var modes = [...]event.Mode{advisory: event.ModeAdvisory, exclusive: event.ModeExclusive, inCheckout: event.ModeCheckout}

func (s *State) readClaim(st *stream, h head, b event.ClaimAcquired) *claim {
	c := &claim{thing: thing{act: s.act(st, h, b.Session)}, scope: s.scopes.of(b.Scope)}
	c.mode = mode(max(0, slices.Index(modes[:], b.Mode)))
	c.words = s.readWords(c.ln.sess, b)
	st.adopt(&c.thing)
	return c
}

func (s *State) readWords(x *session, b event.ClaimAcquired) *words {
	w := words{intent: b.Intent, issue: b.Issue, reason: b.Reason}
	switch {
	case len(b.Fences) > 0:
		w.fences = &fences{s.refs(b.Fences), s.refs(b.Breaks)}
		return w.clone(x)
	case w == words{}:
		return nil
	case x.words == nil || *x.words != w:
		x.words = w.clone(x)
	}
	return x.words
}

// clone keeps no more than the words of the event that says them. Most claims are
// for what their session is there for.
func (w words) clone(x *session) *words {
	w.issue, w.reason = strings.Clone(w.issue), strings.Clone(w.reason)
	if x.info != nil && x.info.intent() == w.intent {
		w.intent = x.info.intent()
	} else {
		w.intent = strings.Clone(w.intent)
	}
	return &w
}

func (c *claim) body() event.Body {
	w := c.said()
	return event.ClaimAcquired{
		Session: c.ln.sess.sid, Scope: c.scope.set, Mode: modes[c.mode], Intent: w.intent, Issue: w.issue, Reason: w.reason,
		Fences: keysOf(c.fencesOf()), Breaks: keysOf(c.breaksOf()),
	}
}

func (c *claim) on(s *State) {
	for _, r := range c.fencesOf() {
		s.doubt(r.join(c))
	}
	s.enter(c)
}

func (c *claim) off(s *State) {
	for _, r := range c.fencesOf() {
		s.doubt(r.part(c))
	}
	s.leave(c)
}

// A release ends a claim of its own session.
type release struct {
	act
	claim uint64 // its place in its stream
	why   *why
}

// A why is what a release says beside its claim's place. When that is no more than
// a reason it is held once.
type why struct {
	reason *string
	of     *stream // the claim's, nil when it is the release's own
	fence  ref     // zero when none
	by     string
}

func (s *State) readRelease(st *stream, h head, b event.ClaimReleased) *release {
	r := &release{act: s.act(st, h, b.Session), claim: b.Claim.Seq}
	w := why{reason: s.word(b.Reason), by: strings.Clone(b.By)}
	if b.Claim.Stream != st.id {
		w.of = s.stream(b.Claim.Stream)
	}
	if b.Fence != nil {
		w.fence = s.ref(*b.Fence)
	}
	common := w == why{reason: w.reason}
	if common && s.whys[w.reason] != nil {
		r.why = s.whys[w.reason]
		return r
	}
	kept := w // w itself need not outlive this
	if r.why = &kept; common {
		s.whys[w.reason] = r.why
	}
	return r
}

// of names the claim.
func (r *release) of() ref {
	if r.why.of != nil {
		return ref{r.why.of, r.claim}
	}
	return ref{r.ln.st, r.claim}
}

func (r *release) body() event.Body {
	b := event.ClaimReleased{Claim: r.of().key(), Session: r.ln.sess.sid, Reason: said(r.why.reason), By: r.why.by}
	if r.why.fence.st != nil {
		k := r.why.fence.key()
		b.Fence = &k
	}
	return b
}

func (r *release) on(s *State)  { s.doubt(r.of().join(r)) }
func (r *release) off(s *State) { s.doubt(r.of().part(r)) }

// released returns the first release that counts, nil when there is none.
func (c *claim) released() *release {
	var first *release
	for f := range c.refs.all() {
		if r, ok := f.(*release); ok && c.own(&r.act) && (first == nil || r.order(&first.act) < 0) {
			first = r
		}
	}
	return first
}

// fencers are the claims whose fence of c counts, in order.
func (s *State) fencers(c *claim) []*claim {
	var out []*claim
	for f := range c.refs.all() {
		if by, ok := f.(*claim); ok && s.fences(by, c) {
			out = append(out, by)
		}
	}
	slices.SortFunc(out, func(a, b *claim) int { return a.order(&b.act) })
	return out
}

// fences tells whether c's fence of d counts. Nothing in it can turn from true
// to false: neither the end of c, nor of anything else.
func (s *State) fences(c, d *claim) bool {
	return d.held && c.ln.sess != d.ln.sess && c.lamport > d.lamport &&
		c.mayExclude(d) && s.scopes.meet(c.scope, d.scope)
}

// mayExclude tells whether c and d exclude each other in some checkout that
// their sessions may have been in.
func (c *claim) mayExclude(d *claim) bool {
	if c.mode == advisory || d.mode == advisory {
		return false
	}
	if c.mode == exclusive && d.mode == exclusive {
		return true
	}
	theirs := d.checkouts()
	return slices.ContainsFunc(c.checkouts(), func(id ident.CheckoutID) bool { return slices.Contains(theirs, id) })
}

// excludes tells whether c and d, whose scopes meet, cannot both be held.
func (c *claim) excludes(d *claim) bool {
	switch {
	case c.ln.sess == d.ln.sess, c.mode == advisory, d.mode == advisory:
		return false
	case c.mode == exclusive && d.mode == exclusive:
		return true
	}
	return c.opening != nil && sameCheckout(c.opening, d.opening)
}

// weigh brings what c is in line with what is known of it.
func (c *claim) weigh(s *State) {
	live := c.held && c.released() == nil && c.stands()
	fenced := c.held && s.isFenced(c)
	where := c.checkout()
	if live != c.live {
		enliven(c, live)
		if live {
			s.index.Add(c, s.scopes.plan(c.scope))
		} else {
			s.index.Remove(c)
		}
		s.counted(c.ln.sess)
		c.news = true
		// Those it fences are conflicted while it lives and expired then.
		for _, r := range c.fencesOf() {
			if t := r.st.target(r.seq); t != nil {
				s.work.touch(t)
			}
		}
	}
	c.moved = c.moved || live && !sameCheckout(where, c.opening)
	c.fenced, c.opening = fenced, where
	s.work.touch(c)
	s.work.push(c)
}

func (s *State) isFenced(c *claim) bool {
	for f := range c.refs.all() {
		if by, ok := f.(*claim); ok && s.fences(by, c) && !plantFence {
			return true
		}
	}
	return false
}

func sameCheckout(a, b *mark) bool {
	return a == b || a != nil && b != nil && a.info.checkout() == b.info.checkout()
}
