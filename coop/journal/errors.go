package journal

import (
	"errors"
	"fmt"

	"github.com/comity-dev/comity/internal/seglog"
)

// ErrClosed is returned by every call on a journal that was closed.
var ErrClosed = errors.New("journal is closed")

// ErrNewerFormat tells that a newer release wrote into this journal. It is
// served read-only, without what only that release can read.
var ErrNewerFormat = errors.New("written by a newer release of comity; upgrade this one to write")

// ErrNoSpace tells that the disk is full and that nothing of the write is on it.
var ErrNoSpace = seglog.ErrNoSpace

// ErrPoisoned tells that a write or a sync failed before: the journal takes no
// more until it is opened again.
var ErrPoisoned = seglog.ErrPoisoned

// A ReadOnlyError refuses a write before anything was decided.
type ReadOnlyError struct{ Err error }

func (e *ReadOnlyError) Error() string { return fmt.Sprintf("journal is read-only: %v", e.Err) }

func (e *ReadOnlyError) Unwrap() error { return e.Err }

// A FailedError tells that what was decided is not acknowledged.
//
// With Unknown false nothing of it is on disk, and the next write begins where
// this one did. With Unknown true it may be there or not: the stream has ended,
// and what the next run finds on reopening is what holds.
type FailedError struct {
	Unknown bool
	Err     error
}

func (e *FailedError) Error() string {
	if e.Unknown {
		return fmt.Sprintf("write failed, unknown whether it is on disk; reopen the journal: %v", e.Err)
	}
	return fmt.Sprintf("write failed, nothing of it is on disk: %v", e.Err)
}

func (e *FailedError) Unwrap() error { return e.Err }

// A BatchError refuses a decision whose batch is over a bound of one write.
type BatchError struct {
	What       string
	Limit, Got int
}

func (e *BatchError) Error() string {
	return fmt.Sprintf("one write of the journal: %s: %d, limit %d", e.What, e.Got, e.Limit)
}

// A CursorError refuses a cursor: the walk has to be restarted from the
// beginning, or from the end.
type CursorError struct {
	Cursor string
	Reason CursorReason
}

// A CursorReason says what is wrong with a cursor.
type CursorReason string

// The reasons of a CursorError.
const (
	CursorMalformed   CursorReason = "malformed"   // no cursor of any journal
	CursorIncarnation CursorReason = "incarnation" // of another log
	CursorView        CursorReason = "view"        // of another set of believed keys
	CursorAhead       CursorReason = "ahead"       // beyond the end: this log is older than the cursor
)

func (e *CursorError) Error() string {
	return fmt.Sprintf("cursor %.100q: %s: restart the walk", e.Cursor, e.Reason)
}
