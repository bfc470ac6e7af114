package journal

import (
	"iter"

	"github.com/comity-dev/comity/coop/ident"
)

// changes are the streams whose marks changed, in the order in which they did:
// who asks what is new is told in the time that the news takes.
type changes struct {
	version uint64
	of      map[ident.Stream]*change
	latest  *change
}

// A change is the last one of a stream, between those before and after it.
type change struct {
	version       uint64
	stream        ident.Stream
	before, after *change
}

func newChanges() changes { return changes{of: map[ident.Stream]*change{}} }

func (c *changes) note(s ident.Stream) {
	c.version++
	one := c.of[s]
	if one == nil {
		one = &change{stream: s}
		c.of[s] = one
	} else {
		c.unlink(one)
	}
	one.version, one.before, one.after = c.version, c.latest, nil
	if c.latest != nil {
		c.latest.after = one
	}
	c.latest = one
}

// forget takes out a stream of which nothing is to be told.
func (c *changes) forget(s ident.Stream) {
	if one := c.of[s]; one != nil {
		c.unlink(one)
		delete(c.of, s)
	}
}

func (c *changes) unlink(one *change) {
	if one.before != nil {
		one.before.after = one.after
	}
	if one.after != nil {
		one.after.before = one.before
	} else {
		c.latest = one.before
	}
}

// since yields the streams that changed after a version, the latest first. They must
// not change meanwhile.
func (c *changes) since(version uint64) iter.Seq[ident.Stream] {
	return func(yield func(ident.Stream) bool) {
		for one := c.latest; one != nil && one.version > version; one = one.before {
			if !yield(one.stream) {
				return
			}
		}
	}
}
