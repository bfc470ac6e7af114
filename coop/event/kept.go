package event

import (
	"maps"
	"slices"
	"strconv"

	"github.com/comity-dev/comity/coop/ident"
)

// kept visits the ranges that a checkpoint keeps, by stream.
func (c *codec) kept(p *map[ident.Stream][]Range) {
	switch {
	case c.err != nil:
	case c.reading:
		c.readKept(p)
	default:
		c.writeKept(p)
	}
}

func (c *codec) readKept(p *map[ident.Stream][]Range) {
	const name = "kept"
	if !c.at(name, required) {
		return
	}
	obj, ok := c.r.OpenObject()
	if !ok {
		c.fail(name, "want an object")
		return
	}
	all, total := map[ident.Stream][]Range{}, 0
	for {
		stream, ok := c.r.Next(&obj)
		if !ok {
			break
		}
		s := ident.Stream(stream)
		if !s.Valid() {
			c.fail(name, streamForm(""))
			return
		}
		ranges, ok := c.readRanges()
		if !ok {
			c.fail(name, "want lists of [first, last]")
			return
		}
		if total += len(ranges); total <= MaxRanges {
			c.apart(name, ranges)
		}
		all[s] = ranges
	}
	if total > MaxRanges {
		c.over(name, MaxRanges, total, "ranges")
	}
	*p = all
	c.advance()
}

func (c *codec) readRanges() (ranges []Range, ok bool) {
	if !c.r.OpenArray() {
		return nil, false
	}
	for first := true; c.r.More(first); first = false {
		a, b, ok := c.readPair()
		if !ok {
			return nil, false
		}
		ranges = append(ranges, Range{a, b})
	}
	return ranges, c.r.Err() == nil
}

// readPair reads [a, b]; apart refuses what is negative here, and huge then.
func (c *codec) readPair() (a, b uint64, ok bool) {
	if !c.r.OpenArray() || !c.r.More(true) {
		return 0, 0, false
	}
	x, _ := c.r.Int()
	if !c.r.More(false) {
		return 0, 0, false
	}
	y, ok := c.r.Int()
	if !ok || c.r.More(false) {
		return 0, 0, false
	}
	return uint64(x), uint64(y), c.r.Err() == nil
}

// apart wants at least one range, each ascending, and a gap between two: one
// set of events has one spelling.
func (c *codec) apart(name string, ranges []Range) {
	if len(ranges) == 0 {
		c.fail(name, "a stream without ranges")
	}
	for i, r := range ranges {
		switch {
		case r.First < 1 || r.Last > MaxInt || r.First > r.Last:
			c.fail(name, "want first <= last, from 1 to 2^53-1")
		case i > 0 && r.First <= ranges[i-1].Last+1:
			c.fail(name, "ranges not sorted, or not merged")
		}
	}
}

func (c *codec) writeKept(p *map[ident.Stream][]Range) {
	const name = "kept"
	all := make(map[ident.Stream][]Range, len(*p))
	for s, ranges := range *p {
		all[s] = slices.Clone(ranges)
	}
	*p = all
	total := 0
	c.put(name)
	c.out = append(c.out, '{')
	for i, s := range slices.Sorted(maps.Keys(all)) {
		ranges := all[s]
		if total += len(ranges); !s.Valid() {
			c.fail(name, streamForm(""))
			return
		}
		if i > 0 {
			c.out = append(c.out, ',')
		}
		c.out = append(append(append(c.out, '"'), s...), '"', ':')
		c.apart(name, ranges)
		c.out = appendRanges(c.out, ranges)
	}
	c.out = append(c.out, '}')
	if total > MaxRanges {
		c.err = nil
		c.over(name, MaxRanges, total, "ranges")
	}
}

func appendRanges(b []byte, ranges []Range) []byte {
	b = append(b, '[')
	for i, r := range ranges {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendUint(append(b, '['), r.First, 10)
		b = strconv.AppendUint(append(b, ','), r.Last, 10)
		b = append(b, ']')
	}
	return append(b, ']')
}
