package runtimecommand

import (
	"errors"
	"fmt"

	"github.com/comity-dev/comity/internal/canon"
)

// A Reason is why bytes are refused.
type Reason string

// The reasons of a DecodeError.
const (
	ReasonTooLarge     Reason = "too_large"     // over MaxBytes
	ReasonMalformed    Reason = "malformed"     // not JSON, or not UTF-8
	ReasonTrailing     Reason = "trailing_data" // bytes behind the object
	ReasonDuplicateKey Reason = "duplicate_key" // a name occurs twice
	ReasonUnknownField Reason = "unknown_field" // a member that the form does not have
	ReasonWrongType    Reason = "wrong_type"    // a member of another type, or a number out of range
	ReasonNegative     Reason = "negative"      // a number below 0
	ReasonInvalid      Reason = "invalid"       // a value against its rule: the cause is a *FieldError
	ReasonNotCanonical Reason = "not_canonical" // another spelling of what the form writes
)

// A DecodeError says why bytes are no record of this package.
type DecodeError struct {
	Subject string // "application" or "disposition"
	Reason  Reason
	Cause   error // may be nil
}

func (e *DecodeError) Error() string {
	if e.Cause != nil {
		return fmt.Sprintf("decode %s: %s: %v", e.Subject, e.Reason, e.Cause)
	}
	return fmt.Sprintf("decode %s: %s", e.Subject, e.Reason)
}

func (e *DecodeError) Unwrap() error { return e.Cause }

// An UnsupportedSchemaError reports bytes of a later version of the schema.
type UnsupportedSchemaError struct {
	Subject string
	Version uint64 // as found
	Newest  uint64 // the highest that this build reads
}

func (e *UnsupportedSchemaError) Error() string {
	return fmt.Sprintf("%s has schema version %d; this build reads up to %d", e.Subject, e.Version, e.Newest)
}

type applicationForm struct {
	Application
	V uint64 `json:"v"`
}

type dispositionForm struct {
	Disposition
	V uint64 `json:"v"`
}

// EncodeApplication returns the byte form of a. The error is a *FieldError.
func EncodeApplication(a Application) ([]byte, error) {
	if err := a.Check(); err != nil {
		return nil, err
	}
	return canon.Marshal(applicationForm{a, Schema})
}

// DecodeApplication is the inverse of EncodeApplication and takes nothing else. The
// error is a *DecodeError or an *UnsupportedSchemaError.
func DecodeApplication(b []byte) (Application, error) {
	var f applicationForm
	if err := decode("application", b, &f, &f.V, func() error { return f.Check() }); err != nil {
		return Application{}, err
	}
	return f.Application, nil
}

// EncodeDisposition returns the byte form of d. The error is a *FieldError.
func EncodeDisposition(d Disposition) ([]byte, error) {
	if err := d.Check(); err != nil {
		return nil, err
	}
	return canon.Marshal(dispositionForm{d, Schema})
}

// DecodeDisposition is the inverse of EncodeDisposition and takes nothing else. The
// error is a *DecodeError or an *UnsupportedSchemaError.
func DecodeDisposition(b []byte) (Disposition, error) {
	var f dispositionForm
	if err := decode("disposition", b, &f, &f.V, func() error { return f.Check() }); err != nil {
		return Disposition{}, err
	}
	return f.Disposition, nil
}

// decode reads b into form, of which version is the member "v".
func decode(subject string, b []byte, form any, version *uint64, check func() error) error {
	if len(b) > MaxBytes {
		return &DecodeError{subject, ReasonTooLarge, nil}
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
		return &DecodeError{subject, ReasonInvalid, &FieldError{"v", "missing"}}
	}
	if err := check(); err != nil {
		return &DecodeError{subject, ReasonInvalid, err}
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
