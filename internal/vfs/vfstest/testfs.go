package vfstest

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/comity-dev/comity/internal/vfs"
)

// TestFS tests that fsys keeps the contract of package vfs. dir is an empty
// folder in it.
func TestFS(t *testing.T, fsys vfs.FS, dir string) {
	name := filepath.Join(dir, "f")
	if _, err := fsys.Open(name, os.O_RDWR, 0); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Open of a missing file = %v, want fs.ErrNotExist", err)
	}
	f, err := fsys.Open(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fsys.Open(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); !errors.Is(err, fs.ErrExist) {
		t.Errorf("second exclusive Open = %v, want fs.ErrExist", err)
	}
	testFile(t, f)
	testNames(t, fsys, dir)
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	testLock(t, fsys, filepath.Join(dir, "lock"))
}

func testFile(t *testing.T, f vfs.File) {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(f.Preallocate(4, 4))
	_, err := f.WriteAt([]byte("abc"), 1)
	must(err)
	must(f.Sync())
	b := make([]byte, 10)
	n, err := f.ReadAt(b, 0)
	if n != 8 || err != io.EOF || string(b[:n]) != "\x00abc\x00\x00\x00\x00" {
		t.Errorf("ReadAt = %q, %v", b[:n], err)
	}
	must(f.Truncate(2))
	must(f.Truncate(4))
	if size, err := f.Size(); size != 4 || err != nil {
		t.Errorf("Size = %d, %v, want 4", size, err)
	}
	if n, err := f.ReadAt(b[:4], 0); string(b[:n]) != "\x00a\x00\x00" || err != nil && err != io.EOF {
		t.Errorf("after cutting and growing = %q, %v", b[:n], err)
	}
}

func testNames(t *testing.T, fsys vfs.FS, dir string) {
	join := func(s string) string { return filepath.Join(dir, s) }
	if err := fsys.Mkdir(join("d"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := fsys.Mkdir(join("d"), 0o700); !errors.Is(err, fs.ErrExist) {
		t.Errorf("second Mkdir = %v, want fs.ErrExist", err)
	}
	for _, s := range []string{"b", "a", "d/c"} {
		if err := vfs.CreateFile(fsys, join(s), []byte(s)); err != nil {
			t.Fatal(err)
		}
	}
	if err := fsys.Remove(join("d")); err == nil {
		t.Error("Remove of a full folder = nil")
	}
	if err := fsys.Rename(join("a"), join("b")); err != nil {
		t.Fatal(err)
	}
	if err := fsys.SyncDir(dir); err != nil {
		t.Fatal(err)
	}
	if got, err := vfs.ReadFile(fsys, join("b"), 10); string(got) != "a" || err != nil {
		t.Errorf("after the rename over b = %q, %v", got, err)
	}
	if names, err := fsys.List(dir); !slices.Equal(names, []string{"b", "d", "f"}) || err != nil {
		t.Errorf("List = %v, %v", names, err)
	}
	if info, err := fsys.Stat(join("d")); !info.Dir || err != nil {
		t.Errorf("Stat(d) = %+v, %v", info, err)
	}
	for _, s := range []string{"d/c", "d", "b"} {
		if err := fsys.Remove(join(s)); err != nil {
			t.Error(err)
		}
	}
	if _, err := fsys.Stat(join("d")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Stat of a removed folder = %v, want fs.ErrNotExist", err)
	}
}

func testLock(t *testing.T, fsys vfs.FS, name string) {
	l, err := fsys.Lock(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fsys.Lock(name); !errors.Is(err, vfs.ErrLocked) {
		t.Errorf("second Lock = %v, want ErrLocked", err)
	}
	if _, err := vfs.ReadFile(fsys, name, 10); err != nil {
		t.Errorf("reading a locked file: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l, err = fsys.Lock(name)
	if err != nil {
		t.Fatalf("Lock after Close: %v", err)
	}
	l.Close()
}
