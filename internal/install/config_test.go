package install_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/comity-dev/comity/internal/install"
)

// With a git that knows hooks by configuration, no hook file is touched, and the
// config comes back to the byte.
func TestGitConfiguredHooks(t *testing.T) {
	for _, ending := range []string{"", "[a]\n\tb = c", "[a] b = \"x \\\n  y\" ; z\n", "\r\n# end\r\n"} {
		r := newRepository(t)
		r.o.GitVersion = "git version 2.54.0"
		r.git("config", "core.hooksPath", ".husky/_") // does not matter
		config := filepath.Join(r.o.Repo.CommonDir, "config")
		r.write(config, read(t, config)+ending, 0o640)
		before := r.dump()
		r.install(true)
		if done := r.install(true); len(done.Changed) > 0 {
			t.Errorf("a second install changed %q", done.Changed)
		}
		for _, hook := range []string{"pre-commit", "pre-push", "prepare-commit-msg"} {
			want := "command -v comity >/dev/null 2>&1 || exit 0; exec comity hook git " + hook + "\n"
			if got := r.git("config", "--get", "hook.comity-"+hook+".command"); got != want {
				t.Errorf("%s: git reads %q, want %q", hook, got, want)
			}
			if got := r.git("config", "--get", "hook.comity-"+hook+".event"); got != hook+"\n" {
				t.Errorf("%s: event %q", hook, got)
			}
		}
		if strings.HasPrefix(ending, "[a]") && r.git("config", "--get", "a.b") == "" {
			t.Error("git does not read what was there")
		}

		r.install(false)
		if out, err := r.try(r.o.Repo.Top, "config", "--get", "hook.comity-prepare-commit-msg.event"); err == nil {
			t.Errorf("the trailer's hook is still there: %s", out)
		}
		r.uninstall()
		r.same(before)
	}
}

func TestUninstallGitConfigAfterOthersEditedIt(t *testing.T) {
	for _, record := range []bool{true, false} {
		r := newRepository(t)
		r.o.GitVersion = "git version 3.1.0"
		config := filepath.Join(r.o.Repo.CommonDir, "config")
		r.install(false)
		r.git("config", "hook.comity-pre-commit.enabled", "false")
		r.git("config", "hook.theirs.event", "pre-commit")
		r.git("config", "user.name", "other")
		text := read(t, config)
		r.write(config, strings.Replace(text, "\tevent = pre-push\n", "# theirs\n\tevent = pre-push\n", 1), 0o644)
		if !record {
			if err := os.RemoveAll(r.o.State); err != nil {
				t.Fatal(err)
			}
		}
		r.uninstall()
		got := read(t, config)
		if strings.Contains(got, "comity") {
			t.Errorf("ours is left:\n%s", got)
		}
		if !strings.Contains(got, "# theirs\n") || r.git("config", "hook.theirs.event") != "pre-commit\n" || r.git("config", "user.name") != "other\n" {
			t.Errorf("theirs is lost:\n%s", got)
		}
		if _, err := install.Uninstall(t.Context(), r.o, install.GitHooks); !errors.Is(err, install.ErrNotInstalled) {
			t.Errorf("a second uninstall = %v, want ErrNotInstalled", err)
		}
	}
}

// A line that goes on in the next one may look like a section, and is none.
func TestUninstallGitConfigReadsContinuedLines(t *testing.T) {
	r := newRepository(t)
	r.o.GitVersion = "git version 2.54.0"
	config := filepath.Join(r.o.Repo.CommonDir, "config")
	const theirs = "[a]\n\tb = x \\\n[hook \"comity-pre-push\"]\n\tc = d\n"
	r.install(false)
	ours := read(t, config)
	r.write(config, theirs+strings.Replace(ours, "event = pre-push\n", "event = \\\npre-push\n", 1)+"[e]\n\tf = g\n", 0o644)
	r.uninstall()
	got := read(t, config)
	if !strings.HasPrefix(got, theirs) || !strings.HasSuffix(got, "[e]\n\tf = g\n") || strings.Count(got, "comity") != 1 {
		t.Errorf("after uninstall:\n%s", got)
	}
}

