package hook_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/comity-dev/comity/session/hook"
)

// observer is one whose Begin is a function.
type observer func(context.Context, hook.Call) (context.Context, func(hook.Outcome, error))

func (o observer) Begin(ctx context.Context, c hook.Call) (context.Context, func(hook.Outcome, error)) {
	return o(ctx, c)
}

// seen records what it is told.
type seen struct {
	calls    []hook.Call
	outcomes []hook.Outcome
	errs     []error
}

func (s *seen) Begin(_ context.Context, c hook.Call) (context.Context, func(hook.Outcome, error)) {
	s.calls = append(s.calls, c)
	return nil, func(o hook.Outcome, err error) {
		s.outcomes = append(s.outcomes, o)
		s.errs = append(s.errs, err)
	}
}

func runner(observers ...hook.Observer) *hook.Runner {
	return hook.NewRunner(map[hook.Operation][]hook.Observer{hook.JournalAppend: observers})
}

func describe() hook.Call { return hook.Call{Session: "s", Family: "event", ID: "i"} }

var errDisk = errors.New("disk")

// An unsure error says whether it is not known what was done.
type unsure struct{ yes bool }

func (e *unsure) Error() string   { return "unsure" }
func (e *unsure) Ambiguous() bool { return e.yes }

func TestOutcomes(t *testing.T) {
	open, known := fmt.Errorf("append: %w", &unsure{true}), &unsure{false}
	for _, tt := range []struct {
		about  string
		err    error
		cancel bool
		want   hook.Outcome
	}{
		{"success", nil, false, hook.Completed},
		{"success though the context ended", nil, true, hook.Completed},
		{"failure", errDisk, false, hook.Failed},
		{"failure of a context that ended", context.Canceled, true, hook.Cancelled},
		{"another failure when the context had ended", errDisk, true, hook.Cancelled},
		{"a cancellation that is not the caller's", context.Canceled, false, hook.Failed},
		{"nobody knows", open, false, hook.Ambiguous},
		{"nobody knows, and the context had ended", open, true, hook.Ambiguous},
		{"somebody knows", known, false, hook.Failed},
	} {
		s := new(seen)
		ctx, cancel := context.WithCancel(t.Context())
		runs := 0
		err := runner(s).Run(ctx, hook.JournalAppend, describe, func(context.Context) error {
			runs++
			if tt.cancel {
				cancel()
			}
			return tt.err
		})
		cancel()
		if err != tt.err || runs != 1 {
			t.Errorf("%s: Run = %v after %d runs, want %v after one", tt.about, err, runs, tt.err)
		}
		want := hook.Call{Operation: hook.JournalAppend, Session: "s", Family: "event", ID: "i"}
		if !slices.Equal(s.calls, []hook.Call{want}) || !slices.Equal(s.outcomes, []hook.Outcome{tt.want}) || s.errs[0] != tt.err {
			t.Errorf("%s: told %v, %v, %v; want %v, %v, %v", tt.about, s.calls, s.outcomes, s.errs, want, tt.want, tt.err)
		}
	}
}

// Whatever an observer does, the operation runs once, with its own cancellation, and
// its result reaches the caller; the observers beside it are told.
func TestObserversChangeNothing(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for about, bad := range map[string]hook.Observer{
		"panics at the beginning": observer(func(context.Context, hook.Call) (context.Context, func(hook.Outcome, error)) { panic("no") }),
		"panics at the end": observer(func(ctx context.Context, _ hook.Call) (context.Context, func(hook.Outcome, error)) {
			return ctx, func(hook.Outcome, error) { panic("no") }
		}),
		"panics with nil":               observer(func(context.Context, hook.Call) (context.Context, func(hook.Outcome, error)) { panic(nil) }),
		"returns nothing":               observer(func(context.Context, hook.Call) (context.Context, func(hook.Outcome, error)) { return nil, nil }),
		"returns an ended context":      observer(func(context.Context, hook.Call) (context.Context, func(hook.Outcome, error)) { return ended, nil }),
		"returns a context that panics": observer(func(context.Context, hook.Call) (context.Context, func(hook.Outcome, error)) { return hostile{}, nil }),
		"is a nil pointer":              (*seen)(nil),
	} {
		for _, result := range []error{nil, errDisk} {
			before, after := new(seen), new(seen)
			runs := 0
			err := runner(before, bad, after).Run(t.Context(), hook.JournalAppend, describe, func(ctx context.Context) error {
				runs++
				if ctx.Err() != nil || context.Cause(ctx) != nil || ctx.Value(key{}) != nil {
					t.Errorf("an observer that %s: the operation's context is %v, because of %v", about, ctx.Err(), context.Cause(ctx))
				}
				select {
				case <-ctx.Done():
					t.Errorf("an observer that %s: the operation's context is done", about)
				default:
				}
				return result
			})
			if err != result || runs != 1 {
				t.Errorf("an observer that %s: Run = %v after %d runs, want %v after one", about, err, runs, result)
			}
			if len(before.outcomes) != 1 || len(after.outcomes) != 1 || before.errs[0] != result || after.errs[0] != result {
				t.Errorf("an observer that %s: the others were told %v and %v", about, before, after)
			}
		}
	}
}

