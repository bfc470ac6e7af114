package scope

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// The bounds of a pattern. Together they bound the work of any two entries
// meeting: see MaxMeetStates.
const (
	// MaxStates bounds the states of one pattern: one for each letter, wildcard
	// and class of each segment, and one for its end, over all alternatives.
	MaxStates = 1024

	// MaxAlternatives bounds the patterns that {a,b} expands to.
	MaxAlternatives = 64

	// MaxDeep bounds the ** of one alternative.
	MaxDeep = 8

	// MaxNesting bounds {} within {}.
	MaxNesting = 4

	maxSegments = 63 // of one alternative: a set of them is one machine word
)

// An atom is one piece of a pattern before it is cut into segments.
type atom struct {
	kind  atomKind
	text  string   // of a literal: one character
	class *class   // of a class
	alts  [][]atom // of a choice
}

type atomKind uint8

const (
	atomLiteral atomKind = iota
	atomSlash
	atomAny    // ?
	atomStar   // *
	atomDeep   // **
	atomClass  // [...]
	atomChoice // {a,b}
)

// tidyGlob gives a pattern its one spelling as far as that needs no parsing.
// A pattern for folders, "a/*/", covers what is in them: "a/*/**".
func tidyGlob(p string) string {
	for strings.Contains(p, "//") {
		p = strings.ReplaceAll(p, "//", "/")
	}
	for strings.HasPrefix(p, "./") {
		p = p[2:]
	}
	if strings.HasSuffix(p, "/") && len(p) > 1 {
		p += "**"
	}
	segments := strings.Split(p, "/")
	segments = slices.CompactFunc(segments, func(a, b string) bool { return a == "**" && b == "**" })
	return strings.Join(segments, "/")
}

// compileGlob reads a pattern and refuses what is outside the grammar or a bound.
func compileGlob(text string) ([]alternative, error) {
	r := &globReader{rest: text}
	atoms, err := r.sequence(0)
	if err != nil {
		return nil, err
	}
	if !r.wild {
		return nil, refuse("no wildcard in it", "it names one path; write it without backslashes, and --literal if it has * ? [ or {")
	}
	flat, err := expand(atoms)
	if err != nil {
		return nil, err
	}
	var out []alternative
	states := 0
	for _, f := range flat {
		a, err := cut(f)
		if err != nil {
			return nil, err
		}
		if states += a.size; states > MaxStates {
			return nil, refuse(fmt.Sprintf("a pattern of more than %d states", MaxStates), "write it shorter, or claim the folder above it")
		}
		out = append(out, a)
	}
	return out, nil
}

type globReader struct {
	rest string
	wild bool
}

func (r *globReader) next() string {
	_, n := utf8.DecodeRuneInString(r.rest)
	c := r.rest[:n]
	r.rest = r.rest[n:]
	return c
}

// sequence reads until the end, or within {} until its comma or brace.
func (r *globReader) sequence(depth int) ([]atom, error) {
	var out []atom
	for r.rest != "" {
		if depth > 0 && (r.rest[0] == ',' || r.rest[0] == '}') {
			return out, nil
		}
		a, err := r.atom(depth)
		if err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	if depth > 0 {
		return nil, refuse("{ without its }", `write \{ for the character`)
	}
	return out, nil
}

func (r *globReader) atom(depth int) (atom, error) {
	switch c := r.next(); c {
	case "/":
		return atom{kind: atomSlash}, nil
	case "?":
		r.wild = true
		return atom{kind: atomAny}, nil
	case "*":
		r.wild = true
		if strings.HasPrefix(r.rest, "*") {
			r.next()
			return atom{kind: atomDeep}, nil
		}
		return atom{kind: atomStar}, nil
	case "[":
		r.wild = true
		c, err := r.class()
		return atom{kind: atomClass, class: c}, err
	case "{":
		r.wild = true
		return r.choice(depth + 1)
	case "]", "}":
		return atom{}, refuse(c+" without its opening", `write \`+c+` for the character`)
	case `\`:
		c, err := r.escaped()
		return atom{kind: atomLiteral, text: c}, err
	default:
		return atom{kind: atomLiteral, text: c}, nil
	}
}

func (r *globReader) choice(depth int) (atom, error) {
	if depth > MaxNesting {
		return atom{}, refuse(fmt.Sprintf("{} nested deeper than %d", MaxNesting), "write the patterns apart")
	}
	a := atom{kind: atomChoice}
	for {
		alt, err := r.sequence(depth)
		if err != nil {
			return atom{}, err
		}
		a.alts = append(a.alts, alt)
		if r.next() == "}" {
			break
		}
	}
	if len(a.alts) < 2 {
		return atom{}, refuse("{} with one alternative", `write {a,b}, or \{ for the character`)
	}
	return a, nil
}

// escaped reads what follows a backslash: only what means something without it.
func (r *globReader) escaped() (string, error) {
	if r.rest != "" && strings.Contains("*?[]{},-!^", r.rest[:1]) {
		return r.next(), nil
	}
	return "", refuse(`a \ before a character that needs none`, `write / between folders; \ is for * ? [ ] { } , - ! ^`)
}

// class reads the inside of [...] and its closing bracket.
func (r *globReader) class() (*class, error) {
	c := &class{}
	if r.rest != "" && (r.rest[0] == '!' || r.rest[0] == '^') {
		c.not = true
		r.next()
	}
	var raw []span
	for !strings.HasPrefix(r.rest, "]") {
		lo, err := r.member()
		if err != nil {
			return nil, err
		}
		hi := lo
		if strings.HasPrefix(r.rest, "-") && !strings.HasPrefix(r.rest, "-]") {
			r.next()
			if hi, err = r.member(); err != nil {
				return nil, err
			}
		}
		if lo > hi {
			return nil, refuse(fmt.Sprintf("the range %c-%c is empty", lo, hi), "write the lower character first")
		}
		raw = append(raw, span{lo, hi})
	}
	r.next()
	if raw == nil {
		return nil, refuse("an empty class", `write \] for the bracket`)
	}
	c.spans = foldSpans(raw)
	return c, nil
}

func (r *globReader) member() (rune, error) {
	if r.rest == "" {
		return 0, refuse("[ without its ]", `write \[ for the character`)
	}
	c := r.next()
	switch c {
	case `\`:
		var err error
		if c, err = r.escaped(); err != nil {
			return 0, err
		}
	case "[":
		return 0, refuse("[ within a class", `write \[ for the character`)
	case "/":
		return 0, refuse("/ within a class", "a class matches one character of a name")
	}
	if joins(c) {
		return 0, refuse("a combining mark within a class", "write the letters with their marks as {a,b}")
	}
	m, _ := utf8.DecodeRuneInString(c)
	return m, nil
}
