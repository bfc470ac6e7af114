package git_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/comity-dev/comity/internal/git"
)

// changed wants exactly these paths to be changed in r.
func changed(t *testing.T, r *repo, since string, want ...string) {
	t.Helper()
	got, err := r.find().Changed(t.Context(), since)
	if err != nil {
		t.Errorf("Changed(%q): %v", since, err)
	}
	if diff := cmp.Diff(git.Changes{Paths: want}, got); diff != "" {
		t.Errorf("Changed(%q) (-want +got):\n%s", since, diff)
	}
}

func dirty(t *testing.T, r *repo, want bool) {
	t.Helper()
	if got, err := r.find().Dirty(t.Context()); got != want || err != nil {
		t.Errorf("Dirty = %v, %v, want %v", got, err, want)
	}
}

// Working leaves out what is committed, and nothing else of Changed.
func TestWorkingIsTheWorktreeAlone(t *testing.T) {
	r := newCommitted(t)
	r.git("checkout", "-q", "-b", "side")
	r.write("committed.txt", "x")
	r.git("add", ".")
	r.commit("on the side")
	r.write("new file", "x")
	got, err := r.find().Working(t.Context())
	if err != nil || len(got.Paths) != 1 || got.Paths[0] != "new file" {
		t.Errorf("Working = %+v, %v; want the new file alone", got, err)
	}
	changed(t, r, "", "committed.txt", "new file")
}

func TestChangedInTheWorktree(t *testing.T) {
	r := newCommitted(t)
	for _, name := range []string{"staged", "edited", "deleted", "removed", "moved", "staged then restored", "same"} {
		r.write(name, strings.Repeat(name, 40))
	}
	r.write(".gitignore", "*.o\n")
	r.commit("second")
	changed(t, r, "HEAD")
	dirty(t, r, false)

	r.write("staged", "new")
	r.git("add", "staged")
	r.write("staged then restored", "new")
	r.git("add", "staged then restored")
	r.write("staged then restored", strings.Repeat("staged then restored", 40))
	r.write("edited", "new")
	r.git("rm", "-q", "removed")
	r.git("mv", "moved", "moved here")
	if err := os.Remove(r.path("deleted")); err != nil {
		t.Fatal(err)
	}
	r.write("new/folder/untracked", "")
	r.write("new/folder/ignored.o", "")
	r.git("config", "status.showUntrackedFiles", "no")
	r.git("config", "status.renames", "true")
	r.git("config", "status.relativePaths", "true")
	want := []string{"deleted", "edited", "moved", "moved here", "new/folder/untracked", "removed", "staged", "staged then restored"}
	changed(t, r, "", want...)
	dirty(t, r, true)
	if err := os.MkdirAll(r.path("sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	changed(t, r.at(r.path("sub")), "", want...)
}

func TestEachKindOfChangeIsDirty(t *testing.T) {
	for name, change := range map[string]func(r *repo){
		"edited":    func(r *repo) { r.write("seed", "2\n") },
		"staged":    func(r *repo) { r.write("seed", "2\n"); r.git("add", "seed"); r.write("seed", "1\n") },
		"deleted":   func(r *repo) { os.Remove(r.path("seed")) },
		"untracked": func(r *repo) { r.write("a/b", "") },
	} {
		t.Run(name, func(t *testing.T) {
			r := newCommitted(t)
			dirty(t, r, false)
			change(r)
			dirty(t, r, true)
		})
	}
}

func TestChangedWhileMerging(t *testing.T) {
	r := newCommitted(t)
	r.git("checkout", "-q", "-b", "theirs")
	r.write("seed", "theirs\n")
	r.write("added by them", "")
	r.commit("theirs")
	r.git("checkout", "-q", "main")
	r.write("seed", "ours\n")
	r.commit("ours")
	if _, err := r.try("merge", "theirs"); err == nil {
		t.Fatal("the merge found no conflict")
	}
	changed(t, r, "HEAD", "added by them", "seed")
	dirty(t, r, true)
}

func TestChangedSinceTheDefaultBranch(t *testing.T) {
	r := newCommitted(t)
	r.git("checkout", "-q", "-b", "feature")
	r.write("mine", "")
	first := r.commit("mine")
	r.write("mine too", "")
	r.write("seed", "2\n")
	r.git("config", "diff.renames", "copies")
	r.git("mv", "mine", "mine moved")
	r.commit("mine too")
	r.git("checkout", "-q", "main")
	r.write("theirs", "")
	r.commit("theirs")
	r.git("checkout", "-q", "feature")
	r.write("untracked", "")
	r.write("mine too", "edited again")

	changed(t, r, "", "mine moved", "mine too", "seed", "untracked") // not theirs
	changed(t, r, "main", "mine moved", "mine too", "seed", "untracked")
	changed(t, r, first, "mine", "mine moved", "mine too", "seed", "untracked")
	changed(t, r, "HEAD", "mine too", "untracked")
	if ch, err := r.find().Changed(t.Context(), "none"); !errors.Is(err, git.ErrNoCommit) {
		t.Errorf("Changed(none) = %+v, %v, want ErrNoCommit", ch, err)
	}
	clone := r.at(filepath.Join(filepath.Dir(r.dir), "clone"))
	r.git("clone", "-q", "--branch", "main", r.dir, clone.dir)
	clone.write("unpushed", "")
	clone.git("remote", "set-head", "origin", "main")
	clone.commit("unpushed")
	changed(t, clone, "", "unpushed")
}

func TestChangedWithoutACommonCommit(t *testing.T) {
	r := newCommitted(t)
	r.git("checkout", "-q", "--orphan", "other")
	r.git("rm", "-q", "-f", "seed")
	r.write("other", "")
	r.commit("other")
	changed(t, r, "", "other", "seed")
}

func TestChangedBeforeTheFirstCommit(t *testing.T) {
	r := newRepo(t)
	changed(t, r, "")
	dirty(t, r, false)
	r.write("a", "")
	r.write("b", "")
	r.git("add", "a")
	changed(t, r, "", "a", "b")
	dirty(t, r, true)
	if ch, err := r.find().Changed(t.Context(), "HEAD"); !errors.Is(err, git.ErrNoCommit) {
		t.Errorf("Changed(HEAD) = %+v, %v, want ErrNoCommit", ch, err)
	}
}

func TestChangedLeavesOtherCheckoutsAlone(t *testing.T) {
	r := newCommitted(t)
	r.git("worktree", "add", "-q", r.path(".claude", "worktrees", "in"), "-b", "in")
	in := r.at(r.path(".claude", "worktrees", "in"))
	in.write("in the worktree", "")
	r.at(r.dir).git("init", "-q", "embedded")
	r.at(r.path("embedded")).write("x", "")
	dirty(t, r, false)
	changed(t, r, "")
	changed(t, in, "", "in the worktree")
	r.write(".claude/settings", "")
	changed(t, r, "", ".claude/settings")
}

func TestChangedSubmodule(t *testing.T) {
	r, lib := newCommitted(t), newCommitted(t)
	r.git("submodule", "--quiet", "add", lib.dir, "lib")
	r.commit("lib")
	dirty(t, r, false)
	sub := r.at(r.path("lib"))
	sub.write("seed", "2\n")
	dirty(t, r, false) // what is edited in it is its own affair
	sub.commit("second")
	changed(t, r, "HEAD", "lib")
	dirty(t, r, true)
	r.commit("move lib")
	changed(t, r, "HEAD~1", "lib")
}

func TestChangedNamesAreNeverMangled(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		t.Skip("the file system takes no such names")
	}
	r := newCommitted(t)
	text := []string{" lead", "-rf", "a\nb", "a\tb\"c\\", "quote'", "star*[x]", "trail ", "→ größe", "u 1 ?", "\x01\x7f"}
	for _, name := range text {
		r.write(name, "")
	}
	bad := []string{"\xff", "dir\xfe/x"}
	for _, name := range bad {
		r.write(name, "")
	}
	want := git.Changes{Paths: []string{"\x01\x7f", " lead", "-rf", "a\tb\"c\\", "a\nb", "quote'", "star*[x]", "trail ", "u 1 ?", "→ größe"},
		NotText: []string{"dir\xfe/x", "\xff"}}
	first := r.git("rev-parse", "HEAD")
	for _, when := range []string{"untracked", "staged", "committed"} {
		switch when {
		case "staged":
			r.git("add", "-A")
		case "committed":
			r.git("commit", "-q", "-m", "odd names")
		}
		got, err := r.find().Changed(t.Context(), first)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: Changed: %v (-want +got):\n%s", when, err, diff)
		}
	}
}

