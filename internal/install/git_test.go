package install_test

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/comity-dev/comity/internal/git"
	"github.com/comity-dev/comity/internal/install"
)

// A repository of the test, with a program comity on PATH that writes down how
// it was called.
type repository struct {
	*testing.T
	o   install.Options
	bin string // where comity is
	log string // what was called
}

func newRepository(t *testing.T) *repository {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("runs shell scripts")
	}
	o := options(t)
	r := &repository{T: t, o: o, bin: filepath.Join(filepath.Dir(o.Home), "bin"), log: filepath.Join(filepath.Dir(o.Home), "log")}
	t.Setenv("HOME", o.Home)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(o.Home, ".gitconfig"))
	t.Setenv("PATH", r.bin+":"+os.Getenv("PATH"))
	t.Setenv("CALLS", r.log)
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	r.git("init", "-q", "-b", "main")
	r.git("config", "user.name", "n")
	r.git("config", "user.email", "n@example.org")
	var err error
	if r.o.Repo, err = git.Find(t.Context(), o.Repo.Top); err != nil {
		t.Fatal(err)
	}
	r.o.GitVersion = "git version 2.39.5"
	r.write(filepath.Join(r.bin, "comity"), "#!/bin/sh\n{ echo \"comity $*\"; case $* in *push*) cat; esac; } >>\"$CALLS\"\nexit ${COMITY_EXIT:-0}\n", 0o755)
	return r
}

func (r *repository) write(path, text string, mode os.FileMode) {
	r.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		r.Fatal(err)
	}
	os.Remove(path)
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		r.Fatal(err)
	}
}

