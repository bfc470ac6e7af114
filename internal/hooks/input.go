package hooks

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// MaxInput is the most bytes of one hook call.
const MaxInput = 10 << 20

// A Reason says what is wrong with a hook call.
type Reason string

// The reasons.
const (
	UnknownClient Reason = "unknown client"
	UnknownEvent  Reason = "unknown event"
	Unreadable    Reason = "input cannot be read"
	TooLarge      Reason = "input over 10 MB"
	Empty         Reason = "no input"
	Truncated     Reason = "input ends in the middle"
	NotJSON       Reason = "input is not JSON"
	WrongType     Reason = "field of another type"
	Missing       Reason = "field missing"
	OutOfBounds   Reason = "field out of bounds"
	OtherEvent    Reason = "input of another event"
)

// An InputError reports a hook call that was not understood. It never quotes
// the input, which may hold secrets.
type InputError struct {
	Client, Event string
	Reason        Reason
	Field         string // JSON name with a dot for each step inwards, if one is to blame
	Offset        int64  // byte, for Truncated and NotJSON
	Err           error  // of the reader, for Unreadable
}

func (e *InputError) Error() string {
	s := fmt.Sprintf("hook %s %s: %s", e.Client, e.Event, e.Reason)
	switch {
	case e.Field != "":
		s += ": " + e.Field
	case e.Reason == Truncated || e.Reason == NotJSON:
		s += fmt.Sprintf(" at byte %d", e.Offset)
	case e.Err != nil:
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *InputError) Unwrap() error { return e.Err }

func slurp(in io.Reader) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(in, MaxInput+1))
	switch {
	case err != nil:
		return nil, &InputError{Reason: Unreadable, Err: err}
	case len(b) > MaxInput:
		return nil, &InputError{Reason: TooLarge}
	case len(bytes.TrimSpace(b)) == 0:
		return nil, &InputError{Reason: Empty}
	case !utf8.Valid(b):
		return nil, badBytes(b)
	}
	return b, nil
}

// badBytes tells a character that is cut at the end from bytes that were never
// text.
func badBytes(b []byte) error {
	at := 0
	for at < len(b) {
		r, n := utf8.DecodeRune(b[at:])
		if r == utf8.RuneError && n == 1 {
			break
		}
		at += n
	}
	if b[0] == '{' && len(b)-at < utf8.UTFMax && !utf8.FullRune(b[at:]) {
		return &InputError{Reason: Truncated, Offset: int64(at)}
	}
	return &InputError{Reason: NotJSON, Offset: int64(at)}
}

// lenient: a lone surrogate becomes U+FFFD, which is also what the clients make
// of it in a file's name, and of a name that comes twice the last one counts, as
// in their own parser.
var lenient = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

// decode parses b, the value of field ("" for the whole), into v.
func decode(field string, b []byte, v any) error {
	err := json.Unmarshal(b, v, lenient)
	if err == nil {
		return nil
	}
	var form *json.SemanticError
	if errors.As(err, &form) {
		return &InputError{Reason: WrongType, Field: dotted(field, form.JSONPointer)}
	}
	bad := &InputError{Reason: NotJSON}
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		bad.Offset = syntax.ByteOffset
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		bad.Reason = Truncated
	}
	return bad
}

func dotted(field string, p jsontext.Pointer) string {
	steps := make([]string, 0, 4)
	if field != "" {
		steps = append(steps, field)
	}
	for step := range p.Tokens() {
		steps = append(steps, step)
	}
	if len(steps) == 0 {
		return "the whole input"
	}
	return strings.Join(steps, ".")
}

func encode(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err // unreachable unless a reply type cannot be encoded
	}
	return append(b, '\n'), nil
}
