package vfs

import (
	"os"

	"golang.org/x/sys/unix"
)

// Network names the kind of file system that dir lies on and reports whether
// its files live on another machine. dir must exist.
func Network(dir string) (kind string, remote bool, err error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return "", false, &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	kind = unix.ByteSliceToString(st.Fstypename[:])
	return kind, remoteKind(kind) || st.Flags&unix.MNT_LOCAL == 0, nil
}