func (r *repository) try(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (r *repository) git(args ...string) string {
	r.Helper()
	out, err := r.try(r.o.Repo.Top, args...)
	if err != nil {
		r.Fatalf("git %q: %v: %s", args, err, out)
	}
	return out
}

func (r *repository) commit(args ...string) (string, error) {
	return r.try(r.o.Repo.Top, append([]string{"commit", "-q", "--allow-empty", "-m", "x"}, args...)...)
}

// calls returns what was called since the last time.
func (r *repository) calls() string {
	b, _ := os.ReadFile(r.log)
	os.Remove(r.log)
	return string(b)
}

func (r *repository) hook(name string) string {
	return filepath.Join(r.o.Repo.CommonDir, "hooks", name)
}

func (r *repository) install(trailer bool) install.Applied {
	r.Helper()
	p, err := install.Git(r.Context(), r.o, trailer)
	return applied(r.T, p, err)
}

func (r *repository) uninstall() install.Applied {
	r.Helper()
	return uninstall(r.T, r.o, install.GitHooks)
}

// dump is everything in the hooks folder, the config, and the working tree.
func (r *repository) dump() map[string]string {
	r.Helper()
	all := make(map[string]string)
	for _, dir := range []string{filepath.Join(r.o.Repo.CommonDir, "hooks"), r.o.Repo.Top} {
		for _, name := range names(r.T, dir) {
			path := filepath.Join(dir, name)
			if strings.Contains(name, "/.git/") && !strings.HasPrefix(name, "/.git/config") {
				continue
			}
			st, err := os.Lstat(path)
			if err != nil {
				r.Fatal(err)
			}
			all[path] = st.Mode().String()
			if to, err := os.Readlink(path); err == nil {
				all[path] += " -> " + to
			} else if !st.IsDir() {
				all[path] += " " + read(r.T, path)
			}
		}
	}
	return all
}

func (r *repository) same(want map[string]string) {
	r.Helper()
	if d := cmp.Diff(want, r.dump()); d != "" {
		r.Errorf("hooks (-want +got):\n%s", d)
	}
}

func TestGitHookGuardsAndGoes(t *testing.T) {
	r := newRepository(t)
	before := r.dump()
	r.install(false)
	if done := r.install(false); len(done.Changed) > 0 {
		t.Errorf("a second install changed %q", done.Changed)
	}

	if out, err := r.commit(); err != nil || out != "" {
		t.Fatalf("commit: %v: %s", err, out)
	}
	if got, want := r.calls(), "comity hook git pre-commit\n"; got != want {
		t.Errorf("called %q, want %q", got, want)
	}
	t.Setenv("COMITY_EXIT", "10")
	if out, err := r.commit(); err == nil {
		t.Errorf("commit that comity refuses = nil: %s", out)
	}
	r.calls()

	if err := os.Remove(filepath.Join(r.bin, "comity")); err != nil {
		t.Fatal(err)
	}
	if out, err := r.commit(); err != nil || out != "" {
		t.Errorf("commit without comity: %v: %q, want nothing", err, out)
	}
	r.uninstall()
	r.same(before)
	if len(records(t, r.o)) > 0 {
		t.Error("records left")
	}
}

func TestGitHookRunsTheOneOfBeforeFirst(t *testing.T) {
	for _, tt := range []struct {
		name   string
		script string
		mode   os.FileMode
		link   bool
		runs   bool
	}{
		{"shell", "#!/bin/sh\necho \"before $# $0\" >>\"$CALLS\"\nexit ${BEFORE_EXIT:-0}", 0o755, false, true},
		{"other mode", "#!/bin/sh\necho before >>\"$CALLS\"\nexit ${BEFORE_EXIT:-0}\n", 0o700, false, true},
		{"python", "#!/usr/bin/env python3\nimport os, sys\nopen(os.environ['CALLS'], 'a').write('before\\n')\nsys.exit(int(os.environ.get('BEFORE_EXIT', 0)))\n", 0o755, false, true},
		{"link", "#!/bin/sh\necho before >>\"$CALLS\"\nexit ${BEFORE_EXIT:-0}\n", 0o755, true, true},
		{"off", "#!/bin/sh\necho before >>\"$CALLS\"\nexit 1\n", 0o644, false, false},
		{"carriage returns", "#!/bin/sh\r\necho before >>\"$CALLS\"\r\n", 0o644, false, false},
		{"empty", "", 0o644, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRepository(t)
			if tt.name == "python" {
				if _, err := exec.LookPath("python3"); err != nil {
					t.Skip(err)
				}
			}
			path := r.hook("pre-commit")
			if tt.link {
				r.write(filepath.Join(r.o.Home, "my-hook"), tt.script, tt.mode)
				if err := os.Symlink("../../../home/my-hook", path); err != nil {
					t.Fatal(err)
				}
			} else {
				r.write(path, tt.script, tt.mode)
			}
			before := r.dump()
			r.install(false)
			if done := r.install(false); len(done.Changed) > 0 {
				t.Errorf("a second install changed %q", done.Changed)
			}
			if out, err := r.commit(); err != nil {
				t.Fatalf("commit: %v: %s", err, out)
			}
			got := r.calls()
			if !strings.HasSuffix(got, "comity hook git pre-commit\n") || strings.HasPrefix(got, "before") != tt.runs {
				t.Errorf("called %q", got)
			}
			if tt.runs {
				t.Setenv("BEFORE_EXIT", "7")
				_, err := r.commit()
				if got := r.calls(); err == nil || strings.Contains(got, "comity hook") {
					t.Errorf("commit that the hook of before refuses: %v; called %q, want no comity", err, got)
				}
				out, err := exec.Command(path).CombinedOutput()
				var exit *exec.ExitError
				if !errors.As(err, &exit) || exit.ExitCode() != 7 {
					t.Errorf("our script = %v, want exit status 7: %s", err, out)
				}
			}
			r.uninstall()
			r.same(before)
		})
	}
}

