package git_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/comity-dev/comity/internal/git"
)

func TestHead(t *testing.T) {
	r := newRepo(t)
	head := func(name string, want git.Head) {
		t.Helper()
		got, err := r.find().Head(t.Context())
		if err != nil || got != want {
			t.Errorf("%s: Head = %+v, %v, want %+v", name, got, err, want)
		}
	}
	head("before the first commit", git.Head{Branch: "main"})
	oid := r.commit("first")
	head("on a branch", git.Head{Branch: "main", OID: oid})
	r.git("checkout", "-q", "-b", "feat/größe+日本")
	head("on a branch with a slash and beyond ASCII", git.Head{Branch: "feat/größe+日本", OID: oid})
	r.git("checkout", "-q", "--detach")
	head("detached", git.Head{OID: oid, Detached: true})
	r.git("checkout", "-q", "--orphan", "HEAD2")
	head("on an orphan", git.Head{Branch: "HEAD2"})
	if _, err := r.try("checkout", "-q", "-b", "not\xfftext", oid); err == nil {
		head("on a branch that is not UTF-8", git.Head{OID: oid})
	}
}

func TestHeadOfABareRepository(t *testing.T) {
	r := newCommitted(t)
	bare := r.at(filepath.Join(filepath.Dir(r.dir), "bare"))
	r.git("clone", "-q", "--bare", r.dir, bare.dir)
	got, err := bare.find().Head(t.Context())
	if want := (git.Head{Branch: "main", OID: r.git("rev-parse", "HEAD")}); err != nil || got != want {
		t.Errorf("Head = %+v, %v, want %+v", got, err, want)
	}
}

func TestTree(t *testing.T) {
	r := newCommitted(t)
	first := r.git("rev-parse", "HEAD")
	r.write("b", "2")
	second := r.commit("second")
	r.git("tag", "-a", "-m", "x", "v1", first)
	r.git("tag", "blob", first+":seed")
	c := r.find()
	for _, tt := range []struct{ rev, commit string }{
		{"HEAD", second}, {"main", second}, {"HEAD~1", first}, {"v1", first}, {first, first}, {first[:10], first},
	} {
		commit, tree, err := c.Tree(t.Context(), tt.rev)
		if want := r.git("rev-parse", tt.commit+"^{tree}"); err != nil || commit != tt.commit || tree != want {
			t.Errorf("Tree(%q) = %s, %s, %v, want %s, %s", tt.rev, commit, tree, err, tt.commit, want)
		}
	}
	for _, rev := range []string{"", "none", "--all", "-h", "HEAD\nHEAD", "HEAD..main", "main:seed", "blob",
		strings.Repeat("0", 40), strings.Repeat("a", 40), "HEAD\x00", "HEAD:", ":/first^{tree}"} {
		if commit, tree, err := c.Tree(t.Context(), rev); !errors.Is(err, git.ErrNoCommit) {
			t.Errorf("Tree(%q) = %s, %s, %v, want ErrNoCommit", rev, commit, tree, err)
		}
	}
}

func TestTreeOfAnEmptyRepository(t *testing.T) {
	if _, _, err := newRepo(t).find().Tree(t.Context(), "HEAD"); !errors.Is(err, git.ErrNoCommit) {
		t.Errorf("Tree(HEAD) = %v, want ErrNoCommit", err)
	}
}

func TestSubject(t *testing.T) {
	r := newRepo(t)
	r.commit("größer: one\ntwo\n\nbody")
	r.git("config", "log.showSignature", "true")
	r.git("config", "color.ui", "always")
	r.git("config", "format.pretty", "fuller")
	r.git("config", "i18n.logOutputEncoding", "ISO-8859-1")
	got, err := r.find().Subject(t.Context(), "HEAD")
	if want := "größer: one two"; err != nil || got != want {
		t.Errorf("Subject(HEAD) = %q, %v, want %q", got, err, want)
	}
	if got, err := r.find().Subject(t.Context(), "none"); !errors.Is(err, git.ErrNoCommit) {
		t.Errorf("Subject(none) = %q, %v, want ErrNoCommit", got, err)
	}
}

