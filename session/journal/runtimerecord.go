package journal

import (
	"fmt"

	"github.com/comity-dev/comity/session/runtimecommand"
)

// A CommandApplicationRecord says that a command from outside is about to be
// applied. It is private, and durable before the effect: once it is there, the
// command is not applied again.
type CommandApplicationRecord struct{ app runtimecommand.Application }

// NewCommandApplicationRecord returns the record of app.
func NewCommandApplicationRecord(app runtimecommand.Application) CommandApplicationRecord {
	return CommandApplicationRecord{app}
}

// IdempotencyID is "command-application:" and the command's id outside.
func (r CommandApplicationRecord) IdempotencyID() string {
	return "command-application:" + r.app.CommandID
}

// Application returns what the record says.
func (r CommandApplicationRecord) Application() runtimecommand.Application { return r.app }

// EncodeCommandApplication returns the stored form of r: that of package
// runtimecommand. The error is a *CommandApplicationEncodeError.
func EncodeCommandApplication(r CommandApplicationRecord) ([]byte, error) {
	b, err := runtimecommand.EncodeApplication(r.app)
	if err != nil {
		return nil, &CommandApplicationEncodeError{err}
	}
	return b, nil
}

// DecodeCommandApplication is the inverse of EncodeCommandApplication and takes
// nothing else: what is taken for an application suppresses an effect. The error
// is a *CommandApplicationDecodeError.
func DecodeCommandApplication(b []byte) (CommandApplicationRecord, error) {
	app, err := runtimecommand.DecodeApplication(b)
	if err != nil {
		return CommandApplicationRecord{}, &CommandApplicationDecodeError{"not the form of an application", err}
	}
	return CommandApplicationRecord{app}, nil
}

// A CommandApplicationEncodeError reports an application that cannot be stored.
type CommandApplicationEncodeError struct{ Cause error }

func (e *CommandApplicationEncodeError) Error() string {
	return fmt.Sprintf("encode the application of a command: %v", e.Cause)
}

func (e *CommandApplicationEncodeError) Unwrap() error { return e.Cause }

// A CommandApplicationDecodeError reports bytes that are no application.
type CommandApplicationDecodeError struct {
	Reason string
	Cause  error
}

func (e *CommandApplicationDecodeError) Error() string {
	return fmt.Sprintf("decode the application of a command: %s: %v", e.Reason, e.Cause)
}

func (e *CommandApplicationDecodeError) Unwrap() error { return e.Cause }

// A CommandDispositionRecord says how an attempt to apply a command ended. It is
// private, and there is one of each attempt.
type CommandDispositionRecord struct{ d runtimecommand.Disposition }

// NewCommandDispositionRecord returns the record of d.
func NewCommandDispositionRecord(d runtimecommand.Disposition) CommandDispositionRecord {
	return CommandDispositionRecord{d}
}

// IdempotencyID is "command-disposition:" and the attempt's id.
func (r CommandDispositionRecord) IdempotencyID() string {
	return "command-disposition:" + r.d.AttemptID
}

// Disposition returns what the record says.
func (r CommandDispositionRecord) Disposition() runtimecommand.Disposition { return r.d }

// EncodeCommandDisposition returns the stored form of r: that of package
// runtimecommand. The error is a *CommandDispositionEncodeError.
func EncodeCommandDisposition(r CommandDispositionRecord) ([]byte, error) {
	b, err := runtimecommand.EncodeDisposition(r.d)
	if err != nil {
		return nil, &CommandDispositionEncodeError{err}
	}
	return b, nil
}

// DecodeCommandDisposition is the inverse of EncodeCommandDisposition and takes
// nothing else. The error is a *CommandDispositionDecodeError.
func DecodeCommandDisposition(b []byte) (CommandDispositionRecord, error) {
	d, err := runtimecommand.DecodeDisposition(b)
	if err != nil {
		return CommandDispositionRecord{}, &CommandDispositionDecodeError{"not the form of a disposition", err}
	}
	return CommandDispositionRecord{d}, nil
}

// A CommandDispositionEncodeError reports a disposition that cannot be stored.
type CommandDispositionEncodeError struct{ Cause error }

func (e *CommandDispositionEncodeError) Error() string {
	return fmt.Sprintf("encode the disposition of a command: %v", e.Cause)
}

func (e *CommandDispositionEncodeError) Unwrap() error { return e.Cause }

// A CommandDispositionDecodeError reports bytes that are no disposition.
type CommandDispositionDecodeError struct {
	Reason string
	Cause  error
}

func (e *CommandDispositionDecodeError) Error() string {
	return fmt.Sprintf("decode the disposition of a command: %s: %v", e.Reason, e.Cause)
}

func (e *CommandDispositionDecodeError) Unwrap() error { return e.Cause }
