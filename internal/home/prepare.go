package home

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/comity-dev/comity/internal/vfs"
)

// Prepare makes the state folder, and the folder of the socket, or finds out
// why they cannot be used; the daemon calls it before it takes the lock. A
// folder of ours that is empty is closed to others; one that holds something
// is not, since somebody may have read or changed that: it is an error.
//
// Errors are a [*FolderError] wherever there is something to do about them. A
// full disk is none: a daemon can start on it.
func (h Home) Prepare(fsys vfs.FS) error {
	return h.prepare(fsys, vfs.Network)
}

func (h Home) prepare(fsys vfs.FS, network func(string) (string, bool, error)) error {
	if err := vfs.MkdirAll(fsys, h.Dir); err != nil && !vfs.IsNoSpace(err) {
		return h.explain(fsys, err)
	}
	if err := closeToOthers(h.Dir); err != nil {
		return err
	}
	if err := probe(fsys, h.path("probe")); err != nil {
		return h.explain(fsys, err)
	}
	kind, remote, err := network(h.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // there is no such folder on a disk in memory
		return fmt.Errorf("file system of %s: %w", h.Dir, err)
	}
	if remote && !h.AllowNetwork {
		return &FolderError{h.Dir, fmt.Errorf("%w (%s), where locks cannot be trusted", ErrNetwork, kind),
			"set COMITY_HOME to a folder on a local disk (or COMITY_ALLOW_NETWORK_HOME=1 if only one machine uses it)"}
	}
	return h.prepareSocket()
}

// prepareSocket makes the socket's folder when it is not the state folder.
func (h Home) prepareSocket() error {
	if h.Socket == "" {
		return nil
	}
	dir := filepath.Dir(h.Socket)
	if dir == h.Dir {
		return nil
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make the socket's folder: %w", err)
	}
	return privateOrMissing(dir)
}

// closeToOthers checks that the state folder is this user's alone.
func closeToOthers(dir string) error {
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // on a disk in memory, which has no other users
	}
	if err != nil {
		return err
	}
	err = private(dir, info)
	if !errors.Is(err, ErrTooOpen) {
		return err
	}
	if entries, lerr := os.ReadDir(dir); lerr != nil || len(entries) > 0 {
		return err
	}
	if cerr := os.Chmod(dir, 0o700); cerr != nil {
		return err
	}
	return nil
}

// probe finds out whether files can be made, by making one.
func probe(fsys vfs.FS, name string) error {
	f, err := fsys.Open(name, os.O_RDWR|os.O_CREATE, 0o600)
	if vfs.IsNoSpace(err) {
		return nil
	}
	if err != nil {
		return err
	}
	f.Close()                                                                    // holds nothing
	if err := fsys.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) { // another's probe
		return err
	}
	return nil
}

// explain turns what the system says into what it means for the user.
func (h Home) explain(fsys vfs.FS, err error) error {
	switch {
	case isReadOnly(err):
		return &FolderError{h.Dir, ErrReadOnly, "set COMITY_HOME to a folder that can be written to"}
	case isNotFolder(err) || h.fileOnTheWay(fsys):
		return &FolderError{h.Dir, ErrNotFolder, "move that file away, or set COMITY_HOME to another folder"}
	case errors.Is(err, fs.ErrPermission):
		return &FolderError{h.Dir, ErrNotWritable, "make it writable for you (chmod 700), or set COMITY_HOME to a folder of yours"}
	}
	return fmt.Errorf("prepare the state folder: %w", err)
}

func (h Home) fileOnTheWay(fsys vfs.FS) bool {
	for dir := h.Dir; ; dir = filepath.Dir(dir) {
		if info, err := fsys.Stat(dir); err == nil {
			return !info.Dir
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}
