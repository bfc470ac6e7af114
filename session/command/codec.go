package command

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/comity-dev/comity/internal/canon"
	"github.com/comity-dev/comity/session/event"
)

// A DecodeError says why bytes are no command; see event.DecodeError for the reasons.
type DecodeError = event.DecodeError

// An UnsupportedSchemaError reports a command of a later version of the schema.
type UnsupportedSchemaError = event.UnsupportedSchemaError

// An UnknownCommandTypeError reports a kind that this build does not know.
type UnknownCommandTypeError struct{ Kind string }

func (e *UnknownCommandTypeError) Error() string {
	return fmt.Sprintf("no command has the kind %.80q", e.Kind)
}

// Encode returns the stored form of c: equal commands give equal bytes. The error is
// that of Check.
func Encode(c Command) ([]byte, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	return encode(c)
}

// Decode is the inverse of Encode and takes nothing else. The error is a
// *DecodeError, an *UnknownCommandTypeError or an *UnsupportedSchemaError.
func Decode(b []byte) (Command, error) {
	if len(b) > MaxCommandBytes {
		return Command{}, &DecodeError{Subject: "command", Reason: event.ReasonTooLarge}
	}
	var env envelope
	if err := canon.Read(b, &env); err != nil {
		if newer := newer(b); newer != nil {
			return Command{}, newer
		}
		return Command{}, refuse("command", err)
	}
	kind, known := kinds[env.Kind]
	switch {
	case !known:
		return Command{}, &UnknownCommandTypeError{env.Kind}
	case env.V > Schema:
		return Command{}, &UnsupportedSchemaError{Kind: env.Kind, Version: env.V, Newest: Schema}
	case env.V == 0:
		return Command{}, invalid(env.Kind, &FieldError{Kind: env.Kind, Field: "v", Detail: "missing"})
	}
	body, err := kind.read(env.Kind, env.Body)
	if err != nil {
		return Command{}, err
	}
	c := Command{env.Header, body}
	if err := c.Check(); err != nil {
		return Command{}, invalid(env.Kind, err)
	}
	if again, err := encode(c); err != nil || !bytes.Equal(again, b) {
		return Command{}, &DecodeError{Subject: env.Kind, Reason: event.ReasonNotCanonical, Cause: canon.Check(b)}
	}
	return c, nil
}

type envelope struct {
	Body   jsontext.Value `json:"body"`
	Header Header         `json:"header"`
	Kind   string         `json:"kind"`
	V      uint64         `json:"v"`
}

func encode(c Command) ([]byte, error) {
	kind := c.Body.Kind()
	body, err := canon.Marshal(c.Body)
	if err != nil {
		return nil, &FieldError{Kind: kind, Field: "body", Detail: err.Error()}
	}
	b, err := canon.Marshal(envelope{body, c.Header, kind, Schema})
	if err != nil {
		return nil, &FieldError{Kind: kind, Field: "header", Detail: err.Error()}
	}
	if len(b) > MaxCommandBytes {
		return nil, &FieldError{Kind: kind, Field: "body", Detail: fmt.Sprintf("%d bytes, limit %d", len(b), MaxCommandBytes)}
	}
	return b, nil
}

// newer returns the error about bytes that this build does not read because they
// are of a later schema, of which only the kind and the version are read.
func newer(b []byte) error {
	var env struct {
		Kind string `json:"kind"`
		V    uint64 `json:"v"`
	}
	if json.Unmarshal(b, &env) != nil || env.V <= Schema {
		return nil
	}
	return &UnsupportedSchemaError{Kind: env.Kind, Version: env.V, Newest: Schema}
}

func invalid(kind string, err error) error {
	return &DecodeError{Subject: kind, Reason: event.ReasonInvalid, Cause: err}
}

// refuse makes a DecodeError of what package canon returns.
func refuse(subject string, err error) error {
	var strict *canon.StrictError
	errors.As(err, &strict)
	cause := strict.Unwrap()
	if strict.Field != "" {
		cause = &FieldError{Field: strict.Field, Detail: "not what this member holds"}
	}
	return &DecodeError{Subject: subject, Reason: event.Reason(strict.Reason), Cause: cause}
}

// A kind is how the bodies of one kind are read and known.
type kind struct {
	read func(name string, body []byte) (Body, error)
	is   func(Body) bool // the struct itself: a pointer to it is refused
}

var kinds = map[string]kind{
	KindUserInput:           of[UserInput](),
	KindSubagentResult:      of[SubagentResult](),
	KindApproveToolCall:     of[ApproveToolCall](),
	KindDenyToolCall:        of[DenyToolCall](),
	KindProvideInput:        of[ProvideInput](),
	KindCancelQueued:        of[CancelQueued](),
	KindCancelDelegate:      of[CancelDelegate](),
	KindInterrupt:           of[Interrupt](),
	KindShutdown:            of[Shutdown](),
	KindCompact:             of[Compact](),
	KindProcessNotification: of[ProcessNotification](),
}

func of[B Body]() kind {
	return kind{
		read: func(name string, body []byte) (Body, error) {
			var b B
			if err := canon.Read(body, &b); err != nil {
				return nil, refuse(name, err)
			}
			return b, nil
		},
		is: func(b Body) bool { _, ok := b.(B); return ok },
	}
}
