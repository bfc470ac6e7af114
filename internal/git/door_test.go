package git_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/comity-dev/comity/internal/git"
)

// rel wants name, seen from cwd, to be path; or outside when path is "".
func rel(t *testing.T, c git.Checkout, cwd, name, path string) {
	t.Helper()
	got, err := c.Rel(cwd, filepath.FromSlash(name))
	var outside *git.OutsideError
	switch {
	case path != "" && (err != nil || got != path):
		t.Errorf("Rel(%q, %q) = %q, %v, want %q", cwd, name, got, err, path)
	case path == "" && !(errors.Is(err, git.ErrOutside) && errors.As(err, &outside)):
		t.Errorf("Rel(%q, %q) = %q, %v, want ErrOutside", cwd, name, got, err)
	case path == "" && (outside.Name != filepath.FromSlash(name) || outside.Real == "" || outside.Reason == ""):
		t.Errorf("Rel(%q, %q) = %#v, want the name, where it leads and why", cwd, name, outside)
	}
}

func TestRelMapsThroughTheNearestWorktree(t *testing.T) {
	r := newCommitted(t)
	base := filepath.Dir(r.dir)
	in, out := r.path(".claude", "worktrees", "in"), filepath.Join(base, "out side")
	r.git("worktree", "add", "-q", in, "-b", "in")
	r.git("worktree", "add", "-q", out, "-b", "out")
	r.write("sub/x", "")
	other := newCommitted(t)
	for _, from := range []string{r.dir, in, out} {
		c := r.at(from).find()
		rel(t, c, base, r.path("seed"), "seed")
		rel(t, c, r.dir, "seed", "seed")
		rel(t, c, r.dir, ".", ".")
		rel(t, c, r.dir, "", ".")
		rel(t, c, r.dir, "./sub//x", "sub/x")
		rel(t, c, r.dir, "sub/", "sub")
		rel(t, c, r.path("sub"), "../seed", "seed")
		rel(t, c, r.path("sub"), "..", ".")
		rel(t, c, r.dir, "new/folder/../file", "new/file")
		rel(t, c, r.dir, "seed/x", "seed/x") // through a file: it cannot exist, yet is a path
		rel(t, c, r.dir, "*.go", "*.go")
		rel(t, c, base, filepath.Join(in, "new", "file"), "new/file")
		rel(t, c, in, "new", "new")
		rel(t, c, r.dir, ".claude/worktrees/in/seed", "seed")
		rel(t, c, r.dir, ".claude/worktrees/in", ".")
		rel(t, c, r.dir, ".claude/worktrees/none/x", ".claude/worktrees/none/x")
		rel(t, c, out, "seed", "seed")
		rel(t, c, r.dir, "../out side/a/b", "a/b")

		rel(t, c, r.dir, "..", "")
		rel(t, c, r.dir, "../x", "")
		rel(t, c, base, base, "")
		rel(t, c, base, r.dir+"x", "") // a shared prefix is not a shared folder
		rel(t, c, base, other.path("seed"), "")
		rel(t, c, r.dir, ".git", "")
		rel(t, c, r.dir, ".git/config", "")
		rel(t, c, r.dir, ".Git/config", "")
		rel(t, c, in, ".git", "")
		rel(t, c, r.dir, "/", "")
	}
	if got, err := r.find().Rel("sub", "x"); err == nil {
		t.Errorf("Rel from a relative folder = %q, want an error", got)
	}
}

func TestRelFollowsLinks(t *testing.T) {
	r := newCommitted(t)
	base := filepath.Dir(r.dir)
	r.write("a/b/file", "")
	r.link("a/b", "inside")
	r.link("../seed", "a/up")
	r.link(r.path("a"), "absolute")
	r.link("nothing/yet", "dangling")
	r.link("loop2", "loop1")
	r.link("loop1", "loop2")
	r.link("..", "out")
	r.link(base+"/elsewhere", "away")
	r.link(".git", "dotgit")
	r.at(base).link("repo", "alias")
	c := r.find()

	rel(t, c, r.dir, "inside", "a/b")
	rel(t, c, r.dir, "inside/file", "a/b/file")
	rel(t, c, r.dir, "inside/new/x", "a/b/new/x")
	rel(t, c, r.dir, "inside/../x", "a/x") // as the system goes, not as the text reads
	rel(t, c, r.path("inside"), "../x", "a/x")
	rel(t, c, r.dir, "a/up", "seed")
	rel(t, c, r.dir, "absolute/b", "a/b")
	rel(t, c, r.dir, "dangling", "nothing/yet")
	rel(t, c, r.dir, "out/repo/seed", "seed")
	rel(t, c, filepath.Join(base, "alias", "a"), "b", "a/b")
	rel(t, c, base, filepath.Join(base, "alias", "new"), "new")

	rel(t, c, r.dir, "out", "")
	rel(t, c, r.dir, "out/x", "")
	rel(t, c, r.dir, "away", "")
	rel(t, c, r.dir, "dotgit/config", "")
	if got, err := c.Rel(r.dir, "loop1/x"); err == nil {
		t.Errorf("Rel(loop1/x) = %q, want an error", got)
	}
}

