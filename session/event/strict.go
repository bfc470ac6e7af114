package event

import (
	"bytes"
	"errors"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/comity-dev/comity/internal/canon"
)

// Marshal returns the canonical JSON of v. It is the one form of what the
// session wing stores.
func Marshal(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err == nil && canon.Check(b) == nil {
		return b, nil // its fields are declared in the order of their names
	}
	return canon.Marshal(v)
}

// Unmarshal reads b into v, which points to a zero value, when b is what
// Marshal writes of it, and nothing else: an unknown member, a name that occurs
// twice, bytes behind the value, a value of another type, a number below 0 where
// there are none, or another spelling is a *DecodeError about subject, which
// holds no value of b. v is spoilt then.
func Unmarshal(subject string, b []byte, v any) error {
	if err := Read(subject, b, v); err != nil {
		return err
	}
	if again, err := Marshal(v); err != nil || !bytes.Equal(again, b) {
		return &DecodeError{subject, ReasonNotCanonical, canon.Check(b)}
	}
	return nil
}

// Read is Unmarshal but for the spelling: it takes other orders, escapes and spaces,
// and members that Marshal leaves out. It is for a part of a form of which the caller
// holds the whole against what it writes.
func Read(subject string, b []byte, v any) error {
	err := json.Unmarshal(b, v, json.RejectUnknownMembers(true))
	if err == nil {
		return nil
	}
	reason := ReasonMalformed
	var semantic *json.SemanticError
	var syntax *jsontext.SyntacticError
	switch {
	case errors.As(err, &semantic):
		reason = ReasonWrongType
		switch {
		case semantic.Err == json.ErrUnknownName:
			reason = ReasonUnknownField
		case bytes.HasPrefix(semantic.JSONValue, []byte("-")):
			reason = ReasonNegative
		}
		err = &FieldError{Field: path(semantic.JSONPointer), Detail: "not what this member holds"}
	case errors.Is(err, jsontext.ErrDuplicateName):
		reason = ReasonDuplicateKey
	case errors.As(err, &syntax) && strings.Contains(syntax.Error(), "after top-level value"):
		reason = ReasonTrailing
	}
	return &DecodeError{subject, reason, err}
}

// path returns a pointer as the name of a field: "/at/turn" is "at.turn".
func path(p jsontext.Pointer) string {
	return strings.ReplaceAll(strings.TrimPrefix(string(p), "/"), "/", ".")
}
