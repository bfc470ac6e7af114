//go:build unix

package home

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

func defaultDir(getenv func(string) string) string {
	if user := getenv("HOME"); user != "" {
		return filepath.Join(user, ".local", "state", "comity")
	}
	return ""
}

func tempDir(getenv func(string) string) string {
	if dir := getenv("TMPDIR"); filepath.IsAbs(dir) {
		return dir
	}
	return "/tmp"
}

// owner is who owns a file, and whether that is the user we act as.
func owner(info fs.FileInfo) (uid uint32, ours bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, true // not a file of this system
	}
	return st.Uid, int(st.Uid) == os.Geteuid()
}

func tooOpen(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 != 0 }

func othersWrite(info fs.FileInfo) bool { return info.Mode().Perm()&0o022 != 0 }

func isReadOnly(err error) bool { return errors.Is(err, unix.EROFS) }

// isNotFolder reports a file somewhere on the way.
func isNotFolder(err error) bool { return errors.Is(err, unix.ENOTDIR) }

// locked looks whether somebody holds the lock that vfs takes. It asks for a
// shared one, so that those who look never find each other, on a file opened
// for reading, so that it can be asked where the folder is read-only.
func locked(name string) (bool, error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	for {
		err = unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if errors.Is(err, unix.EWOULDBLOCK) {
		return true, nil
	}
	return false, err
}
