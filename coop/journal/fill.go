package journal

import (
	"encoding/hex"

	"github.com/comity-dev/comity/coop/event"
)

// fill takes an event that was held and that the disk lost. The one after it is
// authentic and names it; while that one is lost too, it waits.
func (i *intake) fill(c *candidate) {
	for c != nil {
		e := c.event
		prev, known := i.prevOf(event.Key{Stream: e.Stream, Seq: e.Seq + 1})
		w := i.j.waiting.get(e.Stream, e.Seq)
		switch {
		case w != nil && w != c && w.event.Hash == e.Hash:
			i.set(c, event.Duplicate, "")
			c = w
			continue
		case !known && w == c:
			return
		case !known:
			i.wait(c)
			return
		case w == c:
			i.j.waiting.remove(c)
		}
		if prev != hex.EncodeToString(e.Hash[:]) {
			i.refuse(c, i.astray(c))
			return
		}
		if w != nil && w != c {
			i.drop(w, i.astray(w))
		}
		c.reached = true
		i.keep(c)
		c = i.j.waiting.get(e.Stream, e.Seq-1)
	}
}

// prevOf is what a held event names as the one before it; false when it is not
// held or cannot be read.
func (i *intake) prevOf(k event.Key) (string, bool) {
	if c := i.taken[k]; c != nil {
		return c.event.Prev, true
	}
	h := i.j.heads.of(k.Stream)
	if k.Seq > h.seq || h.events[k.Seq-1].lost() {
		return "", false
	}
	e, err := i.j.readEvent(h.events[k.Seq-1].index)
	if err != nil {
		return "", false
	}
	return e.Prev, true
}
