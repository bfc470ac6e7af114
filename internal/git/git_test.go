package git_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/comity-dev/comity/internal/git"
)

// TestMain gives every git in this package the same world: no configuration of
// this machine, and no repository around the temporary folder.
func TestMain(m *testing.M) {
	for name, value := range map[string]string{
		"GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_SYSTEM": os.DevNull,
		"GIT_CEILING_DIRECTORIES": os.TempDir(),
	} {
		os.Setenv(name, value)
	}
	os.Exit(m.Run())
}

// A repo is a repository in a temporary folder.
type repo struct {
	t   *testing.T
	dir string // real path
}

func newDir(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// newRepo makes an empty repository on branch main in a folder named repo.
func newRepo(t *testing.T, args ...string) *repo {
	t.Helper()
	r := &repo{t, filepath.Join(newDir(t), "repo")}
	if err := os.Mkdir(r.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	r.git(append([]string{"init", "-q", "-b", "main"}, args...)...)
	return r
}

// newCommitted makes a repository with one commit that holds a file "seed".
func newCommitted(t *testing.T) *repo {
	t.Helper()
	r := newRepo(t)
	r.write("seed", "1\n")
	r.commit("first")
	return r
}

func (r *repo) at(dir string) *repo { return &repo{r.t, dir} }

func (r *repo) git(args ...string) string {
	r.t.Helper()
	out, err := r.try(args...)
	if err != nil {
		r.t.Fatal(err)
	}
	return out
}

func (r *repo) try(args ...string) (string, error) {
	cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.invalid",
		"-c", "commit.gpgSign=false", "-c", "protocol.file.allow=always"}, args...)...)
	cmd.Dir = r.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("git %s in %s: %w\n%s", strings.Join(args, " "), r.dir, err, out)
	}
	return strings.TrimSuffix(string(out), "\n"), err
}

// commit commits everything and returns the commit.
func (r *repo) commit(message string) string {
	r.t.Helper()
	r.git("add", "-A")
	r.git("commit", "-q", "--allow-empty", "-m", message)
	return r.git("rev-parse", "HEAD")
}

func (r *repo) write(name, data string) {
	r.t.Helper()
	name = filepath.Join(r.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(data), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

func (r *repo) link(target, name string) {
	r.t.Helper()
	if err := os.Symlink(filepath.FromSlash(target), filepath.Join(r.dir, filepath.FromSlash(name))); err != nil {
		r.t.Skip(err)
	}
}

func (r *repo) path(elem ...string) string { return filepath.Join(append([]string{r.dir}, elem...)...) }

// find finds the checkout of r, which must be there.
func (r *repo) find() git.Checkout {
	r.t.Helper()
	c, err := git.Find(r.t.Context(), r.dir)
	if err != nil {
		r.t.Fatal(err)
	}
	return c
}

func TestFind(t *testing.T) {
	r := newCommitted(t)
	r.write("a b/ü/x", "")
	base := filepath.Dir(r.dir)
	r.git("worktree", "add", "-q", r.path(".claude", "worktrees", "in"), "-b", "in")
	r.git("worktree", "add", "-q", filepath.Join(base, "out side"), "-b", "täst")
	r.git("clone", "-q", "--bare", r.dir, filepath.Join(base, "bare.git"))
	bare := r.at(filepath.Join(base, "bare.git"))
	bare.git("worktree", "add", "-q", filepath.Join(base, "of-bare"), "main")
	r.at(base).link("repo", "link")
	nested := newlineDir(t, r)

	common := r.path(".git")
	main := git.Checkout{Top: r.dir, GitDir: common, CommonDir: common}
	in := git.Checkout{Top: r.path(".claude", "worktrees", "in"), GitDir: filepath.Join(common, "worktrees", "in"), CommonDir: common}
	out := git.Checkout{Top: filepath.Join(base, "out side"), GitDir: filepath.Join(common, "worktrees", "out-side"), CommonDir: common}
	for _, tt := range []struct {
		name, dir string
		want      git.Checkout
	}{
		{"top", r.dir, main},
		{"folder with space and umlaut", r.path("a b", "ü"), main},
		{"through a symbolic link", filepath.Join(base, "link", "a b"), main},
		{"git's own folder", common, main},
		{"below git's own folder", filepath.Join(common, "refs"), main},
		{"worktree inside the checkout", in.Top, in},
		{"git's folder of a worktree", in.GitDir, in},
		{"worktree beside the checkout", out.Top, out},
		{"bare", bare.dir, git.Checkout{GitDir: bare.dir, CommonDir: bare.dir, Bare: true}},
		{"worktree of a bare repository", filepath.Join(base, "of-bare"),
			git.Checkout{Top: filepath.Join(base, "of-bare"), GitDir: bare.path("worktrees", "of-bare"), CommonDir: bare.dir}},
		{"newlines in the path", nested, git.Checkout{Top: nested, GitDir: filepath.Join(nested, ".git"), CommonDir: filepath.Join(nested, ".git")}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.dir == "" {
				t.Skip("not on this system")
			}
			got, err := git.Find(t.Context(), tt.dir)
			if err != nil || got != tt.want {
				t.Errorf("Find(%q) = %+v, %v\nwant %+v", tt.dir, got, err, tt.want)
			}
		})
	}
}

// newlineDir makes a repository in a folder whose name would end a line, and
// look like the separator that Find uses; "" where the system has no such names.
func newlineDir(t *testing.T, r *repo) string {
	dir := filepath.Join(filepath.Dir(r.dir), "new\nline\n--", "x\n")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return ""
	}
	r.at(dir).git("init", "-q")
	return dir
}

