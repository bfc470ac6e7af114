package process_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// tracked is what git says of a worktree: changes, untracked and ignored files.
func (s *stage) tracked(dir string) string {
	s.Helper()
	cmd := exec.Command("git", "--no-optional-locks", "status", "--porcelain", "--ignored", "--untracked-files=all")
	cmd.Dir, cmd.Env = dir, s.env()
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.Fatalf("git status: %v\n%s", err, out)
	}
	return string(out)
}

// content is every file and folder below dir with its content.
func content(t *testing.T, dir string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if d.Type().IsRegular() {
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			name += ": " + string(b)
		}
		all = append(all, name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Whatever is done, in the main worktree and in another, the trees and git's own
// folder hold not one byte more or less.
func TestWorkingTreesStayAsTheyAre(t *testing.T) {
	t.Parallel()
	s := newStage(t, 2)
	main, linked := s.trees[0], s.trees[1]
	s.write(filepath.Join(main, ".gitignore"), []byte("*.ignored\n"), 0o600)
	s.write(filepath.Join(main, "mine.ignored"), []byte("mine\n"), 0o600)
	s.write(filepath.Join(linked, "src", "a.go"), []byte("changed\n"), 0o600)
	s.write(filepath.Join(linked, "new.txt"), []byte("new\n"), 0o600)
	s.tracked(main) // git may refresh its index once
	before := map[string]string{main: s.tracked(main), linked: s.tracked(linked)}
	files := map[string][]string{main: content(t, main), linked: content(t, linked)}

	s.everyCommand(linked)
	s.kill()
	s.must("doctor")
	s.everyCommand(main)
	s.halt()

	for dir, was := range before {
		if now := s.tracked(dir); now != was {
			t.Errorf("git status of %s was\n%sand is\n%s", filepath.Base(dir), was, now)
		}
		now := content(t, dir)
		for _, f := range now {
			if !slices.Contains(files[dir], f) {
				t.Errorf("%s: new or changed: %.80q", filepath.Base(dir), f)
			}
		}
		if len(now) < len(files[dir]) {
			t.Errorf("%s: %d files of %d are left", filepath.Base(dir), len(now), len(files[dir]))
		}
	}
}

// everyCommand does a bit of everything in one worktree.
func (s *stage) everyCommand(dir string) {
	s.Helper()
	name := filepath.Base(dir)
	body := filepath.Join(filepath.Dir(s.home), "body.md")
	s.write(body, []byte("what is left in "+name+"\n"), 0o600)
	in := func(exit int, args ...string) string {
		s.Helper()
		r := s.runIn(dir, []string{"COMITY_SESSION=" + name}, args...)
		if r.code != exit {
			s.Errorf("comity %v: exit %d, want %d\n%s%s", args, r.code, exit, r.out, r.err)
		}
		return strings.TrimSpace(r.out)
	}
	in(0, "session", "open", "--session", name, "--ttl", "1h", "--intent", "everything")
	in(0, "session", "open", "--session", name+"-other", "--ttl", "1h")
	in(0, "claim", "src/", "--intent", "all of it")
	in(0, "claim", "docs/", "--advisory")
	in(0, "claim", "new.txt", "--checkout")
	in(10, "claim", "--session", name+"-other", "src/a.go")
	in(10, "claim", "--session", name+"-other", "src/a.go", "--wait", "1ms")
	in(0, "claim", "--session", name+"-other", "src/b.go", "--break", "--reason", "test")
	in(10, "check", "src/b.go")
	in(2, "claim", "../outside.go")
	in(0, "notices")
	in(0, "status")
	in(0, "log")
	in(0, "log", "dump")
	in(0, "handover", "publish", body)
	in(0, "handover", "publish", "--derive")
	in(0, "handover", "list")
	in(0, "review", "request", "look at this", "--scope", "src/")
	in(0, "review", "list")
	in(0, "verify")
	in(0, "doctor")
	in(0, "session", "renew")
	in(0, "session", "list", "--all")
	in(0, "release", "--all")
	in(0, "version")
	in(0, "session", "close")
	in(0, "session", "close", "--session", name+"-other")
}
