package proc

import (
	"sync"

	"golang.org/x/sys/unix"
)

// announced waits on a kqueue for NOTE_EXIT; a user event ends the wait when
// it is cancelled. Each wait holds one thread.
func announced(pid int) (wait func() bool, cancel func(), err error) {
	kq, err := unix.Kqueue()
	if err != nil {
		return nil, nil, err
	}
	unix.CloseOnExec(kq)
	var exit, user unix.Kevent_t
	unix.SetKevent(&user, 1, unix.EVFILT_USER, unix.EV_ADD|unix.EV_CLEAR)
	unix.SetKevent(&exit, pid, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT)
	exit.Fflags = unix.NOTE_EXIT
	if _, err := unix.Kevent(kq, []unix.Kevent_t{user, exit}, nil, nil); err != nil {
		unix.Close(kq)
		return nil, nil, err
	}

	var mu sync.Mutex // guards kq against use after it is closed
	open := true
	wait = func() bool {
		defer func() {
			mu.Lock()
			defer mu.Unlock()
			open = false
			unix.Close(kq)
		}()
		return exitOf(kq)
	}
	cancel = func() {
		mu.Lock()
		defer mu.Unlock()
		if !open {
			return
		}
		var trigger unix.Kevent_t
		unix.SetKevent(&trigger, 1, unix.EVFILT_USER, 0)
		trigger.Fflags = unix.NOTE_TRIGGER
		unix.Kevent(kq, []unix.Kevent_t{trigger}, nil, nil)
	}
	return wait, cancel, nil
}

func exitOf(kq int) bool {
	got := make([]unix.Kevent_t, 1)
	for {
		n, err := unix.Kevent(kq, nil, got, nil)
		if err == unix.EINTR || err == nil && n == 0 {
			continue
		}
		return err == nil && got[0].Filter == unix.EVFILT_PROC
	}
}
