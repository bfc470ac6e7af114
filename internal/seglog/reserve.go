package seglog

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/comity-dev/comity/internal/vfs"
)

// A Reserve is a file of written blocks that all logs of one state folder
// share. On a full disk AppendReserve and Rewrite turn it into a segment; while
// it is used up and cannot be made again, Append finds no space, so that what
// is left is left for them. A nil Reserve is none. It lies on the same file
// system as the logs and belongs to one process.
type Reserve struct {
	fsys  vfs.FS
	path  string
	bytes int64

	mu     sync.Mutex
	held   bool
	tried  time.Time
	inline bool // it is tried to be made each time: see Options.Inline
}

// NewReserve returns the reserve of that name and size, and makes its file if
// there is room: a full disk is no error. bytes should be the size of one
// segment.
func NewReserve(fsys vfs.FS, path string, bytes int64) (*Reserve, error) {
	r := &Reserve{fsys: fsys, path: path, bytes: bytes}
	r.fsys.Remove(path + ".tmp")
	if info, err := fsys.Stat(path); err == nil && info.Size == bytes {
		r.held = true
		return r, nil
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err := r.make(); err != nil && !vfs.IsNoSpace(err) {
		return nil, err
	}
	return r, nil
}

// make writes the file: it counts only once it is whole.
func (r *Reserve) make() (err error) {
	tmp := r.path + ".tmp"
	f, err := r.fsys.Open(tmp, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			r.fsys.Remove(tmp)
		}
	}()
	err = errors.Join(f.Preallocate(0, r.bytes), f.Sync())
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	if err := r.fsys.Rename(tmp, r.path); err != nil {
		return err
	}
	if err := r.fsys.SyncDir(filepath.Dir(r.path)); err != nil {
		return err
	}
	r.held = true
	return nil
}

// setInline has no clock decide when it is tried to be made again.
func (r *Reserve) setInline() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inline = true
}

// ensure reports whether the reserve is there, and tries to make it if not, at
// most once a second.
func (r *Reserve) ensure() bool {
	if r == nil {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.held && (r.inline || time.Since(r.tried) >= time.Second) {
		r.tried = time.Now()
		r.make()
	}
	return r.held
}

func (r *Reserve) isHeld() bool {
	if r == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.held
}

// take moves the file to name. It reports false when there is none. Both
// folders are synced before it returns: at no moment does a crash leave the
// blocks in two places.
func (r *Reserve) take(name string) (bool, error) {
	if r == nil {
		return false, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.held {
		return false, nil
	}
	r.held = false
	if err := r.fsys.Rename(r.path, name); err != nil {
		return false, err
	}
	for _, dir := range []string{filepath.Dir(r.path), filepath.Dir(name)} {
		if err := r.fsys.SyncDir(dir); err != nil {
			return false, err
		}
	}
	return true, nil
}