// Both hooks get all that git says to them.
func TestGitHooksHandOnArgumentsAndInput(t *testing.T) {
	r := newRepository(t)
	r.write(r.hook("pre-push"), "#!/bin/sh\n{ echo \"before $1\"; cat; } >>\"$CALLS\"\n", 0o755)
	r.write(r.hook("prepare-commit-msg"), "#!/bin/sh\necho \"before $2\" >>\"$CALLS\"\n", 0o755)
	before := r.dump()
	r.install(true)
	if out, err := r.commit(); err != nil {
		t.Fatalf("commit: %v: %s", err, out)
	}
	if got, want := r.calls(), "comity hook git pre-commit\nbefore message\ncomity hook git prepare-commit-msg .git/COMMIT_EDITMSG message\n"; got != want {
		t.Errorf("commit called %q, want %q", got, want)
	}
	remote := filepath.Join(r.o.Home, "remote.git")
	r.git("init", "-q", "--bare", remote)
	r.git("push", "-q", remote, "main")
	oid := strings.TrimSpace(r.git("rev-parse", "HEAD"))
	line := "refs/heads/main " + oid + " refs/heads/main " + strings.Repeat("0", 40) + "\n"
	if got, want := r.calls(), "before "+remote+"\n"+line+"comity hook git pre-push "+remote+" "+remote+"\n"+line; got != want {
		t.Errorf("push called\n%s\nwant\n%s", got, want)
	}
	r.git("push", "-q", remote, "main") // nothing to push: no input
	if got, want := r.calls(), "before "+remote+"\ncomity hook git pre-push "+remote+" "+remote+"\n"; got != want {
		t.Errorf("an empty push called %q, want %q", got, want)
	}
	// A hook that reads nothing of a long input is no trouble.
	r.write(r.hook("pre-push.comity-chained"), "#!/bin/sh\nexit 0\n", 0o755)
	cmd := exec.Command(r.hook("pre-push"), "a", "b")
	cmd.Stdin = strings.NewReader(strings.Repeat(line, 3000))
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("a long push: %v: %q", err, out)
	}
	if got := r.calls(); got != "comity hook git pre-push a b\n"+strings.Repeat(line, 3000) {
		t.Errorf("a long push handed on %d bytes", len(got))
	}
	r.write(r.hook("pre-push.comity-chained"), "#!/bin/sh\n{ echo \"before $1\"; cat; } >>\"$CALLS\"\n", 0o755)
	r.uninstall()
	r.same(before)
}

func TestGitTrailerIsAddedAndTakenBack(t *testing.T) {
	r := newRepository(t)
	r.write(r.hook("prepare-commit-msg"), "#!/bin/sh\n", 0o755)
	before := r.dump()
	r.install(false)
	without := r.dump()
	r.install(true)
	if !strings.Contains(read(t, r.hook("prepare-commit-msg")), "comity hook git prepare-commit-msg") {
		t.Error("no hook for trailers")
	}
	r.install(false)
	r.same(without)
	if got := records(t, r.o); len(got) != 1 || len(got[0].Files) != 2 {
		t.Errorf("records = %+v", got)
	}
	r.uninstall()
	r.same(before)
}

