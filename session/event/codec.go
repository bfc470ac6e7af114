package event

import (
	"bytes"
	"errors"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/comity-dev/comity/internal/canon"
)

// The envelope of an event as it is stored.
type envelope struct {
	Body   jsontext.Value `json:"body"`
	Header Header         `json:"header"`
	Kind   string         `json:"kind"`
	V      uint64         `json:"v"`
}

// Encode returns the stored form of e: equal events give equal bytes. The error is
// what Check returns, or an *EphemeralNotPersistableError.
func (ks *Kinds) Encode(e Event) ([]byte, error) {
	kind, err := ks.storable(e)
	if err != nil {
		return nil, err
	}
	var few [usualHeader]byte
	return kind.encode(e, appendHeader(few[:0], &e.Header))
}

// storable returns the kind of e, if e can be stored.
func (ks *Kinds) storable(e Event) (Kind, error) {
	if err := ks.Check(e); err != nil {
		return Kind{}, err
	}
	kind, _ := ks.Lookup(e.Body.Kind())
	if kind.Class == Ephemeral {
		return Kind{}, &EphemeralNotPersistableError{kind.Name}
	}
	return kind, nil
}

// Decode is the inverse of Encode and takes nothing else. The error is a
// *DecodeError, an *UnknownEventTypeError, an *UnsupportedSchemaError or an
// *EphemeralNotPersistableError.
func (ks *Kinds) Decode(b []byte) (Event, error) {
	if len(b) > MaxEventBytes {
		return Event{}, &DecodeError{"event", ReasonTooLarge, nil}
	}
	var env envelope
	if err := canon.Read(b, &env); err != nil {
		if newer := ks.newer(b); newer != nil {
			return Event{}, newer
		}
		return Event{}, refuse("event", err)
	}
	kind, ok := ks.Lookup(env.Kind)
	switch {
	case !ok:
		return Event{}, &UnknownEventTypeError{env.Kind}
	case kind.Class == Ephemeral:
		return Event{}, &EphemeralNotPersistableError{env.Kind}
	case env.V > kind.Version:
		return Event{}, &UnsupportedSchemaError{env.Kind, env.V, kind.Version}
	case env.V == 0:
		return Event{}, &DecodeError{env.Kind, ReasonInvalid, &FieldError{env.Kind, "v", "missing"}}
	}
	body, err := kind.decode(env.Body)
	if err != nil {
		return Event{}, err
	}
	e := Event{Header: env.Header, Body: body}
	if env.V < kind.Version {
		e.Schema = env.V
	}
	if err := ks.Check(e); err != nil {
		return Event{}, &DecodeError{env.Kind, ReasonInvalid, err}
	}
	var few [usualHeader]byte
	if again, err := kind.encode(e, appendHeader(few[:0], &e.Header)); err != nil || !bytes.Equal(again, b) {
		return Event{}, &DecodeError{env.Kind, ReasonNotCanonical, canon.Check(b)}
	}
	return e, nil
}

// newer returns the error about bytes of a later schema, of which only the kind
// and the version are read; nil when they are not that.
func (ks *Kinds) newer(b []byte) error {
	var env struct {
		Kind string `json:"kind"`
		V    uint64 `json:"v"`
	}
	if json.Unmarshal(b, &env) != nil {
		return nil
	}
	if kind, ok := ks.Lookup(env.Kind); ok && env.V > kind.Version {
		return &UnsupportedSchemaError{env.Kind, env.V, kind.Version}
	}
	return nil
}

// encode writes the members in their order. e was checked; header is the form of
// its header.
func (k Kind) encode(e Event, header []byte) ([]byte, error) {
	body, err := canon.Marshal(e.Body)
	if err != nil {
		return nil, &FieldError{k.Name, "body", err.Error()}
	}
	version := e.Schema
	if version == 0 {
		version = k.Version
	}
	b := make([]byte, 0, len(body)+len(header)+len(k.Name)+64)
	b = append(append(b, `{"body":`...), body...)
	b = append(append(b, `,"header":`...), header...)
	b = canon.AppendString(append(b, `,"kind":`...), k.Name)
	b = strconv.AppendUint(append(b, `,"v":`...), version, 10)
	b = append(b, '}')
	if len(b) > MaxEventBytes {
		return nil, tooLong(k.Name, "body", len(b), MaxEventBytes)
	}
	return b, nil
}

// refuse makes a DecodeError of what package canon returns.
func refuse(subject string, err error) error {
	var strict *canon.StrictError
	errors.As(err, &strict)
	if strict.Field != "" {
		return &DecodeError{subject, Reason(strict.Reason), &FieldError{Field: strict.Field, Detail: "not what this member holds"}}
	}
	return &DecodeError{subject, Reason(strict.Reason), strict.Unwrap()}
}
