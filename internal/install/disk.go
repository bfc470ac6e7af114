package install

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/comity-dev/comity/internal/vfs"
)

// maxFile bounds a file whose content we look at.
const maxFile = 64 << 20

// A content is a file as it is or is to be; the zero one is a missing file.
type content struct {
	there bool
	link  bool // the name is a symbolic link; b is what it leads to
	mode  fs.FileMode
	b     []byte
}

func (c content) digest() string {
	if !c.there {
		return ""
	}
	return digest(c.b)
}

func (c content) same(d content) bool {
	return c.there == d.there && c.link == d.link && c.mode == d.mode && string(c.b) == string(d.b)
}

// read returns what is at path. A link that leads nowhere is there and empty.
func (o Options) read(path string) (content, error) {
	var c content
	if o.system() {
		st, err := os.Lstat(path)
		if err == nil && st.Mode()&fs.ModeSymlink != 0 {
			c.link, c.there = true, true
		}
	}
	info, err := o.FS.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, err
	}
	if !info.Mode.IsRegular() || info.Dir {
		return c, fmt.Errorf("%s is no regular file", path)
	}
	c.there, c.mode = true, info.Mode.Perm()
	c.b, err = vfs.ReadFile(o.FS, path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return content{}, nil
	}
	return c, err
}

// real is path with its links followed as far as it exists.
func (o Options) real(path string) (string, error) {
	if !o.system() {
		return path, nil
	}
	real, err := filepath.EvalSymlinks(path)
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return real, err
	}
	if st, err := os.Lstat(path); err == nil && st.Mode()&fs.ModeSymlink != 0 {
		return "", fmt.Errorf("%s is a link that leads nowhere; make what it names, or remove it", path)
	}
	dir, err := o.real(filepath.Dir(path))
	return filepath.Join(dir, filepath.Base(path)), err
}

// folder says whether there is one.
func (o Options) folder(path string) (bool, error) {
	info, err := o.FS.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil && !info.Dir {
		err = fmt.Errorf("%s is no folder", path)
	}
	return err == nil, err
}

// beside is where the new content of path is written first.
func beside(path string) string { return path + ".comity.tmp" }

// prepare writes c beside path and syncs it.
func (o Options) prepare(path string, c content) (err error) {
	tmp := beside(path)
	if err := o.discard(tmp); err != nil { // left by a crash
		return err
	}
	f, err := o.FS.Open(tmp, os.O_RDWR|os.O_CREATE|os.O_EXCL, c.mode)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := f.Close(); err == nil {
			err = cerr
		}
	}()
	if m, ok := f.(interface{ Chmod(fs.FileMode) error }); ok { // the umask took some
		if err := m.Chmod(c.mode); err != nil {
			return err
		}
	}
	if len(c.b) > 0 {
		if _, err := f.WriteAt(c.b, 0); err != nil {
			return err
		}
	}
	return f.Sync()
}

// commit puts what prepare wrote in the place of path. It is the point at which
// the change happens, whole.
func (o Options) commit(path string) error { return o.rename(beside(path), path) }

func (o Options) rename(from, to string) error {
	if err := o.FS.Rename(from, to); err != nil {
		return err
	}
	return o.FS.SyncDir(filepath.Dir(to))
}

func (o Options) remove(path string) error {
	if err := o.FS.Remove(path); err != nil {
		return err
	}
	return o.FS.SyncDir(filepath.Dir(path))
}

// discard removes a file that may be missing.
func (o Options) discard(path string) error {
	if err := o.FS.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// configLock is what we write into git's lock of its config, to know it again
// after a crash.
const configLock = "comity install\n"

// commitConfig is commit for git's config, under the lock that git takes to
// write it. check says whether the config is still what the plan saw.
//
// The lock is not synced when it is taken: after a loss of power it is better
// gone. One sync makes the new config and the end of the lock durable together.
func (o Options) commitConfig(path string, check func() error) error {
	lock := path + ".lock"
	o.breakConfigLock(lock, false)
	f, err := o.FS.Open(lock, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there: git is writing its config; try again", lock)
	}
	if err != nil {
		o.breakConfigLock(lock, true) // made, perhaps, though it is reported as failed
		return err
	}
	_, err = f.WriteAt([]byte(configLock), 0)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = check()
	}
	if err == nil {
		err = o.FS.Rename(beside(path), path)
	}
	if uerr := o.discard(lock); uerr != nil {
		err = errors.Join(err, uerr, o.discard(lock))
	}
	if err != nil {
		return err
	}
	return o.FS.SyncDir(filepath.Dir(path))
}

// breakConfigLock removes the lock if it is ours, left by a crash: who calls this
// holds the lock of all installs. With torn, one that is no longer than ours counts,
// as a loss of power may have torn it: it is for where we are known to have been.
func (o Options) breakConfigLock(lock string, torn bool) {
	b, err := vfs.ReadFile(o.FS, lock, 1<<10)
	if err == nil && (string(b) == configLock || torn && len(b) <= len(configLock)) {
		o.discard(lock)
	}
}
