package scope

import "strings"

// A program is an entry made ready to be compared. Everything but a resource
// is a list of alternatives, and an alternative is a list of segments, so that
// paths, folders and patterns meet by one rule. It is not changed once made.
type program struct {
	entry Entry
	key   string // of the text; of a path, a folder or a resource
	alts  []alternative
}

type alternative struct {
	segments []segment
	size     int // states
}

func (a *alternative) add(s segment) {
	a.segments = append(a.segments, s)
	a.size += s.states()
}

type segmentKind uint8

const (
	segmentLiteral segmentKind = iota
	segmentPattern
	segmentDeep // **: any number of segments
)

type segment struct {
	kind   segmentKind
	text   string  // of a literal, as written
	key    string  // of a literal, folded
	tokens []token // of a pattern
}

func (s *segment) states() int {
	switch s.kind {
	case segmentLiteral:
		return countClusters(s.key) + 1
	case segmentPattern:
		return len(s.tokens) + 1
	}
	return 1
}

type tokenKind uint8

const (
	tokenLiteral tokenKind = iota
	tokenAny
	tokenStar
	tokenClass
)

// A token matches one cluster of a folded name; a star matches any number.
type token struct {
	kind  tokenKind
	key   string // of a literal, folded
	text  string // of a literal, as written
	class *class
}

func (t *token) matches(cluster string) bool {
	switch t.kind {
	case tokenLiteral:
		return t.key == cluster
	case tokenClass:
		return t.class.matches(cluster)
	}
	return true
}

// keyTokens cuts the key of a name into its letters.
func keyTokens(key string) []token {
	out := make([]token, 0, len(key))
	for key != "" {
		n := nextCluster(key)
		out = append(out, token{key: key[:n], text: key[:n]})
		key = key[n:]
	}
	return out
}

// literalTokens cuts normal text into tokens, one for each cluster of its key.
func literalTokens(text string) []token {
	var out []token
	for text != "" {
		n := nextCluster(text)
		k := key(text[:n])
		if nextCluster(k) == len(k) {
			out = append(out, token{key: k, text: text[:n]})
		} else { // the folding made a letter of a mark
			out = append(out, keyTokens(k)...)
		}
		text = text[n:]
	}
	return out
}

func countClusters(key string) int {
	n := 0
	for key != "" {
		key = key[nextCluster(key):]
		n++
	}
	return n
}

var (
	anyName = []token{{kind: tokenStar}}
	deep    = segment{kind: segmentDeep}
)

// keyed is the program of a valid entry as far as paths, folders and resources
// need one among each other.
func (e Entry) keyed() *program {
	p := &program{entry: e}
	if e.form != FormGlob {
		p.key = key(e.text)
	}
	return p
}

// compile makes the program of a valid entry.
func (e Entry) compile() *program {
	p := e.keyed()
	switch e.form {
	case FormGlob:
		p.alts, _ = compileGlob(e.text) // its error was seen when e was made
	case FormPath, FormDir:
		p.alts = []alternative{p.plain()}
	}
	return p
}

// plain is the alternative of a path or a folder.
func (p *program) plain() alternative {
	text, k := p.entry.text, p.key
	a := alternative{segments: make([]segment, 0, strings.Count(text, "/")+2)}
	for more := text != "."; more; {
		var s segment
		s.text, text, more = strings.Cut(text, "/")
		s.key, k, _ = strings.Cut(k, "/")
		a.add(s)
	}
	if p.entry.form == FormDir {
		a.add(deep)
	}
	return a
}

// States is the size of e in states of its automaton, over all alternatives.
// The states that a meeting visits are bounded by the product of two sizes.
func (e Entry) States() int {
	n := 0
	for _, a := range e.compile().alts {
		n += a.size
	}
	return n
}

// prefix is the number of leading segments without a wildcard.
func (a *alternative) prefix() int {
	n := 0
	for n < len(a.segments) && a.segments[n].kind == segmentLiteral {
		n++
	}
	return n
}

// shape is the form by which a can be found: a/** is the folder a, and an
// alternative without a wildcard is one path.
func (a *alternative) shape() Form {
	switch n := a.prefix(); {
	case n == len(a.segments):
		return FormPath
	case n == len(a.segments)-1 && a.segments[n].kind == segmentDeep:
		return FormDir
	}
	return FormGlob
}

// anchor is a name that every path of a pattern has behind its prefix, if one
// is known: the last without a wildcard.
func (a *alternative) anchor() string {
	for i := len(a.segments) - 1; i > a.prefix(); i-- {
		if a.segments[i].kind == segmentLiteral {
			return a.segments[i].key
		}
	}
	return ""
}

// tail is what the last name of every path that a covers ends with.
func (a *alternative) tail() string {
	last := &a.segments[len(a.segments)-1]
	if last.kind == segmentLiteral {
		return last.key
	}
	var tail string
	for i := len(last.tokens) - 1; i >= 0 && last.tokens[i].kind == tokenLiteral; i-- {
		tail = last.tokens[i].key + tail
	}
	return tail
}
