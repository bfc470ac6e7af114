//go:build unix

package git_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/comity-dev/comity/internal/git"
)

// fakeGit puts a shell script named git first on PATH.
func fakeGit(t *testing.T, script string) {
	t.Helper()
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "git"), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
}

// A git that hangs, with a child that holds its output open, ends with the
// context, and the child with it.
func TestAHangingGitEndsWithItsContext(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "alive")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Skip(err)
	}
	fakeGit(t, "exec 3>'"+fifo+"'\nsleep 1000 &\necho started >&3\nwait\n")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error)
	go func() {
		_, err := git.Find(ctx, dir)
		ended <- err
	}()
	alive, err := os.Open(fifo) // blocks until git runs
	if err != nil {
		t.Fatal(err)
	}
	defer alive.Close()
	if _, err := io.ReadFull(alive, make([]byte, len("started\n"))); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("Find = %v, want context.Canceled", err)
	}
	if _, err := io.ReadAll(alive); err != nil { // ends when the last holder of the other end is gone
		t.Error(err)
	}
}

func TestAnEndlessAnswerIsCut(t *testing.T) {
	r := newCommitted(t)
	c := r.find()
	fakeGit(t, "yes '? file' | tr '\\n' '\\0'\n")
	ch, err := c.Changed(t.Context(), "")
	if err == nil { // it never answered about HEAD
		t.Errorf("Changed by an endless git = %d paths, want an error", len(ch.Paths))
	}
	if dirty, err := c.Dirty(t.Context()); !dirty || err != nil {
		t.Errorf("Dirty by an endless git = %v, %v, want true", dirty, err)
	}
}

func TestAnOldGitIsNamed(t *testing.T) {
	fakeGit(t, "shift 3\nfor arg; do echo \"$arg\"; done\necho 'fatal: x' >&2\nexit 128\n")
	// A git before 2.31 prints the flag that it does not know.
	if _, err := git.Find(t.Context(), t.TempDir()); !errors.Is(err, git.ErrTooOld) {
		t.Errorf("Find = %v, want ErrTooOld", err)
	}
}

func TestAGitThatDiesIsAnError(t *testing.T) {
	c := newCommitted(t).find()
	for name, script := range map[string]string{
		"by a signal":       "kill -9 $$\n",
		"with a complaint":  "echo 'fatal: out of luck' >&2\nexit 128\n",
		"without a word":    "exit 3\n",
		"with no answer":    "exit 0\n",
		"with another form": "echo\necho\necho\n",
	} {
		t.Run(name, func(t *testing.T) {
			fakeGit(t, script)
			if got, err := git.Find(t.Context(), c.Top); err == nil {
				t.Errorf("Find = %+v, want an error", got)
			}
			if got, err := c.Head(t.Context()); err == nil {
				t.Errorf("Head = %+v, want an error", got)
			}
			if got, err := c.RootCommit(t.Context()); err == nil || errors.Is(err, git.ErrEmpty) {
				t.Errorf("RootCommit = %q, %v, want an error that does not say empty", got, err)
			}
			if got, err := c.DefaultBranch(t.Context()); err == nil {
				t.Errorf("DefaultBranch = %q, want an error", got)
			}
		})
	}
}
