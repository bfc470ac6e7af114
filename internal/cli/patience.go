package cli

import (
	"context"
	"time"
)

// patience is how long a hook, or a guard of git, waits.
type patience struct {
	hook, hookLimit time.Duration // from when the program began: for input and call, and whatever happens
	guard           time.Duration // for what a commit or a push changes to be listed
	guardCall       time.Duration // and then for each answer of the daemon
}

// usualPatience keeps an agent for under a second: a program's start and its end
// are not in these.
var usualPatience = patience{
	hook: 700 * time.Millisecond, hookLimit: 900 * time.Millisecond,
	guard: 10 * time.Second, guardCall: 900 * time.Millisecond,
}

type patienceKey struct{}

// Patient returns a context in which [Run] waits up to d for each answer to a hook
// and to a guard, instead of under a second. It is for tests that ask what is
// answered and not how soon, and have to hold on a machine that is busy.
func Patient(ctx context.Context, d time.Duration) context.Context {
	return context.WithValue(ctx, patienceKey{}, patience{hook: d, hookLimit: 2 * d, guard: d, guardCall: d})
}

func patienceIn(ctx context.Context) patience {
	if p, ok := ctx.Value(patienceKey{}).(patience); ok {
		return p
	}
	return usualPatience
}
