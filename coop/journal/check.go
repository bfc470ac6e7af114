package journal

import (
	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

// take looks at one event of the batch.
func (i *intake) take(c *candidate) {
	e := c.event
	s := c.course
	if i.j.tombs.of(e.Stream) != nil && !i.unearth(s, c) {
		return
	}
	switch i.held(s, e) {
	case heldSame:
		i.set(c, event.Duplicate, "")
		return
	case heldOther:
		i.other(c)
		return
	case heldLost:
		if !i.j.believed(s.node) {
			i.refuse(c, event.Untrusted)
			return
		}
		i.fill(s, c)
		return
	}
	if w := i.j.waiting.get(e.Stream, e.Seq); w != nil && w.event.Hash == e.Hash {
		i.set(c, event.Duplicate, "")
		i.drain(s)
		return
	}
	end := i.end(s)
	switch {
	case !i.j.believed(s.node):
		i.refuse(c, event.Untrusted)
	case e.Lamport > i.ceiling:
		i.refuse(c, event.ClockAhead)
	case e.Lamport < end.lamport+(e.Seq-end.seq): // stamps rise by 1 at least
		i.refuse(c, event.ClockBehind)
	case e.Seq > end.seq+1 && !plantSkipGap:
		i.wait(s, c)
		i.drain(s)
	case !follows(e, end):
		i.refuse(c, i.astray(c))
	case i.authentic(c):
		i.accept(s, c)
		i.drain(s)
	default:
		i.wait(s, c)
	}
}

// follows reports whether e names end as the event before it.
func follows(e *event.Event, end end) bool {
	return end.seq == 0 || hashIs(e.Prev, end.hash) || plantSkipChain || plantSkipGap && e.Seq > end.seq+1
}

func names(e, before *event.Event) bool { return hashIs(e.Prev, before.Hash) }

// hashIs reports whether digits are those of hash.
func hashIs(digits string, hash [32]byte) bool {
	var got [32]byte
	return ident.Unhex(got[:], digits) && got == hash
}

// end is how far a stream reaches with what this batch has brought so far.
func (i *intake) end(s *course) end {
	if s.moved {
		return s.end
	}
	return i.j.end(s.stream)
}

type holding uint8

const (
	heldNot holding = iota
	heldSame
	heldOther
	heldLost // it was, and the disk lost it
)

// held reports whether the place of e is taken, and by what.
func (i *intake) held(s *course, e *event.Event) holding {
	same := func(is bool) holding {
		if is {
			return heldSame
		}
		return heldOther
	}
	if c := s.taken(e.Seq); c != nil {
		return same(c.event.Hash == e.Hash)
	}
	if h := i.j.heads[e.Stream]; h != nil && e.Seq <= h.seq {
		if h.lost(e.Seq) {
			return heldLost
		}
		return same(is(e, i.j.state))
	}
	if s.node == i.j.runtime.Node {
		for _, p := range i.j.pending {
			if p.Key() == e.Key() {
				return same(p.Hash == e.Hash)
			}
		}
	}
	return heldNot
}

// other refuses an event whose place another one has.
func (i *intake) other(c *candidate) {
	switch {
	case i.j.forks.is(c.event):
		i.refuse(c, event.Forked)
	case !i.j.believed(i.courses[c.event.Stream].node):
		i.refuse(c, event.Untrusted)
	default:
		i.refuse(c, i.astray(c))
	}
}

// astray is why an event is refused that does not go together with what is held or
// waits: it is forked when its author signed it. The proof is kept of a stream that is
// held: else one key could have any number of them kept, in streams that never come.
func (i *intake) astray(c *candidate) event.Reason {
	if !i.authentic(c) {
		return event.BadSignature
	}
	e := c.event
	if e.Stream == i.j.own.stream {
		i.j.forsake()
	}
	if _, known := i.j.forks[e.Stream]; !known && i.end(i.of(c)).seq > 0 {
		i.j.forks.put(e)
		i.proofs = append(i.proofs, e)
	}
	return event.Forked
}

// accept takes c as the next event of its stream, unless a bound is reached.
func (i *intake) accept(s *course, c *candidate) bool {
	e := c.event
	more := takes(e)
	if !i.room(s, more.states, 0) {
		i.refuse(c, event.Capacity)
		return false
	}
	if e.Stream == i.j.own.stream {
		i.j.forsake()
	}
	if !s.moved && i.j.heads[e.Stream] == nil {
		more.streams = 1
		l := i.j.lives.byStream[e.Stream]
		heard := l != nil && l.fresh(i.j.clock.Boot(), i.j.cfg.Limits.Expiry)
		i.newcomers.add(e, i.j.lives.latest, heard)
	}
	s.extend(c)
	i.accepted = append(i.accepted, c)
	i.shares.add(s.node, more)
	i.bytes += int64(len(e.Raw))
	if w := i.j.waiting.get(e.Stream, e.Seq); w != nil { // it waited in this one's place
		i.j.waiting.remove(w)
		i.refuse(w, i.astray(w))
	}
	return true
}

// room reports whether the bounds on what others send leave room for one more
// event, with so many states; waiting are those of its node that wait and are counted.
func (i *intake) room(s *course, states, waiting int) bool {
	if s.node == i.j.runtime.Node {
		return true
	}
	lim, held, more := &i.j.cfg.Limits, i.j.shares.of(s.node), i.shares.of(s.node)
	if held.events+more.events+waiting >= lim.NodeEvents || held.bytes+more.bytes >= lim.NodeSize ||
		states > 0 && held.states+more.states+states > lim.NodeStates || i.j.theirs+i.bytes >= lim.ReloadBytes {
		return false
	}
	return s.moved || i.streamRoom(s)
}

// streamRoom reports whether the bounds on streams leave room for one, if it is not
// held. No other node may fill the table: not by runs that succeeded each other either.
func (i *intake) streamRoom(s *course) bool {
	j := i.j
	if j.heads[s.stream] == nil && s.node != j.runtime.Node &&
		j.shares.of(s.node).streams+i.shares.of(s.node).streams >= j.cfg.Limits.NodeRuns {
		return false
	}
	return j.streamRoom(s.stream, i.newcomers)
}

// drain takes what waited and comes next.
func (i *intake) drain(s *course) {
	for {
		end := i.end(s)
		c := i.j.waiting.get(s.stream, end.seq+1)
		if c == nil {
			return
		}
		switch {
		case !i.j.believed(s.node):
			i.drop(c, event.Untrusted)
		case c.event.Lamport <= end.lamport:
			i.drop(c, event.ClockBehind)
		case !follows(c.event, end):
			i.drop(c, i.astray(c))
		case i.authentic(c):
			i.j.waiting.remove(c)
			if !i.accept(s, c) {
				return
			}
		case i.disowned(c):
			i.drop(c, event.BadSignature)
		default:
			return
		}
	}
}

// drop gives up an event that waited.
func (i *intake) drop(c *candidate, why event.Reason) {
	i.j.waiting.remove(c)
	i.refuse(c, why)
}

// disowned reports whether an authentic event names another one in c's place.
func (i *intake) disowned(c *candidate) bool {
	next := i.j.waiting.get(c.event.Stream, c.event.Seq+1)
	return next != nil && !names(next.event, c.event) && i.authentic(next)
}

// wait keeps c until it can be taken.
func (i *intake) wait(s *course, c *candidate) {
	e, j := c.event, i.j
	if x := j.waiting.get(e.Stream, e.Seq); x != nil { // with other bytes
		i.contend(c, x)
		return
	}
	lim := j.cfg.Limits
	if n := i.end(s).seq; e.Seq > n && e.Seq-n > uint64(lim.Pending) ||
		j.waiting.full(e, lim) || !i.room(s, wide(e), j.waiting.nodes[s.node].events) {
		i.refuse(c, event.Capacity)
		return
	}
	j.waiting.put(c)
	i.set(c, event.Pending, "")
}

// contend decides between c and x, which waits in the same place.
func (i *intake) contend(c, x *candidate) {
	switch {
	case i.authentic(x):
		i.refuse(c, i.astray(c))
	case i.authentic(c):
		i.drop(x, event.BadSignature)
		if i.j.waiting.full(c.event, i.j.cfg.Limits) {
			i.refuse(c, event.Capacity)
			return
		}
		i.j.waiting.put(c)
		i.set(c, event.Pending, "")
	default:
		i.refuse(c, event.BadSignature)
	}
}
