package fold

import (
	"container/heap"
	"slices"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

// contends tells whether c can be held at all.
func (c *claim) contends() bool { return c.live && !c.fenced && c.mode != advisory }

// judge goes through the queued claims from the lowest up, and says of each
// whether it is held: whether no held claim below it excludes it. A claim is
// judged after all below it are settled, and what changes is only ever looked
// for above it, so each is judged once and the answer is that of a walk through
// all claims in order.
func (s *State) judge() {
	w := &s.work
	for len(w.queue) > 0 {
		c := heap.Pop(&w.queue).(*claim)
		changed := c.moved || c.news
		if changed {
			s.meeting(c)
		}
		winner := c.beatenBy(s.holders(c, changed))
		holds := c.contends() && winner == nil
		if holds != c.holds && !changed {
			s.meeting(c)
		}
		if winner != s.winners[c] || holds != c.holds {
			w.touch(c)
		}
		if c.moved || holds != c.holds {
			w.above(c)
		}
		if changed {
			w.overlaps(c)
		}
		if holds != c.holds {
			c.holds, w.heldBy = holds, nil
		}
		if winner != nil {
			s.winners[c] = winner
		} else {
			delete(s.winners, c)
		}
		c.queued, c.news, c.moved = false, false, false
	}
	forget(&w.met)
	forget(&w.held)
	w.heldBy = nil
}

// meeting finds what c meets.
func (s *State) meeting(c *claim) {
	s.work.met = slices.AppendSeq(s.work.met[:0], s.index.Meeting(s.scopes.plan(c.scope)))
}

// holders are claims among which are all held ones that c meets: what it met, when that
// was looked for. Else only the held ones are, and once for claims that follow
// each other with one scope: many may have waited for one that has ended.
func (s *State) holders(c *claim, met bool) []*claim {
	w := &s.work
	switch {
	case met:
		return w.met
	case w.heldBy != c.scope:
		held := func(d *claim) bool { return d.holds }
		w.held = slices.AppendSeq(w.held[:0], s.index.MeetingAmong(s.scopes.plan(c.scope), held))
		w.heldBy = c.scope
	}
	return w.held
}

// above queues what c may beat or free of the claims that it met.
func (w *work) above(c *claim) {
	for _, d := range w.met {
		if d != c && d.mode != advisory && c.order(&d.act) < 0 {
			w.push(d)
		}
	}
}

// overlaps notes that what c met may overlap it, or not any more.
func (w *work) overlaps(c *claim) {
	for _, d := range w.met {
		if d.ln.sess != c.ln.sess {
			w.touch(d)
		}
	}
}

// beatenBy is the lowest held claim of those that excludes c, nil when there is none.
func (c *claim) beatenBy(met []*claim) *claim {
	if !c.contends() {
		return nil
	}
	var best *claim
	for _, d := range met {
		if d.holds && d.order(&c.act) < 0 && d.excludes(c) && (best == nil || d.order(&best.act) < 0) {
			best = d
		}
	}
	return best
}

// queue is a heap of claims, lowest first.
type queue []*claim

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].order(&q[j].act) < 0 }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(c any)        { *q = append(*q, c.(*claim)) }
func (q *queue) Pop() any {
	old := *q
	c := old[len(old)-1]
	*q = old[:len(old)-1]
	return c
}

// StandingState says what a claim is worth.
type StandingState string

const (
	// StandingHeld: it is valid. An advisory claim that is live is always held.
	StandingHeld StandingState = "held"
	// StandingConflicted: a live claim fenced it, or a held one came first.
	StandingConflicted StandingState = "conflicted"
	// StandingExpired: it was fenced by a claim that has ended since, or its run is gone.
	StandingExpired StandingState = "expired"
	// StandingReleased: it was released or ended with its session.
	StandingReleased StandingState = "released"
)

// Standing is what a claim is worth by events.
type Standing struct {
	State StandingState
	By    event.Key // the fence or the winner, when conflicted or expired by one
	// Overlaps are the live claims of other sessions that meet this live one and
	// neither exclude it nor are excluded, in the order of events.
	Overlaps []event.Key
}

// Standing judges a claim, after taking out the claims whose session's current
// run is gone; nil is none. An unknown claim is released.
func (s *State) Standing(k event.Key, gone func(ident.Stream) bool) Standing {
	c := s.claim(k)
	if c == nil || !c.live {
		return Standing{State: StandingReleased}
	}
	j := judgement{s: s, gone: gone, holds: map[*claim]bool{}}
	if j.out(c) {
		return Standing{State: StandingExpired}
	}
	v := Standing{State: StandingHeld}
	var best *claim
	for d := range s.index.Meeting(s.scopes.plan(c.scope)) {
		switch {
		case d.ln.sess == c.ln.sess || j.out(d):
		case !d.excludes(c):
			v.Overlaps = append(v.Overlaps, d.key())
		case d.order(&c.act) < 0 && j.held(d) && (best == nil || d.order(&best.act) < 0):
			best = d
		}
	}
	slices.SortFunc(v.Overlaps, func(a, b event.Key) int { return s.claim(a).order(&s.claim(b).act) })
	switch {
	case c.fenced:
		v.State, v.By = j.fence(c)
	case best != nil:
		v.State, v.By = StandingConflicted, best.key()
	}
	return v
}

// standing is how a live claim stands when no run is gone, as it was last judged.
func (s *State) standing(c *claim) (StandingState, event.Key) {
	switch {
	case c.fenced:
		return (&judgement{s: s}).fence(c)
	case s.winners[c] != nil:
		return StandingConflicted, s.winners[c].key()
	}
	return StandingHeld, event.Key{}
}

// A judgement is one walk over the claims that are left when some runs are gone.
type judgement struct {
	s     *State
	gone  func(ident.Stream) bool
	holds map[*claim]bool
}

func (j *judgement) out(c *claim) bool { return j.gone != nil && j.gone(c.ln.st.now().id) }

// fence tells how c stands that is fenced, and by whom: by the first that is
// live, else by the first.
func (j *judgement) fence(c *claim) (StandingState, event.Key) {
	all := j.s.fencers(c)
	for _, by := range all {
		if by.live && !j.out(by) {
			return StandingConflicted, by.key()
		}
	}
	return StandingExpired, all[0].key()
}

// held tells whether d, which meets a later claim, is held. It only ever looks
// at lower claims, so it comes to an end.
func (j *judgement) held(d *claim) bool {
	if !d.contends() || j.out(d) {
		return false
	}
	if j.gone == nil {
		return d.holds
	}
	if h, ok := j.holds[d]; ok {
		return h
	}
	h := true
	for e := range j.s.index.Meeting(j.s.scopes.plan(d.scope)) {
		if e.order(&d.act) < 0 && e.excludes(d) && j.held(e) {
			h = false
			break
		}
	}
	j.holds[d] = h
	return h
}
