package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/internal/httpapi"
	"github.com/google/go-cmp/cmp"
)

// A guarded is a repository whose hooks call this program.
type guarded struct {
	*fake
	dir string
	env []string
}

func newGuarded(t *testing.T) *guarded {
	t.Helper()
	f := newFake(t)
	dir, err := filepath.EvalSymlinks(repository(t))
	if err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	g := &guarded{f, dir, append(os.Environ(), "COMITY_TEST_PROGRAM=1", "COMITY_HOME="+f.env["COMITY_HOME"], "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_EDITOR=true")}
	for _, hook := range []string{"pre-commit", "pre-push", "prepare-commit-msg"} {
		script := fmt.Sprintf("#!/bin/sh\nexec '%s' hook git %s \"$@\"\n", exe, hook)
		if err := os.WriteFile(filepath.Join(dir, ".git", "hooks", hook), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	g.git("config", "user.name", "ada")
	g.git("config", "user.email", "a@example.org")
	g.git("config", "commit.gpgSign", "false")
	return g
}

// in is the same in another worktree.
func (g *guarded) in(dir string) *guarded { return &guarded{g.fake, dir, g.env} }

func (g *guarded) git(args ...string) string {
	g.t.Helper()
	out, err := g.try(args...)
	if err != nil {
		g.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return out
}

func (g *guarded) try(args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = g.dir, g.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (g *guarded) write(name, data string) {
	g.t.Helper()
	path := filepath.Join(g.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		g.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
		g.t.Fatal(err)
	}
}

// paths are those that the daemon was asked about, by whichever process.
type paths struct {
	mu    sync.Mutex
	names []string
}

func (p *paths) add(names []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.names = append(p.names, names...)
}

// take returns them and forgets them.
func (p *paths) take() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	names := p.names
	p.names = nil
	return names
}

// holds makes the daemon refuse paths that another session holds, and note what
// it is asked about.
func (g *guarded) holds(taken ...string) (asked *paths) {
	asked = new(paths)
	g.ops[api.OpGuard] = func(_ context.Context, _ httpapi.Caller, body []byte) (any, error) {
		var req api.GuardRequest
		if err := json.Unmarshal(body, &req); err != nil {
			return nil, err
		}
		if req.Dir != g.dir && !strings.Contains(req.Dir, "linked") {
			g.t.Errorf("asked about %s", req.Dir)
		}
		if req.Hook != "prepare-commit-msg" {
			asked.add(req.Paths)
		}
		for _, p := range req.Paths {
			for _, held := range taken {
				if p == held {
					return api.GuardReply{Deny: p + " is held by s-77", Hint: "wait for it", Conflicts: []api.Conflict{conflict()}}, nil
				}
			}
		}
		return api.GuardReply{}, nil
	}
	return asked
}

func asks(t *testing.T, asked *paths, want ...string) {
	t.Helper()
	if diff := cmp.Diff(append([]string{}, want...), append([]string{}, asked.take()...)); diff != "" {
		t.Errorf("asked about (-want +got):\n%s", diff)
	}
}

func TestGuardOfCommits(t *testing.T) {
	g := newGuarded(t)
	asked := g.holds("held")
	g.serve()
	g.write("a", "1")
	g.write("old", "a text that is long enough to be known again\n")
	g.write("gone", "1")
	g.git("add", "-A")
	g.git("commit", "-q", "-m", "first")
	asks(t, asked, "a", "gone", "old")

	g.git("rm", "-q", "gone")
	g.git("mv", "old", "new")
	g.git("commit", "-q", "-m", "moved")
	asks(t, asked, "gone", "new", "old")

	g.write("held", "1")
	g.git("add", "-A")
	out, err := g.try("commit", "-q", "-m", "refused")
	if err == nil {
		t.Fatal("it was committed")
	}
	for _, want := range []string{"comity: pre-commit: held is held by s-77", "972572/4  exclusive  epoch 4  src/", "held by s-77 (claude, ada)", "comity: hint: wait for it", "git commit --no-verify"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	fits(t, []string{"pre-commit"}, out)
	asks(t, asked, "held")

	// One path of several, which git commits from an index of its own.
	g.write("a", "2")
	g.git("commit", "-q", "-m", "only a", "--", "a")
	asks(t, asked, "a")
	if out, err := g.try("commit", "-q", "-m", "a and the other", "-a"); err == nil {
		t.Errorf("it was committed: %s", out)
	}
	asks(t, asked, "held")
	g.git("commit", "-q", "--no-verify", "-m", "all the same")
	asks(t, asked)

	g.write("a", "3")
	g.git("commit", "-q", "-a", "--amend", "-m", "amended")
	asks(t, asked, "a")
	g.git("commit", "-q", "--allow-empty", "-m", "empty")
	asks(t, asked)
}

func TestGuardOfTheFirstCommit(t *testing.T) {
	g := newGuarded(t)
	asked := g.holds()
	g.serve()
	g.git("checkout", "-q", "--orphan", "fresh")
	g.write("a", "1")
	g.git("add", "a")
	g.git("commit", "-q", "-m", "first")
	asks(t, asked, "a")
}

// Without any commit the daemon does not know the repository yet.
func TestGuardOfARepositoryWithoutCommits(t *testing.T) {
	g := newGuarded(t)
	g.errs[api.OpGuard] = api.Errorf(api.CodeEmptyRepository, "no commit yet")
	g.serve()
	g.write("a", "1")
	g.git("add", "a")
	if out := g.git("commit", "-q", "-m", "x"); out != "" {
		t.Errorf("%q", out)
	}
}

func TestGuardInALinkedWorktree(t *testing.T) {
	g := newGuarded(t)
	asked := g.holds("dir/held")
	g.serve()
	linked := g.in(filepath.Join(g.dir, "linked"))
	g.git("worktree", "add", "-q", linked.dir, "-b", "linked")
	linked.write("dir/a", "1")
	linked.git("add", "-A")
	linked.in(filepath.Join(linked.dir, "dir")).git("commit", "-q", "-m", "from a folder below")
	asks(t, asked, "dir/a")
	linked.write("dir/held", "1")
	linked.git("add", "-A")
	if out, err := linked.try("commit", "-q", "-m", "refused"); err == nil {
		t.Errorf("it was committed: %s", out)
	}
}

// A merge that only brings in others' files passes; what the merge itself changes
// is looked at.
func TestGuardOfMerges(t *testing.T) {
	g := newGuarded(t)
	g.write("held", "1")
	g.write("conflict", "1")
	g.git("add", "-A")
	g.git("commit", "-q", "--no-verify", "-m", "first")
	g.git("checkout", "-q", "-b", "theirs")
	g.write("held", "theirs")
	g.write("conflict", "theirs")
	g.git("commit", "-q", "--no-verify", "-a", "-m", "theirs")
	g.git("checkout", "-q", "-")
	g.write("conflict", "ours")
	g.git("commit", "-q", "--no-verify", "-a", "-m", "ours")
	asked := g.holds("held")
	g.serve()

	if out, err := g.try("merge", "-q", "theirs"); err == nil {
		t.Fatalf("no conflict: %s", out)
	}
	g.write("conflict", "solved")
	g.git("add", "-A")
	g.git("commit", "-q", "-m", "merged")
	asks(t, asked, "conflict")

	g.git("reset", "-q", "--hard", "HEAD^")
	if out, err := g.try("merge", "-q", "theirs"); err == nil {
		t.Fatalf("no conflict: %s", out)
	}
	g.write("conflict", "solved")
	g.write("held", "changed by the merge")
	g.git("add", "-A")
	if out, err := g.try("commit", "-q", "-m", "merged"); err == nil {
		t.Errorf("it was committed: %s", out)
	}
	asks(t, asked, "conflict", "held")
}

func TestGuardOfPushes(t *testing.T) {
	g := newGuarded(t)
	asked := g.holds("held")
	g.serve()
	bare := filepath.Join(t.TempDir(), "origin.git")
	g.git("init", "-q", "--bare", bare)
	g.git("remote", "add", "origin", bare)
	g.git("push", "-q", "origin", "HEAD")
	asks(t, asked)
	g.write("a", "1")
	g.git("add", "-A")
	g.git("commit", "-q", "--no-verify", "-m", "a")
	g.git("push", "-q", "origin", "HEAD:refs/heads/new")
	asks(t, asked, "a")
	g.git("push", "-q", "origin", ":refs/heads/new")
	asks(t, asked)
	g.write("held", "1")
	g.git("add", "-A")
	g.git("commit", "-q", "--no-verify", "-m", "held")
	out, err := g.try("push", "-q", "origin", "HEAD:refs/heads/next")
	if err == nil || !strings.Contains(out, "comity: pre-push: held is held by s-77") || !strings.Contains(out, "git push --no-verify") {
		t.Errorf("%v\n%s", err, out)
	}
	asks(t, asked, "a", "held")
	g.git("push", "-q", "--no-verify", "origin", "HEAD:refs/heads/next")
}

func TestGuardAddsTrailers(t *testing.T) {
	g := newGuarded(t)
	g.replies[api.OpGuard] = api.GuardReply{Claims: []api.Claim{{Claim: keyA, Epoch: 4}, {Claim: keyB, Epoch: 17}}}
	g.serve()
	body := func() string { return g.git("log", "-1", "--format=%B") }
	want := "subject\n\nComity-Claim: " + keyA + " 4\nComity-Claim: " + keyB + " 17\n\n"
	g.write("a", "1")
	g.git("add", "-A")
	g.git("commit", "-q", "-m", "subject")
	if got := body(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	g.git("commit", "-q", "--amend", "--no-edit")
	if got := body(); got != want {
		t.Errorf("amended: %q, want %q", got, want)
	}
	linked := g.in(filepath.Join(g.dir, "linked"))
	g.git("worktree", "add", "-q", linked.dir, "-b", "linked")
	linked.write("b", "1")
	linked.git("add", "-A")
	linked.git("commit", "-q", "-m", "subject")
	if got := linked.git("log", "-1", "--format=%B"); got != want {
		t.Errorf("in a linked worktree: %q, want %q", got, want)
	}
	// Given up in the editor.
	g.write("a", "2")
	if out, err := g.try("commit", "-q", "-a"); err == nil {
		t.Errorf("a commit without a message: %s", out)
	}
	if left, _ := filepath.Glob(filepath.Join(g.dir, ".git", ".comity-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	req := request[api.GuardRequest](g.fake, api.OpGuard)
	if req.Hook != "prepare-commit-msg" || len(req.Paths) != 1 {
		t.Errorf("request %+v", req)
	}
}

// A daemon that is not there keeps nobody from committing, and it is said in one
// line.
func TestGuardWithoutADaemon(t *testing.T) {
	g := newGuarded(t)
	g.write("a", "1")
	g.git("add", "-A")
	began := time.Now()
	out := g.git("commit", "-q", "-m", "x")
	if !strings.HasPrefix(out, "comity: pre-commit: not checked against the claims of others: ") || strings.Count(out, "comity: ") != 1 {
		t.Errorf("%q", out)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
	g.env = append(g.env, "COMITY=off")
	g.write("a", "2")
	if out := g.git("commit", "-q", "-a", "-m", "x"); out != "" {
		t.Errorf("off: %q", out)
	}
}

// Git at work on a repository elsewhere is not asked about in the one around its
// folder.
func TestGuardOfARepositoryElsewhere(t *testing.T) {
	g := newGuarded(t)
	asked := g.holds("a")
	g.serve()
	other := filepath.Join(t.TempDir(), "dotfiles")
	g.git("clone", "-q", "--bare", g.dir, other)
	g.write("a", "1")
	g.git("--git-dir", other, "--work-tree", g.dir, "config", "core.hooksPath", filepath.Join(g.dir, ".git", "hooks"))
	g.git("--git-dir", other, "--work-tree", g.dir, "add", "a")
	g.git("--git-dir", other, "--work-tree", g.dir, "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "-m", "x")
	asks(t, asked)
}

func TestGuardOutsideOfARepository(t *testing.T) {
	f := newFake(t).serve()
	for _, hook := range []string{"pre-commit", "pre-push", "prepare-commit-msg"} {
		if r := f.run("--repo", t.TempDir(), "hook", "git", hook, "x"); r != (result{}) {
			t.Errorf("%s: %+v", hook, r)
		}
	}
	f.stdin = "half a line"
	if r := f.run("--repo", t.TempDir(), "hook", "git", "pre-push"); r.code != 0 || !strings.Contains(r.errout, "not understood") {
		t.Errorf("%+v", r)
	}
	if len(f.asked) > 0 {
		t.Errorf("the daemon was asked: %v", f.asked)
	}
}

// Many paths are asked about in portions; each claim is named once, and what is
// too much is said.
func TestGuardOfManyPaths(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("long names")
	}
	g := newGuarded(t)
	calls, asked := 0, 0
	g.ops[api.OpGuard] = func(_ context.Context, _ httpapi.Caller, body []byte) (any, error) {
		var req api.GuardRequest
		if err := json.Unmarshal(body, &req); err != nil {
			return nil, err
		}
		calls, asked = calls+1, asked+len(req.Paths)
		return api.GuardReply{Claims: []api.Claim{{Claim: keyA, Epoch: 4}}}, nil
	}
	g.serve()
	blob := strings.TrimSpace(g.git("hash-object", "-w", "--stdin"))
	var index strings.Builder
	long := strings.Repeat("<long>&", 20)
	const n = 3000
	for i := range n {
		fmt.Fprintf(&index, "100644 %s 0\t%s/%d\n", blob, long, i)
	}
	cmd := exec.Command("git", "update-index", "--index-info")
	cmd.Dir, cmd.Env, cmd.Stdin = g.dir, g.env, strings.NewReader(index.String())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	if r := g.run("--repo", g.dir, "hook", "git", "pre-commit"); r != (result{}) || asked != n || calls < 2 {
		t.Errorf("%+v: %d paths in %d calls", r, asked, calls)
	}
	message := filepath.Join(t.TempDir(), "message")
	if err := os.WriteFile(message, []byte("subject\n"), 0o640); err != nil {
		t.Fatal(err)
	}
	g.run("--repo", g.dir, "hook", "git", "prepare-commit-msg", message, "message")
	if b, err := os.ReadFile(message); err != nil || string(b) != "subject\n\nComity-Claim: "+keyA+" 4\n" {
		t.Errorf("%q, %v", b, err)
	}
	if info, err := os.Stat(message); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}
