package canon

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// A Reason is why bytes are not what a form writes.
type Reason string

// The reasons of a StrictError.
const (
	Malformed    Reason = "malformed"     // not JSON, or not UTF-8
	Trailing     Reason = "trailing_data" // bytes behind the value
	DuplicateKey Reason = "duplicate_key" // a name occurs twice in one object
	UnknownField Reason = "unknown_field" // a member that the form does not have
	WrongType    Reason = "wrong_type"    // a member of another type, or a number out of range
	Negative     Reason = "negative"      // a number below 0 where there are none
	NotCanonical Reason = "not_canonical" // another spelling of what the form writes
)

// A StrictError says why bytes are refused. It holds no value of theirs, which may be
// private, and is short whatever they are.
type StrictError struct {
	Reason Reason
	// Field is the member that is meant, with the names from the outermost in and
	// dots between them, at most MaxField bytes and "..."; "" when it is the whole,
	// or when Where tells the place.
	Field string
	Where *Error // nil when no byte can be told
}

// MaxField is how much of a StrictError's Field comes from the bytes.
const MaxField = 128

func (e *StrictError) Error() string {
	switch {
	case e.Field != "":
		return fmt.Sprintf("%s: %s", e.Field, e.Reason)
	case e.Where != nil:
		return fmt.Sprintf("%s: %v", e.Reason, e.Where)
	}
	return string(e.Reason)
}

// Unwrap returns Where.
func (e *StrictError) Unwrap() error {
	if e.Where == nil {
		return nil
	}
	return e.Where
}

// Decode reads b into v, which points to a zero value, when b is what Marshal writes
// of it, and nothing else. The error is a *StrictError; v is spoilt then.
func Decode(b []byte, v any) error {
	if err := Read(b, v); err != nil {
		return err
	}
	return Written(b, v)
}

// Read is Decode but for the spelling: it takes other orders, escapes and spaces,
// and members that Marshal leaves out, or that Marshal writes and b has not. It is for
// those who look at what they read, or at more than v, before they hold the whole
// against what is written.
func Read(b []byte, v any) error {
	err := json.Unmarshal(b, v, json.RejectUnknownMembers(true))
	var semantic *json.SemanticError
	var syntax *jsontext.SyntacticError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &semantic):
		reason := WrongType
		switch {
		case semantic.Err == json.ErrUnknownName:
			reason = UnknownField
		case bytes.HasPrefix(semantic.JSONValue, []byte("-")):
			reason = Negative
		}
		return &StrictError{Reason: reason, Field: field(semantic.JSONPointer)}
	case !errors.As(err, &syntax):
		return &StrictError{Reason: Malformed}
	case errors.Is(err, jsontext.ErrDuplicateName):
		return at(DuplicateKey, syntax, "a name occurs twice in one object")
	case strings.Contains(syntax.Error(), "after top-level value"):
		return at(Trailing, syntax, "more bytes after the value")
	}
	return at(Malformed, syntax, "no JSON, or no UTF-8")
}

// Written returns nil when b is what Marshal writes of v, and else a *StrictError.
func Written(b []byte, v any) error {
	if again, err := Marshal(v); err == nil && bytes.Equal(again, b) {
		return nil
	}
	where, _ := Check(b).(*Error)
	return &StrictError{Reason: NotCanonical, Where: where}
}

// Version returns the member "v" of an object whose other members this build may
// not know, 0 when there is none to be found: it tells a later version of a form
// from what is no form.
func Version(b []byte) uint64 {
	var f struct {
		V uint64 `json:"v"`
	}
	if json.Unmarshal(b, &f) != nil {
		return 0
	}
	return f.V
}

func at(reason Reason, syntax *jsontext.SyntacticError, detail string) error {
	return &StrictError{Reason: reason, Where: &Error{int(syntax.ByteOffset), detail}}
}

// field returns a pointer as the name of a field: "/at/turn" is "at.turn".
func field(p jsontext.Pointer) string {
	s := strings.TrimPrefix(string(p), "/")
	if len(s) > MaxField {
		s = strings.ToValidUTF8(s[:MaxField], "") + "..."
	}
	return strings.ReplaceAll(s, "/", ".")
}
