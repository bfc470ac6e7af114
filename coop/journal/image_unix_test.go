//go:build unix

package journal_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/comity-dev/comity/coop/journal"
)

// A pipe in the place of the image holds nobody up.
func TestImageThatIsAPipe(t *testing.T) {
	dir := t.TempDir()
	j := onDisk(t, dir, nil)
	mustAppend(t, j, opened("s1"))
	want := digest(j)
	mustClose(t, j)
	pipe := copyDir(t, dir)
	name := filepath.Join(pipe, "image")
	if err := syscall.Unlink(name); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	j = onDisk(t, pipe, nil)
	wantImage(t, j, journal.ImageUnreadable)
	if digest(j) != want {
		t.Error("the state differs")
	}
	mustClose(t, j)
	j = onDisk(t, pipe, nil)
	wantImage(t, j, journal.ImageTaken)
}
