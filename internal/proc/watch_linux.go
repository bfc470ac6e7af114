package proc

import (
	"os"

	"golang.org/x/sys/unix"
)

// announced waits on a pidfd, which becomes readable when the last thread of
// the process has ended. The wait costs no thread: the runtime polls it.
func announced(pid int) (wait func() bool, cancel func(), err error) {
	fd, err := unix.PidfdOpen(pid, unix.O_NONBLOCK)
	if err == unix.EINVAL { // before Linux 5.10 the flag is unknown
		fd, err = unix.PidfdOpen(pid, 0)
	}
	if err != nil {
		return nil, nil, err
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd)
		return nil, nil, err
	}
	file := os.NewFile(uintptr(fd), "pidfd")
	raw, err := file.SyscallConn()
	if err != nil {
		file.Close()
		return nil, nil, err
	}
	wait = func() bool {
		defer file.Close()
		return raw.Read(readable) == nil
	}
	return wait, func() { file.Close() }, nil
}

func readable(fd uintptr) bool {
	p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(p, 0)
		if err != unix.EINTR {
			return n > 0 && err == nil
		}
	}
}