func TestFindFromTheCurrentFolder(t *testing.T) {
	r := newCommitted(t)
	t.Chdir(r.dir)
	if got, err := git.Find(t.Context(), ""); err != nil || got.Top != r.dir {
		t.Errorf("Find(\"\") = %+v, %v, want top %s", got, err, r.dir)
	}
}

func TestFindErrors(t *testing.T) {
	none := newDir(t)
	for _, tt := range []struct {
		name, dir string
		want      error
	}{
		{"no repository", none, git.ErrNoRepository},
		{"no folder", filepath.Join(none, "gone"), fs.ErrNotExist},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := git.Find(t.Context(), tt.dir)
			if !errors.Is(err, tt.want) || c != (git.Checkout{}) {
				t.Errorf("Find(%q) = %+v, %v, want %v", tt.dir, c, err, tt.want)
			}
			if !strings.Contains(fmt.Sprint(err), tt.dir) {
				t.Errorf("error %q does not name %q", err, tt.dir)
			}
		})
	}
}

func TestWithoutGitOnThePath(t *testing.T) {
	c := newCommitted(t).find()
	t.Setenv("PATH", t.TempDir())
	if _, err := git.Find(t.Context(), c.Top); !errors.Is(err, git.ErrNoGit) {
		t.Errorf("Find = %v, want ErrNoGit", err)
	}
	if _, err := c.Head(t.Context()); !errors.Is(err, git.ErrNoGit) {
		t.Errorf("Head = %v, want ErrNoGit", err)
	}
	if got := c.UserName(t.Context()); got != "" {
		t.Errorf("UserName = %q, want none", got)
	}
}

func TestADeletedWorktreeIsAnError(t *testing.T) {
	r := newCommitted(t)
	c := r.find()
	if err := os.RemoveAll(r.dir); err != nil {
		t.Fatal(err)
	}
	if h, err := c.Head(t.Context()); err == nil {
		t.Errorf("Head of a deleted worktree = %+v, want an error", h)
	}
}

func TestInheritedRepositoryVariablesAreIgnored(t *testing.T) {
	r, other := newCommitted(t), newCommitted(t)
	other.write("staged in the other", "")
	other.git("add", "-A")
	for name, value := range map[string]string{
		"GIT_DIR": other.path(".git"), "GIT_WORK_TREE": other.dir, "GIT_INDEX_FILE": other.path(".git", "index"),
		"GIT_COMMON_DIR": other.path(".git"), "GIT_PREFIX": "sub/", "GIT_OBJECT_DIRECTORY": other.path(".git", "objects"),
		"GIT_CONFIG_PARAMETERS": "'user.name=from the hook'", "GIT_NAMESPACE": "n",
	} {
		t.Setenv(name, value)
	}
	c, err := git.Find(t.Context(), r.dir)
	if want := r.path(".git"); err != nil || c.GitDir != want {
		t.Fatalf("Find = %+v, %v, want git folder %s", c, err, want)
	}
	if dirty, err := c.Dirty(t.Context()); dirty || err != nil {
		t.Errorf("Dirty = %v, %v, want clean: the inherited index is another's", dirty, err)
	}
	if got := c.UserName(t.Context()); got != "" {
		t.Errorf("UserName = %q, want none", got)
	}
}

