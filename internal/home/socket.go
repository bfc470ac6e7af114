package home

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// MaxSocketPath is the longest path of a socket that every system takes: the
// kernels stop at 103 (macOS) to 107 bytes.
const MaxSocketPath = 100

// A SocketError reports that no place was found for the socket.
type SocketError struct {
	Path string // the shortest that was tried
	Err  error
}

// ErrTooLong reports a path that is too long for a socket.
var ErrTooLong = fmt.Errorf("path is longer than the %d bytes a socket can have", MaxSocketPath)

func (e *SocketError) Error() string {
	return fmt.Sprintf("socket %s: %v; set COMITY_HOME or TMPDIR to a folder of yours with a short path", e.Path, e.Err)
}

func (e *SocketError) Unwrap() error { return e.Err }

// socketFor chooses the socket of a state folder. Its name holds a digest of
// the folder wherever several state folders could meet.
func socketFor(dir string, getenv func(string) string) (string, error) {
	sum := sha256.Sum256([]byte(dir))
	key := hex.EncodeToString(sum[:6])

	if runtime, err := RuntimeDir(getenv); err == nil {
		folder := filepath.Join(runtime, "comity")
		if s := filepath.Join(folder, key+".sock"); len(s) <= MaxSocketPath && privateOrMissing(folder) == nil {
			return s, nil
		}
	}
	if s := filepath.Join(dir, "daemon.sock"); len(s) <= MaxSocketPath {
		return s, nil
	}
	folder := filepath.Join(tempDir(getenv), fmt.Sprintf("comity-%d-%s", os.Geteuid(), key))
	s := filepath.Join(folder, "s")
	if len(s) > MaxSocketPath {
		return "", &SocketError{s, ErrTooLong}
	}
	// Everybody can make folders there: one that somebody else prepared would
	// make clients talk to a stranger.
	if err := privateOrMissing(folder); err != nil {
		return "", &SocketError{s, err}
	}
	return s, nil
}

// RuntimeDir is the folder that the login gives to this user for sockets,
// $XDG_RUNTIME_DIR. It is no failure to have none: the socket then lies
// elsewhere. The error, a [*FolderError], says what is wrong with it: [ErrMissing]
// (also when the variable is not set), [ErrRelative], [ErrNotFolder],
// [ErrNotOurs] (after su and sudo) or [ErrTooOpen].
func RuntimeDir(getenv func(string) string) (string, error) {
	dir := getenv("XDG_RUNTIME_DIR")
	if dir == "" {
		return "", &FolderError{"$XDG_RUNTIME_DIR", ErrMissing, "nothing needs to be done, the socket lies in the state folder"}
	}
	if !filepath.IsAbs(dir) {
		return "", &FolderError{dir, ErrRelative, "set XDG_RUNTIME_DIR to an absolute path, or unset it"}
	}
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return "", &FolderError{dir, ErrMissing, "unset XDG_RUNTIME_DIR, or log in anew"}
	}
	if err != nil {
		return "", &FolderError{dir, err, "unset XDG_RUNTIME_DIR"}
	}
	if err := private(dir, info); err != nil {
		return "", err
	}
	return dir, nil
}

// privateOrMissing says whether only this user can put something into dir.
func privateOrMissing(dir string) error {
	info, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return private(dir, info)
}

// CheckSocket says why whoever answers at a socket may be a stranger: its folder
// is not this user's, or others can put something into it. A folder that is
// missing is an error too, since anybody might make it the next moment where
// everybody can make folders. A client asks before it connects.
func CheckSocket(socket string) error {
	dir := filepath.Dir(socket)
	link, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	for _, found := range []os.FileInfo{link, info} { // one who made the link could turn it
		if uid, ours := owner(found); !ours {
			return &FolderError{dir, fmt.Errorf("%w (uid %d)", ErrNotOurs, uid), "use it as that user, or choose a folder of your own by COMITY_HOME"}
		}
	}
	if othersWrite(info) {
		return &FolderError{dir, fmt.Errorf("%w (mode %04o)", ErrTooOpen, info.Mode().Perm()), "see who had access, then: chmod 700 " + dir}
	}
	return nil
}

// private checks owner and permissions of what was found at dir.
func private(dir string, info fs.FileInfo) error {
	if !info.IsDir() {
		return &FolderError{dir, ErrNotFolder, "move it away"}
	}
	if uid, ours := owner(info); !ours {
		return &FolderError{dir, fmt.Errorf("%w (uid %d)", ErrNotOurs, uid), "use it as that user, or choose a folder of your own by COMITY_HOME"}
	}
	if tooOpen(info) {
		return &FolderError{dir, fmt.Errorf("%w (mode %04o)", ErrTooOpen, info.Mode().Perm()), "see who had access, then: chmod 700 " + dir}
	}
	return nil
}
