package store

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/journal"
)

// OpenOptions are choices for one opening; nil is the default.
type OpenOptions struct {
	// Opening wraps the append of the fence: for observers, see
	// journal.HookMiddleware. It must call next once; it cannot exchange the record, and
	// what it returns is not looked at. A *journal.DecoratorError is returned, and
	// no journal, when it does not.
	Opening journal.AppendMiddleware
	// Catalog is told of each event that becomes durable, beside the catalog of
	// the store.
	Catalog journal.EventCatalog
}

// Open acquires a session and opens its journal for appends: a new one if there
// is none. See OpenUnder. Close releases the lease.
func (s *Store) Open(ctx context.Context, id event.ID, o *OpenOptions) (*Writer, error) {
	lease, err := s.Acquire(ctx, id)
	if err != nil {
		return nil, err
	}
	w, err := s.OpenUnder(ctx, lease, o)
	if err != nil {
		s.letGo(lease)
		return nil, err
	}
	w.owns = true
	return w, nil
}

// OpenUnder opens the journal of the session that the lease is of. When it
// returns nil, the owner's fence is durable behind all that earlier owners wrote, and
// none of them can append any more. The lease stays the caller's, who releases it
// after Close; but after an *OpeningFenceConflictError it has been released.
//
// It reads what lies behind the last checkpoint of the index, not more. What it
// cannot read there, it refuses: damage in the tail, and frames of a newer build.
//
// Errors: *NilLeaseError; *journal.JournalLeaseLostError; *StaleEpochError when the
// journal has records of a later epoch; *OpeningFenceConflictError;
// *journal.AmbiguousAckError when it stayed unknown whether the fence was written,
// which a later opening finds out; *PartialImportError; those of reading.
func (s *Store) OpenUnder(ctx context.Context, lease journal.Lease, o *OpenOptions) (*Writer, error) {
	if lease == nil {
		return nil, &NilLeaseError{}
	}
	if l, ok := lease.(*Lease); ok && l == nil {
		return nil, &NilLeaseError{}
	}
	n, err := s.names(lease.SessionID())
	if err != nil {
		return nil, err
	}
	if !lease.Valid() {
		return nil, &journal.JournalLeaseLostError{SessionID: n.id, Epoch: lease.Epoch()}
	}
	if o == nil {
		o = new(OpenOptions)
	}
	w := newWriter(s, n, lease, o.Catalog)
	if err := w.open(ctx, o.Opening); err != nil {
		w.stop()
		return nil, err
	}
	return w, nil
}

func (s *Store) letGo(l journal.Lease) {
	ctx, cancel := context.WithTimeout(context.Background(), s.o.ReleaseTimeout)
	defer cancel()
	if err := l.Release(ctx); err != nil {
		s.o.Trouble(err)
	}
}

func (w *Writer) open(ctx context.Context, opening journal.AppendMiddleware) error {
	ctx, cancel := context.WithTimeout(ctx, w.s.o.OpenTimeout)
	defer cancel()
	o, _, err := w.s.origin(ctx, w.n)
	if err != nil {
		return err
	}
	if o.Partial {
		return &PartialImportError{w.n.id}
	}
	if w.tip, err = w.s.b.Ledger().Tip(ctx, w.n.ledger); err != nil {
		return &journal.ReplayReadError{Subject: w.n.ledger, Seq: 1, Cause: err}
	}
	if err := w.seeLast(ctx); err != nil {
		return err
	}
	if err := w.fenceOnce(ctx, opening); err != nil {
		return err
	}
	// Only behind the fence does nobody move the tip any more.
	w.summary.load(ctx)
	if err := w.index.load(ctx, w.tip); err != nil {
		return err
	}
	w.summary.loaded(w.tip.Seq)
	w.ready = true
	w.keepBooks()
	return nil
}

// seeLast looks at the last record: the highest epoch there is, and what the
// fence is chained to.
func (w *Writer) seeLast(ctx context.Context) error {
	if w.tip.Seq == 0 {
		return nil
	}
	f, raw, err := w.s.frame(ctx, w.n, w.tip.Seq)
	if err != nil {
		return err
	}
	if f.Epoch > w.lease.Epoch() {
		return &StaleEpochError{w.n.id, w.n.ledger, w.lease.Epoch(), f.Epoch, w.tip.Seq}
	}
	w.last = raw
	return nil
}

// frame reads one record.
func (s *Store) frame(ctx context.Context, n names, seq uint64) (*journal.Frame, []byte, error) {
	next, stop := iter.Pull2(s.b.Ledger().Read(ctx, n.ledger, seq))
	defer stop()
	rec, err, ok := next()
	if !ok {
		err = errors.New("it is not there")
	} else if err == nil && rec.Seq != seq {
		err = fmt.Errorf("the store returned record %d", rec.Seq)
	}
	if err != nil {
		return nil, nil, &journal.ReplayReadError{Subject: n.ledger, Seq: seq, Cause: err}
	}
	f, err := journal.ParseFrame(rec.Data)
	if err != nil {
		return nil, nil, &journal.ReplayDecodeError{Subject: n.ledger, Seq: seq, Cause: err}
	}
	return f, rec.Data, nil
}

// fenceOnce appends the fence, within the caller's middleware.
func (w *Writer) fenceOnce(ctx context.Context, opening journal.AppendMiddleware) error {
	f := &fencer{w: w, rec: journal.NewFenceRecord(w.n.id, journal.LeaseFence{Epoch: w.lease.Epoch()})}
	if opening == nil {
		_, err := f.Append(ctx, f.rec)
		return err
	}
	_, err := journal.Decorate(f, f.within(opening)).Append(ctx, f.rec)
	var held *journal.DecoratorError
	switch {
	case errors.As(err, &held):
		return held
	case !f.called:
		return &journal.DecoratorError{Family: journal.FamilyFence, ID: f.rec.IdempotencyID()}
	}
	return f.err
}

// A fencer is the journal that is opened, as the middleware sees it: all that can
// be appended to it is the fence.
type fencer struct {
	w      *Writer
	rec    journal.FenceRecord
	called bool
	seq    uint64
	err    error
}

func (f *fencer) Append(ctx context.Context, _ journal.JournalRecord) (uint64, error) {
	f.called = true
	f.seq, f.err = f.w.writeFence(ctx, f.rec)
	return f.seq, f.err
}

// within makes of a middleware what Decorate holds to one call.
func (f *fencer) within(opening journal.AppendMiddleware) journal.AroundAppend {
	return func(ctx context.Context, rec journal.JournalRecord, next func(context.Context) error) error {
		_, err := opening(func(ctx context.Context, _ journal.JournalRecord) (uint64, error) {
			err := next(ctx)
			return f.seq, err
		})(ctx, rec)
		return err
	}
}

func (w *Writer) writeFence(ctx context.Context, rec journal.FenceRecord) (uint64, error) {
	f, err := w.s.o.Kinds.Encode(w.n.id, rec)
	if err != nil {
		return 0, &journal.MarshalRecordError{Subject: w.n.ledger, Cause: err}
	}
	a := &attempt{recs: []pending{newPending(rec, f)}}
	err = w.write(ctx, a)
	var overtaken *journal.FencedError
	if errors.As(err, &overtaken) {
		w.s.letGo(w.lease)
		return 0, &OpeningFenceConflictError{w.n.id, w.lease.Epoch(), err}
	}
	return w.tip.Seq, err
}

// holds reports whether the lease can still be relied on.
func holds(l journal.Lease) bool {
	select {
	case <-l.Lost():
		return false
	default:
		return l.Valid()
	}
}
