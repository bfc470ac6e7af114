package scope

import "strings"

// A placePair is a place in two alternatives, and how the search came there.
type placePair struct {
	i, j int
	some bool // a name was read: the empty path is no path
	from int
	name string
}

// meetAlternatives searches the product of two alternatives breadth first, one
// name at a time. Within a pair of segments the search goes on in meetTokens;
// each pair of segments is asked at most once for each value of some, so that
// the whole is bounded by the product of the two sizes.
// Without spelt it only answers, and its path is empty.
func meetAlternatives(a, b *alternative, spelt bool, w *work) (string, bool) {
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
				return spellPath(queue, k, spelt), true
			}
			if p.i == na || p.j == nb {
				continue
			}
			if name, ok := meetSegments(&a.segments[p.i], &b.segments[p.j], spelt, w); ok {
				push(placePair{p.i + past(&a.segments[p.i]), p.j + past(&b.segments[p.j]), true, k, name})
			}
		}
		level = end
		closure(end)
	}
	return "", false
}

func past(s *segment) int {
	if s.kind == segmentDeep {
		return 0
	}
	return 1
}

// meetSegments tells whether one name is in both segments, and names it.
func meetSegments(a, b *segment, spelt bool, w *work) (string, bool) {
	w.visit()
	switch {
	case a.kind == segmentLiteral && b.kind == segmentLiteral:
		return a.text, a.key == b.key
	case a.kind == segmentLiteral:
		return a.text, b.kind == segmentDeep || matchName(b.tokens, a.key, w)
	case b.kind == segmentLiteral:
		return b.text, a.kind == segmentDeep || matchName(a.tokens, b.key, w)
	case !spelt && (a.kind == segmentDeep || b.kind == segmentDeep):
		return "", true // every segment has a name, or it were refused
	}
	x, y := a.names(), b.names()
	if spelt {
		if name, ok := meetTokens(x, y, true, w); ok {
			return name, true
		}
	}
	return meetTokens(x, y, false, w)
}

// names are the tokens of the names that a segment without a literal takes.
func (s *segment) names() []token {
	if s.kind == segmentDeep {
		return anyName
	}
	return s.tokens
}

func spellPath(queue []placePair, k int, spelt bool) string {
	if !spelt {
		return ""
	}
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
