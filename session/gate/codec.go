package gate

import (
	"errors"

	"github.com/comity-dev/comity/internal/canon"
)

type payloadForm struct {
	Payload
	V uint64 `json:"v"`
}

type decisionForm struct {
	Decision
	V uint64 `json:"v"`
}

// EncodePayload returns the byte form of p. The error is a *FieldError.
func EncodePayload(p Payload) ([]byte, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	return encode("payload", payloadForm{p, Schema}, MaxPayloadBytes)
}

// DecodePayload is the inverse of EncodePayload and takes nothing else. The
// error is a *DecodeError or an *UnsupportedSchemaError.
func DecodePayload(b []byte) (Payload, error) {
	var f payloadForm
	if err := decode("payload", b, MaxPayloadBytes, &f, &f.V); err != nil {
		return Payload{}, err
	}
	if err := f.Check(); err != nil {
		return Payload{}, &DecodeError{"payload", Invalid, err}
	}
	return f.Payload, nil
}

// EncodeDecision returns the byte form of d. The error is a *FieldError.
func EncodeDecision(d Decision) ([]byte, error) {
	if err := d.Check(); err != nil {
		return nil, err
	}
	return encode("decision", decisionForm{d, Schema}, MaxDecisionBytes)
}

// DecodeDecision is the inverse of EncodeDecision and takes nothing else. The
// error is a *DecodeError or an *UnsupportedSchemaError.
func DecodeDecision(b []byte) (Decision, error) {
	var f decisionForm
	if err := decode("decision", b, MaxDecisionBytes, &f, &f.V); err != nil {
		return Decision{}, err
	}
	if err := f.Check(); err != nil {
		return Decision{}, &DecodeError{"decision", Invalid, err}
	}
	return f.Decision, nil
}

func encode(subject string, v any, limit int) ([]byte, error) {
	b, err := canon.Marshal(v)
	if err != nil {
		return nil, &FieldError{subject, err.Error()}
	}
	if len(b) > limit {
		return nil, tooLong(subject, len(b), limit)
	}
	return b, nil
}

// decode reads b into form, of which version is the member "v".
func decode(subject string, b []byte, limit int, form any, version *uint64) error {
	if len(b) > limit {
		return &DecodeError{subject, TooLarge, nil}
	}
	if err := canon.Read(b, form); err != nil {
		if v := canon.Version(b); v > Schema {
			return &UnsupportedSchemaError{subject, v, Schema}
		}
		return refuse(subject, err)
	}
	if *version > Schema {
		return &UnsupportedSchemaError{subject, *version, Schema}
	}
	if *version == 0 {
		return &DecodeError{subject, Invalid, &FieldError{"v", "missing"}}
	}
	if err := canon.Written(b, form); err != nil {
		return refuse(subject, err)
	}
	return nil
}

// refuse makes a DecodeError of what package canon returns.
func refuse(subject string, err error) error {
	var strict *canon.StrictError
	errors.As(err, &strict)
	if strict.Field != "" {
		return &DecodeError{subject, Reason(strict.Reason), &FieldError{strict.Field, "not what this member holds"}}
	}
	return &DecodeError{subject, Reason(strict.Reason), strict.Unwrap()}
}
