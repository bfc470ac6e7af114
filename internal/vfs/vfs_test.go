package vfs_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/comity-dev/comity/internal/vfs"
)

func TestMkdirAllMakesPrivateFolders(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "a", "b")
	for range 2 { // the second finds everything there
		if err := vfs.MkdirAll(vfs.OS(), dir); err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range []string{dir, filepath.Dir(dir)} {
		if info, err := vfs.OS().Stat(d); err != nil || !info.Dir || info.Mode.Perm() != 0o700 {
			t.Errorf("Stat(%s) = %+v, %v, want a folder 0700", d, info, err)
		}
	}
	if err := os.WriteFile(filepath.Join(top, "f"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := vfs.MkdirAll(vfs.OS(), filepath.Join(top, "f")); err == nil {
		t.Error("MkdirAll over a file = nil, want an error")
	}
}

func TestWriteFileReplacesAndCreateFileDoesNot(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "x")
	for _, s := range []string{"one", "two"} {
		if err := vfs.WriteFile(vfs.OS(), name, []byte(s)); err != nil {
			t.Fatal(err)
		}
	}
	if err := vfs.CreateFile(vfs.OS(), name, []byte("three")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("CreateFile over a file = %v, want fs.ErrExist", err)
	}
	if got, err := vfs.ReadFile(vfs.OS(), name, 3); err != nil || string(got) != "two" {
		t.Errorf("ReadFile = %q, %v, want two", got, err)
	}
	if _, err := vfs.ReadFile(vfs.OS(), name, 2); err == nil {
		t.Error("ReadFile beyond its bound = nil, want an error")
	}
	if names, err := vfs.OS().List(dir); err != nil || len(names) != 1 {
		t.Errorf("List = %v, %v, want x alone", names, err)
	}
	if info, _ := vfs.OS().Stat(name); info.Mode.Perm() != 0o600 {
		t.Errorf("mode = %v, want 0600", info.Mode)
	}
}

func TestNetworkOfALocalFolder(t *testing.T) {
	if kind, remote, err := vfs.Network(t.TempDir()); err != nil || remote {
		t.Errorf("Network = %q, %v, %v, want local", kind, remote, err)
	}
	if _, _, err := vfs.Network(filepath.Join(t.TempDir(), "missing")); err == nil {
		t.Error("Network of a missing folder = nil, want an error")
	}
}
