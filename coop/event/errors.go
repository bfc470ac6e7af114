package event

import "fmt"

// A Reason is why Parse refuses bytes, in the words of an ingest report.
type Reason string

// The reasons of a FormError, in the order in which Parse looks for them.
const (
	Oversized Reason = "oversized" // over MaxEventBytes
	Malformed Reason = "malformed" // not canonical JSON, or not the envelope
	Versioned Reason = "version"   // another version of the envelope
	Identity  Reason = "identity"  // the key is not the stream's node, or seq is 0
)

// A FormError says why bytes are no event that this build can hold.
type FormError struct {
	Reason Reason
	Detail string
	Err    error // cause, or nil
}

func (e *FormError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("event %s: %s: %v", e.Reason, e.Detail, e.Err)
	}
	return fmt.Sprintf("event %s: %s", e.Reason, e.Detail)
}

func (e *FormError) Unwrap() error { return e.Err }

// A BoundError refuses one of our own events: a field that peers would not read.
type BoundError struct {
	Kind   string
	Field  string // as in the event: "handover.branch"
	Limit  int    // highest permitted count of Unit; 0 where Unit is empty
	Got    int
	Unit   string // "bytes", "entries", ...; "" when the trouble is the form
	Detail string // what is wrong, when it is no limit
}

func (e *BoundError) Error() string {
	if e.Unit != "" {
		return fmt.Sprintf("%s: %s: %d %s, limit %d: %d too many", e.Kind, e.Field, e.Got, e.Unit, e.Limit, e.Got-e.Limit)
	}
	return fmt.Sprintf("%s: %s: %s", e.Kind, e.Field, e.Detail)
}

// A TooLargeError refuses one of our own events whose sealed bytes are over
// MaxEventBytes, though each field is within its own bound.
type TooLargeError struct {
	Kind  string
	Limit int // bytes of a sealed event
	Got   int // bytes of this one
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("%s: sealed event: %d bytes, limit %d: %d too many; shorten it or split it", e.Kind, e.Got, e.Limit, e.Got-e.Limit)
}
