package git_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/comity-dev/comity/internal/git"
	"github.com/google/go-cmp/cmp"
)

const none = "0000000000000000000000000000000000000000"

// newRemote makes a repository with a remote "origin" that has its first commit.
func newRemote(t *testing.T) *repo {
	t.Helper()
	r := newCommitted(t)
	bare := filepath.Join(filepath.Dir(r.dir), "origin.git")
	r.git("init", "-q", "--bare", bare)
	r.git("remote", "add", "origin", bare)
	r.git("push", "-q", "origin", "main")
	return r
}

func pushed(t *testing.T, r *repo, remote string, pushes []git.Push, want ...string) git.Pushed {
	t.Helper()
	got, err := r.find().Pushed(t.Context(), remote, pushes, 100)
	if err != nil || got.Cut {
		t.Fatal(got.Cut, err)
	}
	if diff := cmp.Diff(append([]string{}, want...), append([]string{}, got.Names...)); diff != "" {
		t.Errorf("pushed (-want +got):\n%s", diff)
	}
	return got
}

func TestPushed(t *testing.T) {
	r := newRemote(t)
	old := r.git("rev-parse", "HEAD")
	pushed(t, r, "origin", nil)
	pushed(t, r, "origin", []git.Push{{old, old}})
	r.write("a", "1")
	r.commit("a")
	r.write("b", "1")
	r.write("a", "2")
	head := r.commit("b")
	pushed(t, r, "origin", []git.Push{{head, old}}, "a", "b")
	pushed(t, r, "origin", []git.Push{{head, none}}, "a", "b")                    // a new branch
	pushed(t, r, "https://example.invalid/x", []git.Push{{head, none}}, "a", "b") // where no remote has that URL
	pushed(t, r, "", []git.Push{{head, old}}, "a", "b")
	pushed(t, r, "origin", []git.Push{{head, "00000000000000000000000000000000000000ff"}}, "a", "b") // one that we do not have
	r.git("tag", "-m", "x", "v1")
	pushed(t, r, "origin", []git.Push{{r.git("rev-parse", "v1"), none}}, "a", "b")
	pushed(t, r, "origin", []git.Push{{r.git("rev-parse", "HEAD:a"), none}}) // a tag of a file
	if _, err := r.find().Pushed(t.Context(), "origin", []git.Push{{"--all", none}}, 9); err == nil {
		t.Error("an option for an object name is no error")
	}
}

// A file that was written and taken away again was pushed with its history.
func TestPushedHistory(t *testing.T) {
	r := newRemote(t)
	r.write("a", "1")
	r.commit("a")
	r.git("rm", "-q", "a")
	head := r.commit("no a")
	pushed(t, r, "origin", []git.Push{{head, none}}, "a")
}

func TestPushedToAnEmptyRemote(t *testing.T) {
	r := newCommitted(t)
	r.git("remote", "add", "origin", "/nowhere")
	head := r.git("rev-parse", "HEAD")
	pushed(t, r, "origin", []git.Push{{head, none}}, "seed")
}

// Of a merge it is what the merge itself changes; what another worktree brought
// is that worktree's.
func TestPushedMerge(t *testing.T) {
	r := newRemote(t)
	old := r.git("rev-parse", "HEAD")
	linked := r.at(filepath.Join(filepath.Dir(r.dir), "linked"))
	r.git("worktree", "add", "-q", linked.dir, "-b", "theirs")
	linked.write("theirs", "1")
	linked.commit("theirs")
	r.git("checkout", "-q", "-b", "own", "main")
	r.write("own", "1")
	r.commit("own")
	r.git("checkout", "-q", "main")
	r.write("ours", "1")
	r.commit("ours")
	r.git("merge", "-q", "--no-ff", "-m", "merge", "theirs")
	r.git("merge", "-q", "--no-ff", "-m", "merge own", "own")
	pushed(t, r, "origin", []git.Push{{r.git("rev-parse", "HEAD"), old}}, "ours", "own")
	r.write("seed", "in the merge")
	r.git("add", "-A")
	r.git("commit", "-q", "--amend", "--no-edit")
	pushed(t, r, "origin", []git.Push{{r.git("rev-parse", "HEAD"), old}}, "ours", "own", "seed")
	linked.git("push", "-q", "origin", "theirs")
	linked.git("checkout", "-q", "--detach", old)
	pushed(t, r, "origin", []git.Push{{r.git("rev-parse", "HEAD"), old}}, "ours", "own", "seed")
}

func TestPushedIsBounded(t *testing.T) {
	r := newRemote(t)
	for _, name := range strings.Fields("a b c d e") {
		r.write(name, "1")
		r.commit(name)
	}
	p, err := r.find().Pushed(t.Context(), "origin", []git.Push{{r.git("rev-parse", "HEAD"), none}}, 3)
	if err != nil || !p.Older || p.Commits != 3 {
		t.Errorf("%+v, %v", p, err)
	}
	if diff := cmp.Diff([]string{"c", "d", "e"}, p.Names); diff != "" {
		t.Errorf("not the newest (-want +got):\n%s", diff)
	}
	if p = pushed(t, r, "origin", []git.Push{{r.git("rev-parse", "HEAD"), none}}, "a", "b", "c", "d", "e"); p.Older || p.Commits != 5 {
		t.Errorf("%+v", p)
	}
}
