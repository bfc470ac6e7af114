package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/session/runtimecommand"
)

// An Attempt is a command that somebody outside asks to have applied, once.
type Attempt struct {
	CommandID string // of the command outside; never parsed
	AttemptID string // of this attempt outside; never parsed
	Kind      runtimecommand.Kind
	RuntimeID event.ID // of the command here; one for each CommandID
	// Intent is the command, for the intent log; nil writes none.
	Intent *journal.CommandRecord
}

// An Effect is what applying a command came to. Records are appended together
// with the disposition, all or none.
type Effect struct {
	Result  runtimecommand.Result // Applied, NoOp or Refused
	Records []journal.JournalRecord
}

// An Answer is what a command came to, now or the first time.
type Answer struct {
	// Sequence is that of the application. 0 with an error says that nothing is
	// durable, and the command can be tried again.
	Sequence uint64
	// First is true for the one call that ran the effect.
	First bool
	// Result is "" as long as there is no disposition: the attempt is under way, or
	// was abandoned by its owner, see Abandoned and Writer.CloseAbandoned.
	Result      runtimecommand.Result
	Disposition uint64 // its sequence
	// Abandoned says that the attempt was an earlier owner's and has no disposition.
	Abandoned   bool
	Application runtimecommand.Application // that is durable
}

// A MappingConflictError reports a command from outside whose id is durable for
// another command. Nothing was applied.
type MappingConflictError struct {
	Subject   string
	Seq       uint64 // of the application that has the id
	CommandID string
	Cause     error // why that one cannot be read; nil when it can, and differs
}

func (e *MappingConflictError) Error() string {
	s := fmt.Sprintf("command %q: record %d of %s applies another command of that id", e.CommandID, e.Seq, e.Subject)
	if e.Cause != nil {
		s += ", or cannot be read: " + e.Cause.Error()
	}
	return s
}

func (e *MappingConflictError) Unwrap() error { return e.Cause }

// Apply applies a command from outside at most once, over redeliveries, owners
// and crashes: its intent is stored, then that it is about to be applied, then effect
// runs, then its disposition is stored. A command whose application is durable is
// not applied again, and the answer is the first one's.
//
// effect runs under a context that ends with the lease. An error of it, without
// a result, is Refused, and is returned beside the answer. An error with an answer
// whose Sequence is not 0 says that the application is durable: no redelivery
// will run the effect.
func (w *Writer) Apply(ctx context.Context, a Attempt, effect func(context.Context) (Effect, error)) (Answer, error) {
	app := runtimecommand.Application{CommandID: a.CommandID, CommandKind: a.Kind, LeaseEpoch: w.lease.Epoch(), RuntimeID: a.RuntimeID}
	d := runtimecommand.Disposition{
		AttemptEpoch: app.LeaseEpoch, AttemptID: a.AttemptID, CommandID: a.CommandID, CommandKind: a.Kind,
		LeaseEpoch: app.LeaseEpoch, Result: runtimecommand.Refused, RuntimeID: a.RuntimeID,
	}
	if err := d.Check(); err != nil {
		return Answer{}, fmt.Errorf("apply command: %w", err)
	}
	if a.Intent != nil {
		if _, err := w.Append(ctx, *a.Intent); err != nil {
			return Answer{}, err
		}
	}
	res, err := w.AppendIdempotent(ctx, journal.NewCommandApplicationRecord(app))
	var collision *journal.IdempotencyCollisionError
	switch {
	case errors.As(err, &collision):
		return w.again(ctx, a, app, collision.Seq)
	case err != nil:
		return Answer{}, err
	case !res.Appended:
		return w.again(ctx, a, app, res.Sequence)
	}
	return w.applyFirst(ctx, Answer{Sequence: res.Sequence, First: true, Application: app}, d, effect)
}

func (w *Writer) applyFirst(ctx context.Context, ans Answer, d runtimecommand.Disposition, effect func(context.Context) (Effect, error)) (Answer, error) {
	running, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(w.ctx, func() { cancel(context.Cause(w.ctx)) })()
	e, failed := effect(running)
	if e.Result == "" {
		e.Result = runtimecommand.Refused
		if failed == nil {
			failed = errors.New("the effect of the command has no result")
		}
	}
	d.Result = e.Result
	recs := append(append([]journal.JournalRecord{}, e.Records...), journal.NewCommandDispositionRecord(d))
	res, err := w.AppendBatch(ctx, recs...)
	if err != nil {
		return ans, errors.Join(failed, err)
	}
	ans.Result, ans.Disposition = d.Result, res[len(res)-1].Sequence
	return ans, failed
}

