package scope

import "strings"

// A placePair is a place in two alternatives, and how the search came there.
type placePair struct {
	i, j int
	some bool // a name was read: the empty path is no path
	from int
	name string
}

// alternativesMeet tells whether a path is in both, of which b is of a pattern
// and so has at most 63 segments. No place leads back to an earlier one, so the
// product is filled in row by row: at is the set of places in b that are
// reached with place i in a. Each pair of segments is asked once.
// The end reached without a name is no path, but then both are ** and meet.
func alternativesMeet(a, b *alternative, w *work) bool {
	nb := len(b.segments)
	at := places(1)
	for i := 0; at != 0; i++ {
		var below places
		deepA := i < len(a.segments) && a.segments[i].kind == segmentDeep
		for j := 0; j <= nb; j++ {
			bit := places(1) << j
			if at&bit == 0 {
				continue
			}
			w.visit()
			deepB := j < nb && b.segments[j].kind == segmentDeep
			if i < len(a.segments) && j < nb && segmentsMeet(&a.segments[i], &b.segments[j], w) {
				switch {
				case deepA:
					at |= bit << 1
				case deepB:
					below |= bit
				default:
					below |= bit << 1
				}
			}
			if deepB {
				at |= bit << 1
			}
			if deepA {
				below |= bit
			}
		}
		if i == len(a.segments) {
			return at>>nb&1 == 1
		}
		at = below
	}
	return false
}

// segmentsMeet tells whether one name is in both segments.
func segmentsMeet(a, b *segment, w *work) bool {
	w.visit()
	switch {
	case a.kind == segmentDeep || b.kind == segmentDeep:
		return true // every segment has a name, or it were refused
	case a.kind == segmentLiteral && b.kind == segmentLiteral:
		return a.key == b.key
	case a.kind == segmentLiteral:
		return matchName(b.tokens, a.key, w)
	case b.kind == segmentLiteral:
		return matchName(a.tokens, b.key, w)
	}
	return tokensMeet(a.tokens, b.tokens, w)
}

// spellAlternatives names a path that is in both, which meet, of as few names
// as can be: it searches the product breadth first, one name at a time. Each
// pair of segments is asked at most once for each value of some.
func spellAlternatives(a, b *alternative, w *work) string {
	na, nb := len(a.segments), len(b.segments)
	var room [128]uint8
	seen := room[:]
	if n := (na + 1) * (nb + 1); n > len(room) {
		seen = make([]uint8, n)
	}
	var queue []placePair
	push := func(p placePair) {
		bit := uint8(1)
		if p.some {
			bit = 2
		}
		if at := &seen[p.i*(nb+1)+p.j]; *at&bit == 0 {
			*at |= bit
			queue = append(queue, p)
			w.visit()
		}
	}
	closure := func(from int) { // adds what is reached by letting a ** end
		for k := from; k < len(queue); k++ {
			p := queue[k]
			if p.i < na && a.segments[p.i].kind == segmentDeep {
				push(placePair{p.i + 1, p.j, p.some, k, ""})
			}
			if p.j < nb && b.segments[p.j].kind == segmentDeep {
				push(placePair{p.i, p.j + 1, p.some, k, ""})
			}
		}
	}
	push(placePair{from: -1})
	closure(0)
	for level := 0; level < len(queue); {
		end := len(queue)
		for k := level; k < end; k++ {
			p := queue[k]
			if p.i == na && p.j == nb && p.some {
				return spellPath(queue, k)
			}
			if p.i == na || p.j == nb {
				continue
			}
			if name, ok := spellSegments(&a.segments[p.i], &b.segments[p.j], w); ok {
				push(placePair{p.i + past(&a.segments[p.i]), p.j + past(&b.segments[p.j]), true, k, name})
			}
		}
		level = end
		closure(end)
	}
	panic("scope: two patterns meet in no path") // unreachable unless alternativesMeet is wrong
}

func past(s *segment) int {
	if s.kind == segmentDeep {
		return 0
	}
	return 1
}

// spellSegments names one name that is in both segments.
func spellSegments(a, b *segment, w *work) (string, bool) {
	if !segmentsMeet(a, b, w) {
		return "", false
	}
	if a.kind == segmentLiteral {
		return a.text, true
	}
	if b.kind == segmentLiteral {
		return b.text, true
	}
	x, y := a.names(), b.names()
	if name, ok := spellTokens(x, y, true, w); ok {
		return name, true
	}
	return spellTokens(x, y, false, w)
}

// names are the tokens of the names that a segment without a literal takes.
func (s *segment) names() []token {
	if s.kind == segmentDeep {
		return anyName
	}
	return s.tokens
}

func spellPath(queue []placePair, k int) string {
	var names []string
	for ; k >= 0; k = queue[k].from {
		if queue[k].name != "" {
			names = append(names, queue[k].name)
		}
	}
	for i, j := 0, len(names)-1; i < j; i, j = i+1, j-1 {
		names[i], names[j] = names[j], names[i]
	}
	return strings.Join(names, "/")
}
