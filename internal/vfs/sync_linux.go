package vfs

import (
	"os"

	"golang.org/x/sys/unix"
)

// syncFile leaves out the times of the file, which fsync would write to the
// journal of the file system at each call.
func syncFile(f *os.File) error {
	for {
		err := unix.Fdatasync(int(f.Fd()))
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return &os.PathError{Op: "fdatasync", Path: f.Name(), Err: err}
		}
		return nil
	}
}

// Writeback starts to write out a part of the file and does not wait for it. It
// makes nothing durable: it only leaves less to do for the next Sync.
func (f osFile) Writeback(off, n int64) {
	unix.SyncFileRange(int(f.Fd()), off, n, unix.SYNC_FILE_RANGE_WRITE)
}