// While git itself writes its config, we do not.
func TestGitConfigLockOfGitIsRespected(t *testing.T) {
	r := newRepository(t)
	r.o.GitVersion = "git version 2.54.0"
	before := r.dump()
	lock := filepath.Join(r.o.Repo.CommonDir, "config.lock")
	r.write(lock, "", 0o644)
	p, err := install.Git(t.Context(), r.o, false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Apply(t.Context()); err == nil || !strings.Contains(err.Error(), "try again") {
		t.Errorf("Apply while git has its lock = %v", err)
	}
	if _, err := os.Stat(lock); err != nil {
		t.Errorf("git's lock: %v, want it there", err)
	}
	os.Remove(lock)
	r.same(before)
	if len(records(t, r.o)) > 0 {
		t.Error("a record was left")
	}
}

// What is installed one way stays that way over an upgrade of git, and says so
// where it no longer works.
func TestGitWayOfHooksStaysUntilUninstalled(t *testing.T) {
	r := newRepository(t)
	before := r.dump()
	r.install(false)
	r.o.GitVersion = "git version 2.54.0"
	if done := r.install(false); len(done.Changed) > 0 {
		t.Errorf("an install with a newer git changed %q", done.Changed)
	}
	r.uninstall()
	r.install(false)
	if !strings.Contains(read(t, filepath.Join(r.o.Repo.CommonDir, "config")), "comity") {
		t.Error("a new install with a newer git does not configure")
	}
	r.o.GitVersion = "git version 2.39.5"
	if _, err := install.Git(t.Context(), r.o, false); err == nil || !strings.Contains(err.Error(), "uninstall git first") {
		t.Errorf("with an older git = %v", err)
	}
	r.uninstall()
	r.same(before)

	r.o.GitVersion = "" // git is asked
	r.install(false)
	r.uninstall()
	r.same(before)
}

// The words that are installed hand on input, output and status, and say nothing
// where there is no comity.
func TestInstalledWordsInAShell(t *testing.T) {
	r := newRepository(t)
	path := settings(t, r.o, nil)
	installClaude(t, r.o)
	_, line, _ := strings.Cut(read(t, path), `"command": "command -v`)
	line = "command -v" + line[:strings.IndexByte(line, '"')]
	r.write(filepath.Join(r.bin, "comity"), "#!/bin/sh\necho \"$*\"\ncat\necho err >&2\nexit 2\n", 0o755)
	for _, shell := range []string{"sh", "bash", "dash", "zsh"} {
		exe, err := exec.LookPath(shell)
		if err != nil {
			continue
		}
		run := func(path string) (string, int) {
			cmd := exec.Command(exe, "-c", line)
			cmd.Env = append(os.Environ(), "PATH="+path)
			cmd.Stdin = strings.NewReader("in")
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			if errors.As(err, &exit) {
				return string(out), exit.ExitCode()
			}
			return string(out), 0
		}
		if out, code := run(os.Getenv("PATH")); out != "hook claude session-start\ninerr\n" || code != 2 {
			t.Errorf("%s: %q, status %d", shell, out, code)
		}
		if out, code := run("/nonexistent"); out != "" || code != 0 {
			t.Errorf("%s without comity: %q, status %d, want nothing and 0", shell, out, code)
		}
	}
}

func TestCommandWordsArePlain(t *testing.T) {
	for _, word := range []string{"", "a b", "$(x)", "a;b", "a\nb", `"`} {
		o := options(t)
		o.Command = []string{"comity", word}
		if _, err := install.Claude(t.Context(), o, "user"); err == nil {
			t.Errorf("command word %q = nil, want an error", word)
		}
	}
}
