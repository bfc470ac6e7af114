package journal

import (
	"fmt"

	"github.com/comity-dev/comity/session/event"
)

// A MarshalRecordError reports a record that its codec refuses. Nothing was
// written.
type MarshalRecordError struct {
	Subject string // the ledger
	Cause   error
}

func (e *MarshalRecordError) Error() string {
	return fmt.Sprintf("append to %s: the record cannot be stored: %v", e.Subject, e.Cause)
}

func (e *MarshalRecordError) Unwrap() error { return e.Cause }

// A RecordKindError reports a record of no family: nil, or the zero value of one.
type RecordKindError struct {
	Subject string
}

func (e *RecordKindError) Error() string {
	return fmt.Sprintf("append to %s: a record of no known family", e.Subject)
}

// A RecordTooLargeError reports a record over a limit, or too large for a frame
// when its content could not be stored outside of the journal. Nothing was
// appended.
type RecordTooLargeError struct {
	Subject string
	MsgID   string // the record's id
	Length  int    // in bytes, of what is too large
	Cause   error  // may be nil
}

func (e *RecordTooLargeError) Error() string {
	s := fmt.Sprintf("append %s to %s: %d bytes are too large", e.MsgID, e.Subject, e.Length)
	if e.Cause != nil {
		s += ": " + e.Cause.Error()
	}
	return s
}

func (e *RecordTooLargeError) Unwrap() error { return e.Cause }

// An AppendError reports an append that failed for certain: nothing was written
// and nothing will be. The cause tells whether the writer was overtaken by a
// later owner (*FencedError) or the store refused (no space, not reached).
type AppendError struct {
	Subject  string
	MsgID    string
	Expected uint64 // sequence of the record behind which it was to be
	Cause    error
}

func (e *AppendError) Error() string {
	return fmt.Sprintf("append %s behind record %d of %s: %v", e.MsgID, e.Expected, e.Subject, e.Cause)
}

func (e *AppendError) Unwrap() error { return e.Cause }

// A FencedError reports that somebody else has written to the journal: a later
// owner's fence, by every rule. This writer is over.
type FencedError struct {
	SessionID event.ID
	Epoch     uint64 // of the writer that is over
	Cause     error
}

func (e *FencedError) Error() string {
	return fmt.Sprintf("session %s: the writer of epoch %d was overtaken: %v", e.SessionID, e.Epoch, e.Cause)
}

func (e *FencedError) Unwrap() error { return e.Cause }

// An AmbiguousAckError reports an append of which it is not known whether it was
// done, after all that the writer does to find out. It may be done, may not, and
// may yet happen. The same record may be appended again, which finds out too;
// or see BatchJournal.Resolve.
type AmbiguousAckError struct {
	Subject  string
	MsgID    string
	Expected uint64
	Cause    error
}

func (e *AmbiguousAckError) Error() string {
	return fmt.Sprintf("append %s behind record %d of %s: it is not known whether it was done: %v", e.MsgID, e.Expected, e.Subject, e.Cause)
}

func (e *AmbiguousAckError) Unwrap() error { return e.Cause }

// Ambiguous tells observers that this is no failure: see hook.Ambiguous.
func (e *AmbiguousAckError) Ambiguous() bool { return true }

// A JournalNotReadyError reports an append before the opening fence, or after
// the journal was closed.
type JournalNotReadyError struct {
	SessionID event.ID
}

func (e *JournalNotReadyError) Error() string {
	return fmt.Sprintf("journal of session %s is not open for appends", e.SessionID)
}

// An IdempotencyCollisionError reports a record whose id is durable with other
// content. Nothing was written.
type IdempotencyCollisionError struct {
	Subject string // the ledger, "" from an index alone
	Family  Family // of the record, 0 from an index alone
	ID      string
	Seq     uint64 // of the record that has the id
}

func (e *IdempotencyCollisionError) Error() string {
	if e.Subject == "" {
		return fmt.Sprintf("id %s is that of record %d, which has other content", e.ID, e.Seq)
	}
	return fmt.Sprintf("append %v %s to %s: the id is that of record %d, which has other content", e.Family, e.ID, e.Subject, e.Seq)
}

// A DeliveryTransitionError reports an input to a delegate in a phase that its
// history does not allow. Its content is left out on purpose.
type DeliveryTransitionError struct {
	Subject   string // the ledger, "" if no journal was asked
	CommandID event.ID
	Phase     string
	Reason    string
	Seq       uint64 // of the record that forbids it, 0 if one is missing
}

func (e *DeliveryTransitionError) Error() string {
	s := fmt.Sprintf("command %s, delivery phase %q: %s", e.CommandID, e.Phase, e.Reason)
	if e.Seq != 0 {
		s += fmt.Sprintf(" (record %d)", e.Seq)
	}
	if e.Subject != "" {
		s = "append to " + e.Subject + ": " + s
	}
	return s
}

// A CommandRouteMismatchError reports a command that is routed to another loop
// than the one it names itself.
type CommandRouteMismatchError struct {
	RecordLoopID event.ID // where it was to go
	TargetLoopID event.ID // what it says
}

func (e *CommandRouteMismatchError) Error() string {
	return fmt.Sprintf("command for loop %s is routed to loop %s", e.TargetLoopID, e.RecordLoopID)
}

// A NilJournalError reports an appender without a journal.
type NilJournalError struct{}

func (e *NilJournalError) Error() string { return "an appender needs a journal" }

// A NonIdempotentJournalError reports a journal that is not an
// IdempotentJournal, where commands are to be applied once.
type NonIdempotentJournalError struct{}

func (e *NonIdempotentJournalError) Error() string {
	return "commands that are applied once need a journal that tells a record from its repetition"
}
