package journal

import "context"

// A SessionJournal appends to the one line of records of a session. What it
// returns nil for is durable as its store promises, in a place of its own: the
// sequence numbers of one session rise by one with each record, over all its
// writers, and are never given out again.
//
// Append is safe for concurrent use; appends take effect one after the other.
// ctx bounds the wait of the caller; the implementation bounds each append
// besides, so that none hangs for ever. On any error the caller knows from its type whether
// nothing was written (all but *AmbiguousAckError) or that it is not known.
type SessionJournal interface {
	Append(ctx context.Context, rec JournalRecord) (seq uint64, err error)
}

// An IdempotentJournal can be told the same record twice. If a record of the
// same family and id with the same content is durable already, nothing is
// written: Appended is false, and Sequence is that of the first one, however
// long ago and by whichever process it was appended. If its content is another, the
// error is an *IdempotencyCollisionError.
type IdempotentJournal interface {
	SessionJournal
	AppendIdempotent(ctx context.Context, rec JournalRecord) (AppendResult, error)
}

// A CommittedPublicJournal also returns what it stored for the public: Public
// holds exactly the bytes that every later reader gets. It is zero for records
// that have no public form and for those that were durable before.
type CommittedPublicJournal interface {
	IdempotentJournal
	AppendCommitted(ctx context.Context, rec JournalRecord) (CommittedAppendResult, error)
}

// A BatchJournal appends several records as one, and can say what became of an
// append whose outcome was not known.
type BatchJournal interface {
	CommittedPublicJournal

	// AppendBatch appends recs in their order, all of them or none, under one
	// fence. Records that are durable already are left out of it and reported with
	// Appended false; one that collides fails the whole batch, and nothing is
	// written. The results are those of recs, one for one. No records: no results.
	AppendBatch(ctx context.Context, recs ...JournalRecord) ([]CommittedAppendResult, error)

	// Resolve settles an append that ended with an *AmbiguousAckError. It finds
	// out whose record took the place, and appends the pending ones there if
	// nobody's did: what might happen at any moment is made to happen now. It
	// returns their results, which is what the append would have returned; nil
	// when nothing is pending; an *AppendError when they were overtaken and can no
	// longer take effect; another *AmbiguousAckError while it still cannot tell.
	// The next append resolves a pending one first, by itself.
	Resolve(ctx context.Context) ([]CommittedAppendResult, error)
}

// An AppendResult says where a record is. The zero value says that nothing was
// appended.
type AppendResult struct {
	Sequence uint64
	// Appended is false when the record had been durable before.
	Appended bool
}

// A CommittedPublicBody is the public form of a record as it is stored.
type CommittedPublicBody struct {
	EventID string
	// Body belongs to the receiver.
	Body []byte
}

// A CommittedAppendResult is an AppendResult and what was stored for the
// public by this very call.
type CommittedAppendResult struct {
	AppendResult
	Public CommittedPublicBody
}
