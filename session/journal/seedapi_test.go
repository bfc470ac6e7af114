package journal_test

import (
	"context"
	"testing"

	"github.com/comity-dev/comity/session/command"
	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/gate"
	"github.com/comity-dev/comity/session/hook"
	. "github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/session/runtimecommand"
)

// What follows is compiled, and needs no running: every identifier that a user
// of the system that this package follows finds in its journal package exists
// here, with the signature where that is known. Where it is not, the one here is
// the one that the text of it allows.

// Writing.
var (
	_ interface {
		Append(context.Context, JournalRecord) (uint64, error)
	} = SessionJournal(nil)
	_ interface {
		SessionJournal
		AppendIdempotent(context.Context, JournalRecord) (AppendResult, error)
	} = IdempotentJournal(nil)
	_ interface {
		IdempotentJournal
		AppendCommitted(context.Context, JournalRecord) (CommittedAppendResult, error)
	} = CommittedPublicJournal(nil)

	_ = AppendResult{Sequence: 0, Appended: false}
	_ = CommittedPublicBody{EventID: "", Body: []byte(nil)}
	_ = CommittedAppendResult{AppendResult: AppendResult{}, Public: CommittedPublicBody{}}

	_ func(SessionJournal, AroundAppend) SessionJournal = Decorate
	_ AroundAppend                                      = func(ctx context.Context, _ JournalRecord, next func(context.Context) error) error { return next(ctx) }
	_ AppendFunc                                        = func(context.Context, JournalRecord) (uint64, error) { return 0, nil }
	_ AppendMiddleware                                  = func(next AppendFunc) AppendFunc { return next }

	_ func(SessionJournal, *hook.Runner, event.ID) SessionJournal = WithHooks
	_ func(*hook.Runner, event.ID) AppendMiddleware               = HookMiddleware
)

// Records.
var (
	_ interface{ IdempotencyID() string } = JournalRecord(nil)

	_ JournalRecord = EventRecord{}
	_ JournalRecord = CommandRecord{}
	_ JournalRecord = FenceRecord{}
	_ JournalRecord = GatePreparedRecord{}
	_ JournalRecord = CommandApplicationRecord{}
	_ JournalRecord = CommandDispositionRecord{}

	_ func(event.Event) EventRecord                             = NewEventRecord
	_ func(event.ID, event.ID, command.Command) CommandRecord   = NewCommandRecord
	_ func(event.ID, LeaseFence) FenceRecord                    = NewFenceRecord
	_ func(event.Event, gate.Payload) GatePreparedRecord        = NewGatePreparedRecord
	_ func(runtimecommand.Application) CommandApplicationRecord = NewCommandApplicationRecord
	_ func(runtimecommand.Disposition) CommandDispositionRecord = NewCommandDispositionRecord
	_ func(EventRecord) event.Event                             = EventRecord.Event
	_ func(CommandRecord) command.Command                       = CommandRecord.Command
	_ func(CommandRecord) event.ID                              = CommandRecord.SessionID
	_ func(CommandRecord) event.ID                              = CommandRecord.LoopID
	_ func(FenceRecord) LeaseFence                              = FenceRecord.Fence
	_ func(FenceRecord) event.ID                                = FenceRecord.SessionID
	_ func(GatePreparedRecord) event.Event                      = GatePreparedRecord.Prepared
	_ func(GatePreparedRecord) gate.Payload                     = GatePreparedRecord.Payload
	_ func(CommandApplicationRecord) runtimecommand.Application = CommandApplicationRecord.Application
	_ func(CommandDispositionRecord) runtimecommand.Disposition = CommandDispositionRecord.Disposition
	_ func(CommandRecord) event.ID                              = CommandRecord.LogicalCommandID
	_ func(CommandRecord) command.DeliveryPhase                 = CommandRecord.DeliveryPhase
	_ func(CommandRecord) CommandRecordID                       = CommandRecord.PhysicalID
	_ func(CommandRecordID) string                              = CommandRecordID.String
	_ func(CommandRecord) (Fingerprint, error)                  = CommandRecord.NormalizedDeliveryFingerprint
	_ func(CommandRecord) error                                 = ValidateCommandRecordRoute
	_                                                           = CommandRecordID{CommandID: "", Phase: ""}
	_                                                           = LeaseFence{Epoch: 0}
	_ func(LeaseFence) ([]byte, error)                          = EncodeLeaseFence
	_ func([]byte) (LeaseFence, error)                          = DecodeLeaseFence
	_ func(CommandApplicationRecord) ([]byte, error)            = EncodeCommandApplication
	_ func(*event.Kinds, GatePreparedRecord) ([]byte, error)    = EncodeGatePrepared
	_ func(*event.Kinds, []byte) (GatePreparedRecord, error)    = DecodeGatePrepared
	_ func([]byte) (CommandApplicationRecord, error)            = DecodeCommandApplication
	_ error                                                     = &FenceEncodeError{Cause: nil}
	_ error                                                     = &FenceDecodeError{Reason: "", Cause: nil}
	_ error                                                     = &GatePreparedEncodeError{Stage: "", Cause: nil}
	_ error                                                     = &GatePreparedDecodeError{Stage: "", Cause: nil}
	_ error                                                     = &CommandApplicationEncodeError{Cause: nil}
	_ error                                                     = &CommandApplicationDecodeError{Reason: "", Cause: nil}
	_ error                                                     = &CommandDispositionEncodeError{Cause: nil}
	_ error                                                     = &CommandDispositionDecodeError{Reason: "", Cause: nil}
)

