package journal

import (
	"iter"

	"github.com/comity-dev/comity/coop/ident"
)

// changes are the streams whose marks changed, in the order in which they did:
// who asks what is new is told in the time that the news takes.
type changes struct {
	version uint64
	of      map[ident.Stream]uint64 // the version of the last change
	log     []change                // rising; one that of does not confirm is passed over
}

type change struct {
	version uint64
	stream  ident.Stream
}

func newChanges() changes { return changes{of: map[ident.Stream]uint64{}} }

func (c *changes) note(s ident.Stream) {
	c.version++
	c.of[s] = c.version
	c.log = append(c.log, change{c.version, s})
	if len(c.log) > 2*len(c.of)+64 {
		c.sweep()
	}
}

// forget takes out a stream of which nothing is to be told.
func (c *changes) forget(s ident.Stream) { delete(c.of, s) }

func (c *changes) sweep() {
	left := c.log[:0]
	for _, one := range c.log {
		if c.of[one.stream] == one.version {
			left = append(left, one)
		}
	}
	clear(c.log[len(left):])
	c.log = left
}

// since yields the streams that changed after a version, the latest first.
func (c *changes) since(version uint64) iter.Seq[ident.Stream] {
	return func(yield func(ident.Stream) bool) {
		for i := len(c.log) - 1; i >= 0 && c.log[i].version > version; i-- {
			if one := c.log[i]; c.of[one.stream] == one.version && !yield(one.stream) {
				return
			}
		}
	}
}
