package cli_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/comity-dev/comity/internal/cli"
)

// newInstaller is a user with an empty home and a repository.
func newInstaller(t *testing.T) (f *fake, home, repo string) {
	t.Helper()
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	f = newFake(t)
	repo, err := filepath.EvalSymlinks(repository(t))
	if err != nil {
		t.Fatal(err)
	}
	f.env["HOME"] = t.TempDir()
	f.env["USERPROFILE"] = f.env["HOME"]
	return f, f.env["HOME"], repo
}

// runWide is a run whose output need not fit: paths and lines to be copied.
func (f *fake) runWide(args ...string) result {
	f.t.Helper()
	var out, errout bytes.Buffer
	code := cli.Run(f.t.Context(), append([]string{"--no-start"}, args...), strings.NewReader(f.stdin), &out, &errout, f.getenv)
	harmless(f.t, args, out.String()+errout.String())
	return result{code, out.String(), errout.String()}
}

// unwrapped is text as one line.
func unwrapped(text string) string { return strings.Join(strings.Fields(text), " ") }

func files(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			all = append(all, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestInstallClaudeAndBack(t *testing.T) {
	f, home, repo := newInstaller(t)
	settings := filepath.Join(home, ".claude", "settings.json")
	before := "{\n\t\"model\": \"opus\", // mine\n}\n"
	if err := os.Mkdir(filepath.Dir(settings), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(settings, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	r := f.runWide("install", "claude", "--print", "--repo", repo)
	if r.code != 0 || !strings.Contains(r.out, "edit "+settings) || !strings.Contains(r.out, "exec comity hook claude pre-tool-use") || !strings.Contains(r.errout, "nothing was changed") {
		t.Errorf("%+v", r)
	}
	if b, _ := os.ReadFile(settings); string(b) != before || len(files(t, f.env["COMITY_HOME"])) > 0 {
		t.Fatalf("--print wrote: %q, %v", b, files(t, f.env["COMITY_HOME"]))
	}
	r = f.run("install", "claude", "--scope", "user", "--repo", repo)
	if r.code != 0 || !strings.HasPrefix(r.out, "installed claude-user\n  ") || !strings.Contains(r.errout, "comity uninstall claude-user takes it out") {
		t.Errorf("%+v", r)
	}
	if b, _ := os.ReadFile(settings); !strings.Contains(string(b), "comity hook claude session-start") || !strings.Contains(string(b), "// mine") {
		t.Errorf("%s", b)
	}
	if r := f.run("install", "claude", "--repo", repo); r.code != 0 || r.out != "claude-user is installed already; nothing was changed\n" {
		t.Errorf("again: %+v", r)
	}
	if r := f.run("uninstall", "claude", "--repo", repo); r.code != 0 || !strings.HasPrefix(r.out, "took out claude-user\n") {
		t.Errorf("%+v", r)
	}
	if b, _ := os.ReadFile(settings); string(b) != before {
		t.Errorf("%q, want %q", b, before)
	}
	if r := f.run("uninstall", "claude", "--repo", repo); r.code != 11 || r.out != "" || r.errout != "comity: claude is not installed here\n" {
		t.Errorf("again: %+v", r)
	}
}

func TestInstallClaudeOfAProject(t *testing.T) {
	f, home, repo := newInstaller(t)
	f.env["CLAUDE_CONFIG_DIR"] = filepath.Join(home, "elsewhere")
	if r := f.run("install", "claude", "--scope", "project", "--repo", repo); r.code != 0 {
		t.Errorf("%+v", r)
	}
	if r := f.run("install", "claude", "--repo", repo); r.code != 0 {
		t.Errorf("%+v", r)
	}
	for _, path := range []string{filepath.Join(repo, ".claude", "settings.json"), filepath.Join(home, "elsewhere", "settings.json")} {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
	if r := f.run("uninstall", "claude", "--repo", repo); r.code != 0 || !strings.HasPrefix(r.out, "took out claude-user, claude-project\n") {
		t.Errorf("%+v", r)
	}
	if left := append(files(t, home), files(t, filepath.Join(repo, ".claude", ".."))...); strings.Contains(strings.Join(left, " "), ".claude") {
		t.Errorf("left: %v", left)
	}
	if r := f.run("install", "claude", "--scope", "project", "--repo", t.TempDir()); r.code == 0 || !strings.Contains(unwrapped(r.errout), "in no git repository") {
		t.Errorf("%+v", r)
	}
	if r := f.run("install", "claude", "--repo", t.TempDir()); r.code != 0 {
		t.Errorf("the user's own settings need no repository: %+v", r)
	}
}

func TestInstallGitAndAllBack(t *testing.T) {
	f, home, repo := newInstaller(t)
	hook := filepath.Join(repo, ".git", "hooks", "pre-commit")
	before := "#!/bin/sh\nexit 0\n"
	if err := os.WriteFile(hook, []byte(before), 0o755); err != nil {
		t.Fatal(err)
	}
	all := files(t, repo)
	if r := f.run("install", "git", "--trailer", "--repo", repo); r.code != 0 || !strings.HasPrefix(r.out, "installed git\n") {
		t.Errorf("%+v", r)
	}
	if b, _ := os.ReadFile(hook); string(b) == before && strings.Join(all, "\n") == strings.Join(files(t, repo), "\n") {
		if b, _ := os.ReadFile(filepath.Join(repo, ".git", "config")); !strings.Contains(string(b), "comity") {
			t.Error("nothing was installed")
		}
	}
	if r := f.run("install", "claude", "--repo", repo); r.code != 0 {
		t.Errorf("%+v", r)
	}
	r := f.run("uninstall", "--all", "--repo", t.TempDir())
	if r.code != 0 || !strings.HasPrefix(r.out, "took out claude-user, git\n") || !strings.Contains(unwrapped(r.errout), "is in "+f.env["COMITY_HOME"]) {
		t.Errorf("%+v", r)
	}
	if b, _ := os.ReadFile(hook); string(b) != before {
		t.Errorf("%q", b)
	}
	if got := files(t, repo); strings.Join(got, "\n") != strings.Join(all, "\n") {
		t.Errorf("left %v", got)
	}
	if left := files(t, home); len(left) > 0 {
		t.Errorf("left %v", left)
	}
	if r := f.run("uninstall", "--all", "--repo", repo); r.code != 0 || r.out != "there was nothing to take out\n" {
		t.Errorf("again: %+v", r)
	}
}

// Hooks that another program looks after are left alone, and the line to add is
// whole.
func TestInstallGitBesideHusky(t *testing.T) {
	f, _, repo := newInstaller(t)
	if err := os.MkdirAll(filepath.Join(repo, ".husky", "_"), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("git", "config", "core.hooksPath", ".husky/_")
	cmd.Dir = repo
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	all := files(t, repo)
	r := f.runWide("install", "git", "--repo", repo)
	if strings.HasPrefix(r.out, "installed git") {
		t.Skip("this git has configured hooks, which leave that folder alone")
	}
	add := filepath.Join(repo, ".husky", "pre-commit") + "\n\tif command -v comity >/dev/null 2>&1; then comity hook git pre-commit \"$@\" || exit; fi\n"
	if r.code != 10 || !strings.Contains(r.out, add) || !strings.Contains(r.errout, "left alone") || !strings.Contains(r.errout, "comity: hint: ") {
		t.Errorf("%+v", r)
	}
	r = f.runWide("install", "git", "--repo", repo, "--json")
	var failure struct {
		Error struct {
			Code   string
			Detail struct{ Lines []string }
		}
	}
	if err := json.Unmarshal([]byte(r.out), &failure); err != nil || failure.Error.Code != "not_own" || len(failure.Error.Detail.Lines) != 2 || r.errout != "" {
		t.Errorf("%+v: %v", r, err)
	}
	if got := files(t, repo); strings.Join(got, "\n") != strings.Join(all, "\n") {
		t.Errorf("written: %v", got)
	}
}

// A file with an error in it is left as it is, and said where.
func TestInstallIntoBrokenSettings(t *testing.T) {
	f, home, repo := newInstaller(t)
	settings := filepath.Join(home, ".claude", "settings.json")
	if err := os.Mkdir(filepath.Dir(settings), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(settings, []byte("{\n  \"hooks\": oops\n}"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := f.run("install", "claude", "--repo", repo)
	if r.code != 1 || !strings.Contains(strings.ReplaceAll(unwrapped(r.errout), " ", ""), "settings.json:2:12:") || !strings.Contains(r.errout, "hint: ") {
		t.Errorf("%+v", r)
	}
	if b, _ := os.ReadFile(settings); string(b) != "{\n  \"hooks\": oops\n}" {
		t.Errorf("%q", b)
	}
}

func TestInstallAsJSON(t *testing.T) {
	f, _, repo := newInstaller(t)
	type reply struct {
		Names, Changed    []string
		Print             bool
		Plan, Undo, State string
	}
	run := func(args ...string) (rep reply) {
		t.Helper()
		r := f.run(append(args, "--repo", repo, "--json")...)
		if err := json.Unmarshal([]byte(r.out), &rep); err != nil || r.errout != "" || r.code != 0 {
			t.Errorf("%v: %+v: %v", args, r, err)
		}
		return rep
	}
	if rep := run("install", "claude", "--print"); !rep.Print || !strings.Contains(rep.Plan, "hook claude stop") || len(rep.Changed) != 0 {
		t.Errorf("%+v", rep)
	}
	if rep := run("install", "claude"); rep.Names[0] != "claude-user" || len(rep.Changed) == 0 || rep.Undo != "comity uninstall claude-user" {
		t.Errorf("%+v", rep)
	}
	if rep := run("uninstall", "--all"); len(rep.Names) != 1 || rep.State != f.env["COMITY_HOME"] {
		t.Errorf("%+v", rep)
	}
}

func TestInstallRefusesWhatItDoesNotKnow(t *testing.T) {
	f, _, repo := newInstaller(t)
	for _, args := range [][]string{
		{"install"}, {"install", "codex"}, {"install", "claude", "--scope", "all"}, {"install", "claude", "x"}, {"install", "git", "x"},
		{"uninstall"}, {"uninstall", "bogus"}, {"uninstall", "git", "--all"}, {"doctor", "--probe", "bogus"}, {"log", "--commits", "--follow"}, {"log", "--commits", "--after", ""},
	} {
		if r := f.run(append(args, "--repo", repo)...); r.code != 2 || !strings.Contains(r.errout, "comity: hint: ") {
			t.Errorf("%v: %+v", args, r)
		}
	}
}