// Idempotency and leases.
var (
	_ = Fingerprint{} == Fingerprint{}
	_ interface {
		Check(string, Fingerprint) (uint64, bool, error)
		Observe(string, uint64, Fingerprint)
	} = (*IdempotencyIndex)(nil)

	_ interface {
		SessionID() event.ID
		Release(context.Context) error
		Epoch() uint64
		Valid() bool
		Lost() <-chan struct{}
	} = Lease(nil)
	_ Lease = foreignLease{}
	_ error = &LeaseHeldError{SessionID: "", Epoch: 0}
	_ error = &LeaseLostError{SessionID: "", Epoch: 0}
	_ error = &JournalLeaseLostError{SessionID: "", Epoch: 0}
)

// A foreignLease shows that other packages can implement Lease.
type foreignLease struct{}

func (foreignLease) SessionID() event.ID           { return "" }
func (foreignLease) Release(context.Context) error { return nil }
func (foreignLease) Epoch() uint64                 { return 0 }
func (foreignLease) Valid() bool                   { return false }
func (foreignLease) Lost() <-chan struct{}         { return nil }

// Reading.
var (
	_ func() StartPos       = Beginning
	_ func(uint64) StartPos = FromSeq
	_ func(StartPos) uint64 = StartPos.Seq
	_                       = ReplayRequest{SessionID: "", LoopID: "", From: StartPos{}, Follow: false}

	_ interface {
		Open(context.Context, ReplayRequest) (EventCursor, error)
	} = EventReplayer(nil)
	_ interface {
		Open(context.Context, ReplayRequest) (RecordCursor, error)
	} = RecordReplayer(nil)
	_ interface {
		Next(context.Context) (event.Event, uint64, error)
		Close() error
	} = EventCursor(nil)
	_ interface {
		Next(context.Context) (JournalRecord, uint64, error)
		Close() error
	} = RecordCursor(nil)
	_ error = &FollowUnsupportedError{Stream: ""}
)

// Appenders.
var (
	_ interface {
		AppendEvent(context.Context, event.Event) (uint64, error)
		AppendEventResult(context.Context, event.Event) (uint64, bool, error)
		AppendEventCommitted(context.Context, event.Event) (event.AppendCommit, error)
		SupportsCommittedPublicBodies() bool
	} = (*JournalEventAppender)(nil)
	_ interface {
		AppendCommand(context.Context, event.ID, event.ID, command.Command) error
	} = (*JournalCommandAppender)(nil)
	_ interface {
		AppendGatePrepared(context.Context, event.Event, gate.Payload) error
		AppendGateOpened(context.Context, event.Event) error
		AppendGateResolved(context.Context, event.Event) error
	} = (*JournalGateAppender)(nil)
	_ interface {
		AppendCommandApplication(context.Context, runtimecommand.Application) (AppendResult, error)
		AppendCommandDisposition(context.Context, runtimecommand.Disposition) (AppendResult, error)
	} = (*JournalRuntimeCommandAppender)(nil)

	_ func(EventCatalog) AppenderOption                                      = WithCatalog
	_ func(SessionJournal, ...AppenderOption) *JournalEventAppender          = NewJournalEventAppender
	_ func(SessionJournal, ...AppenderOption) (*JournalEventAppender, error) = NewJournalEventAppenderChecked
	_ func(SessionJournal) *JournalCommandAppender                           = NewJournalCommandAppender
	_ func(SessionJournal) (*JournalCommandAppender, error)                  = NewJournalCommandAppenderChecked
	_ func(SessionJournal) *JournalGateAppender                              = NewJournalGateAppender
	_ func(SessionJournal) (*JournalGateAppender, error)                     = NewJournalGateAppenderChecked
	_ func(IdempotentJournal) *JournalRuntimeCommandAppender                 = NewJournalRuntimeCommandAppender
	_ func(SessionJournal) (*JournalRuntimeCommandAppender, error)           = NewJournalRuntimeCommandAppenderChecked
	_ error                                                                  = &NilJournalError{}
	_ error                                                                  = &NonIdempotentJournalError{}
)

