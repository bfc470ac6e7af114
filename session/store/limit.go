package store

import (
	"context"
	"sync"
	"time"
)

// A limit bounds the appends of one writer in time, of which one is under way at
// most. One timer serves all of them: it is set when nothing was under way the last
// time that it ran out, and not with each append. A timer of its own would
// cost an append more than all of its bookkeeping, and almost none needs it.
type limit struct {
	after time.Duration

	mu    sync.Mutex
	timer *time.Timer // nil before the first append
	set   bool
	now   *bounded // what is under way; nil when nothing is
}

// begin returns the context of an append: it ends with parent, with a deadline
// when the append takes too long, and with end, which must be called.
func (l *limit) begin(parent context.Context) *bounded {
	b := &bounded{Context: parent, deadline: time.Now().Add(l.after)}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = b
	switch {
	case l.set:
	case l.timer == nil:
		l.timer = time.AfterFunc(l.after, l.check)
	default:
		l.timer.Reset(l.after)
	}
	l.set = true
	return b
}

func (l *limit) end() {
	l.mu.Lock()
	b := l.now
	l.now = nil
	l.mu.Unlock()
	b.finish(context.Canceled)
}

// check ends what is under way for too long.
func (l *limit) check() {
	l.mu.Lock()
	b := l.now
	l.set = false
	if b != nil {
		if left := time.Until(b.deadline); left > 0 {
			l.timer.Reset(left)
			b, l.set = nil, true
		}
	}
	l.mu.Unlock()
	if b != nil {
		b.finish(context.DeadlineExceeded)
	}
}

// stop is called behind the last append.
func (l *limit) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timer != nil {
		l.timer.Stop()
	}
}

// A bounded is the context of one append. It is what context.WithDeadline returns, but
// that the limit keeps the time, and that it watches its parent only once
// somebody waits for it.
type bounded struct {
	context.Context // the parent
	deadline        time.Time

	mu      sync.Mutex
	err     error
	done    chan struct{} // nil while nobody waits
	unwatch func() bool   // nil while the parent is not watched
}

func (b *bounded) Deadline() (time.Time, bool) {
	if t, ok := b.Context.Deadline(); ok && t.Before(b.deadline) {
		return t, true
	}
	return b.deadline, true
}

func (b *bounded) Err() error {
	b.mu.Lock()
	err := b.err
	b.mu.Unlock()
	if err == nil {
		if err = b.Context.Err(); err != nil {
			b.finish(err)
		}
	}
	return err
}

func (b *bounded) Done() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.done != nil {
		return b.done
	}
	b.done = make(chan struct{})
	switch {
	case b.err != nil:
		close(b.done)
	case b.Context.Done() != nil:
		b.unwatch = context.AfterFunc(b.Context, func() { b.finish(b.Context.Err()) })
	}
	return b.done
}

// finish ends b, unless it has ended.
func (b *bounded) finish(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil {
		return
	}
	b.err = err
	if b.done != nil {
		close(b.done)
	}
	if b.unwatch != nil {
		b.unwatch()
	}
}
