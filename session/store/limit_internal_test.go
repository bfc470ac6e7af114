package store

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func ended(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return true
	default:
		return false
	}
}

// Each append has its own ten seconds, though one timer serves all, and however long
// nothing was appended before.
func TestLimitIsOfEachAppend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limit{after: 10 * time.Second}
		defer l.stop()
		for _, wait := range []time.Duration{0, 6 * time.Second, 9 * time.Second, time.Hour, 1} {
			l.begin(t.Context())
			l.end()
			time.Sleep(wait)
			b := l.begin(t.Context())
			began := time.Now()
			if d, ok := b.Deadline(); !ok || d != began.Add(l.after) {
				t.Errorf("deadline %v, %v", d, ok)
			}
			child, cancel := context.WithCancel(b)
			time.Sleep(l.after - 1)
			if b.Err() != nil || ended(b) || ended(child) {
				t.Errorf("%v behind another: it ended early, with %v", wait, b.Err())
			}
			<-child.Done()
			if took := time.Since(began); took != l.after || b.Err() != context.DeadlineExceeded || context.Cause(child) != context.DeadlineExceeded {
				t.Errorf("%v behind another: it ended after %v with %v", wait, took, context.Cause(child))
			}
			cancel()
			l.end()
		}
		time.Sleep(time.Minute)
		if l.set {
			t.Error("the timer goes on though nothing is under way")
		}
	})
}

func TestLimitEndsWithItsParent(t *testing.T) {
	l := limit{after: time.Hour}
	defer l.stop()
	why := errors.New("the caller's")
	for _, watched := range []bool{false, true} {
		parent, cancel := context.WithCancelCause(t.Context())
		b := l.begin(parent)
		if watched && ended(b) {
			t.Error("it has ended at once")
		}
		cancel(why)
		if watched {
			<-b.Done()
		}
		if b.Err() != context.Canceled || context.Cause(b) != why || !ended(b) {
			t.Errorf("watched %v: it ended with %v, %v", watched, b.Err(), context.Cause(b))
		}
		l.end()
	}
	soon, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	b := l.begin(soon)
	want, _ := soon.Deadline()
	if d, ok := b.Deadline(); !ok || d != want {
		t.Errorf("deadline %v, want the parent's, %v", d, want)
	}
	early := b.Done()
	l.end()
	<-early
	if b.Err() != context.Canceled || soon.Err() != nil {
		t.Errorf("end: %v, and its parent %v", b.Err(), soon.Err())
	}
	b = l.begin(context.Background())
	l.end()
	if !ended(b) {
		t.Error("whoever waits behind the end waits for ever")
	}
}