func TestGitHooksServeLinkedWorktrees(t *testing.T) {
	r := newRepository(t)
	if out, err := r.commit(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	linked := filepath.Join(r.o.Home, "linked")
	r.git("worktree", "add", "-q", linked)
	before := r.dump()
	r.install(false)
	r.calls()
	if out, err := r.try(linked, "commit", "-q", "--allow-empty", "-m", "x"); err != nil || r.calls() != "comity hook git pre-commit\n" {
		t.Errorf("commit in a linked worktree: %v: %s", err, out)
	}
	main := r.o.Repo
	var err error
	if r.o.Repo, err = git.Find(t.Context(), linked); err != nil {
		t.Fatal(err)
	}
	if done := r.install(false); len(done.Changed) > 0 {
		t.Errorf("an install from the linked worktree changed %q", done.Changed)
	}
	r.uninstall() // from there, too
	r.o.Repo = main
	r.same(before)
}

func TestGitLeavesHooksOfOthersAlone(t *testing.T) {
	for _, tt := range []struct{ name, path, file, why string }{
		{"husky", ".husky/_", "TOP/.husky/pre-commit", "working tree"},
		{"in the tree", "tools/hooks", "TOP/tools/hooks/pre-commit", "working tree"},
		{"of the user", "~/.githooks", "HOME/.githooks/pre-commit", "other repositories"},
		{"switched off", "/dev/null", "/dev/null/pre-commit", "other repositories"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRepository(t)
			r.git("config", "core.hooksPath", tt.path)
			if tt.path[0] != '/' {
				dir := filepath.Join(r.o.Repo.Top, tt.path)
				if rest, ok := strings.CutPrefix(tt.path, "~/"); ok {
					dir = filepath.Join(r.o.Home, rest)
				}
				r.write(filepath.Join(dir, "pre-commit"), "#!/bin/sh\n", 0o755)
			}
			before := r.dump()
			_, err := install.Git(t.Context(), r.o, false)
			var managed *install.ManagedError
			if !errors.As(err, &managed) || !strings.Contains(managed.Why, tt.why) || !strings.Contains(managed.Why, "core.hooksPath") {
				t.Fatalf("error = %v, want a ManagedError because of the %s", err, tt.why)
			}
			file := strings.NewReplacer("TOP", r.o.Repo.Top, "HOME", r.o.Home).Replace(tt.file)
			line := `if command -v comity >/dev/null 2>&1; then comity hook git pre-commit "$@" || exit; fi`
			if managed.Lines[0] != file+": "+line {
				t.Errorf("told to add %q, want %q", managed.Lines[0], file+": "+line)
			}
			r.same(before)
		})
	}
	t.Run("the hooks folder is a link into the tree", func(t *testing.T) {
		r := newRepository(t)
		hooks := filepath.Join(r.o.Repo.CommonDir, "hooks")
		if err := os.RemoveAll(hooks); err != nil {
			t.Fatal(err)
		}
		r.write(filepath.Join(r.o.Repo.Top, "hooks", "pre-commit"), "#!/bin/sh\n", 0o755)
		if err := os.Symlink("../hooks", hooks); err != nil {
			t.Fatal(err)
		}
		var managed *install.ManagedError
		if _, err := install.Git(t.Context(), r.o, false); !errors.As(err, &managed) {
			t.Errorf("error = %v, want a ManagedError", err)
		}
	})
	t.Run("a path inside the repository's folder is its own", func(t *testing.T) {
		r := newRepository(t)
		r.git("config", "core.hooksPath", ".git/my-hooks")
		before := r.dump()
		r.install(false)
		if out, err := r.commit(); err != nil || r.calls() != "comity hook git pre-commit\n" {
			t.Errorf("commit: %v: %s", err, out)
		}
		r.uninstall()
		r.same(before)
		if _, err := os.Stat(filepath.Join(r.o.Repo.CommonDir, "my-hooks")); !os.IsNotExist(err) {
			t.Errorf("the folder that was made: %v, want none", err)
		}
	})
	t.Run("a hook that calls comity", func(t *testing.T) {
		r := newRepository(t)
		r.write(r.hook("pre-commit"), "#!/bin/sh\ncomity hook git pre-commit\n", 0o755)
		done := r.install(false)
		if len(done.Changed) != 1 || len(done.Notes) != 1 {
			t.Errorf("changed %q, notes %q, want only pre-push", done.Changed, done.Notes)
		}
	})
}

const theirScript = "#!/bin/sh\necho theirs >>\"$CALLS\"\n"

