package journal

import (
	"context"
	"reflect"

	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/hook"
)

// An AppendFunc is SessionJournal.Append as a function.
type AppendFunc func(ctx context.Context, rec JournalRecord) (seq uint64, err error)

// An AppendMiddleware wraps an AppendFunc: today the opening fence of a journal.
// What it returns calls next once, before it returns, with the same record, and
// returns what next returned. An implementation that opens a journal holds it to
// that and takes the result of the write itself, whatever was returned.
type AppendMiddleware func(next AppendFunc) AppendFunc

// HookMiddleware returns a middleware that tells the observers of runner of each
// append, or nil when there are none for it. See WithHooks.
func HookMiddleware(runner *hook.Runner, sessionID event.ID) AppendMiddleware {
	if !runner.Handles(hook.JournalAppend) {
		return nil
	}
	around := observe(runner, sessionID)
	return func(next AppendFunc) AppendFunc {
		return func(ctx context.Context, rec JournalRecord) (seq uint64, err error) {
			err = around(ctx, rec, func(ctx context.Context) (err error) {
				seq, err = next(ctx, rec)
				return err
			})
			return seq, err
		}
	}
}

// WithHooks returns j with the observers of runner told of each append: its
// family, its id, and how it ended. They change no result, even when they panic.
// nil stays nil, and without observers of appends j stays as it is.
func WithHooks(j SessionJournal, runner *hook.Runner, sessionID event.ID) SessionJournal {
	if isNil(j) {
		return nil
	}
	if !runner.Handles(hook.JournalAppend) {
		return j
	}
	return Decorate(j, observe(runner, sessionID))
}

func observe(runner *hook.Runner, sessionID event.ID) AroundAppend {
	return func(ctx context.Context, rec JournalRecord, next func(context.Context) error) error {
		return runner.Run(ctx, hook.JournalAppend, func() hook.Call { return describe(rec, sessionID) }, next)
	}
}

// describe panics on a record of no family, which is then appended, and refused,
// without an observer.
func describe(rec JournalRecord, sessionID event.ID) hook.Call {
	family, ok := familyOf(rec)
	if !ok {
		panic("a record of no family")
	}
	return hook.Call{Session: sessionID.String(), Family: family.String(), ID: rec.IdempotencyID()}
}

// isNil reports whether an interface holds nothing, or a nil pointer.
func isNil(v any) bool {
	if v == nil {
		return true
	}
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Func, reflect.Chan, reflect.Interface:
		return r.IsNil()
	}
	return false
}
