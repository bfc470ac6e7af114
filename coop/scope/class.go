package scope

import (
	"cmp"
	"slices"
	"sort"
	"unicode/utf8"
)

// A class matches one character of a folded name. Its spans are sorted and
// apart, and hold only characters that such a name can have: a range does not
// match what stands in it but cannot stand alone in a clean name (marks,
// controls, the two slashes, characters that normalise to others).
//
// A class with not matches every cluster that is none of its spans', also a
// letter with marks, which is no single character.
type class struct {
	not   bool
	spans []span
}

func (c *class) matches(cluster string) bool {
	r, n := utf8.DecodeRuneInString(cluster)
	if n < len(cluster) || r == utf8.RuneError && n <= 1 {
		return c.not
	}
	return within(c.spans, r) != c.not
}

// unfit are the characters that a range does not match, sorted.
var unfit = [...][]span{joining[:], unstable[:], controls[:], {{'/', '/'}, {'\\', '\\'}, {0xd800, 0xdfff}}}

// foldSpans is the case folding of a set of characters: what it holds is the
// image of a character of raw that a name can have, and nothing else.
func foldSpans(raw []span) []span {
	set := mergeSpans(raw)
	for _, u := range unfit {
		set = subtract(set, u)
	}
	var sources, images []span
	for _, f := range caseFolds {
		i := sort.Search(len(set), func(i int) bool { return set[i].hi >= f.lo })
		if i == len(set) || set[i].lo > f.hi {
			continue
		}
		for r := f.lo; r <= f.hi; r += f.stride {
			if within(set, r) {
				sources = append(sources, span{r, r})
				images = append(images, span{r + f.delta, r + f.delta})
			}
		}
	}
	return mergeSpans(append(subtract(set, sources), images...))
}

func mergeSpans(s []span) []span {
	s = slices.Clone(s)
	slices.SortFunc(s, func(a, b span) int { return cmp.Compare(a.lo, b.lo) })
	out := s[:0]
	for _, x := range s {
		if n := len(out); n > 0 && x.lo <= out[n-1].hi+1 {
			out[n-1].hi = max(out[n-1].hi, x.hi)
		} else {
			out = append(out, x)
		}
	}
	return out
}

// subtract takes from sorted spans what sorted other ones hold.
func subtract(from, what []span) []span {
	var out []span
	for _, f := range from {
		i := sort.Search(len(what), func(i int) bool { return what[i].hi >= f.lo })
		for ; i < len(what) && what[i].lo <= f.hi; i++ {
			if what[i].lo > f.lo {
				out = append(out, span{f.lo, what[i].lo - 1})
			}
			f.lo = what[i].hi + 1
		}
		if f.lo <= f.hi {
			out = append(out, f)
		}
	}
	return out
}

func intersect(a, b []span) []span {
	var out []span
	for len(a) > 0 && len(b) > 0 {
		if lo, hi := max(a[0].lo, b[0].lo), min(a[0].hi, b[0].hi); lo <= hi {
			out = append(out, span{lo, hi})
		}
		if a[0].hi < b[0].hi {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return out
}

// natural are the letters that a witness is made of where it has the choice.
const natural = "xyzabcdefghijklmnopqrstuvw0123456789_-"

// beyond is a letter that no class holds, because it is not one character and
// has no composed form.
const beyond = "x\u0302"

// pickIn names a character of the spans, a dot only when there is no other.
func pickIn(spans []span) (string, bool) {
	if len(spans) == 0 {
		return "", false
	}
	for i, r := range natural {
		if within(spans, r) {
			return natural[i : i+1], true
		}
	}
	for _, s := range spans {
		if s.lo != '.' {
			return string(s.lo), true
		}
		if s.hi > s.lo {
			return string(s.lo + 1), true
		}
	}
	return ".", true
}

// pickOutside names a cluster that is none of the spans'.
func pickOutside(a, b []span) string {
	for i, r := range natural {
		if !within(a, r) && !within(b, r) {
			return natural[i : i+1]
		}
	}
	return beyond
}

var everyLetter = class{not: true}

// pick names a cluster that both classes match; nil matches every one.
func pick(a, b *class) (string, bool) {
	if a == nil {
		a = &everyLetter
	}
	if b == nil {
		b = &everyLetter
	}
	switch {
	case a.not && b.not:
		return pickOutside(a.spans, b.spans), true
	case a.not:
		return pickIn(subtract(b.spans, a.spans))
	case b.not:
		return pickIn(subtract(a.spans, b.spans))
	default:
		return pickIn(intersect(a.spans, b.spans))
	}
}
