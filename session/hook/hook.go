// Package hook lets others observe an operation of a session without a hand in
// it. It imports nothing of this module.
//
// An Observer is told when an operation begins and how it ended. It can log,
// count, trace. It cannot change the operation: not its result, not its error,
// not its cancellation, and not by panicking. The one thing that it can do is
// take time: it runs on the goroutine of the operation, which waits for it.
package hook

import (
	"context"
	"fmt"
)

// An Operation names what is observed.
type Operation string

// JournalAppend is the append of one record to a session's journal.
const JournalAppend Operation = "journal-append"

// An Outcome is how an operation ended.
type Outcome string

// The outcomes.
const (
	Completed Outcome = "completed" // it returned nil, even if its context ended meanwhile
	Cancelled Outcome = "cancelled" // it returned an error, and its context had ended
	Failed    Outcome = "failed"    // it returned an error or panicked
	// Ambiguous is that it is not known whether it was done, whatever became of its
	// context: an error in the chain of what it returned has a method Ambiguous that
	// says so.
	Ambiguous Outcome = "ambiguous"
)

// A Call describes one run of an operation.
type Call struct {
	Operation Operation
	Session   string // id of the session
	Family    string // family of the record: "event", "command", "fence", ...
	ID        string // idempotency id of the record
}

// An Observer observes operations. It must be safe for concurrent use.
type Observer interface {
	// Begin is called before the operation. The context that it returns is the
	// source of values, of a trace for instance, for the operation and for the
	// observers behind this one; nil stands for ctx. Whether and when the
	// operation is cancelled stays with ctx. The function that it returns, if
	// any, is called once when the operation ended; err is what it returned, or
	// a *PanicError.
	Begin(ctx context.Context, call Call) (context.Context, func(outcome Outcome, err error))
}

// A PanicError is what observers are told when the operation panicked. The panic
// itself goes on to the caller.
type PanicError struct{ Value any }

func (e *PanicError) Error() string { return fmt.Sprintf("the operation panicked: %v", e.Value) }

// A Runner runs operations under observation. A nil Runner has no observers. It
// is safe for concurrent use.
type Runner struct {
	observers map[Operation][]Observer
}

// NewRunner returns a Runner with these observers for each operation, in the
// order in which they are called at the beginning. Nil observers are left out.
func NewRunner(observers map[Operation][]Observer) *Runner {
	r := &Runner{observers: make(map[Operation][]Observer)}
	for op, list := range observers {
		for _, o := range list {
			if o != nil {
				r.observers[op] = append(r.observers[op], o)
			}
		}
	}
	return r
}

// Handles reports whether anything observes op.
func (r *Runner) Handles(op Operation) bool { return r != nil && len(r.observers[op]) > 0 }
