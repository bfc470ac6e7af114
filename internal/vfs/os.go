package vfs

import (
	"io"
	"io/fs"
	"os"
)

// OS returns the file system of the operating system. Sync is fdatasync on
// Linux, F_FULLFSYNC on macOS and FlushFileBuffers on Windows, where SyncDir does
// nothing, since the file system keeps its own journal of names.
func OS() FS { return osFS{} }

type osFS struct{}

func (osFS) Open(name string, flag int, perm fs.FileMode) (File, error) {
	f, err := openFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

func (osFS) Rename(from, to string) error              { return os.Rename(from, to) }
func (osFS) Remove(name string) error                  { return os.Remove(name) }
func (osFS) Mkdir(name string, perm fs.FileMode) error { return os.Mkdir(name, perm) }
func (osFS) SyncDir(dir string) error                  { return syncDir(dir) }
func (osFS) Lock(name string) (io.Closer, error)       { return lockFile(name) }

func (osFS) List(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, nil
}

func (osFS) Stat(name string) (Info, error) {
	st, err := os.Stat(name)
	if err != nil {
		return Info{}, err
	}
	return Info{Size: st.Size(), Dir: st.IsDir(), Mode: st.Mode()}, nil
}

type osFile struct{ *os.File }

func (f osFile) Sync() error { return syncFile(f.File) }

func (f osFile) Size() (int64, error) {
	st, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return st.Size(), nil
}

func (f osFile) Preallocate(off, n int64) error { return WriteZeros(f, off, n) }

// zeroBlock is only ever read.
var zeroBlock [256 << 10]byte

// WriteZeros writes n zero bytes at off, in writes of at most 256 KiB.
func WriteZeros(w io.WriterAt, off, n int64) error {
	for n > 0 {
		step := min(n, int64(len(zeroBlock)))
		if _, err := w.WriteAt(zeroBlock[:step], off); err != nil {
			return err
		}
		off, n = off+step, n-step
	}
	return nil
}
