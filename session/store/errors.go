package store

import (
	"fmt"

	"github.com/comity-dev/comity/session/event"
)

// A NilLeaseError reports the opening of a session without a lease.
type NilLeaseError struct{ SessionID event.ID }

func (e *NilLeaseError) Error() string {
	if e.SessionID == "" {
		return "open a session: no lease"
	}
	return fmt.Sprintf("open session %s: no lease", e.SessionID)
}

// An OpeningFenceConflictError reports that somebody else wrote to the journal
// while it was being opened. The lease was released and nothing was written: to
// try again behind the other's records could put a lower epoch behind a higher one.
type OpeningFenceConflictError struct {
	SessionID event.ID
	Epoch     uint64
	Cause     error
}

func (e *OpeningFenceConflictError) Error() string {
	return fmt.Sprintf("open session %s with epoch %d: somebody else wrote to it meanwhile: %v", e.SessionID, e.Epoch, e.Cause)
}

func (e *OpeningFenceConflictError) Unwrap() error { return e.Cause }

// A StaleEpochError reports a lease, or a record that names one, whose epoch is
// not the one that may write: the journal has records of a later owner, or the
// record is that of another owner. Nothing was written.
type StaleEpochError struct {
	SessionID event.ID
	Subject   string // the ledger
	Epoch     uint64 // that was offered
	Newest    uint64 // that counts
	Seq       uint64 // of the record that has it, 0 when it is the writer's own
}

func (e *StaleEpochError) Error() string {
	if e.Seq == 0 {
		return fmt.Sprintf("append to %s: the record names epoch %d, the owner has %d", e.Subject, e.Epoch, e.Newest)
	}
	return fmt.Sprintf("open session %s: epoch %d is behind record %d of %s, which has epoch %d", e.SessionID, e.Epoch, e.Seq, e.Subject, e.Newest)
}
