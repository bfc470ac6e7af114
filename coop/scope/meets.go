package scope

import (
	"math/bits"
	"strings"
)

// MaxMeetStates bounds the product states that the meeting of any two entries
// visits: four for each pair of the states that MaxStates allows (what is known
// of the name so far is one of four things), once for the answer, and thrice for
// the witness, whose first choice may not exist.
const MaxMeetStates = 16 * MaxStates * MaxStates

// work counts the product states that a question visited. A nil work counts nothing.
type work struct{ visited int }

func (w *work) visit() {
	if w != nil {
		w.visited++
	}
}

// Work asks whether a and b meet and tells how many product states that took.
// It is at most MaxMeetStates whatever the entries.
func Work(a, b Entry) (visited int) {
	w := new(work)
	meetEntries(a, b, w)
	return w.visited
}

// Covers tells whether e covers a repository path: from the top, "/" between,
// no "." or ".." or empty part. Any other spelling is covered by nothing, and
// nothing is bounded: a path that is no entry (too long, with a control
// character, not UTF-8) is covered as any other. A resource covers no path;
// "." , the top itself, is covered by the whole repository alone.
func (e Entry) Covers(path string) bool {
	if e.form == 0 || e.form == FormResource {
		return false
	}
	if path == "." {
		return e == Entry{FormDir, "."}
	}
	if !isRepositoryPath(path) {
		return false
	}
	if e.form == FormGlob {
		return e.compile().covers(key(path))
	}
	return e.keyed().covers(key(path))
}

// covers answers for the key of a clean path.
func (p *program) covers(path string) bool {
	switch p.entry.form {
	case FormPath:
		return p.key == path
	case FormDir:
		return under(path, p.key)
	case FormGlob:
		for i := range p.alts {
			if p.alts[i].matches(path, nil) {
				return true
			}
		}
	}
	return false
}

// under tells whether a path is a folder or below it.
func under(path, dir string) bool {
	return dir == "." || strings.HasPrefix(path, dir) && (len(path) == len(dir) || path[len(dir)] == '/')
}

// places is a set of places in an alternative: bit i stands before segment i.
type places uint64

// start is the set before the first name.
func (a *alternative) start() places { return a.closure(1) }

// closure adds the places reached by letting a ** take nothing more.
func (a *alternative) closure(p places) places {
	for i := range a.segments {
		if a.segments[i].kind == segmentDeep && p>>i&1 == 1 {
			p |= 1 << (i + 1)
		}
	}
	return p
}

// step is the set after one more name.
func (a *alternative) step(p places, name string, w *work) places {
	var next places
	for rest := p; rest != 0; rest &= rest - 1 {
		i := bits.TrailingZeros64(uint64(rest))
		if i == len(a.segments) {
			break
		}
		w.visit()
		switch s := &a.segments[i]; s.kind {
		case segmentDeep:
			next |= 1 << i
		case segmentLiteral:
			if s.key == name {
				next |= 2 << i
			}
		case segmentPattern:
			if matchName(s.tokens, name, w) {
				next |= 2 << i
			}
		}
	}
	return a.closure(next)
}

func (a *alternative) accepts(p places) bool { return p>>len(a.segments)&1 == 1 }

// matches tells whether the key of a path matches.
func (a *alternative) matches(path string, w *work) bool {
	p := a.start()
	for more := true; more && p != 0; {
		var name string
		name, path, more = strings.Cut(path, "/")
		p = a.step(p, name, w)
	}
	return a.accepts(p)
}

// Meets tells whether some path is covered by both entries, and names one: a
// shortest, in letters that people recognise. The answer is exact for every
// pair of forms and the same, witness included, in both directions. Resources
// meet when they are the same resource; the witness is then its name with @.
func (e Entry) Meets(f Entry) (witnessPath string, ok bool) {
	return meetEntries(e, f, nil)
}

// meetEntries compiles no more than the two forms need.
func meetEntries(a, b Entry, w *work) (string, bool) {
	if a.form == FormGlob || b.form == FormGlob {
		return witness(a.compile(), b.compile(), w)
	}
	return witness(a.keyed(), b.keyed(), w)
}

// witness is Meets of two programs; it orders them, so that both directions
// give one answer.
func witness(a, b *program, w *work) (string, bool) {
	if b.entry.form < a.entry.form || b.entry.form == a.entry.form && b.entry.text < a.entry.text {
		a, b = b, a
	}
	if a.entry.form == FormGlob || b.entry.form == FormGlob {
		return meetGlobs(a, b, w)
	}
	if !meets(a, b, w) {
		return "", false
	}
	switch {
	case a.entry.form == FormResource:
		return a.entry.Show(), true
	case a.entry.form == FormPath:
		return a.entry.text, true
	case len(a.key) > len(b.key) || b.key == ".": // two folders: the lower one
		return a.named(), true
	default:
		return b.named(), true
	}
}

// named is a path in a folder: the folder's own, but of the top one below it.
func (p *program) named() string {
	if p.key == "." {
		return "x"
	}
	return p.entry.text
}

// meets is Meets without a witness.
func meets(a, b *program, w *work) bool {
	fa, fb := a.entry.form, b.entry.form
	if fa == 0 || fb == 0 {
		return false
	}
	if fb < fa {
		a, b, fa, fb = b, a, fb, fa
	}
	switch {
	case fb == FormResource:
		return fa == FormResource && a.key == b.key
	case fb == FormPath:
		return a.key == b.key
	case fb == FormDir && fa == FormPath:
		return under(a.key, b.key)
	case fb == FormDir:
		return under(a.key, b.key) || under(b.key, a.key)
	}
	for i := range a.alts {
		for j := range b.alts {
			if alternativesMeet(&a.alts[i], &b.alts[j], w) { // b is the pattern
				return true
			}
		}
	}
	return false
}

// maxSpelt bounds the pairs of alternatives whose witnesses are compared.
const maxSpelt = 64

// meetGlobs is the shortest of the witnesses of the pairs of alternatives that
// meet, or of the first of them when they are very many. b is the pattern.
func meetGlobs(a, b *program, w *work) (string, bool) {
	best, spelt := "", 0
	for i := range a.alts {
		for j := range b.alts {
			if spelt == maxSpelt || !alternativesMeet(&a.alts[i], &b.alts[j], w) {
				continue
			}
			if s := spellAlternatives(&a.alts[i], &b.alts[j], w); spelt == 0 || shorter(s, best) {
				best = s
			}
			spelt++
		}
	}
	return best, spelt > 0
}

func shorter(a, b string) bool {
	if x, y := strings.Count(a, "/"), strings.Count(b, "/"); x != y {
		return x < y
	}
	return len(a) < len(b) || len(a) == len(b) && a < b
}