// root wants the root commit of r to be want.
func root(t *testing.T, r *repo, want string) {
	t.Helper()
	if got, err := r.find().RootCommit(t.Context()); err != nil || got != want {
		t.Errorf("RootCommit in %s = %q, %v, want %q", r.dir, got, err, want)
	}
}

func TestRootCommitIsTheSameInEveryClone(t *testing.T) {
	r := newRepo(t)
	first := r.commit("first")
	r.commit("second")
	// Unrelated history with an older root comes in by a merge.
	r.git("checkout", "-q", "--orphan", "other")
	other := r.commit("of another project")
	r.git("checkout", "-q", "main")
	r.git("merge", "-q", "--no-edit", "--allow-unrelated-histories", "other")
	root(t, r, first)

	base := filepath.Dir(r.dir)
	clone := r.at(filepath.Join(base, "clone"))
	r.git("clone", "-q", "--branch", "other", r.dir, clone.dir)
	root(t, clone, first) // by origin/HEAD, though what is checked out ends elsewhere
	clone.git("remote", "set-head", "origin", "--delete")
	root(t, clone, first) // by origin/main
	clone.git("worktree", "add", "-q", "--detach", filepath.Join(base, "wt"), "origin/other")
	root(t, r.at(filepath.Join(base, "wt")), first)

	r.git("clone", "-q", "--bare", r.dir, filepath.Join(base, "bare"))
	root(t, r.at(filepath.Join(base, "bare")), first)

	r.git("checkout", "-q", "other")
	r.git("branch", "-q", "-m", "main", "trunk")
	root(t, r, other) // none of the known names: what is checked out
	r.git("branch", "-q", "master", "trunk")
	root(t, r, first)
}

func TestRootCommitIgnoresReplacements(t *testing.T) {
	r := newRepo(t)
	first := r.commit("first")
	second := r.commit("second")
	r.git("replace", "--graft", second)
	root(t, r, first)
	r.git("replace", "-d", second)
	r.write(".git/info/grafts", second+"\n")
	root(t, r, first)
}

func TestRootCommitOfAShallowClone(t *testing.T) {
	r := newRepo(t)
	first := r.commit("first")
	r.commit("second")
	r.commit("third")
	clone := r.at(filepath.Join(filepath.Dir(r.dir), "clone"))
	r.git("clone", "-q", "--depth=2", "file://"+filepath.ToSlash(r.dir), clone.dir)
	if got, err := clone.find().RootCommit(t.Context()); !errors.Is(err, git.ErrShallow) || got != "" {
		t.Errorf("RootCommit of a shallow clone = %q, %v, want ErrShallow", got, err)
	}
	clone.git("fetch", "-q", "--unshallow")
	root(t, clone, first)
}

// Only the first-parent line counts, so a clone that is shallow elsewhere has its root.
func TestRootCommitOfAShallowSideBranch(t *testing.T) {
	r := newRepo(t)
	r.git("checkout", "-q", "-b", "side")
	for range 3 {
		r.commit("side")
	}
	r.git("checkout", "-q", "--orphan", "main")
	first := r.commit("first")
	r.git("merge", "-q", "--no-edit", "--allow-unrelated-histories", "side")
	clone := r.at(filepath.Join(filepath.Dir(r.dir), "clone"))
	r.git("clone", "-q", "--depth=2", "file://"+filepath.ToSlash(r.dir), clone.dir)
	if _, err := os.Stat(clone.path(".git", "shallow")); err != nil {
		t.Fatal("the clone is not shallow: ", err)
	}
	root(t, clone, first)
}

func TestRootCommitOfAnEmptyRepository(t *testing.T) {
	if got, err := newRepo(t).find().RootCommit(t.Context()); !errors.Is(err, git.ErrEmpty) {
		t.Errorf("RootCommit = %q, %v, want ErrEmpty", got, err)
	}
}

