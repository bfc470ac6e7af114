package scope

import (
	"fmt"
	"slices"
	"strings"
)

const (
	// MaxEntries bounds a set.
	MaxEntries = 64

	// MaxSetStates bounds the sum of the States of a set's patterns, and with it
	// the work of one set meeting another.
	MaxSetStates = 2048
)

// A Set is what one claim covers: what its entries cover, together. It is
// sorted by stored form, without repeats, and has 1 to MaxEntries entries.
type Set []Entry

// NewSet sorts the entries and drops repeats.
func NewSet(entries ...Entry) (Set, error) {
	s := slices.Clone(entries)
	slices.SortFunc(s, func(a, b Entry) int { return strings.Compare(a.String(), b.String()) })
	s = slices.Compact(s)
	if err := Set(s).check(); err != nil {
		return nil, err
	}
	return s, nil
}

// ParseSet reads a stored set. It takes exactly what Strings gives.
func ParseSet(stored []string) (Set, error) {
	if len(stored) > MaxEntries {
		return nil, tooMany(len(stored))
	}
	s := make(Set, 0, len(stored))
	for i, text := range stored {
		if i > 0 && stored[i-1] >= text {
			return nil, &Error{Word: text, Reason: "a stored scope that is not sorted without repeats"}
		}
		e, err := Parse(text)
		if err != nil {
			return nil, err
		}
		s = append(s, e)
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	return s, nil
}

func tooMany(n int) error {
	return &Error{Word: fmt.Sprintf("%d entries", n), Reason: fmt.Sprintf("more than %d", MaxEntries), Hint: "claim a folder above them"}
}

func (s Set) check() error {
	switch {
	case len(s) == 0:
		return &Error{Reason: "empty", Hint: "name at least one path, folder, pattern or @resource"}
	case len(s) > MaxEntries:
		return tooMany(len(s))
	}
	for _, e := range s {
		if e.form == 0 {
			return &Error{Reason: "an entry without a form"}
		}
	}
	if states := s.States(); states > MaxSetStates {
		return &Error{Word: s[0].Show(), Reason: fmt.Sprintf("%d patterns that are together too large (%d states, at most %d)", len(s), states, MaxSetStates), Hint: "claim a folder above them"}
	}
	return nil
}

// States is the size of the patterns of s in states; nothing else counts.
func (s Set) States() (n int) {
	for _, e := range s {
		if e.form == FormGlob {
			n += e.States()
		}
	}
	return n
}

// Strings are the stored forms, in order.
func (s Set) Strings() []string {
	out := make([]string, len(s))
	for i, e := range s {
		out[i] = e.String()
	}
	return out
}

// Covers tells whether an entry covers path, and the first that does.
func (s Set) Covers(path string) (Entry, bool) {
	for _, e := range s {
		if e.Covers(path) {
			return e, true
		}
	}
	return Entry{}, false
}

// A Meeting is where two sets meet: an entry of each, and a path that both
// cover (of resources, the resource as people type it).
type Meeting struct {
	A, B    Entry
	Witness string
}

// Meets finds an entry of s and one of t that meet: the first of s, and the
// first of t that meets it. Whether there is one is exact and symmetric.
func (s Set) Meets(t Set) (Meeting, bool) {
	ps, pt := compileSet(s), compileSet(t)
	for _, a := range ps {
		for _, b := range pt {
			if meets(a, b, nil) {
				w, _ := a.entry.Meets(b.entry)
				return Meeting{A: a.entry, B: b.entry, Witness: w}, true
			}
		}
	}
	return Meeting{}, false
}

func compileSet(s Set) []*program {
	out := make([]*program, len(s))
	for i, e := range s {
		out[i] = e.compile()
	}
	return out
}