func TestRelLeavesOtherRepositoriesAlone(t *testing.T) {
	r, lib := newCommitted(t), newCommitted(t)
	r.git("submodule", "--quiet", "add", lib.dir, "lib")
	r.git("init", "-q", "embedded")
	r.write("fake/.git", "not a link to a repository\n")
	r.write("empty/.git/x", "")
	c := r.find()
	rel(t, c, r.dir, "lib", "lib") // the commit that the submodule stands at is a path of ours
	rel(t, c, r.dir, "lib/seed", "")
	rel(t, c, r.dir, "embedded/new", "")
	rel(t, c, r.dir, "fake/new", "fake/new")
	rel(t, c, r.dir, "empty/new", "empty/new")
	sub := r.at(r.path("lib")).find()
	rel(t, sub, r.path("lib"), "seed", "seed")
	rel(t, sub, r.path("lib"), "../seed", "")
}

func TestRelOfASeparateGitFolder(t *testing.T) {
	r := newRepo(t, "--separate-git-dir", filepath.Join(t.TempDir(), "away"))
	c := r.find()
	if c.Top != r.dir {
		t.Fatalf("Find = %+v, want top %s", c, r.dir)
	}
	rel(t, c, r.dir, "a", "a")
	rel(t, c, r.dir, "../a", "")
}

func TestRelRefusesNamesThatAreNotText(t *testing.T) {
	r := newCommitted(t)
	if got, err := r.find().Rel(r.dir, "a/\xff"); !errors.Is(err, git.ErrNotText) {
		t.Errorf("Rel = %q, %v, want ErrNotText", got, err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	rel(t, r.find(), r.dir, "a\nb", "a\nb")
}

func TestKind(t *testing.T) {
	r := newCommitted(t)
	r.write("dir/file", "")
	r.link("dir", "link")
	r.link("seed", "file link")
	r.link("none", "dangling")
	r.link("..", "out")
	r.link(filepath.Dir(r.dir)+"/none", "away")
	r.git("worktree", "add", "-q", r.path("wt"), "-b", "wt")
	c := r.find()
	for _, tt := range []struct {
		path string
		want git.Kind
	}{
		{"seed", git.File}, {"dir", git.Dir}, {"dir/", git.Dir}, {".", git.Dir}, {"dir/file", git.File},
		{"none", git.Missing}, {"none/x", git.Missing}, {"seed/x", git.Missing},
		{"link", git.Dir}, {"link/file", git.File}, {"link/none", git.Missing}, {"file link", git.File}, {"dangling", git.Missing},
		{"wt", git.Dir}, {"wt/seed", git.File},
		{strings.Repeat("n", 300), git.Missing}, {strings.Repeat("n/", 3000), git.Missing}, // longer than a name and a path can be
	} {
		got, err := c.Kind(t.Context(), tt.path)
		if err != nil || got != tt.want {
			t.Errorf("Kind(%q) = %v, %v, want %v", tt.path, got, err, tt.want)
		}
	}
	for _, path := range []string{"", "..", "../repo/seed", "dir/../../x", "/etc", "out", "out/repo", "out/x", "away", ".git", ".git/config"} {
		if path == "out/repo" { // out and in again: it is this repository
			if got, err := c.Kind(t.Context(), path); got != git.Dir || err != nil {
				t.Errorf("Kind(%q) = %v, %v, want a folder", path, got, err)
			}
			continue
		}
		if got, err := c.Kind(t.Context(), path); !errors.Is(err, git.ErrOutside) {
			t.Errorf("Kind(%q) = %v, %v, want ErrOutside", path, got, err)
		}
	}
}

func TestKindInABareRepository(t *testing.T) {
	r := newRepo(t, "--bare")
	if got, err := r.find().Kind(t.Context(), "HEAD"); got != git.Missing || err != nil {
		t.Errorf("Kind = %v, %v, want missing", got, err)
	}
}

// On a disk that folds case, a name in another case is the same file.
func TestRelOnADiskThatFoldsCase(t *testing.T) {
	r := newCommitted(t)
	if _, err := os.Stat(r.path("SEED")); err != nil {
		t.Skip("this disk tells cases apart")
	}
	got, err := r.find().Rel(strings.ToUpper(r.dir), "SEED")
	if err != nil || !strings.EqualFold(got, "seed") {
		t.Errorf("Rel = %q, %v, want seed in some case", got, err)
	}
}
