package journal_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/journal"
)

type lease struct{ lost chan struct{} }

func (l lease) SessionID() event.ID           { return session }
func (l lease) Epoch() uint64                 { return 7 }
func (l lease) Valid() bool                   { return true }
func (l lease) Lost() <-chan struct{}         { return l.lost }
func (l lease) Release(context.Context) error { return nil }

// synctest ends each case only when no goroutine is left.
func TestLeaseContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := lease{make(chan struct{})}
		ctx, stop := journal.LeaseContext(t.Context(), l)
		if ctx.Err() != nil {
			t.Errorf("it has ended: %v", ctx.Err())
		}
		close(l.lost)
		<-ctx.Done()
		var lost *journal.LeaseLostError
		if err := context.Cause(ctx); !errors.As(err, &lost) || lost.SessionID != session || lost.Epoch != 7 {
			t.Errorf("its cause is %v, want the loss of the lease", err)
		}
		stop()
		stop()
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := journal.LeaseContext(t.Context(), lease{make(chan struct{})})
		stop()
		if ctx.Err() == nil || context.Cause(ctx) != context.Canceled {
			t.Errorf("behind stop: %v", context.Cause(ctx))
		}
	})
	synctest.Test(t, func(t *testing.T) {
		parent, cancel := context.WithCancelCause(t.Context())
		ctx, stop := journal.LeaseContext(parent, lease{make(chan struct{})})
		why := errors.New("parent")
		cancel(why)
		<-ctx.Done()
		if context.Cause(ctx) != why {
			t.Errorf("its cause is %v, want that of its parent", context.Cause(ctx))
		}
		stop()
	})
}

func TestStartPositions(t *testing.T) {
	if journal.Beginning().Seq() != 0 || journal.FromSeq(7).Seq() != 7 || journal.Beginning() != journal.FromSeq(0) || journal.Beginning() != (journal.StartPos{}) {
		t.Error("a position does not say what it was made of")
	}
}
