package home

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"

	"github.com/comity-dev/comity/internal/vfs"
)

func defaultDir(getenv func(string) string) string {
	if local := getenv("LOCALAPPDATA"); local != "" {
		return filepath.Join(local, "comity")
	}
	return ""
}

func tempDir(getenv func(string) string) string {
	for _, name := range []string{"TMP", "TEMP"} {
		if dir := getenv(name); filepath.IsAbs(dir) {
			return dir
		}
	}
	return os.TempDir()
}

// owner, tooOpen and othersWrite have nothing to say: what is below a user's profile is
// that user's by its inherited access list.
func owner(fs.FileInfo) (uid uint32, ours bool) { return 0, true }

func tooOpen(fs.FileInfo) bool { return false }

func othersWrite(fs.FileInfo) bool { return false }

func isReadOnly(err error) bool { return errors.Is(err, windows.ERROR_WRITE_PROTECT) }

func isNotFolder(err error) bool { return errors.Is(err, windows.ERROR_DIRECTORY) }

// locked looks whether somebody holds the lock that vfs takes, by taking it.
func locked(name string) (bool, error) {
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	l, err := vfs.OS().Lock(name)
	if errors.Is(err, vfs.ErrLocked) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return false, l.Close()
}
