// Package vfstest is a disk in memory, for tests: it keeps apart what a program
// sees and what a loss of power would leave, fails the operation that it is
// told to fail, and can be crashed into every state that a disk may hold. It
// stands behind the interfaces of package vfs; TestFS is the contract that it
// shares with the operating system.
//
// The model of a loss of power: content that was synced is there. Of the writes
// and cuts of a file since its last good Sync any subset is there, in their
// order, one of the writes perhaps in part: its beginning, its end, or only the
// size of the file that it gave. Of the changes of a folder since its last
// SyncDir any subset is there; a rename within a folder happens whole or not at
// all, one between two folders in each of them by itself.
//
// A failed Sync is as bad as real ones: the writes before it are seen until the
// crash and lost after it, and a second Sync that succeeds does not bring them
// back.
package vfstest

import (
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/comity-dev/comity/internal/vfs"
)

// A Disk is a file system in memory. It is safe for concurrent use.
type Disk struct {
	mu      sync.Mutex
	root    *node
	locks   map[*node]bool
	ops     int
	changes int
	faults  []Fault
	log     []string

	// Tear returns, for a write of n bytes, at which bytes a crash may tear it.
	// Nil: in the middle, and one byte from each end.
	Tear func(n int) []int
	// Trace keeps what Log returns.
	Trace bool
}

var _ vfs.FS = (*Disk)(nil)

// A node is a file or a folder.
type node struct {
	dir  bool
	mode fs.FileMode

	data    []byte   // as seen
	durable []byte   // as synced
	pending []change // since then

	entries  map[string]*node
	kept     map[string]*node
	unsynced []entryChange
}

// A change is a write, or with data nil a new size.
type change struct {
	off  int64
	data []byte
	size int64
}

// An entryChange sets names of one folder, all or none. A nil node is no entry.
type entryChange map[string]*node

// New returns an empty disk: the folder / and nothing in it.
func New() *Disk {
	return &Disk{root: newFolder(0o700), locks: make(map[*node]bool)}
}

func newFolder(mode fs.FileMode) *node {
	return &node{dir: true, mode: mode | fs.ModeDir, entries: map[string]*node{}, kept: map[string]*node{}}
}

func split(name string) []string {
	name = strings.Trim(filepath.ToSlash(filepath.Clean("/"+name)), "/")
	if name == "" {
		return nil
	}
	return strings.Split(name, "/")
}

// find returns the node of a path, or nil.
func (d *Disk) find(name string) *node {
	n := d.root
	for _, part := range split(name) {
		if n == nil || !n.dir {
			return nil
		}
		n = n.entries[part]
	}
	return n
}

// parent returns the folder that name is in, and its last part.
func (d *Disk) parent(op, name string) (*node, string, error) {
	parts := split(name)
	if len(parts) == 0 {
		return nil, "", &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	dir := d.find(strings.Join(parts[:len(parts)-1], "/"))
	if dir == nil || !dir.dir {
		return nil, "", &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
	}
	return dir, parts[len(parts)-1], nil
}

func (n *node) set(c entryChange) {
	n.unsynced = append(n.unsynced, c)
	apply(n.entries, c)
}

func apply(entries map[string]*node, c entryChange) {
	for name, n := range c {
		if n == nil {
			delete(entries, name)
		} else {
			entries[name] = n
		}
	}
}

func (d *Disk) Open(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.find(name)
	if n == nil && flag&os.O_CREATE == 0 {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	if n != nil && flag&(os.O_CREATE|os.O_EXCL) == os.O_CREATE|os.O_EXCL {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrExist}
	}
	if n != nil && n.dir {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fmt.Errorf("is a folder")}
	}
	f := &file{d: d, n: n, name: name, write: flag&(os.O_RDWR|os.O_WRONLY) != 0}
	if n != nil && flag&os.O_TRUNC == 0 {
		return f, d.run("open", name, nil)
	}
	err := d.run("create", name, func() error {
		if n != nil {
			n.truncate(0)
			return nil
		}
		dir, base, err := d.parent("open", name)
		if err != nil {
			return err
		}
		f.n = &node{mode: perm}
		dir.set(entryChange{base: f.n})
		return nil
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (d *Disk) Rename(from, to string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.run("rename", from+" "+to, func() error {
		n := d.find(from)
		src, a, err := d.parent("rename", from)
		if err != nil {
			return err
		}
		dst, b, err := d.parent("rename", to)
		if err != nil {
			return err
		}
		if n == nil {
			return &fs.PathError{Op: "rename", Path: from, Err: fs.ErrNotExist}
		}
		if src == dst {
			src.set(entryChange{a: nil, b: n})
			return nil
		}
		dst.set(entryChange{b: n})
		src.set(entryChange{a: nil})
		return nil
	})
}

func (d *Disk) Remove(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.run("remove", name, func() error {
		n := d.find(name)
		dir, base, err := d.parent("remove", name)
		if err != nil {
			return err
		}
		if n == nil {
			return &fs.PathError{Op: "remove", Path: name, Err: fs.ErrNotExist}
		}
		if n.dir && len(n.entries) > 0 {
			return &fs.PathError{Op: "remove", Path: name, Err: fmt.Errorf("folder is not empty")}
		}
		dir.set(entryChange{base: nil})
		return nil
	})
}

func (d *Disk) Mkdir(name string, perm fs.FileMode) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.run("mkdir", name, func() error {
		if d.find(name) != nil {
			return &fs.PathError{Op: "mkdir", Path: name, Err: fs.ErrExist}
		}
		dir, base, err := d.parent("mkdir", name)
		if err != nil {
			return err
		}
		dir.set(entryChange{base: newFolder(perm)})
		return nil
	})
}

func (d *Disk) List(dir string) ([]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.find(dir)
	if n == nil || !n.dir {
		return nil, &fs.PathError{Op: "list", Path: dir, Err: fs.ErrNotExist}
	}
	return slices.Sorted(maps.Keys(n.entries)), d.run("list", dir, nil)
}

func (d *Disk) Stat(name string) (vfs.Info, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.find(name)
	if n == nil {
		return vfs.Info{}, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
	}
	return vfs.Info{Size: int64(len(n.data)), Dir: n.dir, Mode: n.mode}, d.run("stat", name, nil)
}

func (d *Disk) SyncDir(dir string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.find(dir)
	if n == nil || !n.dir {
		return &fs.PathError{Op: "sync", Path: dir, Err: fs.ErrNotExist}
	}
	return d.runSync("syncdir", dir, func(ok bool) {
		if ok {
			for _, c := range n.unsynced {
				apply(n.kept, c)
			}
			n.unsynced = nil
		}
	})
}

func (d *Disk) Lock(name string) (io.Closer, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.run("lock", name, nil); err != nil {
		return nil, err
	}
	n := d.find(name)
	if n == nil {
		dir, base, err := d.parent("lock", name)
		if err != nil {
			return nil, err
		}
		n = &node{mode: 0o600}
		dir.set(entryChange{base: n})
	}
	if d.locks[n] {
		return nil, fmt.Errorf("lock %s: %w", name, vfs.ErrLocked)
	}
	d.locks[n] = true
	return &unlocker{d, n}, nil
}

type unlocker struct {
	d *Disk
	n *node
}

func (u *unlocker) Close() error {
	u.d.mu.Lock()
	defer u.d.mu.Unlock()
	delete(u.d.locks, u.n)
	return nil
}