// What happens to hooks while we are installed must not be undone, and must not
// make us stay.
func TestUninstallGitAfterOthersWereThere(t *testing.T) {
	ours := func(r *repository) string { return read(r.T, r.hook("pre-commit")) }
	const aside = "pre-commit.comity-chained"
	for _, tt := range []struct {
		name   string
		before string // pre-commit; "" for none
		edit   func(r *repository)
		want   map[string]string // after; "" for gone
		notes  int
	}{
		{"the hook put aside was updated", theirScript, func(r *repository) { r.write(r.hook(aside), "#!/bin/sh\n# new\n", 0o755) },
			map[string]string{"pre-commit": "#!/bin/sh\n# new\n"}, 0},
		{"ours was deleted", theirScript, func(r *repository) { os.Remove(r.hook("pre-commit")) },
			map[string]string{"pre-commit": theirScript}, 0},
		{"ours and the one put aside were deleted", theirScript, func(r *repository) { os.Remove(r.hook("pre-commit")); os.Remove(r.hook(aside)) },
			map[string]string{"pre-commit": ""}, 0},
		{"lines were added, nothing put aside", "", func(r *repository) { r.write(r.hook("pre-commit"), ours(r)+"echo more\n", 0o755) },
			map[string]string{"pre-commit": "#!/bin/sh\necho more\n"}, 0},
		{"lines were added before and behind", "", func(r *repository) {
			r.write(r.hook("pre-commit"), strings.Replace(ours(r), "#!/bin/sh\n", "#!/bin/bash\nset -e\n", 1)+"echo more\n", 0o755)
		}, map[string]string{"pre-commit": "#!/bin/bash\nset -e\necho more\n"}, 0},
		{"lines were added behind a shell script", theirScript, func(r *repository) { r.write(r.hook("pre-commit"), ours(r)+"echo more\n", 0o755) },
			map[string]string{"pre-commit": theirScript + "echo more\n"}, 0},
		{"lines were added behind one without a last line end", "#!/bin/sh\necho x", func(r *repository) { r.write(r.hook("pre-commit"), ours(r)+"echo more\n", 0o755) },
			map[string]string{"pre-commit": "#!/bin/sh\necho x\necho more\n"}, 0},
		{"an editor changed the line ends", theirScript, func(r *repository) {
			r.write(r.hook("pre-commit"), strings.ReplaceAll(ours(r), "\n", "\r\n"), 0o755)
		}, map[string]string{"pre-commit": theirScript}, 0},
		{"a manager put its own in our place", theirScript, func(r *repository) { r.write(r.hook("pre-commit"), "#!/bin/sh\n# manager\n", 0o755) },
			map[string]string{"pre-commit": "#!/bin/sh\n# manager\n", aside: theirScript}, 1},
		{"a manager put the same again in our place", theirScript, func(r *repository) { r.write(r.hook("pre-commit"), theirScript, 0o755) },
			map[string]string{"pre-commit": theirScript}, 0},
		{"a manager renamed ours and calls it", theirScript, func(r *repository) {
			r.write(r.hook("pre-commit.legacy"), ours(r), 0o755)
			r.write(r.hook("pre-commit"), "#!/bin/sh\n\"$0.legacy\" \"$@\" || exit\n", 0o755)
		}, map[string]string{"pre-commit": "#!/bin/sh\n\"$0.legacy\" \"$@\" || exit\n", "pre-commit.legacy": theirScript}, 0},
		{"a manager renamed ours, nothing put aside", "", func(r *repository) {
			r.write(r.hook("pre-commit.legacy"), ours(r), 0o755)
			r.write(r.hook("pre-commit"), "#!/bin/sh\n", 0o755)
		}, map[string]string{"pre-commit": "#!/bin/sh\n", "pre-commit.legacy": ""}, 0},
	} {
		for _, record := range []bool{true, false} {
			name := tt.name
			if !record {
				name += ", no record"
			}
			t.Run(name, func(t *testing.T) {
				r := newRepository(t)
				if tt.before != "" {
					r.write(r.hook("pre-commit"), tt.before, 0o755)
				}
				r.install(false)
				tt.edit(r)
				if !record {
					if err := os.RemoveAll(r.o.State); err != nil {
						t.Fatal(err)
					}
				}
				done := r.uninstall()
				want := maps.Clone(tt.want)
				for _, name := range []string{"pre-commit", aside, "pre-push", "pre-push.comity-chained"} {
					if _, ok := want[name]; !ok {
						want[name] = ""
					}
				}
				for name, text := range want {
					b, err := os.ReadFile(r.hook(name))
					if text == "" && !os.IsNotExist(err) || string(b) != text {
						t.Errorf("%s = %q, %v, want %q", name, b, err, text)
					}
				}
				if len(done.Notes) != tt.notes {
					t.Errorf("notes = %q, want %d", done.Notes, tt.notes)
				}
			})
		}
	}
}

func TestGitHookOfAnEarlierBuildIsReplaced(t *testing.T) {
	r := newRepository(t)
	r.write(r.hook("pre-commit"), theirScript, 0o755)
	before := r.dump()
	now := r.o
	r.o.Command = []string{"comity", "old"}
	r.install(false)
	r.write(r.hook("pre-push"), read(t, r.hook("pre-push"))+"echo more\n", 0o755)
	r.o = now
	r.install(false)
	if out, err := r.commit(); err != nil || r.calls() != "theirs\ncomity hook git pre-commit\n" {
		t.Errorf("commit: %v: %s", err, out)
	}
	if text := read(t, r.hook("pre-push")); strings.Contains(text, "comity old") || !strings.HasSuffix(text, "echo more\n") {
		t.Errorf("pre-push:\n%s", text)
	}
	r.write(r.hook("pre-push"), strings.TrimSuffix(read(t, r.hook("pre-push")), "echo more\n"), 0o755)
	r.uninstall()
	r.same(before)
}

