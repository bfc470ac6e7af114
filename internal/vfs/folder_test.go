package vfs_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/comity-dev/comity/internal/vfs"
)

// A folder keeps its id under another name and however its content changes; a
// copy has another, and so has what takes its place.
func TestFolderIDIsThatOfTheFolderAndOfNoOther(t *testing.T) {
	top := t.TempDir()
	at := func(name string) string { return filepath.Join(top, name) }
	mkdir := func(name string) {
		t.Helper()
		if err := os.Mkdir(at(name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	mkdir("one")
	id := vfs.FolderID(at("one"))
	if id == "" {
		t.Skip("the file system of the temporary folder gives no folder an id")
	}
	if err := os.WriteFile(filepath.Join(at("one"), "f"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(at("copy"), os.DirFS(at("one"))); err != nil {
		t.Fatal(err)
	}
	if got := vfs.FolderID(at("copy")); got == "" || got == id {
		t.Errorf("a copy of %q has the id %q, want another", id, got)
	}
	if err := os.Rename(at("one"), at("two")); err != nil {
		t.Fatal(err)
	}
	if got := vfs.FolderID(at("two")); got != id {
		t.Errorf("renamed, %q has the id %q", id, got)
	}
	if got := vfs.FolderID(at("one")); got != "" {
		t.Errorf("a folder that is not there has the id %q", got)
	}
	if err := os.Symlink(at("two"), at("link")); err == nil && vfs.FolderID(at("link")) != id {
		t.Errorf("reached by a link, %q has the id %q", id, vfs.FolderID(at("link")))
	}
	for began := written(t, at("clock")); written(t, at("clock")).Equal(began); {
	} // the file system's clock has gone on
	if err := os.RemoveAll(at("two")); err != nil {
		t.Fatal(err)
	}
	for range 50 { // one of them gets the number of the removed folder
		mkdir("new")
		if got := vfs.FolderID(at("new")); got == "" || got == id {
			t.Fatalf("a folder made after another was removed has the id %q, the other had %q", got, id)
		}
		if err := os.RemoveAll(at("new")); err != nil {
			t.Fatal(err)
		}
	}
}

// written is the time that the file system gives to a write now.
func written(t *testing.T, name string) time.Time {
	t.Helper()
	if err := os.WriteFile(name, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	return info.ModTime()
}
