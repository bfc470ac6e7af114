package event

import "fmt"

// A Reason is why bytes are refused.
type Reason string

// The reasons of a DecodeError.
const (
	ReasonTooLarge     Reason = "too_large"     // over the bound of the whole
	ReasonMalformed    Reason = "malformed"     // not JSON, or not UTF-8
	ReasonTrailing     Reason = "trailing_data" // bytes behind the object
	ReasonDuplicateKey Reason = "duplicate_key" // a name occurs twice in one object
	ReasonUnknownField Reason = "unknown_field" // a member that the form does not have
	ReasonWrongType    Reason = "wrong_type"    // a member of another type, or a number out of range
	ReasonNegative     Reason = "negative"      // a number below 0
	ReasonInvalid      Reason = "invalid"       // a value against its rule: the cause is a *FieldError
	ReasonNotCanonical Reason = "not_canonical" // another spelling of what the form writes
)

// A DecodeError says why bytes are not what they should be. It names no value of
// theirs, which may be private.
type DecodeError struct {
	Subject string // "event", "command", or the kind, as far as it was read
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

// A FieldError reports a value against the rule of its field. The value itself
// is left out.
type FieldError struct {
	Kind   string // of the event or command
	Field  string // as in the JSON: "header.at.turn", "input.text"
	Detail string // what is wrong
}

func (e *FieldError) Error() string {
	if e.Kind == "" {
		return e.Field + ": " + e.Detail
	}
	return e.Kind + ": " + e.Field + ": " + e.Detail
}

// An UnsupportedSchemaError reports bytes of a later version of a kind's schema.
type UnsupportedSchemaError struct {
	Kind    string
	Version uint64 // as found
	Newest  uint64 // the highest that this build reads
}

func (e *UnsupportedSchemaError) Error() string {
	return fmt.Sprintf("%.80s has schema version %d; this build reads up to %d", e.Kind, e.Version, e.Newest)
}

// An UnknownEventTypeError reports a kind that is not in the registry.
type UnknownEventTypeError struct{ Kind string }

func (e *UnknownEventTypeError) Error() string {
	return fmt.Sprintf("no event has the kind %.80q", e.Kind)
}

// An EphemeralNotPersistableError refuses bytes of an event that is never stored.
type EphemeralNotPersistableError struct{ Kind string }

func (e *EphemeralNotPersistableError) Error() string {
	return e.Kind + " is ephemeral: it is delivered live and never stored"
}

// A NotPublicError refuses a public projection of an internal event.
type NotPublicError struct{ Kind string }

func (e *NotPublicError) Error() string { return e.Kind + " is internal: it has no public form" }
