package vfs

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// MkdirAll makes dir and what is missing above it, all 0700, and syncs the
// parent of each folder that it makes. A folder that is there already is left
// as it is.
func MkdirAll(fsys FS, dir string) error {
	dir = filepath.Clean(dir)
	info, err := fsys.Stat(dir)
	if err == nil {
		if !info.Dir {
			return fmt.Errorf("make folder %s: a file is in its place", dir)
		}
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	parent := filepath.Dir(dir)
	if parent == dir {
		return err
	}
	if err := MkdirAll(fsys, parent); err != nil {
		return err
	}
	if err := fsys.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return fsys.SyncDir(parent)
}

// ReadFile returns the content of a file of at most maxBytes; a larger one is
// an error, so that nothing put in a file's place can fill the memory.
func ReadFile(fsys FS, name string, maxBytes int64) ([]byte, error) {
	f, err := fsys.Open(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.NewSectionReader(f, 0, maxBytes+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > maxBytes {
		return nil, fmt.Errorf("read %s: larger than %d bytes", name, maxBytes)
	}
	return data, nil
}

// WriteFile puts data in place of name, mode 0600, durably before it returns
// nil. The commit point is the rename: a crash leaves the old content or the
// new, whole, and perhaps a file name.<random>.tmp beside it.
func WriteFile(fsys FS, name string, data []byte) error {
	return put(fsys, name, data, nil)
}

// CreateFile is WriteFile for a file that must not be there yet: the error wraps
// fs.ErrExist when it is. A crash leaves no file or the whole one. Who may make
// name holds a lock: what another makes at the very moment of the rename is
// replaced.
func CreateFile(fsys FS, name string, data []byte) error {
	absent := func() error {
		_, err := fsys.Stat(name)
		switch {
		case err == nil:
			return &fs.PathError{Op: "create", Path: name, Err: fs.ErrExist}
		case errors.Is(err, fs.ErrNotExist):
			return nil
		}
		return err
	}
	return put(fsys, name, data, absent)
}

// put fills a file beside name and renames it, unless check, asked last, objects.
func put(fsys FS, name string, data []byte, check func() error) error {
	var salt [8]byte
	rand.Read(salt[:])
	tmp := name + "." + hex.EncodeToString(salt[:]) + ".tmp"
	err := fill(fsys, tmp, data)
	if err != nil {
		return err
	}
	if check != nil {
		err = check()
	}
	if err == nil {
		err = fsys.Rename(tmp, name)
	}
	if err != nil {
		fsys.Remove(tmp)
		return err
	}
	return fsys.SyncDir(filepath.Dir(name))
}

// fill makes a new file with data and syncs it, or leaves none.
func fill(fsys FS, name string, data []byte) (err error) {
	f, err := fsys.Open(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := f.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			fsys.Remove(name)
		}
	}()
	if _, err := f.WriteAt(data, 0); err != nil {
		return err
	}
	return f.Sync()
}
