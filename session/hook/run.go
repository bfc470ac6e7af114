package hook

import (
	"context"
	"errors"
)

// Run calls do once and returns what it returns. When r handles op, describe is
// asked for the Call, and the observers are told of the beginning and, in reverse
// order, of the end. A panic of describe leaves the operation unobserved; that of
// an observer takes this observer out of this one run. A panic of do is
// told to the observers and goes on.
func (r *Runner) Run(ctx context.Context, op Operation, describe func() Call, do func(context.Context) error) error {
	if !r.Handles(op) {
		return do(ctx)
	}
	call, ok := described(describe)
	if !ok {
		return do(ctx)
	}
	call.Operation = op
	inner, ends := r.begin(ctx, call)
	returned := false
	defer func() {
		if returned {
			return
		}
		v := recover() // nil when the goroutine is ended by runtime.Goexit
		finish(ends, Failed, &PanicError{v})
		if v != nil {
			panic(v)
		}
	}()
	err := do(inner)
	returned = true
	finish(ends, outcome(ctx, err), err)
	return err
}

func outcome(ctx context.Context, err error) Outcome {
	var open interface{ Ambiguous() bool }
	switch {
	case err == nil:
		return Completed
	case errors.As(err, &open) && open.Ambiguous():
		return Ambiguous
	case ctx.Err() != nil:
		return Cancelled
	}
	return Failed
}

func described(describe func() Call) (call Call, ok bool) {
	defer func() { _ = recover() }()
	return describe(), true
}

// begin tells the observers of the beginning and returns the context of the
// operation, and what to call at its end.
func (r *Runner) begin(ctx context.Context, call Call) (context.Context, []func(Outcome, error)) {
	inner := ctx
	var ends []func(Outcome, error)
	for _, o := range r.observers[call.Operation] {
		values, end := beginOne(o, inner, call)
		if values != nil {
			inner = &observed{Context: ctx, values: values}
		}
		if end != nil {
			ends = append(ends, end)
		}
	}
	return inner, ends
}

func beginOne(o Observer, ctx context.Context, call Call) (values context.Context, end func(Outcome, error)) {
	defer func() {
		if recover() != nil {
			values, end = nil, nil
		}
	}()
	return o.Begin(ctx, call)
}

func finish(ends []func(Outcome, error), outcome Outcome, err error) {
	for i := len(ends) - 1; i >= 0; i-- {
		func() {
			defer func() { _ = recover() }()
			ends[i](outcome, err)
		}()
	}
}

// observed has the values of an observer's context and the life of the caller's.
type observed struct {
	context.Context
	values context.Context
}

func (c *observed) Value(key any) (v any) {
	if _, ok := key.(*int); ok {
		// By a key of this type package context finds the cause of an end, which is
		// of the life and not of the values. A test holds that it still does.
		return c.Context.Value(key)
	}
	defer func() {
		if recover() != nil { // the observer's own kind of context
			v = c.Context.Value(key)
		}
	}()
	return c.values.Value(key)
}
