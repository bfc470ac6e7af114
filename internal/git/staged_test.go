package git_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// staged checks what a commit of r's index would change.
func staged(t *testing.T, r *repo, index string, want ...string) {
	t.Helper()
	got, err := r.find().Staged(t.Context(), index)
	if err != nil || got.Cut {
		t.Fatal(got.Cut, err)
	}
	if diff := cmp.Diff(append([]string{}, want...), append([]string{}, got.Names...)); diff != "" {
		t.Errorf("staged (-want +got):\n%s", diff)
	}
}

func TestStagedForTheFirstCommit(t *testing.T) {
	r := newRepo(t)
	staged(t, r, "")
	r.write("a", "1")
	r.write("dir/b", "1")
	r.write("untracked", "1")
	r.git("add", "a", "dir/b")
	staged(t, r, "", "a", "dir/b")
}

func TestStaged(t *testing.T) {
	r := newRepo(t)
	for _, name := range []string{"changed", "deleted", "old name", "same", "mode", "not staged"} {
		r.write(name, name+" with a text that is long enough to be found again\n")
	}
	r.commit("first")
	r.git("config", "diff.renames", "copies")
	r.git("config", "diff.noprefix", "true")
	r.git("config", "diff.external", "false")
	r.git("config", "color.ui", "always")
	r.write("changed", "2")
	r.write("new\nline", "2")
	r.write("not staged", "2")
	r.git("rm", "-q", "deleted")
	r.git("mv", "old name", "new name")
	r.git("update-index", "--chmod=+x", "mode")
	r.git("add", "changed", "new\nline")
	staged(t, r, "", "changed", "deleted", "mode", "new\nline", "new name", "old name")

	// From a folder below, and whatever a hook inherits.
	t.Setenv("GIT_DIR", "/nowhere")
	t.Setenv("GIT_INDEX_FILE", "/nowhere")
	staged(t, r, "", "changed", "deleted", "mode", "new\nline", "new name", "old name")
}

// git commit -- path commits from an index of its own, which it names to the hook.
func TestStagedInAnotherIndex(t *testing.T) {
	r := newCommitted(t)
	r.write("seed", "2")
	r.write("other", "2")
	r.git("add", "other")
	b, err := os.ReadFile(r.path(".git", "index"))
	if err != nil {
		t.Fatal(err)
	}
	index := r.path(".git", "next-index.lock")
	if err := os.WriteFile(index, b, 0o600); err != nil {
		t.Fatal(err)
	}
	r.git("rm", "-q", "--cached", "other")
	r.git("add", "seed")
	staged(t, r, "", "seed")
	staged(t, r, index, "other")
	staged(t, r, filepath.Join(".git", "next-index.lock"), "other")
}

// A name that is no text is one all the same.
func TestStagedNameThatIsNoText(t *testing.T) {
	r := newCommitted(t)
	if err := os.WriteFile(r.path("a\xff"), nil, 0o644); err != nil {
		t.Skip("this file system takes only text:", err)
	}
	r.git("add", "-A")
	staged(t, r, "", "a\xff")
}

func TestStagedOfAMergeIsWhatTheMergeChanges(t *testing.T) {
	for _, side := range []string{"main worktree", "linked worktree"} {
		t.Run(side, func(t *testing.T) {
			r := newRepo(t)
			for _, name := range []string{"ours", "theirs", "both", "conflict", "touched"} {
				r.write(name, "1\n2\n3\n4\n5\n6\n7\n8\n9\n")
			}
			r.commit("first")
			r.git("branch", "other")
			if side == "linked worktree" {
				r.git("worktree", "add", "-q", filepath.Join(filepath.Dir(r.dir), "linked"), "-b", "linked")
				r = r.at(filepath.Join(filepath.Dir(r.dir), "linked"))
			}
			r.write("ours", "ours")
			r.write("both", "one\n2\n3\n4\n5\n6\n7\n8\n9\n")
			r.write("conflict", "ours")
			r.commit("ours")
			mine := r.git("rev-parse", "HEAD")
			r.git("checkout", "-q", "other")
			r.write("theirs", "theirs")
			r.write("new of theirs", "theirs")
			r.write("both", "1\n2\n3\n4\n5\n6\n7\n8\nnine\n")
			r.write("conflict", "theirs")
			r.commit("theirs")
			r.git("checkout", "-q", "--detach", mine)
			if _, err := r.try("merge", "-q", "other"); err == nil {
				t.Fatal("no conflict")
			}
			r.write("conflict", "solved")
			r.write("touched", "by the way")
			r.git("add", "-A")
			staged(t, r, "", "both", "conflict", "touched")
			r.git("commit", "-q", "-m", "merged")
			staged(t, r, "")
		})
	}
}

func TestStagedOfAnOctopus(t *testing.T) {
	r := newCommitted(t)
	for _, branch := range []string{"a", "b"} {
		r.git("checkout", "-q", "-b", branch, "main")
		r.write("of "+branch, branch)
		r.commit(branch)
	}
	r.git("checkout", "-q", "main")
	r.write("of main", "main")
	r.commit("main")
	r.git("merge", "-q", "--no-commit", "a", "b")
	staged(t, r, "")
	r.write("of a", "changed")
	r.git("add", "-A")
	staged(t, r, "", "of a")
}
