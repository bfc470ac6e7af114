package journal

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// An AroundAppend runs around every append of a journal, whichever method it
// came by. It calls next exactly once, before it returns, with ctx or one made from it, and
// returns next's error or another one. rec is the record; it cannot be exchanged. A batch
// passes once for each of its records, the last one's next being the append.
//
// What it cannot do is to make a result untrue:
//
//   - An error that it returns without having called next refuses the append:
//     nothing is written, and that is the error. Nil without a call is
//     a *DecoratorError, and nothing is written either.
//   - A second call appends nothing and returns a *DecoratorError, which is also
//     the append's error beside the true result of the first, and the first one's error.
//   - If the append failed, it failed: nil in place of next's error is not taken.
//     If it succeeded and the error is not nil, the result is returned beside it.
type AroundAppend func(ctx context.Context, rec JournalRecord, next func(context.Context) error) error

// Decorate returns inner with around around each of its appends. It has the
// optional interfaces that inner has (IdempotentJournal,
// CommittedPublicJournal, BatchJournal), and no others. nil stays nil, and a nil
// around leaves inner as it is.
func Decorate(inner SessionJournal, around AroundAppend) SessionJournal {
	if isNil(inner) {
		return nil
	}
	if around == nil {
		return inner
	}
	d := decorated{inner, around}
	switch inner := inner.(type) {
	case BatchJournal:
		return &decoratedBatch{decoratedCommitted{decoratedIdempotent{d, inner}, inner}, inner}
	case CommittedPublicJournal:
		return &decoratedCommitted{decoratedIdempotent{d, inner}, inner}
	case IdempotentJournal:
		return &decoratedIdempotent{d, inner}
	}
	return &d
}

// A DecoratorError reports an AroundAppend, or the middleware of an opening,
// that did not call next exactly once.
type DecoratorError struct {
	Family Family // of the record
	ID     string
	Calls  int // 0, 2, or -1 when next was called after it had returned
}

func (e *DecoratorError) Error() string {
	how := "called next twice; the second call did nothing"
	switch {
	case e.Calls == 0:
		how = "did not call next and said nothing; nothing was appended"
	case e.Calls < 0:
		how = "called next after it had returned; that call did nothing"
	}
	return fmt.Sprintf("append %v %s: a decorator %s", e.Family, e.ID, how)
}

type decorated struct {
	inner  SessionJournal
	around AroundAppend
}

func (d *decorated) Append(ctx context.Context, rec JournalRecord) (seq uint64, err error) {
	err = d.run(ctx, rec, func(ctx context.Context) (err error) {
		seq, err = d.inner.Append(ctx, rec)
		return err
	})
	return seq, err
}

type decoratedIdempotent struct {
	decorated
	idempotent IdempotentJournal
}

func (d *decoratedIdempotent) AppendIdempotent(ctx context.Context, rec JournalRecord) (res AppendResult, err error) {
	err = d.run(ctx, rec, func(ctx context.Context) (err error) {
		res, err = d.idempotent.AppendIdempotent(ctx, rec)
		return err
	})
	return res, err
}

type decoratedCommitted struct {
	decoratedIdempotent
	committed CommittedPublicJournal
}

func (d *decoratedCommitted) AppendCommitted(ctx context.Context, rec JournalRecord) (res CommittedAppendResult, err error) {
	err = d.run(ctx, rec, func(ctx context.Context) (err error) {
		res, err = d.committed.AppendCommitted(ctx, rec)
		return err
	})
	return res, err
}

type decoratedBatch struct {
	decoratedCommitted
	batch BatchJournal
}

func (d *decoratedBatch) AppendBatch(ctx context.Context, recs ...JournalRecord) (res []CommittedAppendResult, err error) {
	err = d.nest(ctx, recs, func(ctx context.Context) (err error) {
		res, err = d.batch.AppendBatch(ctx, recs...)
		return err
	})
	return res, err
}

func (d *decoratedBatch) Resolve(ctx context.Context) ([]CommittedAppendResult, error) {
	return d.batch.Resolve(ctx)
}

// nest runs around for the first of recs, within it for the second, and so on.
func (d *decorated) nest(ctx context.Context, recs []JournalRecord, do func(context.Context) error) error {
	if len(recs) == 0 {
		return do(ctx)
	}
	return d.run(ctx, recs[0], func(ctx context.Context) error { return d.nest(ctx, recs[1:], do) })
}

// run calls around and holds it to its contract.
func (d *decorated) run(ctx context.Context, rec JournalRecord, do func(context.Context) error) error {
	var once onceNext
	err := d.around(ctx, rec, once.guard(rec, do))
	return once.end(rec, err)
}

// A onceNext lets one call of next through. Its lock is held during that call,
// so that an end which comes too early waits for it.
type onceNext struct {
	mu    sync.Mutex
	over  bool
	calls int
	err   error // of the call
}

func (o *onceNext) guard(rec JournalRecord, do func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.over {
			return decoratorError(rec, -1)
		}
		o.calls++
		if o.calls > 1 {
			return decoratorError(rec, 2)
		}
		o.err = do(ctx)
		return o.err
	}
}

// end returns the error of the append, given what around returned.
func (o *onceNext) end(rec JournalRecord, err error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.over = true
	switch {
	case o.calls == 0 && err == nil:
		return decoratorError(rec, 0)
	case o.calls > 1 && o.err != nil && !errors.Is(err, o.err):
		return errors.Join(o.err, err, decoratorError(rec, 2))
	case o.calls > 1:
		return errors.Join(err, decoratorError(rec, 2))
	case err == nil:
		return o.err
	}
	return err
}

func decoratorError(rec JournalRecord, calls int) error {
	family, _ := familyOf(rec)
	e := &DecoratorError{Family: family, Calls: calls}
	if family != 0 {
		e.ID = rec.IdempotencyID()
	}
	return e
}