func TestSHA256Repository(t *testing.T) {
	r := newRepo(t)
	sha256 := r.at(filepath.Join(filepath.Dir(r.dir), "sha256"))
	if _, err := r.try("init", "-q", "-b", "main", "--object-format=sha256", sha256.dir); err != nil {
		t.Skip(err)
	}
	oid := sha256.commit("first")
	if len(oid) != 64 {
		t.Fatalf("commit %s is not named by sha256", oid)
	}
	root(t, sha256, oid)
	if h, err := sha256.find().Head(t.Context()); err != nil || h.OID != oid {
		t.Errorf("Head = %+v, %v, want %s", h, err, oid)
	}
	sha256.write("x", "")
	if ch, err := sha256.find().Changed(t.Context(), ""); err != nil || len(ch.Paths) != 1 || ch.Paths[0] != "x" {
		t.Errorf("Changed = %+v, %v, want x", ch, err)
	}
}

func TestDefaultBranch(t *testing.T) {
	r := newRepo(t)
	want := func(r *repo, want string) {
		t.Helper()
		if got, err := r.find().DefaultBranch(t.Context()); err != nil || got != want {
			t.Errorf("DefaultBranch in %s = %q, %v, want %q", r.dir, got, err, want)
		}
	}
	r.git("symbolic-ref", "HEAD", "refs/heads/new")
	want(r, "new") // before the first commit
	r.git("symbolic-ref", "HEAD", "refs/heads/feat/x")
	r.commit("first")
	want(r, "feat/x")
	clone := r.at(filepath.Join(filepath.Dir(r.dir), "clone"))
	r.git("clone", "-q", r.dir, clone.dir)
	clone.git("checkout", "-q", "-b", "main")
	want(clone, "feat/x") // origin/HEAD
	clone.git("remote", "set-head", "origin", "--delete")
	want(clone, "main")
	r.git("branch", "master")
	want(r, "master")
	r.git("branch", "main")
	want(r, "main")
	r.git("branch", "-D", "main", "master")
	r.git("checkout", "-q", "--detach")
	if got, err := r.find().DefaultBranch(t.Context()); !errors.Is(err, git.ErrNoCommit) {
		t.Errorf("DefaultBranch of a detached head alone = %q, %v, want ErrNoCommit", got, err)
	}
}

func TestConfigPrefersTheNearest(t *testing.T) {
	r := newRepo(t)
	global := filepath.Join(filepath.Dir(r.dir), "global")
	t.Setenv("GIT_CONFIG_GLOBAL", global)
	r.git("config", "--global", "comity.repository", "of the person")
	r.git("config", "--global", "comity.peer.Ada.url", "x")
	r.git("config", "--global", "comityother.key", "x")
	c := r.find()
	check := func(key, want string, wantOK bool) {
		t.Helper()
		got, ok, err := c.Config(t.Context(), key)
		if got != want || ok != wantOK || err != nil {
			t.Errorf("Config(%s) = %q, %v, %v, want %q, %v", key, got, ok, err, want, wantOK)
		}
	}
	check("comity.repository", "of the person", true)
	check("comity.none", "", false)
	r.git("config", "comity.repository", "local\nin two lines")
	check("Comity.Repository", "local\nin two lines", true)
	r.git("config", "comity.empty", "")
	check("comity.empty", "", true)

	got, err := c.Settings(t.Context(), "comity")
	if err != nil || len(got) != 3 || got["comity.repository"] != "local\nin two lines" || got["comity.peer.Ada.url"] != "x" {
		t.Errorf("Settings = %q, %v", got, err)
	}
	if got, ok, err := c.Config(t.Context(), "no-dot"); err == nil {
		t.Errorf("Config(no-dot) = %q, %v, want an error", got, ok)
	}
	r.write(".git/config", "[broken")
	if got, ok, err := c.Config(t.Context(), "comity.repository"); err == nil {
		t.Errorf("Config of a broken file = %q, %v, want an error", got, ok)
	}
}

func TestUserName(t *testing.T) {
	r := newRepo(t)
	if got := r.find().UserName(t.Context()); got != "" {
		t.Errorf("UserName = %q, want none", got)
	}
	r.git("config", "user.name", " Änne \xff ")
	if got, want := r.find().UserName(t.Context()), "Änne \uFFFD"; got != want {
		t.Errorf("UserName = %q, want %q", got, want)
	}
}
