package journal

import (
	"context"

	"github.com/comity-dev/comity/session/event"
)

// A JournalEventAppender appends events, with the strongest of the interfaces
// that its journal has: with a plain SessionJournal every append counts as
// a first one. It is safe for concurrent use.
type JournalEventAppender struct {
	j       SessionJournal
	catalog EventCatalog
}

// An EventCatalog is told of events that are durable. It is a convenience for
// those who list sessions: what it returns is its own concern, and an append never
// fails for it.
type EventCatalog interface {
	NoteEvent(ctx context.Context, ev event.Event, seq uint64) error
}

// An AppenderOption is a choice for NewJournalEventAppender.
type AppenderOption func(*JournalEventAppender)

// WithCatalog has c told of each event that this appender made durable, once,
// with its sequence. nil changes nothing.
func WithCatalog(c EventCatalog) AppenderOption {
	return func(a *JournalEventAppender) {
		if !isNil(c) {
			a.catalog = c
		}
	}
}

// NewJournalEventAppender returns an appender to j. With a nil journal each of
// its appends is a *NilJournalError.
func NewJournalEventAppender(j SessionJournal, opts ...AppenderOption) *JournalEventAppender {
	a := &JournalEventAppender{j: j}
	if isNil(j) {
		a.j = nil
	}
	for _, o := range opts {
		if o != nil {
			o(a)
		}
	}
	return a
}

// NewJournalEventAppenderChecked is NewJournalEventAppender, and refuses a nil
// journal at once.
func NewJournalEventAppenderChecked(j SessionJournal, opts ...AppenderOption) (*JournalEventAppender, error) {
	if isNil(j) {
		return nil, &NilJournalError{}
	}
	return NewJournalEventAppender(j, opts...), nil
}

// AppendEvent appends ev and returns its sequence.
func (a *JournalEventAppender) AppendEvent(ctx context.Context, ev event.Event) (seq uint64, err error) {
	seq, _, err = a.AppendEventResult(ctx, ev)
	return seq, err
}

// AppendEventResult also tells whether this call made the event durable.
func (a *JournalEventAppender) AppendEventResult(ctx context.Context, ev event.Event) (seq uint64, appended bool, err error) {
	commit, err := a.AppendEventCommitted(ctx, ev)
	return commit.Sequence, commit.Appended, err
}

// AppendEventCommitted also returns what was stored for the public. With
// a journal that does not tell, see SupportsCommittedPublicBodies, that is empty.
func (a *JournalEventAppender) AppendEventCommitted(ctx context.Context, ev event.Event) (event.AppendCommit, error) {
	res, err := appendStrongest(ctx, a.j, NewEventRecord(ev))
	commit := event.AppendCommit{Sequence: res.Sequence, Appended: res.Appended}
	if res.Public.EventID != "" {
		commit.EventID, commit.PublicBody = event.ID(res.Public.EventID), res.Public.Body
		commit.CoveredThrough = res.Sequence
	}
	if err == nil && res.Appended && a.catalog != nil {
		_ = a.catalog.NoteEvent(ctx, ev, res.Sequence)
	}
	return commit, err
}

// SupportsCommittedPublicBodies reports whether the journal returns what it
// stored.
func (a *JournalEventAppender) SupportsCommittedPublicBodies() bool {
	_, ok := a.j.(CommittedPublicJournal)
	return ok
}

func appendStrongest(ctx context.Context, j SessionJournal, rec JournalRecord) (res CommittedAppendResult, err error) {
	switch j := j.(type) {
	case nil:
		return res, &NilJournalError{}
	case CommittedPublicJournal:
		return j.AppendCommitted(ctx, rec)
	case IdempotentJournal:
		res.AppendResult, err = j.AppendIdempotent(ctx, rec)
		return res, err
	}
	res.Sequence, err = j.Append(ctx, rec)
	res.Appended = err == nil
	return res, err
}
