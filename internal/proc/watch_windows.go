package proc

import (
	"sync"

	"golang.org/x/sys/windows"
)

// announced waits on the process handle, which is signalled at the end of the
// process, and on an event that ends the wait when it is cancelled. Each wait
// holds one thread.
func announced(pid int) (wait func() bool, cancel func(), err error) {
	h, err := open(pid, windows.PROCESS_QUERY_LIMITED_INFORMATION|windows.SYNCHRONIZE)
	if err != nil {
		return nil, nil, err
	}
	wake, err := windows.CreateEvent(nil, 1, 0, nil)
	if err != nil {
		windows.CloseHandle(h)
		return nil, nil, err
	}
	var mu sync.Mutex // guards wake against use after it is closed
	waiting := true
	wait = func() bool {
		defer func() {
			mu.Lock()
			defer mu.Unlock()
			waiting = false
			windows.CloseHandle(h)
			windows.CloseHandle(wake)
		}()
		event, err := windows.WaitForMultipleObjects([]windows.Handle{h, wake}, false, windows.INFINITE)
		return err == nil && event == windows.WAIT_OBJECT_0
	}
	cancel = func() {
		mu.Lock()
		defer mu.Unlock()
		if waiting {
			windows.SetEvent(wake)
		}
	}
	return wait, cancel, nil
}
