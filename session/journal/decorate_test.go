package journal_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/comity-dev/comity/session/hook"
	"github.com/comity-dev/comity/session/journal"
)

func through(ctx context.Context, _ journal.JournalRecord, next func(context.Context) error) error {
	return next(ctx)
}

func capabilities(j journal.SessionJournal) []string {
	var have []string
	if _, ok := j.(journal.IdempotentJournal); ok {
		have = append(have, "idempotent")
	}
	if _, ok := j.(journal.CommittedPublicJournal); ok {
		have = append(have, "committed")
	}
	if _, ok := j.(journal.BatchJournal); ok {
		have = append(have, "batch")
	}
	return have
}

// Decorated once or twice, a journal can do what it could, and nothing more.
func TestDecorationKeepsCapabilities(t *testing.T) {
	runner := hook.NewRunner(map[hook.Operation][]hook.Observer{hook.JournalAppend: {&watcher{}}})
	for name, j := range strengths(new(fake)) {
		want := capabilities(j)
		for how, got := range map[string]journal.SessionJournal{
			"once":  journal.Decorate(j, through),
			"twice": journal.Decorate(journal.Decorate(j, through), through),
			"hooks": journal.WithHooks(j, runner, session),
		} {
			if !slices.Equal(capabilities(got), want) {
				t.Errorf("%s, decorated %s: has %v, want %v", name, how, capabilities(got), want)
			}
		}
	}
	if j := journal.Decorate(nil, through); j != nil {
		t.Errorf("Decorate(nil) = %v, want nil", j)
	}
	if j := journal.Decorate((*nothing)(nil), through); j != nil {
		t.Errorf("Decorate of a nil pointer = %v, want nil", j)
	}
	j := plain{new(fake)}
	if got := journal.Decorate(j, nil); got != journal.SessionJournal(j) {
		t.Errorf("Decorate without a decorator = %v, want the journal itself", got)
	}
	if res, err := journal.Decorate(strengths(new(fake))["batch"], through).(journal.BatchJournal).Resolve(t.Context()); len(res) != 7 || err != nil {
		t.Errorf("Resolve through a decorator = %v, %v", res, err)
	}
}

type nothing struct{}

func (*nothing) Append(context.Context, journal.JournalRecord) (uint64, error) { panic("called") }

type key struct{}

// A decorator sees each append, whichever way it comes, and its context goes on.
func TestDecoratorSeesEveryWayIn(t *testing.T) {
	for name, do := range appends {
		f := new(fake)
		var seen []journal.JournalRecord
		j := journal.Decorate(strengths(f)["batch"], func(ctx context.Context, rec journal.JournalRecord, next func(context.Context) error) error {
			seen = append(seen, rec)
			return next(context.WithValue(ctx, key{}, "mine"))
		})
		rec := everyRecord()[journal.FamilyFence]
		if seq, err := do(t.Context(), j, rec); seq != 1 || err != nil {
			t.Errorf("%s: %d, %v", name, seq, err)
		}
		if len(seen) != 1 || seen[0] != rec || len(f.recs) != 1 || f.ctx.Value(key{}) != "mine" {
			t.Errorf("%s: the decorator saw %v, the journal %v", name, seen, f.recs)
		}
	}
}

func TestDecoratorOfABatchSeesEachRecordOnce(t *testing.T) {
	f := new(fake)
	var seen []string
	j := journal.Decorate(strengths(f)["batch"], func(ctx context.Context, rec journal.JournalRecord, next func(context.Context) error) error {
		seen = append(seen, "begin "+rec.IdempotencyID())
		if len(f.recs) != 0 {
			t.Error("the batch was appended before every record had passed")
		}
		err := next(ctx)
		seen = append(seen, "end "+rec.IdempotencyID())
		return err
	}).(journal.BatchJournal)
	a := journal.OpaqueRecord{Kind: "k", ID: "a"}
	b := journal.OpaqueRecord{Kind: "k", ID: "b"}
	if res, err := j.AppendBatch(t.Context(), a, b); len(res) != 2 || err != nil {
		t.Fatalf("AppendBatch = %v, %v", res, err)
	}
	if want := []string{"begin a", "begin b", "end b", "end a"}; !slices.Equal(seen, want) || len(f.recs) != 2 {
		t.Errorf("seen %v, want %v; appended %v", seen, want, f.recs)
	}
	if res, err := j.AppendBatch(t.Context()); res == nil || len(res) != 0 || err != nil {
		t.Errorf("AppendBatch of nothing = %v, %v", res, err)
	}
}

