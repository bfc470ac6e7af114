package store

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/storage"
)

// settle appends an attempt, and finds out what became of it when the store
// cannot tell. It returns nil when it is durable, an *AppendError when it never
// will be, and an *AmbiguousAckError when neither could be found out; then it is
// the writer's doubt.
func (w *Writer) settle(ctx context.Context, a *attempt) error {
	var unknown error
	for range w.s.o.Attempts {
		if a.doubted && !holds(w.lease) { // what is not known may not be made to happen any more
			unknown = errors.Join(unknown, &journal.JournalLeaseLostError{SessionID: w.n.id, Epoch: w.lease.Epoch()})
			break
		}
		tip, err := w.s.b.Ledger().Append(ctx, w.n.ledger, a.expected, a.frames...)
		if err == nil {
			w.done(a, tip)
			return nil
		}
		var conflict *storage.ConflictError
		var ambiguous *storage.AmbiguousError
		switch {
		case errors.As(err, &conflict):
			if !a.doubted { // it is another's record: nothing of this one was ever sent
				return w.overtaken(a, err)
			}
		case errors.As(err, &ambiguous):
			a.doubted, unknown = true, err
		case !a.doubted:
			return w.refused(a, err)
		default: // says nothing of the append that is in doubt
			unknown = errors.Join(unknown, err)
		}
		over, err := w.look(ctx, a, conflict)
		if over {
			return err
		}
		if err != nil {
			unknown = errors.Join(unknown, err)
		}
		if ctx.Err() != nil {
			break
		}
	}
	if w.doubt != a { // for whoever resolves it: what the caller gave is the caller's again
		a.publish()
	}
	w.doubt = a
	return &journal.AmbiguousAckError{Subject: w.n.ledger, MsgID: a.recs[0].frame.ID, Expected: a.expected.Seq, Cause: unknown}
}

// look reads the place behind the expected tip. It reports true when whose it is
// has been found out: the writer's own, with nil, or another's, with the error.
func (w *Writer) look(ctx context.Context, a *attempt, conflict *storage.ConflictError) (over bool, err error) {
	next, stop := iter.Pull2(w.s.b.Ledger().Read(ctx, w.n.ledger, a.expected.Seq+1))
	defer stop()
	rec, err, there := next()
	if err != nil {
		return false, fmt.Errorf("look whose record %d is: %w", a.expected.Seq+1, err)
	}
	if !there {
		if conflict != nil && conflict.Tip.Seq <= a.expected.Seq { // another life of the ledger
			return true, w.overtaken(a, conflict)
		}
		return false, nil
	}
	f, err := journal.ParseFrame(rec.Data)
	if err != nil || f.Token != a.token {
		return true, w.overtaken(a, fmt.Errorf("record %d is another's", rec.Seq))
	}
	tip, err := w.s.b.Ledger().Tip(ctx, w.n.ledger)
	if err != nil {
		return false, fmt.Errorf("look for the tip: %w", err)
	}
	w.done(a, storage.Tip{Gen: tip.Gen, Seq: a.expected.Seq + uint64(len(a.frames))})
	return true, nil
}

// settleDoubt settles the append that is in doubt.
func (w *Writer) settleDoubt(ctx context.Context) error {
	a := w.doubt
	over, err := w.look(ctx, a, nil)
	if !over {
		err = w.settle(ctx, a)
	}
	if err != nil {
		return err
	}
	w.note(ctx, a)
	return nil
}

// overtaken ends the writer: the tip is another's.
func (w *Writer) overtaken(a *attempt, cause error) error {
	w.doubt = nil
	w.fenced = &journal.FencedError{SessionID: w.n.id, Epoch: w.lease.Epoch(), Cause: cause}
	w.lose(w.fenced)
	return w.refused(a, w.fenced)
}

func (w *Writer) refused(a *attempt, cause error) error {
	return &journal.AppendError{Subject: w.n.ledger, MsgID: a.recs[0].frame.ID, Expected: a.expected.Seq, Cause: cause}
}
