package gate

import "fmt"

// A Reason is why bytes are refused.
type Reason string

// The reasons of a DecodeError.
const (
	TooLarge     Reason = "too_large"     // over the bound of the whole
	Malformed    Reason = "malformed"     // not JSON, or not UTF-8
	Trailing     Reason = "trailing_data" // bytes behind the object
	DuplicateKey Reason = "duplicate_key" // a name occurs twice in one object
	UnknownField Reason = "unknown_field" // a member that the form does not have
	WrongType    Reason = "wrong_type"    // a member of another type
	Negative     Reason = "negative"      // a number below 0
	Invalid      Reason = "invalid"       // a value against its rule: the cause is a *FieldError
	NotCanonical Reason = "not_canonical" // another spelling of what the form writes
)

// A DecodeError says why bytes are not a value of this package.
type DecodeError struct {
	Subject string // "payload" or "decision"
	Reason  Reason
	Cause   error // may be nil
}

func (e *DecodeError) Error() string {
	if e.Cause != nil {
		return fmt.Sprintf("decode gate %s: %s: %v", e.Subject, e.Reason, e.Cause)
	}
	return fmt.Sprintf("decode gate %s: %s", e.Subject, e.Reason)
}

func (e *DecodeError) Unwrap() error { return e.Cause }

// A FieldError reports a value against the rule of its field. The value itself
// is left out: it may be private.
type FieldError struct {
	Field  string // as in the JSON: "form.fields"
	Detail string // what is wrong
}

func (e *FieldError) Error() string { return e.Field + ": " + e.Detail }

// An UnsupportedSchemaError reports bytes of a later version of the schema.
type UnsupportedSchemaError struct {
	Subject string // "payload" or "decision"
	Version uint64 // as found
	Newest  uint64 // the highest that this build reads
}

func (e *UnsupportedSchemaError) Error() string {
	return fmt.Sprintf("gate %s has schema version %d; this build reads up to %d", e.Subject, e.Version, e.Newest)
}

// A MismatchError reports a decision that does not answer the question.
type MismatchError struct {
	Detail string // names the field of the form, never its value
}

func (e *MismatchError) Error() string { return "decision does not fit the gate: " + e.Detail }