func TestDecoratorIsHeldToOneCall(t *testing.T) {
	no := errors.New("no")
	failed := errors.New("append failed")
	for name, do := range appends {
		try := func(f *fake, around journal.AroundAppend) (uint64, error) {
			return do(t.Context(), journal.Decorate(strengths(f)["batch"], around), everyRecord()[journal.FamilyEvent])
		}
		var held *journal.DecoratorError

		f := new(fake)
		seq, err := try(f, func(context.Context, journal.JournalRecord, func(context.Context) error) error { return nil })
		if !errors.As(err, &held) || held.Calls != 0 || held.ID != string(id(10)) || held.Family != journal.FamilyEvent || seq != 0 || len(f.recs) != 0 {
			t.Errorf("%s: no call: %d, %v, want a *DecoratorError and nothing appended", name, seq, err)
		}

		seq, err = try(f, func(context.Context, journal.JournalRecord, func(context.Context) error) error { return no })
		if err != no || seq != 0 || len(f.recs) != 0 {
			t.Errorf("%s: refused: %d, %v, want the refusal and nothing appended", name, seq, err)
		}

		var inside error
		seq, err = try(f, func(ctx context.Context, _ journal.JournalRecord, next func(context.Context) error) error {
			err := next(ctx)
			inside = next(ctx)
			return err
		})
		if !errors.As(err, &held) || held.Calls != 2 || !errors.As(inside, &held) || seq != 1 || len(f.recs) != 1 {
			t.Errorf("%s: two calls: %d, %v (inside %v), want a *DecoratorError and one record", name, seq, err, inside)
		}

		var late func(context.Context) error
		f = new(fake)
		_, err = try(f, func(ctx context.Context, _ journal.JournalRecord, next func(context.Context) error) error {
			late = next
			return no
		})
		if lateErr := late(t.Context()); err != no || !errors.As(lateErr, &held) || held.Calls != -1 || len(f.recs) != 0 {
			t.Errorf("%s: a late call: %v, want a *DecoratorError and nothing appended", name, lateErr)
		}

		f = &fake{err: failed}
		if seq, err = try(f, func(ctx context.Context, _ journal.JournalRecord, next func(context.Context) error) error {
			_ = next(ctx)
			return nil
		}); err != failed || seq != 0 {
			t.Errorf("%s: a failure that was hushed up: %d, %v, want the failure", name, seq, err)
		}
		if _, err = try(f, func(ctx context.Context, _ journal.JournalRecord, next func(context.Context) error) error {
			return errors.Join(no, next(ctx))
		}); !errors.Is(err, no) || !errors.Is(err, failed) {
			t.Errorf("%s: an error in place of another: %v", name, err)
		}

		f = new(fake)
		if seq, err = try(f, func(ctx context.Context, _ journal.JournalRecord, next func(context.Context) error) error {
			_ = next(ctx)
			return no
		}); err != no || seq != 1 {
			t.Errorf("%s: a success with an error: %d, %v, want both", name, seq, err)
		}
	}
	// A record of no family is named as far as it can be.
	var held *journal.DecoratorError
	j := journal.Decorate(plain{new(fake)}, func(context.Context, journal.JournalRecord, func(context.Context) error) error { return nil })
	if _, err := j.Append(t.Context(), nil); !errors.As(err, &held) || held.ID != "" {
		t.Errorf("no record and no call: %v", err)
	}
}

// A call from another goroutine that is still under way when the decorator
// returns is waited for.
func TestDecoratorThatReturnsTooEarly(t *testing.T) {
	f := new(fake)
	entered, goOn := make(chan bool), make(chan bool)
	j := journal.Decorate(waiting{plain{f}, entered, goOn}, func(ctx context.Context, _ journal.JournalRecord, next func(context.Context) error) error {
		go next(ctx)
		<-entered
		go func() { goOn <- true }()
		return nil
	})
	if seq, err := j.Append(t.Context(), everyRecord()[journal.FamilyEvent]); seq != 1 || err != nil {
		t.Errorf("Append = %d, %v, want the result of the call", seq, err)
	}
}

type waiting struct {
	plain
	entered, goOn chan bool
}

func (w waiting) Append(ctx context.Context, rec journal.JournalRecord) (uint64, error) {
	w.entered <- true
	<-w.goOn
	return w.plain.Append(ctx, rec)
}

// A decorator that calls twice does not hide how the first call ended: whether the
// record may be there is for the caller to know.
func TestSecondCallHidesNoFailure(t *testing.T) {
	ambiguous := &journal.AmbiguousAckError{MsgID: "m"}
	twice := func(ctx context.Context, _ journal.JournalRecord, next func(context.Context) error) error {
		_ = next(ctx)
		return next(ctx)
	}
	swallow := func(ctx context.Context, _ journal.JournalRecord, next func(context.Context) error) error {
		_, _ = next(ctx), next(ctx)
		return nil
	}
	for about, around := range map[string]journal.AroundAppend{"twice": twice, "twice, and nil": swallow} {
		j := journal.Decorate(plain{&fake{err: ambiguous}}, around)
		_, err := j.Append(t.Context(), journal.NewEventRecord(started(10)))
		var told *journal.AmbiguousAckError
		var held *journal.DecoratorError
		if !errors.As(err, &told) || !errors.As(err, &held) {
			t.Errorf("%s: Append = %v, want the failure of the first call and a *DecoratorError", about, err)
		}
	}
}