// Errors of appends.
var (
	_ error = &MarshalRecordError{Subject: "", Cause: nil}
	_ error = &RecordKindError{Subject: ""}
	_ error = &RecordTooLargeError{Subject: "", MsgID: "", Length: 0, Cause: nil}
	_ error = &AppendError{Subject: "", MsgID: "", Expected: 0, Cause: nil}
	_ error = &AmbiguousAckError{Subject: "", MsgID: "", Expected: 0, Cause: nil}
	_ error = &JournalNotReadyError{SessionID: ""}
	_ error = &IdempotencyCollisionError{ID: "", Seq: 0}
	_ error = &DeliveryTransitionError{CommandID: "", Phase: "", Reason: ""}
	_ error = &CommandRouteMismatchError{RecordLoopID: "", TargetLoopID: ""}
)

// Beyond what it had.
var (
	_ JournalRecord = OpaqueRecord{Kind: "", ID: "", Body: nil, Public: nil}
	_ interface {
		CommittedPublicJournal
		AppendBatch(context.Context, ...JournalRecord) ([]CommittedAppendResult, error)
		Resolve(context.Context) ([]CommittedAppendResult, error)
	} = BatchJournal(nil)
	_ func(context.Context, Lease) (context.Context, func()) = LeaseContext
)

// Each error with a cause unwraps to it, and no other does, but for the loss of
// a lease.
func TestErrorsUnwrapToTheirCause(t *testing.T) {
	cause := &NilJournalError{}
	unwrap := func(err error) error {
		if u, ok := err.(interface{ Unwrap() error }); ok {
			return u.Unwrap()
		}
		return nil
	}
	for _, err := range []error{
		&FenceEncodeError{cause}, &FenceDecodeError{"", cause}, &GatePreparedEncodeError{"", cause}, &GatePreparedDecodeError{"", cause},
		&CommandApplicationEncodeError{cause}, &CommandApplicationDecodeError{"", cause},
		&CommandDispositionEncodeError{cause}, &CommandDispositionDecodeError{"", cause},
		&MarshalRecordError{"", cause}, &RecordTooLargeError{Cause: cause}, &AppendError{Cause: cause}, &AmbiguousAckError{Cause: cause},
		&ReplayReadError{Cause: cause}, &ReplayDecodeError{Cause: cause}, &BlobUnavailableError{Cause: cause}, &FencedError{Cause: cause},
	} {
		if unwrap(err) != error(cause) {
			t.Errorf("%T unwraps to %v, want its cause", err, unwrap(err))
		}
		if err.Error() == "" {
			t.Errorf("%T says nothing", err)
		}
	}
	for _, err := range []error{
		&RecordKindError{}, &JournalNotReadyError{}, &IdempotencyCollisionError{}, &DeliveryTransitionError{}, &CommandRouteMismatchError{},
		&NilJournalError{}, &NonIdempotentJournalError{}, &LeaseHeldError{}, &LeaseLostError{}, &FollowUnsupportedError{},
	} {
		if unwrap(err) != nil {
			t.Errorf("%T unwraps to %v, want nothing", err, unwrap(err))
		}
		if err.Error() == "" {
			t.Errorf("%T says nothing", err)
		}
	}
	lost, ok := unwrap(&JournalLeaseLostError{SessionID: "s", Epoch: 7}).(*LeaseLostError)
	if !ok || lost.SessionID != "s" || lost.Epoch != 7 {
		t.Errorf("JournalLeaseLostError unwraps to %v, want the loss of the same lease", lost)
	}
}
