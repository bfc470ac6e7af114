package vfstest

import (
	"io"
	"io/fs"
)

// A file is an open file of a Disk.
type file struct {
	d      *Disk
	n      *node
	name   string
	write  bool
	closed bool
}

func (f *file) check(op string, write bool) error {
	if f.closed {
		return &fs.PathError{Op: op, Path: f.name, Err: fs.ErrClosed}
	}
	if write && !f.write {
		return &fs.PathError{Op: op, Path: f.name, Err: fs.ErrPermission}
	}
	return nil
}

func (f *file) ReadAt(p []byte, off int64) (int, error) {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	if err := f.check("read", false); err != nil {
		return 0, err
	}
	if err := f.d.run("read", f.name, nil); err != nil {
		return 0, err
	}
	if off >= int64(len(f.n.data)) {
		return 0, io.EOF
	}
	n := copy(p, f.n.data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *file) WriteAt(p []byte, off int64) (int, error) {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	if err := f.check("write", true); err != nil {
		return 0, err
	}
	n := len(p)
	err := f.d.runWrite(f.name, len(p), func(part int) {
		n = part
		f.n.write(p[:part], off)
	})
	if err != nil {
		return n, err
	}
	return len(p), nil
}

func (f *file) Preallocate(off, n int64) error {
	_, err := f.WriteAt(make([]byte, n), off)
	return err
}

func (n *node) write(p []byte, off int64) {
	if len(p) == 0 {
		return
	}
	c := change{off: off, data: append([]byte(nil), p...)}
	n.pending = append(n.pending, c)
	n.data = c.apply(n.data)
}

func (n *node) truncate(size int64) {
	c := change{size: size}
	n.pending = append(n.pending, c)
	n.data = c.apply(n.data)
}

// apply returns b, which it may change, with c done to it.
func (c change) apply(b []byte) []byte {
	if c.data == nil {
		return resize(b, c.size)
	}
	if end := c.off + int64(len(c.data)); end > int64(len(b)) {
		b = resize(b, end)
	}
	copy(b[c.off:], c.data)
	return b
}

func resize(b []byte, size int64) []byte {
	if size <= int64(len(b)) {
		return b[:size:size]
	}
	return append(b, make([]byte, size-int64(len(b)))...)
}

func (f *file) Truncate(size int64) error {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	if err := f.check("truncate", true); err != nil {
		return err
	}
	return f.d.run("truncate", f.name, func() error { f.n.truncate(size); return nil })
}

func (f *file) Sync() error {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	if err := f.check("sync", false); err != nil {
		return err
	}
	return f.d.runSync("sync", f.name, func(ok bool) {
		if ok {
			for _, c := range f.n.pending {
				f.n.durable = c.apply(f.n.durable)
			}
		}
		f.n.pending = nil // a failed sync loses them
	})
}

func (f *file) Size() (int64, error) {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	if err := f.check("stat", false); err != nil {
		return 0, err
	}
	return int64(len(f.n.data)), f.d.run("size", f.name, nil)
}

func (f *file) Close() error {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	if err := f.check("close", false); err != nil {
		return err
	}
	f.closed = true
	return nil
}
