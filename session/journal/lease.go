package journal

import (
	"context"
	"fmt"

	"github.com/comity-dev/comity/session/event"
)

// A Lease is the right to write a session, held by one owner at a time. The
// journal only looks at it; whoever acquired it releases it, after the journal.
// It is the early and kind guard: what keeps a stale owner from writing is the
// fence of the next one.
//
// All methods are safe for concurrent use.
type Lease interface {
	leaseView
	// SessionID is the session that is held.
	SessionID() event.ID
	// Release gives the session up. It may be called any number of times.
	Release(ctx context.Context) error
}

// leaseView is what the journal needs of a lease.
type leaseView interface {
	// Epoch is above that of every earlier owner of the session.
	Epoch() uint64
	// Valid reports whether Lost is not closed.
	Valid() bool
	// Lost is closed when the lease has ended, by Release too.
	Lost() <-chan struct{}
}

// LeaseContext returns a context that ends with parent, with stop, or when l is
// lost, and then with a *LeaseLostError as its cause. What must not outlive the
// ownership of a session runs under it. stop must be called; it waits until
// nothing watches the lease any more.
func LeaseContext(parent context.Context, l Lease) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-l.Lost():
			cancel(&LeaseLostError{SessionID: l.SessionID(), Epoch: l.Epoch()})
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		cancel(context.Canceled)
		<-done
	}
}

// A LeaseHeldError reports that another owner holds the session, which is a
// normal thing to happen.
type LeaseHeldError struct {
	SessionID event.ID
	Epoch     uint64 // of the owner
}

func (e *LeaseHeldError) Error() string {
	return fmt.Sprintf("session %s is held by the owner of epoch %d", e.SessionID, e.Epoch)
}

// A LeaseLostError reports that an owner's lease has ended.
type LeaseLostError struct {
	SessionID event.ID
	Epoch     uint64 // of the lease that ended
}

func (e *LeaseLostError) Error() string {
	return fmt.Sprintf("session %s: the lease of epoch %d has ended", e.SessionID, e.Epoch)
}

// A JournalLeaseLostError reports that a journal takes nothing any more, since
// its lease has ended. Nothing was written. It unwraps to a *LeaseLostError.
type JournalLeaseLostError struct {
	SessionID event.ID
	Epoch     uint64
}

func (e *JournalLeaseLostError) Error() string {
	return fmt.Sprintf("append to session %s: the lease of epoch %d has ended; open the session again", e.SessionID, e.Epoch)
}

func (e *JournalLeaseLostError) Unwrap() error {
	return &LeaseLostError{SessionID: e.SessionID, Epoch: e.Epoch}
}