type hostile struct{ context.Context } // every method is a nil dereference

type key struct{}

// The caller's cancellation reaches the operation through any observer, and an
// observer's values do.
func TestContextIsTheCallersLifeAndTheObserversValues(t *testing.T) {
	valued := observer(func(ctx context.Context, _ hook.Call) (context.Context, func(hook.Outcome, error)) {
		n, _ := ctx.Value(key{}).(int)
		return context.WithValue(context.WithoutCancel(ctx), key{}, n+1), nil
	})
	ctx, cancel := context.WithCancelCause(context.WithValue(t.Context(), key{}, 40))
	err := runner(valued, valued).Run(ctx, hook.JournalAppend, describe, func(ctx context.Context) error {
		if got := ctx.Value(key{}); got != 42 {
			t.Errorf("value = %v, want 42", got)
		}
		cancel(errDisk)
		<-ctx.Done()
		if cause := context.Cause(ctx); cause != errDisk {
			t.Errorf("cause = %v, want %v", cause, errDisk)
		}
		return ctx.Err()
	})
	if err != context.Canceled {
		t.Errorf("Run = %v, want %v", err, context.Canceled)
	}
}

func TestObserversAreToldInOrderAndBackwards(t *testing.T) {
	var order []string
	named := func(name string) hook.Observer {
		return observer(func(context.Context, hook.Call) (context.Context, func(hook.Outcome, error)) {
			order = append(order, "begin "+name)
			return nil, func(hook.Outcome, error) { order = append(order, "end "+name) }
		})
	}
	err := runner(named("a"), nil, named("b")).Run(t.Context(), hook.JournalAppend, describe, func(context.Context) error {
		order = append(order, "run")
		return nil
	})
	if want := []string{"begin a", "begin b", "run", "end b", "end a"}; err != nil || !slices.Equal(order, want) {
		t.Errorf("order = %v, %v, want %v", order, err, want)
	}
}

func TestPanicOfTheOperationGoesOn(t *testing.T) {
	s := new(seen)
	defer func() {
		if got := recover(); got != errDisk {
			t.Errorf("recovered %v, want %v", got, errDisk)
		}
		var told *hook.PanicError
		if len(s.outcomes) != 1 || s.outcomes[0] != hook.Failed || !errors.As(s.errs[0], &told) || told.Value != errDisk {
			t.Errorf("told %v, %v, want one failure with the panic", s.outcomes, s.errs)
		}
	}()
	_ = runner(s).Run(t.Context(), hook.JournalAppend, describe, func(context.Context) error { panic(errDisk) })
	t.Error("Run returned")
}

// An operation that ends its goroutine is told as a failure too.
func TestGoexitOfTheOperationIsTold(t *testing.T) {
	s := new(seen)
	var wg sync.WaitGroup
	wg.Go(func() {
		_ = runner(s).Run(t.Context(), hook.JournalAppend, describe, func(context.Context) error {
			runtime.Goexit()
			return nil
		})
	})
	wg.Wait()
	if !slices.Equal(s.outcomes, []hook.Outcome{hook.Failed}) {
		t.Errorf("told %v, want one failure", s.outcomes)
	}
}

func TestUnobservedOperations(t *testing.T) {
	s := new(seen)
	described := 0
	broken := func() hook.Call { described++; panic("no") }
	for about, r := range map[string]*hook.Runner{"nil": nil, "empty": hook.NewRunner(nil), "none but nil": runner(nil), "another operation's": hook.NewRunner(map[hook.Operation][]hook.Observer{"other": {s}})} {
		if r.Handles(hook.JournalAppend) {
			t.Errorf("a runner that is %s handles an append", about)
		}
		// What does not handle the operation does not describe it either.
		if err := r.Run(t.Context(), hook.JournalAppend, broken, func(context.Context) error { return errDisk }); err != errDisk {
			t.Errorf("a runner that is %s: Run = %v, want %v", about, err, errDisk)
		}
	}
	if described != 0 {
		t.Errorf("an operation that nothing observes was described %d times", described)
	}
	if err := runner(s).Run(t.Context(), hook.JournalAppend, broken, func(context.Context) error { return errDisk }); err != errDisk || len(s.calls) != 0 {
		t.Errorf("Run of what cannot be described = %v with %v told, want %v with none", err, s.calls, errDisk)
	}
	if !runner(s).Handles(hook.JournalAppend) {
		t.Error("a runner with an observer does not handle its operation")
	}
}
