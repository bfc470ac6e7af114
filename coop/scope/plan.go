package scope

import (
	"math"
	"slices"
	"sync/atomic"
)

const (
	// smallStates is how many states of two plans are compared pattern by
	// pattern: what people write has fewer, and there most pairs are apart at
	// the first name. Larger ones are asked in bulk.
	smallStates = 1 << 14

	// fewWays is how many pairs of ways are asked without an Index.
	fewWays = 64
)

// A Plan is a set made ready for an Index: worked out once, it can be held and looked
// up any number of times, in any number of indexes. It is not changed once made.
type Plan struct {
	top    bool     // has the whole repository by name
	states uint16   // of all ways; with loose it says what asking them one by one may cost
	loose  uint16   // those of states that are of names with a wildcard
	names  []string // of resources, folded
	ways   []way    // of the other entries
	track  atomic.Pointer[track]
}

// A way is one alternative of an entry and how it is found.
type way struct {
	*alternative
	lead int    // leading names without a wildcard
	form Form   // see shape
	name string // see anchor
	tail string
}

// Plan makes s ready for an Index.
func (s Set) Plan() *Plan {
	p := &Plan{ways: make([]way, 0, len(s))}
	for _, e := range s {
		c := e.compile()
		p.top = p.top || e == Entry{FormDir, "."}
		if e.form == FormResource {
			p.names = append(p.names, c.key)
			continue
		}
		for i := range c.alts {
			p.add(&c.alts[i])
		}
	}
	return p
}

func (p *Plan) add(a *alternative) {
	p.ways = append(p.ways, way{a, a.prefix(), a.shape(), a.anchor(), a.tail()})
	loose := 0
	for i := range a.segments {
		if a.segments[i].kind != segmentLiteral {
			loose += a.segments[i].states()
		}
	}
	p.states = uint16(min(int(p.states)+a.size, math.MaxUint16))
	p.loose = uint16(min(int(p.loose)+loose, math.MaxUint16))
}

// large tells whether asking p's ways and q's one by one may cost much.
func (p *Plan) large(q *Plan) bool {
	return int(p.states)*int(q.loose)+int(p.loose)*int(q.states) > smallStates
}

// patterns are the ways that are patterns, laid out when they are first asked for.
func (p *Plan) patterns() *track {
	t := p.track.Load()
	if t == nil {
		t = newTrack(p.ways, 0)
		p.track.Store(t)
	}
	return t
}

// Meets tells whether the sets of p and q meet, as Set.Meets does, without a
// witness, and so at a small part of what that may cost.
func (p *Plan) Meets(q *Plan) bool {
	if len(p.ways)*len(q.ways) <= fewWays && !p.large(q) {
		return p.fewMeet(q)
	}
	var x Index[int]
	x.Add(0, q)
	for range x.Meeting(p) {
		return true
	}
	return false
}

func (p *Plan) fewMeet(q *Plan) bool {
	for _, name := range p.names {
		if slices.Contains(q.names, name) {
			return true
		}
	}
	for i := range p.ways {
		for j := range q.ways {
			if p.ways[i].meets(&q.ways[j]) {
				return true
			}
		}
	}
	return false
}

func (w *way) meets(v *way) bool {
	switch {
	case v.form == FormGlob:
		return alternativesMeet(w.alternative, v.alternative, nil)
	case w.form == FormGlob:
		return alternativesMeet(v.alternative, w.alternative, nil)
	case w.lead > v.lead:
		w, v = v, w
	}
	for i := range w.lead {
		if w.segments[i].key != v.segments[i].key {
			return false
		}
	}
	return w.lead == v.lead || w.form == FormDir
}
