package runtimecommand

import (
	"cmp"
	"fmt"
	"unicode/utf8"

	"github.com/comity-dev/comity/session/command"
)

// Schema is the version of the byte forms of this package.
const Schema = 1

// Bounds. They are part of the format.
const (
	MaxBytes = 4096      // of an encoded record
	MaxID    = 256       // bytes of an id from outside, in UTF-8
	MaxEpoch = 1<<53 - 1 // of a lease
)

// A Kind says what a command from outside asks for.
type Kind string

// The kinds. A value of any other is refused.
const (
	KindInput        Kind = "input"
	KindInterrupt    Kind = "interrupt"
	KindGateResponse Kind = "gate_response"
	KindCreate       Kind = "create"
	KindRestore      Kind = "restore"
)

// An Application says that a command from outside is about to take effect.
type Application struct {
	CommandID   string     `json:"command_id"` // from outside; never parsed; 1 to MaxID bytes
	CommandKind Kind       `json:"command_kind"`
	LeaseEpoch  uint64     `json:"lease_epoch"` // of the owner that writes it; 1 to MaxEpoch
	RuntimeID   command.ID `json:"runtime_id"`  // the command's id here
}

// A Result is what an attempt came to.
type Result string

// The results. A value of any other is refused.
const (
	Applied    Result = "applied"     // it took effect
	NoOp       Result = "no_op"       // there was nothing to do
	Refused    Result = "refused"     // it was declined, or failed
	NotApplied Result = "not_applied" // its owner is gone, and it had no effect
)

// A Disposition says how the attempt to apply a command from outside ended. The owner
// that made the attempt writes Applied, NoOp or Refused; only a later one writes
// NotApplied.
type Disposition struct {
	AttemptEpoch uint64     `json:"attempt_epoch"` // LeaseEpoch of the Application; 1 to MaxEpoch
	AttemptID    string     `json:"attempt_id"`    // from outside; never parsed; 1 to MaxID bytes
	CommandID    string     `json:"command_id"`    // as in the Application
	CommandKind  Kind       `json:"command_kind"`  // as in the Application
	LeaseEpoch   uint64     `json:"lease_epoch"`   // of the owner that writes it; AttemptEpoch, or above it with NotApplied
	Result       Result     `json:"result"`
	RuntimeID    command.ID `json:"runtime_id"` // as in the Application
}

// Same reports whether two applications are of one command: all but the epoch is equal.
// A redelivery to a later owner is the same command.
func (a Application) Same(b Application) bool {
	a.LeaseEpoch, b.LeaseEpoch = 0, 0
	return a == b
}

// Of reports whether d ends the attempt that a began.
func (d Disposition) Of(a Application) bool {
	return a == Application{d.CommandID, d.CommandKind, d.AttemptEpoch, d.RuntimeID}
}

// A FieldError reports a value against the rule of its field.
type FieldError struct {
	Field  string // as in the JSON
	Detail string // what is wrong
}

func (e *FieldError) Error() string { return e.Field + ": " + e.Detail }

// Check reports whether a can be stored: nil, or a *FieldError.
func (a Application) Check() error {
	return cmp.Or(
		outsideID("command_id", a.CommandID),
		a.CommandKind.check(),
		epoch("lease_epoch", a.LeaseEpoch),
		runtimeID(a.RuntimeID),
	)
}

// Check reports whether d can be stored: nil, or a *FieldError.
func (d Disposition) Check() error {
	if err := cmp.Or(
		epoch("attempt_epoch", d.AttemptEpoch),
		outsideID("attempt_id", d.AttemptID),
		outsideID("command_id", d.CommandID),
		d.CommandKind.check(),
		epoch("lease_epoch", d.LeaseEpoch),
		runtimeID(d.RuntimeID),
	); err != nil {
		return err
	}
	switch d.Result {
	case Applied, NoOp, Refused:
		if d.LeaseEpoch != d.AttemptEpoch {
			return &FieldError{"lease_epoch", "only the owner that made the attempt writes this result"}
		}
	case NotApplied:
		if d.LeaseEpoch <= d.AttemptEpoch {
			return &FieldError{"lease_epoch", "only a later owner writes this result"}
		}
	default:
		return &FieldError{"result", "missing or unknown"}
	}
	return nil
}

func (k Kind) check() error {
	switch k {
	case KindInput, KindInterrupt, KindGateResponse, KindCreate, KindRestore:
		return nil
	}
	return &FieldError{"command_kind", "missing or unknown"}
}

func outsideID(field, id string) error {
	switch {
	case id == "":
		return &FieldError{field, "missing"}
	case len(id) > MaxID:
		return &FieldError{field, fmt.Sprintf("%d bytes, limit %d", len(id), MaxID)}
	case !utf8.ValidString(id):
		return &FieldError{field, "not UTF-8"}
	}
	return nil
}

func runtimeID(id command.ID) error {
	if !id.Valid() {
		return &FieldError{"runtime_id", "missing, or not an id"}
	}
	return nil
}

func epoch(field string, n uint64) error {
	if n == 0 || n > MaxEpoch {
		return &FieldError{field, "missing, or above 2^53-1"}
	}
	return nil
}
