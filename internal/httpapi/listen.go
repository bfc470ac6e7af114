package httpapi

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"time"
)

// Listen opens the local socket, which only this user may open (0600, its
// folder 0700 when it has to be made). A socket file that nothing answers behind is
// replaced; one that answers, and any file that is not a socket, stays and is
// the error.
//
// The caller holds the daemon's lock, so no two processes do this at once.
func Listen(socket string) (*Listener, error) {
	if err := os.MkdirAll(filepath.Dir(socket), 0o700); err != nil {
		return nil, fmt.Errorf("make the socket's folder: %w", err)
	}
	if err := clear(socket); err != nil {
		return nil, err
	}
	l, err := net.Listen("unix", socket)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", socket, err)
	}
	if err := os.Chmod(socket, 0o600); err != nil {
		_ = l.Close() // the failure to protect it is the news
		return nil, fmt.Errorf("protect %s: %w", socket, err)
	}
	file, err := os.Lstat(socket)
	if err != nil {
		_ = l.Close()
		return nil, fmt.Errorf("look at %s: %w", socket, err)
	}
	return &Listener{UnixListener: l.(*net.UnixListener), socket: socket, file: file}, nil
}

// A Listener is an open local socket. Closing it removes its file, but none that
// has taken the file's place.
type Listener struct {
	*net.UnixListener
	socket string
	file   fs.FileInfo
}

// Lost tells that nobody can reach the listener any more: its file was removed,
// or another is in its place.
func (l *Listener) Lost() bool {
	now, err := os.Lstat(l.socket)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	return !os.SameFile(now, l.file)
}

// Close stops listening; connections that were made go on.
func (l *Listener) Close() error {
	if l.Lost() {
		l.SetUnlinkOnClose(false)
	}
	return l.UnixListener.Close()
}

// clear makes way for a new socket file.
func clear(socket string) error {
	info, err := os.Lstat(socket)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look at %s: %w", socket, err)
	}
	if !isSocket(info.Mode()) {
		return fmt.Errorf("%s is not a socket; move it away, or choose another COMITY_HOME", socket)
	}
	conn, err := net.DialTimeout("unix", socket, time.Second)
	if err == nil {
		_ = conn.Close() // it answered, which is all we asked
		return fmt.Errorf("%s: another process answers there", socket)
	}
	if err := os.Remove(socket); err != nil {
		return fmt.Errorf("remove the stale socket: %w", err)
	}
	return nil
}

// isSocket takes an irregular file for a socket too: that is how Windows shows one.
func isSocket(m fs.FileMode) bool { return m&(fs.ModeSocket|fs.ModeIrregular) != 0 }
