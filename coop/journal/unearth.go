package journal

import "github.com/comity-dev/comity/coop/event"

// unearth looks at an event of a stream that was dropped. One above its head that
// is authentic brings the stream back, to be sent whole: then c is looked at
// further. Without one, what is not above the head counts as held.
func (i *intake) unearth(s *course, c *candidate) bool {
	t := i.j.tombs.of(s.stream)
	if last := s.all[len(s.all)-1]; c != last && last.event.Seq > t.head && i.returns(s, last) == "" {
		return true
	}
	if c.event.Seq <= t.head {
		i.set(c, event.Duplicate, "")
		return false
	}
	if why := i.returns(s, c); why != "" {
		i.refuse(c, why)
		return false
	}
	return true
}

// returns lifts the stream for an event above its head, or says why not.
func (i *intake) returns(s *course, c *candidate) event.Reason {
	switch {
	case !i.j.believed(s.node):
		return event.Untrusted
	case c.event.Lamport > i.ceiling:
		return event.ClockAhead
	case !i.authentic(c):
		return event.BadSignature
	case !i.streamRoom(s):
		return event.Capacity
	}
	i.j.lift(s.stream)
	s.returned = true
	return ""
}