// A link to a script that holds our words is somebody's arrangement, and the
// hook of before goes back to one place only.
func TestUninstallGitWithLinksAndCopies(t *testing.T) {
	r := newRepository(t)
	r.write(r.hook("pre-commit"), theirScript, 0o755)
	r.install(false)
	ours := read(t, r.hook("pre-commit"))
	r.write(r.hook("pre-commit.bak"), ours, 0o755)
	r.write(filepath.Join(r.o.Home, "script"), read(t, r.hook("pre-push")), 0o755)
	os.Remove(r.hook("pre-push"))
	if err := os.Symlink(filepath.Join(r.o.Home, "script"), r.hook("pre-push")); err != nil {
		t.Fatal(err)
	}
	r.uninstall()
	if got := read(t, r.hook("pre-commit")); got != theirScript {
		t.Errorf("pre-commit = %q", got)
	}
	if _, err := os.Lstat(r.hook("pre-commit.bak")); !os.IsNotExist(err) {
		t.Errorf("the copy: %v, want none", err)
	}
	if to, err := os.Readlink(r.hook("pre-push")); err != nil || read(t, to) == "" {
		t.Errorf("the link: %v, want it there", err)
	}
}

// Where nothing can be decided, nothing is done.
func TestGitRefusesWhatItCannotPutTogether(t *testing.T) {
	r := newRepository(t)
	r.write(r.hook("pre-commit"), "#!/usr/bin/env python3\n", 0o755)
	r.install(false)
	r.write(r.hook("pre-commit"), read(t, r.hook("pre-commit"))+"echo more\n", 0o755)
	before := r.dump()
	if _, err := install.Uninstall(t.Context(), r.o, install.GitHooks); err == nil || !strings.Contains(err.Error(), "put together") {
		t.Errorf("Uninstall = %v, want to be told to put both together", err)
	}
	r.same(before)
	ours := strings.TrimSuffix(read(t, r.hook("pre-commit")), "echo more\n")
	r.write(r.hook("pre-commit.comity-chained"), theirScript, 0o755)
	r.write(r.hook("pre-commit"), strings.Replace(ours, "#!/bin/sh\n", "#!/bin/sh\nset -e\n", 1), 0o755)
	if _, err := install.Uninstall(t.Context(), r.o, install.GitHooks); err == nil || !strings.Contains(err.Error(), "put together") {
		t.Errorf("Uninstall with lines before ours = %v, want to be told to put both together", err)
	}
	os.Remove(r.hook("pre-commit.comity-chained"))
	r.write(filepath.Join(r.o.Home, "script"), theirScript, 0o755)
	if err := os.Symlink(filepath.Join(r.o.Home, "script"), r.hook("pre-commit.comity-chained")); err != nil {
		t.Fatal(err)
	}
	r.write(r.hook("pre-commit"), ours+"echo more\n", 0o755)
	if _, err := install.Uninstall(t.Context(), r.o, install.GitHooks); err == nil || !strings.Contains(err.Error(), "put together") {
		t.Errorf("Uninstall with a link put aside = %v, want to be told to put both together", err)
	}

	r.write(r.hook("pre-commit"), "#!/bin/sh\n", 0o755)
	if _, err := install.Git(t.Context(), r.o, false); err == nil || !strings.Contains(err.Error(), "in the way") {
		t.Errorf("Git = %v, want to be told what is in the way", err)
	}
	if err := os.RemoveAll(r.o.State); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(r.hook("pre-commit")); err != nil {
		t.Fatal(err)
	}
	if _, err := install.Git(t.Context(), r.o, false); err == nil || !strings.Contains(err.Error(), "no record") {
		t.Errorf("Git = %v, want to be told that no record knows it", err)
	}

	bare := r.o
	bare.Repo = git.Checkout{}
	if _, err := install.Git(t.Context(), bare, false); !errors.Is(err, git.ErrNoRepository) {
		t.Errorf("without a repository = %v", err)
	}
}
