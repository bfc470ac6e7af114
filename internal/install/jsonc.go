package install

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	maxDepth    = 200     // nesting of a settings file
	maxSettings = 4 << 20 // bytes of it
)

// A SyntaxError says what in a file is not understood, and where. Lines and
// columns count from 1, columns in characters.
type SyntaxError struct {
	Path      string
	Line, Col int
	What      string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s; the file is left as it is", e.Path, e.Line, e.Col, e.What)
}

// A node is one value of a document, by its place in the bytes.
type node struct {
	kind       byte // { [ " 0 t f n
	first      int  // where its name begins, for a member; else start
	start, end int
	comma      int    // where the comma behind it is, or -1
	name       string // of a member, decoded
	kids       []*node
}

// A document is JSON with comments and trailing commas, cut into nodes that know
// their places. The bytes themselves are never normalised.
type document struct {
	b        []byte
	root     *node
	comments []span
}

type span struct{ start, end int }

const bom = "\xef\xbb\xbf"

// parse reads a document. Its errors are *SyntaxError with path in it.
func parse(path string, b []byte) (*document, error) {
	s := &scanner{document: document{b: b}}
	if bytes.HasPrefix(b, []byte(bom)) {
		s.at = len(bom)
	}
	err := s.fail(0, "larger than %d bytes", maxSettings)
	if len(b) <= maxSettings {
		err = s.all()
	}
	if err == nil {
		return &s.document, nil
	}
	f := err.(*fault) // unreachable unless the scanner has another error type
	line, col := place(b, f.at)
	return nil, &SyntaxError{Path: path, Line: line, Col: col, What: f.what}
}

func place(b []byte, at int) (line, col int) {
	before := bytes.TrimPrefix(b[:at], []byte(bom))
	line = 1 + bytes.Count(before, []byte("\n"))
	return line, 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
}

// A fault is a SyntaxError by offset.
type fault struct {
	at   int
	what string
}

func (f *fault) Error() string { return f.what }

type scanner struct {
	document
	at int
}

func (s *scanner) fail(at int, format string, args ...any) error {
	return &fault{at, fmt.Sprintf(format, args...)}
}

func (s *scanner) all() error {
	if err := s.space(); err != nil {
		return err
	}
	root, err := s.value(0)
	if err != nil {
		return err
	}
	s.root = root
	if err := s.space(); err != nil {
		return err
	}
	if s.at < len(s.b) {
		return s.fail(s.at, "%s behind the end of the JSON value", s.here())
	}
	return nil
}

// here describes what is at s.at.
func (s *scanner) here() string {
	if s.at >= len(s.b) {
		return "the file's end"
	}
	r, n := utf8.DecodeRune(s.b[s.at:])
	if r == utf8.RuneError && n == 1 {
		return "a byte that is not UTF-8"
	}
	return fmt.Sprintf("%q", r)
}