// again answers for a command whose application is record seq.
func (w *Writer) again(ctx context.Context, a Attempt, app runtimecommand.Application, seq uint64) (Answer, error) {
	conflict := &MappingConflictError{Subject: w.n.ledger, Seq: seq, CommandID: a.CommandID}
	rec, err := w.s.record(ctx, w.n, seq)
	if err != nil {
		conflict.Cause = err
		return Answer{}, conflict
	}
	first, ok := rec.(journal.CommandApplicationRecord)
	if !ok || !first.Application().Same(app) {
		return Answer{}, conflict
	}
	ans := Answer{Sequence: seq, Application: first.Application()}
	d, at, err := w.disposition(ctx, a.CommandID)
	if err != nil {
		return ans, err
	}
	if at != 0 && d.Of(ans.Application) {
		ans.Result, ans.Disposition = d.Result, at
		return ans, nil
	}
	ans.Abandoned = ans.Application.LeaseEpoch < w.lease.Epoch()
	return ans, nil
}

// disposition returns that of a command and its sequence, 0 if there is none.
func (w *Writer) disposition(ctx context.Context, commandID string) (d runtimecommand.Disposition, seq uint64, err error) {
	if err := w.enter(ctx); err != nil {
		return d, 0, err
	}
	e, ok, err := w.index.lookup(ctx, disposedKey(commandID))
	w.leave()
	if err != nil || !ok {
		return d, 0, err
	}
	rec, err := w.s.record(ctx, w.n, e.seq)
	if err != nil {
		return d, 0, err
	}
	r, ok := rec.(journal.CommandDispositionRecord)
	if !ok {
		return d, 0, &InconsistentError{w.n.ledger, e.seq, "the index says that it is a disposition"}
	}
	return r.Disposition(), e.seq, nil
}

// record reads one record.
func (s *Store) record(ctx context.Context, n names, seq uint64) (journal.JournalRecord, error) {
	f, raw, err := s.frame(ctx, n, seq)
	if err != nil {
		return nil, err
	}
	return s.decode(ctx, n, located{seq, f, raw})
}

// An EnduringEffectError reports an attempt that had an effect, though nobody
// wrote how it ended.
type EnduringEffectError struct {
	Subject   string
	Seq       uint64 // of the first event that names the command as its cause
	CommandID string
}

func (e *EnduringEffectError) Error() string {
	return fmt.Sprintf("command %q had an effect, record %d of %s: it was applied", e.CommandID, e.Seq, e.Subject)
}

// CloseAbandoned ends the attempt of an earlier owner that has no disposition, as
// not applied. It first reads the whole journal: if any event names the
// command as its cause, the error is an *EnduringEffectError, and nothing is
// written. That it has a disposition already is no error; its answer is returned.
func (w *Writer) CloseAbandoned(ctx context.Context, app runtimecommand.Application, attemptID string) (Answer, error) {
	own := w.lease.Epoch()
	if app.LeaseEpoch >= own {
		return Answer{}, &StaleEpochError{w.n.id, w.n.ledger, app.LeaseEpoch, own, 0}
	}
	through, err := w.Tip(ctx)
	if err != nil {
		return Answer{}, err
	}
	ans := Answer{Application: app}
	for at, err := range w.s.frames(ctx, w.n, 1, through) {
		if err != nil {
			return Answer{}, err
		}
		rec, err := w.s.decode(ctx, w.n, at)
		if err != nil {
			return Answer{}, err
		}
		switch r := rec.(type) {
		case journal.CommandApplicationRecord:
			if r.Application() == app {
				ans.Sequence = at.seq
			}
		case journal.EventRecord:
			if r.Event().Cause.Command == app.RuntimeID {
				return ans, &EnduringEffectError{w.n.ledger, at.seq, app.CommandID}
			}
		case journal.CommandDispositionRecord:
			if r.Disposition().Of(app) {
				ans.Result, ans.Disposition = r.Disposition().Result, at.seq
			}
		}
	}
	if ans.Sequence == 0 {
		return ans, &MappingConflictError{Subject: w.n.ledger, CommandID: app.CommandID, Cause: errMissing}
	}
	if ans.Disposition != 0 {
		return ans, nil
	}
	// Only this writer could have appended since, and it applies no command of
	// an earlier owner.
	ans.Disposition, err = w.Append(ctx, journal.NewCommandDispositionRecord(runtimecommand.Disposition{
		AttemptEpoch: app.LeaseEpoch, AttemptID: attemptID, CommandID: app.CommandID, CommandKind: app.CommandKind,
		LeaseEpoch: own, Result: runtimecommand.NotApplied, RuntimeID: app.RuntimeID,
	}))
	if err != nil {
		return Answer{Sequence: ans.Sequence, Application: app}, err
	}
	ans.Result = runtimecommand.NotApplied
	return ans, nil
}

func (s *Store) decode(ctx context.Context, n names, at located) (journal.JournalRecord, error) {
	f, err := s.whole(ctx, n, at.seq, at.frame)
	if err != nil {
		return nil, err
	}
	rec, err := s.o.Kinds.Decode(n.id, f)
	if err != nil {
		return nil, &journal.ReplayDecodeError{Subject: n.ledger, Seq: at.seq, Cause: err}
	}
	return rec, nil
}