func TestChangedIsBounded(t *testing.T) {
	r := newCommitted(t)
	for i := range git.MaxChanged + 1 {
		if i%1000 == 0 {
			r.write(fmt.Sprintf("d%02d/x", i/1000), "")
		}
		if err := os.WriteFile(r.path(fmt.Sprintf("d%02d", i/1000), fmt.Sprint(i)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := r.find().Changed(t.Context(), "")
	if err != nil || len(got.Paths) != git.MaxChanged || !got.Truncated {
		t.Errorf("Changed = %d paths, truncated %v, %v, want %d, true", len(got.Paths), got.Truncated, err, git.MaxChanged)
	}
}

func TestLookingWritesNothing(t *testing.T) {
	r := newCommitted(t)
	// An index with another time than the file is what git status likes to refresh.
	r.write("seed", "1\n")
	before, err := os.ReadFile(r.path(".git", "index"))
	if err != nil {
		t.Fatal(err)
	}
	r.write(".git/index.lock", "") // and somebody else is at work
	dirty(t, r, false)
	changed(t, r, "")
	after, err := os.ReadFile(r.path(".git", "index"))
	if err != nil || string(after) != string(before) {
		t.Errorf("the index was rewritten (%v)", err)
	}
}

func TestBareRepositoryHasNoChanges(t *testing.T) {
	r := newRepo(t, "--bare")
	dirty(t, r, false)
	changed(t, r, "")
}