func TestAnotherUsersRepositoryNamesTheRemedy(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root to give a folder away")
	}
	r := newCommitted(t)
	if err := os.Chown(r.dir, 12345, -1); err != nil {
		t.Skip(err)
	}
	if err := os.Chown(r.path(".git"), 12345, -1); err != nil {
		t.Fatal(err)
	}
	_, err := git.Find(t.Context(), r.dir)
	if !errors.Is(err, git.ErrUnsafe) {
		t.Fatalf("Find = %v, want ErrUnsafe", err)
	}
	if want := "git config --global --add safe.directory '" + r.dir + "'"; !strings.Contains(err.Error(), want) {
		t.Errorf("error %q does not say %q", err, want)
	}
	t.Setenv("GIT_CONFIG_COUNT", "1")
	t.Setenv("GIT_CONFIG_KEY_0", "safe.directory")
	t.Setenv("GIT_CONFIG_VALUE_0", r.dir)
	if _, err := git.Find(t.Context(), r.dir); err != nil {
		t.Errorf("Find with the remedy = %v", err)
	}
}

func TestWorktrees(t *testing.T) {
	r := newCommitted(t)
	base := filepath.Dir(r.dir)
	in, out, gone := r.path(".wt", "in"), filepath.Join(base, "a b"), filepath.Join(base, "gone")
	for i, dir := range []string{in, out, gone} {
		r.git("worktree", "add", "-q", dir, "-b", fmt.Sprint("b", i))
	}
	if err := os.RemoveAll(gone); err != nil {
		t.Fatal(err)
	}
	for _, from := range []string{r.dir, in, out} {
		got, err := r.at(from).find().Worktrees(t.Context())
		if want := []string{out, r.dir, in}; err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("Worktrees from %s = %q, %v, want %q", from, got, err, want)
		}
	}
}

func TestWorktreesOfABareRepository(t *testing.T) {
	r := newCommitted(t)
	home := r.at(filepath.Join(filepath.Dir(r.dir), "home"))
	r.git("clone", "-q", "--bare", r.dir, home.path(".bare"))
	home.write(".git", "gitdir: ./.bare\n")
	home.git("worktree", "add", "-q", "feature", "main")
	c := home.at(home.path("feature")).find()
	if c.Bare || c.CommonDir != home.path(".bare") {
		t.Errorf("Find = %+v, want a worktree of %s", c, home.path(".bare"))
	}
	got, err := c.Worktrees(t.Context())
	if want := []string{home.path("feature")}; err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("Worktrees = %q, %v, want %q", got, err, want)
	}
	if got, err := c.Rel(home.dir, "feature/seed"); got != "seed" || err != nil {
		t.Errorf("Rel(feature/seed) = %q, %v, want seed", got, err)
	}
	if got, err := c.Rel(home.dir, "notes.txt"); !errors.Is(err, git.ErrOutside) {
		t.Errorf("Rel(notes.txt) beside the worktrees = %q, %v, want ErrOutside", got, err)
	}
	if b := home.find(); !b.Bare || b.Top != "" {
		t.Errorf("Find(%s) = %+v, want bare", home.dir, b)
	}
}

// Some people turn a common repository into a bare one by its setting alone.
func TestWorktreesOfARepositoryThatWasMadeBare(t *testing.T) {
	r := newCommitted(t)
	wt := r.at(filepath.Join(filepath.Dir(r.dir), "wt"))
	r.git("worktree", "add", "-q", wt.dir, "-b", "wt")
	r.git("config", "core.bare", "true")
	got, err := wt.find().Worktrees(t.Context())
	if err != nil || len(got) != 1 || got[0] != wt.dir {
		t.Errorf("Worktrees = %q, %v, want %q", got, err, wt.dir)
	}
	if got, err := wt.find().Rel(r.dir, "seed"); !errors.Is(err, git.ErrOutside) {
		t.Errorf("Rel(seed) in the bare folder = %q, %v, want ErrOutside", got, err)
	}
}

func TestCancelledContextIsSaid(t *testing.T) {
	r := newCommitted(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := git.Find(ctx, r.dir); !errors.Is(err, context.Canceled) {
		t.Errorf("Find = %v, want context.Canceled", err)
	}
}
