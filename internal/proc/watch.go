package proc

import (
	"fmt"
	"sync"
	"time"
)

// pollEvery is how late an end is noticed where the system does not announce it.
const pollEvery = 500 * time.Millisecond

// A Watcher waits for the end of one process. Done and Close may be called
// from several goroutines.
type Watcher struct {
	done   chan struct{} // closed at the end of the process
	stop   chan struct{} // closed by Close
	idle   chan struct{} // closed when the watching goroutine has returned
	cancel func()        // makes the announced wait return
	once   sync.Once
}

// Watch begins to wait for the end of the process that id names. When it has
// ended already, Done is closed from the start. The end is announced by the
// system (pidfd on Linux 5.3, kqueue on macOS, the process handle on Windows);
// where that is refused it is noticed within 500 ms.
//
// The caller closes the Watcher when it no longer waits.
func Watch(id ID) (*Watcher, error) {
	if !id.complete() {
		return nil, fmt.Errorf("watch %v: %w", id, ErrIncomplete)
	}
	wait, cancel, err := announced(id.PID)
	if err != nil {
		wait, cancel = func() bool { return false }, func() {}
	}
	// Only now, with the handle in hand, does it show whether what we hold is
	// the process we were asked about: a pid can change its owner before.
	alive, err := id.Alive()
	if err != nil || !alive {
		cancel()
		wait() // gives back what it holds
	}
	if err != nil {
		return nil, fmt.Errorf("watch %v: %w", id, err)
	}
	w := &Watcher{
		done: make(chan struct{}), stop: make(chan struct{}), idle: make(chan struct{}),
		cancel: cancel,
	}
	if !alive {
		close(w.done)
		close(w.idle)
		return w, nil
	}
	go func() {
		defer close(w.idle)
		if wait() || poll(id, w.stop) {
			close(w.done)
		}
	}()
	return w, nil
}

// Done is closed once the process has ended, and never by Close.
func (w *Watcher) Done() <-chan struct{} { return w.done }

// Close stops waiting and returns when nothing of the Watcher runs any more.
// Closing again is a no-op. The error is always nil.
func (w *Watcher) Close() error {
	w.once.Do(func() {
		close(w.stop)
		w.cancel()
	})
	<-w.idle
	return nil
}

// poll waits by looking again and again, and reports whether the process has
// ended; false means that it was stopped. A process that cannot be looked at
// for a while has not ended for that reason.
func poll(id ID, stop <-chan struct{}) bool {
	t := time.NewTicker(pollEvery)
	defer t.Stop()
	for {
		select {
		case <-stop:
			return false
		case <-t.C:
		}
		if alive, err := id.Alive(); err == nil && !alive {
			return true
		}
	}
}
