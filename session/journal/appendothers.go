package journal

import (
	"context"
	"fmt"

	"github.com/comity-dev/comity/session/command"
	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/gate"
	"github.com/comity-dev/comity/session/runtimecommand"
)

// A JournalCommandAppender writes the intent log. Whether a command that could
// not be stored is dispatched all the same is its caller's decision. It is safe for
// concurrent use.
type JournalCommandAppender struct{ j SessionJournal }

// NewJournalCommandAppender returns an appender to j. With a nil journal each of
// its appends is a *NilJournalError.
func NewJournalCommandAppender(j SessionJournal) *JournalCommandAppender {
	if isNil(j) {
		j = nil
	}
	return &JournalCommandAppender{j}
}

// NewJournalCommandAppenderChecked refuses a nil journal at once.
func NewJournalCommandAppenderChecked(j SessionJournal) (*JournalCommandAppender, error) {
	if isNil(j) {
		return nil, &NilJournalError{}
	}
	return NewJournalCommandAppender(j), nil
}

// AppendCommand appends cmd, routed to a loop of the session, "" if to none. The
// error is the journal's, untouched.
func (a *JournalCommandAppender) AppendCommand(ctx context.Context, sessionID, loopID event.ID, cmd command.Command) error {
	if a.j == nil {
		return &NilJournalError{}
	}
	_, err := a.j.Append(ctx, NewCommandRecord(sessionID, loopID, cmd))
	return err
}

// A JournalGateAppender writes the three records of a gate. A gate does not get
// ahead of its record: on an error it stays where it was. It is safe for
// concurrent use.
type JournalGateAppender struct{ j SessionJournal }

// NewJournalGateAppender returns an appender to j. With a nil journal each of its
// appends is a *NilJournalError.
func NewJournalGateAppender(j SessionJournal) *JournalGateAppender {
	if isNil(j) {
		j = nil
	}
	return &JournalGateAppender{j}
}

// NewJournalGateAppenderChecked refuses a nil journal at once.
func NewJournalGateAppenderChecked(j SessionJournal) (*JournalGateAppender, error) {
	if isNil(j) {
		return nil, &NilJournalError{}
	}
	return NewJournalGateAppender(j), nil
}

// AppendGatePrepared stores what a gate asks, in private, before it opens.
// prepared's body is an event.GatePrepared.
func (a *JournalGateAppender) AppendGatePrepared(ctx context.Context, prepared event.Event, payload gate.Payload) error {
	if a.j == nil {
		return &NilJournalError{}
	}
	_, err := a.j.Append(ctx, NewGatePreparedRecord(prepared, payload))
	return err
}

// AppendGateOpened stores that the gate waits for its decision. ev's body is an
// event.GateOpened.
func (a *JournalGateAppender) AppendGateOpened(ctx context.Context, ev event.Event) error {
	return a.appendEvent(ctx, ev, event.KindGateOpened)
}

// AppendGateResolved stores how the gate ended, before whoever waits is told.
// ev's body is an event.GateResolved.
func (a *JournalGateAppender) AppendGateResolved(ctx context.Context, ev event.Event) error {
	return a.appendEvent(ctx, ev, event.KindGateResolved)
}

func (a *JournalGateAppender) appendEvent(ctx context.Context, ev event.Event, kind string) error {
	if a.j == nil {
		return &NilJournalError{}
	}
	if ev.Body == nil || ev.Body.Kind() != kind {
		return &MarshalRecordError{Cause: fmt.Errorf("the event is not of kind %s", kind)}
	}
	_, err := a.j.Append(ctx, NewEventRecord(ev))
	return err
}

// A JournalRuntimeCommandAppender writes what makes commands from outside apply
// once: the application before the effect, the disposition behind it. It needs an
// IdempotentJournal: Appended false is how a repetition is told. It is safe for
// concurrent use.
type JournalRuntimeCommandAppender struct{ j IdempotentJournal }

// NewJournalRuntimeCommandAppenderChecked returns an appender to j, or
// a *NilJournalError, or a *NonIdempotentJournalError.
func NewJournalRuntimeCommandAppenderChecked(j SessionJournal) (*JournalRuntimeCommandAppender, error) {
	if isNil(j) {
		return nil, &NilJournalError{}
	}
	idempotent, ok := j.(IdempotentJournal)
	if !ok {
		return nil, &NonIdempotentJournalError{}
	}
	return &JournalRuntimeCommandAppender{idempotent}, nil
}

// NewJournalRuntimeCommandAppender returns an appender to j. With a nil journal
// each of its appends is a *NilJournalError.
func NewJournalRuntimeCommandAppender(j IdempotentJournal) *JournalRuntimeCommandAppender {
	if isNil(j) {
		j = nil
	}
	return &JournalRuntimeCommandAppender{j}
}

// AppendCommandApplication stores that a command is about to be applied.
func (a *JournalRuntimeCommandAppender) AppendCommandApplication(ctx context.Context, app runtimecommand.Application) (AppendResult, error) {
	if a.j == nil {
		return AppendResult{}, &NilJournalError{}
	}
	return a.j.AppendIdempotent(ctx, NewCommandApplicationRecord(app))
}

// AppendCommandDisposition stores how the attempt to apply a command ended.
func (a *JournalRuntimeCommandAppender) AppendCommandDisposition(ctx context.Context, d runtimecommand.Disposition) (AppendResult, error) {
	if a.j == nil {
		return AppendResult{}, &NilJournalError{}
	}
	return a.j.AppendIdempotent(ctx, NewCommandDispositionRecord(d))
}