// space skips white space and comments.
func (s *scanner) space() error {
	for s.at < len(s.b) {
		switch c := s.b[s.at]; {
		case isSpace(c):
			s.at++
		case c == '/':
			if err := s.comment(); err != nil {
				return err
			}
		default:
			return nil
		}
	}
	return nil
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func (s *scanner) comment() error {
	start := s.at
	rest := s.b[start:]
	n := 0
	switch {
	case bytes.HasPrefix(rest, []byte("//")):
		if n = bytes.IndexAny(rest, "\r\n"); n < 0 {
			n = len(rest)
		}
	case bytes.HasPrefix(rest, []byte("/*")):
		if n = bytes.Index(rest[2:], []byte("*/")); n < 0 {
			return s.fail(start, "a comment that does not end")
		}
		n += 4
	default:
		return s.fail(start, "'/' that begins no comment")
	}
	if !utf8.Valid(rest[:n]) {
		return s.fail(start, "a comment that is not UTF-8")
	}
	s.at += n
	s.comments = append(s.comments, span{start, s.at})
	return nil
}

func (s *scanner) value(depth int) (*node, error) {
	n := &node{first: s.at, start: s.at, comma: -1}
	if s.at >= len(s.b) {
		return nil, s.fail(s.at, "a value is missing: the file ends")
	}
	var err error
	switch c := s.b[s.at]; {
	case depth > maxDepth:
		return nil, s.fail(s.at, "nested deeper than %d", maxDepth)
	case c == '{' || c == '[':
		n.kind = c
		err = s.container(n, depth)
	case c == '"':
		n.kind = '"'
		_, err = s.text()
	case c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z':
		err = s.scalar(n)
	default:
		return nil, s.fail(s.at, "a value is missing before %s", s.here())
	}
	n.end = s.at
	return n, err
}

// scalar reads a number, true, false, or null.
func (s *scanner) scalar(n *node) error {
	for s.at < len(s.b) && (isWord(s.b[s.at]) || bytes.IndexByte([]byte("+-."), s.b[s.at]) >= 0) {
		s.at++
	}
	word := jsontext.Value(s.b[n.start:s.at])
	if !word.IsValid() {
		return s.fail(n.start, "%q is no JSON value", word)
	}
	n.kind = byte(word.Kind())
	return nil
}

func isWord(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
}

// text reads a string and returns what it says.
func (s *scanner) text() (string, error) {
	start := s.at
	for s.at++; s.at < len(s.b) && s.b[s.at] != '"'; s.at++ {
		if s.b[s.at] == '\n' {
			break
		}
		if s.b[s.at] == '\\' {
			s.at++
		}
	}
	if s.at >= len(s.b) || s.b[s.at] != '"' {
		return "", s.fail(start, "a string that does not end on its line")
	}
	s.at++
	said, err := jsontext.AppendUnquote(nil, s.b[start:s.at])
	if err != nil {
		return "", s.fail(start, "a string with a character or an escape that JSON does not have")
	}
	return string(said), nil
}

// container reads an object or an array, from its opening bracket on.
func (s *scanner) container(n *node, depth int) error {
	open, end := s.at, byte(']')
	if n.kind == '{' {
		end = '}'
	}
	names := make(map[string]bool)
	s.at++
	for {
		if err := s.space(); err != nil {
			return err
		}
		if s.at >= len(s.b) {
			return s.fail(open, "%q that is not closed", n.kind)
		}
		if s.b[s.at] == end {
			s.at++
			return nil
		}
		if len(n.kids) > 0 && n.kids[len(n.kids)-1].comma < 0 {
			return s.fail(s.at, "%s where a comma or %q should be", s.here(), end)
		}
		kid, err := s.kid(n, names, depth)
		if err != nil {
			return err
		}
		n.kids = append(n.kids, kid)
		if err := s.space(); err != nil {
			return err
		}
		if s.at < len(s.b) && s.b[s.at] == ',' {
			kid.comma = s.at
			s.at++
		}
	}
}

// kid reads a member of an object or an element of an array.
func (s *scanner) kid(n *node, names map[string]bool, depth int) (*node, error) {
	if n.kind == '[' {
		return s.value(depth + 1)
	}
	first := s.at
	if s.b[first] != '"' {
		return nil, s.fail(first, "%s where a name in double quotes should be", s.here())
	}
	name, err := s.text()
	if err != nil {
		return nil, err
	}
	if names[name] {
		return nil, s.fail(first, "the name %q a second time", name)
	}
	names[name] = true
	if err := s.space(); err != nil {
		return nil, err
	}
	if s.at >= len(s.b) || s.b[s.at] != ':' {
		return nil, s.fail(s.at, "%s where a colon should be", s.here())
	}
	s.at++
	if err := s.space(); err != nil {
		return nil, err
	}
	kid, err := s.value(depth + 1)
	if err != nil {
		return nil, err
	}
	kid.first, kid.name = first, name
	return kid, nil
}

// member returns the member of an object, or nil.
func (n *node) member(name string) *node {
	if n == nil || n.kind != '{' {
		return nil
	}
	for _, kid := range n.kids {
		if kid.name == name {
			return kid
		}
	}
	return nil
}

// says reports whether n is a string of that text.
func (d *document) says(n *node, text string) bool {
	if n == nil || n.kind != '"' {
		return false
	}
	said, err := jsontext.AppendUnquote(nil, d.b[n.start:n.end])
	return err == nil && string(said) == text
}
