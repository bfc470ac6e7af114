package event

import (
	"math"
	"slices"

	"github.com/comity-dev/comity/internal/canon"
)

// unbounded is the length of a list that only the size of the event bounds.
const unbounded = math.MaxInt

// A span is how many entries a list may have. One of a minimum of zero is
// left out when it is empty, unless it is always written.
type span struct {
	min, max int
	always   bool
}

// list visits a list of strings, sorted by compare without repeats. What is
// written is put into that order first.
func list[T any](c *codec, name string, p *[]T, n span, item item[T]) {
	if c.err != nil {
		return
	}
	if c.reading {
		need := need(n.min > 0 || n.always)
		if !c.at(name, need) {
			return
		}
		if *p = readList(c, name, n, item); c.err != nil {
			return
		}
		c.advance()
		return
	}
	writeList(c, name, p, n, item)
}

// An item is how the entries of a list are read, written and ordered.
type item[T any] struct {
	max     int                      // bytes; 0 where the form says it
	parse   func(string) (T, string) // what is wrong, or ""
	print   func(T) string
	compare func(T, T) int
}

func readList[T any](c *codec, name string, n span, it item[T]) []T {
	if c.r.Peek() != '[' {
		c.fail(name, "want a list")
		return nil
	}
	var all []T
	got := 0
	c.r.OpenArray()
	for first := true; c.r.More(first); first = false {
		b, ok := c.r.String()
		if !ok {
			c.fail(name, "want strings")
			return nil
		}
		if got++; got > n.max {
			continue // counted, to say by how much
		}
		v, ok := entry(c, name, string(b), it)
		if !ok {
			return nil
		}
		if len(all) > 0 && it.compare(all[len(all)-1], v) >= 0 {
			c.fail(name, "not sorted, or with repeats")
			return nil
		}
		all = append(all, v)
	}
	c.bound(name, got, n)
	return all
}

// entry checks one entry of a list.
func entry[T any](c *codec, name, s string, it item[T]) (v T, ok bool) {
	if it.max > 0 && len(s) > it.max {
		c.over(name, it.max, len(s), "bytes")
		return v, false
	}
	v, wrong := it.parse(s)
	if wrong != "" {
		c.fail(name, wrong)
	}
	return v, wrong == ""
}

func writeList[T any](c *codec, name string, p *[]T, n span, it item[T]) {
	all := slices.Clone(*p)
	slices.SortFunc(all, it.compare)
	all = slices.CompactFunc(all, func(a, b T) bool { return it.compare(a, b) == 0 })
	if len(all) == 0 {
		all = nil
	}
	*p = all
	if c.bound(name, len(all), n); c.err != nil || (len(all) == 0 && !n.always) {
		return
	}
	c.put(name)
	c.out = append(c.out, '[')
	for i, v := range all {
		s := it.print(v)
		if _, ok := entry(c, name, s, it); !ok {
			return
		}
		if i > 0 {
			c.out = append(c.out, ',')
		}
		c.out = canon.AppendString(c.out, s)
	}
	c.out = append(c.out, ']')
}

// bound checks the number of entries. A list that may be left out is never
// written empty.
func (c *codec) bound(name string, got int, n span) {
	switch {
	case got > n.max:
		c.over(name, n.max, got, "entries")
	case got < n.min, c.reading && got == 0 && !n.always:
		c.fail(name, "empty")
	}
}
