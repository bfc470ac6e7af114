package home_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/comity-dev/comity/internal/home"
	"github.com/comity-dev/comity/internal/vfs"
)

func mode(t *testing.T, name string) fs.FileMode {
	t.Helper()
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

func TestPrepareMakesFoldersForThisUserAlone(t *testing.T) {
	base := folder(t, 0o755)
	h := home.Home{Dir: filepath.Join(base, "a", "b"), Socket: filepath.Join(base, "s", "x.sock")}
	for range 2 { // again: all is there
		if err := h.Prepare(vfs.OS()); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{h.Dir, filepath.Dir(h.Dir), filepath.Dir(h.Socket)} {
		if got := mode(t, dir); got != 0o700 && runtime.GOOS != "windows" {
			t.Errorf("%s has mode %04o, want 0700", dir, got)
		}
	}
	if left, err := os.ReadDir(h.Dir); err != nil || len(left) > 0 {
		t.Errorf("Prepare leaves %v, %v in the state folder", left, err)
	}
}

func TestPrepareClosesAnEmptyFolderOnly(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes are not looked at there")
	}
	empty, used := folder(t, 0o755), folder(t, 0o750)
	if err := (home.Home{Dir: empty}).Prepare(vfs.OS()); err != nil {
		t.Errorf("Prepare of an empty folder: %v", err)
	}
	if got := mode(t, empty); got != 0o700 {
		t.Errorf("the empty folder has mode %04o, want 0700", got)
	}
	if err := os.WriteFile(filepath.Join(used, "node.key"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	err := home.Home{Dir: used}.Prepare(vfs.OS())
	if !errors.Is(err, home.ErrTooOpen) || !strings.Contains(err.Error(), "chmod 700 "+used) {
		t.Errorf("Prepare of a used folder = %v, want ErrTooOpen with the command", err)
	}
	if got := mode(t, used); got != 0o750 {
		t.Errorf("the used folder has mode %04o, want it untouched", got)
	}
}

func TestPrepareRefusesAFileInPlace(t *testing.T) {
	base := folder(t, 0o700)
	file := filepath.Join(base, "file")
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{file, filepath.Join(file, "below"), filepath.Join(file, "far", "below")} {
		if err := (home.Home{Dir: dir}).Prepare(vfs.OS()); !errors.Is(err, home.ErrNotFolder) {
			t.Errorf("Prepare(%s) = %v, want ErrNotFolder", dir, err)
		}
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != "mine" {
		t.Errorf("the file holds %q, %v afterwards", b, err)
	}
}

func TestPrepareRefusesTheFolderOfAnother(t *testing.T) {
	dir := folder(t, 0o700)
	if err := os.Chown(dir, 12345, -1); err != nil {
		t.Skipf("only root can give a folder away: %v", err)
	}
	err := home.Home{Dir: dir}.Prepare(vfs.OS())
	if !errors.Is(err, home.ErrNotOurs) || !strings.Contains(err.Error(), "uid 12345") {
		t.Errorf("Prepare = %v, want ErrNotOurs that names the user", err)
	}
}

// A refusing disk refuses to make anything.
type refusing struct {
	vfs.FS
	err error
}

func (r refusing) Open(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	if flag&os.O_CREATE != 0 {
		return nil, &fs.PathError{Op: "open", Path: name, Err: r.err}
	}
	return r.FS.Open(name, flag, perm)
}

func (r refusing) Mkdir(name string, perm fs.FileMode) error {
	return &fs.PathError{Op: "mkdir", Path: name, Err: r.err}
}

func TestPrepareSaysWhyNothingCanBeWritten(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the errors are unix ones")
	}
	there := folder(t, 0o700)
	for _, tt := range []struct {
		err, want error
	}{
		{syscall.EROFS, home.ErrReadOnly},
		{syscall.EACCES, home.ErrNotWritable},
		{syscall.EPERM, home.ErrNotWritable},
		{syscall.EIO, syscall.EIO},
	} {
		for _, dir := range []string{there, filepath.Join(there, "new")} {
			err := home.Home{Dir: dir}.Prepare(refusing{vfs.OS(), tt.err})
			if !errors.Is(err, tt.want) {
				t.Errorf("Prepare(%s) on a disk that says %v = %v, want %v", dir, tt.err, err, tt.want)
			}
			if tt.want != syscall.EIO && (!errors.As(err, new(*home.FolderError)) || !strings.Contains(err.Error(), "COMITY_HOME")) {
				t.Errorf("Prepare(%s) on a disk that says %v says %v, without the next step", dir, tt.err, err)
			}
		}
	}
}

// A full disk keeps nobody from starting, and from finding out.
func TestFullDiskIsNoReasonNotToStart(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the error is a unix one")
	}
	h := home.Home{Dir: folder(t, 0o700)}
	full := refusing{vfs.OS(), syscall.ENOSPC}
	if err := h.Prepare(full); err != nil {
		t.Errorf("Prepare: %v", err)
	}
	l, err := h.Lock(full, home.Info{Build: "b"})
	if err != nil {
		t.Fatalf("Lock: %v", err)
	}
	defer l.Close()
	if info, running, err := h.Running(); err != nil || !running || info != (home.Info{}) {
		t.Errorf("Running = %+v, %v, %v, want a holder that could not say who it is", info, running, err)
	}
}
