package store

import (
	"context"
	"sync"

	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/storage"
)

// A Writer is the open journal of a session, with all that package journal
// knows. It is safe for concurrent use: appends take effect one after the other.
type Writer struct {
	s     *Store
	n     names
	lease journal.Lease
	owns  bool // Close releases the lease
	also  journal.EventCatalog

	ctx     context.Context // ends with the lease, when overtaken, or with Close
	lose    context.CancelCauseFunc
	unwatch func()
	closing sync.Once
	closed  chan struct{}
	wg      sync.WaitGroup // background: checkpoints

	// turn is held for a whole append. It is a channel, so that the wait for it
	// ends with the caller's context. What follows is guarded by it.
	turn    chan struct{}
	limit   limit // of each append in time
	ready   bool
	tip     storage.Tip
	last    []byte // the frame at the tip
	index   *index
	doubt   *attempt // whose outcome is not known
	fenced  error    // a *journal.FencedError, once overtaken
	summary *summary
}

func newWriter(s *Store, n names, lease journal.Lease, also journal.EventCatalog) *Writer {
	w := &Writer{
		s: s, n: n, lease: lease, also: also,
		closed: make(chan struct{}),
		turn:   make(chan struct{}, 1),
	}
	w.limit.after = s.o.AppendTimeout
	w.index, w.summary = newIndex(s, n), newSummary(s, n)
	w.index.found = w.summary.noteFrame
	ctx, lose := context.WithCancelCause(context.Background())
	w.lose = lose
	w.ctx, w.unwatch = journal.LeaseContext(ctx, lease)
	return w
}

// SessionID is the session.
func (w *Writer) SessionID() event.ID { return w.n.id }

// Lease is the lease that the writer writes under.
func (w *Writer) Lease() journal.Lease { return w.lease }

// Epoch is the epoch in every frame that the writer writes.
func (w *Writer) Epoch() uint64 { return w.lease.Epoch() }

// Context ends when the lease is lost, with a *journal.LeaseLostError as its
// cause, when a later owner's record was met, with a *journal.FencedError, or
// with Close. What the session does runs under it, so that an owner that lost
// the session stops at once and not at its next append.
func (w *Writer) Context() context.Context { return w.ctx }

// Tip returns the sequence of the last record that this writer knows of.
func (w *Writer) Tip(ctx context.Context) (uint64, error) {
	if err := w.enter(ctx); err != nil {
		return 0, err
	}
	defer w.leave()
	return w.tip.Seq, nil
}

// Close ends the writer: it waits for the append in flight, stores a checkpoint
// of the index and the catalog's row, and, if Open made it, releases the lease.
// Appends are a *journal.JournalNotReadyError afterwards. It may be called any number of
// times. What it returns tells about the release alone; nothing else can be lost.
func (w *Writer) Close() error {
	var err error
	w.closing.Do(func() {
		close(w.closed)
		w.turn <- struct{}{} // behind the append in flight
		<-w.turn
		w.wg.Wait()
		w.turn <- struct{}{} // for ever
		if w.ready && w.fenced == nil && holds(w.lease) {
			w.settleBooks()
		}
		w.ready = false
		w.stop()
		if w.owns {
			ctx, cancel := context.WithTimeout(context.Background(), w.s.o.ReleaseTimeout)
			defer cancel()
			err = w.lease.Release(ctx)
		}
	})
	return err
}

// stop ends what the writer has running.
func (w *Writer) stop() {
	w.limit.stop()
	w.lose(context.Canceled)
	w.unwatch()
}

// enter takes the turn. The error is ctx's cause, or why no turn is given any more.
func (w *Writer) enter(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if w.isClosed() {
		return &journal.JournalNotReadyError{SessionID: w.n.id}
	}
	select {
	case w.turn <- struct{}{}: // mostly it is free
	default:
		select {
		case w.turn <- struct{}{}:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-w.closed:
			return &journal.JournalNotReadyError{SessionID: w.n.id}
		}
	}
	if w.isClosed() {
		w.leave()
		return &journal.JournalNotReadyError{SessionID: w.n.id}
	}
	return nil
}

func (w *Writer) isClosed() bool {
	select {
	case <-w.closed:
		return true
	default:
		return false
	}
}

func (w *Writer) leave() { <-w.turn }

// Append appends rec and returns its sequence: of a record that was durable
// before, the first one's.
func (w *Writer) Append(ctx context.Context, rec journal.JournalRecord) (uint64, error) {
	res, err := w.appendOne(ctx, rec, false)
	return res.Sequence, err
}

// AppendIdempotent appends rec unless it is durable already.
func (w *Writer) AppendIdempotent(ctx context.Context, rec journal.JournalRecord) (journal.AppendResult, error) {
	res, err := w.appendOne(ctx, rec, false)
	return res.AppendResult, err
}

// AppendCommitted is AppendIdempotent and returns what it stored for the public.
func (w *Writer) AppendCommitted(ctx context.Context, rec journal.JournalRecord) (journal.CommittedAppendResult, error) {
	return w.appendOne(ctx, rec, true)
}

// appendOne appends rec; public says whether the result has what is stored for
// the public.
func (w *Writer) appendOne(ctx context.Context, rec journal.JournalRecord, public bool) (journal.CommittedAppendResult, error) {
	if err := w.enter(ctx); err != nil {
		return journal.CommittedAppendResult{}, err
	}
	defer w.leave()
	res, err := w.append(ctx, []journal.JournalRecord{rec}, public)
	if err != nil {
		return journal.CommittedAppendResult{}, err
	}
	return res[0], nil
}

// AppendBatch appends recs as one; see journal.BatchJournal.
func (w *Writer) AppendBatch(ctx context.Context, recs ...journal.JournalRecord) ([]journal.CommittedAppendResult, error) {
	if err := w.enter(ctx); err != nil {
		return nil, err
	}
	defer w.leave()
	return w.append(ctx, recs, true)
}

// Resolve settles an append whose outcome is not known; see journal.BatchJournal.
func (w *Writer) Resolve(ctx context.Context) ([]journal.CommittedAppendResult, error) {
	if err := w.enter(ctx); err != nil {
		return nil, err
	}
	defer w.leave()
	ctx, cancel := context.WithTimeout(ctx, w.s.o.AppendTimeout)
	defer cancel()
	a := w.doubt
	if a == nil {
		return nil, nil
	}
	if err := w.settleDoubt(ctx); err != nil {
		return nil, err
	}
	return a.all, nil
}

// guard returns why nothing can be appended.
func (w *Writer) guard() error {
	switch {
	case !w.ready:
		return &journal.JournalNotReadyError{SessionID: w.n.id}
	case !holds(w.lease):
		return &journal.JournalLeaseLostError{SessionID: w.n.id, Epoch: w.lease.Epoch()}
	case w.fenced != nil:
		return &journal.AppendError{Subject: w.n.ledger, Expected: w.tip.Seq, Cause: w.fenced}
	}
	return nil
}
