package journal

import "github.com/comity-dev/comity/coop/event"

// fill takes an event that was held and that the disk lost. The one after it is
// authentic and names it; while that one is lost too, it waits.
func (i *intake) fill(s *course, c *candidate) {
	for c != nil {
		e := c.event
		prev, known := i.prevOf(s, e.Seq+1)
		w := i.j.waiting.get(e.Stream, e.Seq)
		switch {
		case w != nil && w != c && w.event.Hash == e.Hash:
			i.set(c, event.Duplicate, "")
			c = w
			continue
		case !known && w == c:
			return
		case !known:
			i.wait(s, c)
			return
		case w == c:
			i.j.waiting.remove(c)
		}
		if !hashIs(prev, e.Hash) {
			i.refuse(c, i.astray(c))
			return
		}
		if w != nil && w != c {
			i.drop(w, i.astray(w))
		}
		c.reached = true
		s.fill(c)
		i.accepted = append(i.accepted, c)
		i.shares.add(s.node, takes(e))
		c = i.j.waiting.get(e.Stream, e.Seq-1)
	}
}

// prevOf is what a held event names as the one before it; false when it is not
// held or cannot be read.
func (i *intake) prevOf(s *course, seq uint64) (string, bool) {
	if c := s.taken(seq); c != nil {
		return c.event.Prev, true
	}
	h := i.j.heads.of(s.stream)
	if seq > h.seq || h.lost(seq) {
		return "", false
	}
	e, err := i.j.readEvent(h.index(seq))
	if err != nil {
		return "", false
	}
	return e.Prev, true
}
