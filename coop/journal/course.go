package journal

import (
	"cmp"
	"slices"
	"sort"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

// A course is what one batch has of one stream, and how far it brings it.
type course struct {
	stream ident.Stream
	node   ident.NodeID
	all    []*candidate // of the batch, by seq

	moved bool // end is set: something was taken
	end   end
	run   []*candidate          // taken, up to end
	fills map[uint64]*candidate // taken in places that were lost
	block *event.Blocked        // the first refusal

	returned bool // the stream had been dropped, and is wanted whole now
}

// course returns that of a stream, a new one when it is the first event of it.
func (i *intake) course(s ident.Stream) *course {
	c := i.courses[s]
	if c == nil {
		c = &course{stream: s, node: s.Node()}
		i.courses[s] = c
		i.order = append(i.order, c)
	}
	return c
}

// of is the course of c in the batch under way.
func (i *intake) of(c *candidate) *course {
	if c.course != nil {
		return c.course
	}
	return i.courses[c.event.Stream]
}

// sort brings the events of the stream into its order; they trade places in the
// batch.
func (c *course) sort(batch []*candidate) {
	bySeq := func(a, b *candidate) int { return cmp.Compare(a.event.Seq, b.event.Seq) }
	if slices.IsSortedFunc(c.all, bySeq) {
		return
	}
	places := make([]int, len(c.all))
	for n, one := range c.all {
		places[n] = one.at
	}
	slices.SortStableFunc(c.all, bySeq)
	for n, one := range c.all {
		batch[places[n]] = one
	}
}

// at are the events of the batch in one place.
func (c *course) at(seq uint64) []*candidate {
	from := sort.Search(len(c.all), func(n int) bool { return c.all[n].event.Seq >= seq })
	to := from
	for to < len(c.all) && c.all[to].event.Seq == seq {
		to++
	}
	return c.all[from:to]
}

// taken is what the batch has put in a place, nil for nothing.
func (c *course) taken(seq uint64) *candidate {
	if f := c.fills[seq]; f != nil {
		return f
	}
	if first := c.end.seq + 1 - uint64(len(c.run)); c.moved && seq >= first && seq <= c.end.seq {
		return c.run[seq-first]
	}
	return nil
}

// extend takes one as the next event.
func (c *course) extend(one *candidate) {
	c.moved, c.end, c.run = true, endOf(one.event), append(c.run, one)
}

func (c *course) fill(one *candidate) {
	if c.fills == nil {
		c.fills = map[uint64]*candidate{}
	}
	c.fills[one.event.Seq] = one
}
