package install_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/comity-dev/comity/internal/git"
	"github.com/comity-dev/comity/internal/install"
	"github.com/comity-dev/comity/internal/vfs"
	"github.com/comity-dev/comity/internal/vfs/vfstest"
)

// A scene is a state of the disk in which something is applied.
type scene struct {
	repo  git.Checkout
	name  string
	files map[string]string // at the start
	plan  func(o install.Options) (*install.Plan, error)
}

func scenes(t *testing.T) []scene {
	claude := func(o install.Options) (*install.Plan, error) { return install.Claude(t.Context(), o, "user") }
	hooks := func(o install.Options) (*install.Plan, error) { return install.Git(t.Context(), o, true) }
	return []scene{
		{name: "claude", files: map[string]string{"/home/.claude/settings.json": "{\n  \"model\": \"opus\"\n}\n"}, plan: claude},
		{name: "claude from nothing", files: map[string]string{}, plan: claude},
		{name: "configured hooks", files: map[string]string{"/top/.git/config": "[core]\n\tbare = false\n"}, plan: hooks},
		{name: "hook files", files: map[string]string{"HOOKS/pre-commit": "#!/bin/sh\n", "HOOKS/prepare-commit-msg": "#!/bin/sh\nexit 1\n"}, plan: hooks},
	}
}

// repo is a repository that git can be asked about, for the scenes in which it
// is; the hooks of it are on the disk in memory.
func repo(t *testing.T) git.Checkout {
	t.Helper()
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	top := t.TempDir()
	if out, err := exec.Command("git", "init", "-q", top).CombinedOutput(); err != nil {
		t.Skipf("git init: %v: %s", err, out)
	}
	c, err := git.Find(t.Context(), top)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (s *scene) setRepo(t *testing.T) {
	if s.name == "hook files" {
		s.repo = repo(t)
		return
	}
	s.repo = git.Checkout{Top: "/top", GitDir: "/top/.git", CommonDir: "/top/.git"}
}

// hooks is the folder of the scene's hooks.
func (s scene) hooks() string { return filepath.Join(s.repo.CommonDir, "hooks") }

// start is a disk with the files of s on it, all durable.
func (s scene) start(t *testing.T) (*vfstest.Disk, install.Options) {
	d := vfstest.New()
	for _, dir := range []string{"/home", "/top/.git", "/state/install"} {
		if err := vfs.MkdirAll(d, dir); err != nil {
			t.Fatal(err)
		}
	}
	if err := vfs.CreateFile(d, "/state/install/lock", nil); err != nil {
		t.Fatal(err)
	}
	for name, text := range s.files {
		name = strings.Replace(name, "HOOKS", s.hooks(), 1)
		if err := vfs.MkdirAll(d, filepath.Dir(name)); err != nil {
			t.Fatal(err)
		}
		if err := vfs.WriteFile(d, name, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	return d, s.options(d)
}

func (s scene) options(d *vfstest.Disk) install.Options {
	o := install.Options{FS: d, Home: "/home", State: "/state", Repo: s.repo, GitVersion: "git version 2.54.0"}
	if s.name == "hook files" {
		o.GitVersion = "git version 2.39.5"
	}
	return o
}

// tree is all files and folders of d.
func tree(t *testing.T, d *vfstest.Disk) map[string]string {
	t.Helper()
	all := make(map[string]string)
	var visit func(dir string)
	visit = func(dir string) {
		names, err := d.List(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			path := dir + "/" + name
			info, err := d.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if info.Dir {
				all[path+"/"] = ""
				visit(path)
				continue
			}
			all[path] = fmt.Sprintf("%o %s", info.Mode, d.Bytes(path))
		}
	}
	visit("")
	return all
}

// freed takes everything out and says what is left.
func freed(t *testing.T, o install.Options, d *vfstest.Disk) (map[string]string, error) {
	t.Helper()
	p, err := install.UninstallAll(t.Context(), o)
	if err == nil {
		_, err = p.Apply(t.Context())
	}
	return tree(t, d), err
}

// Each operation of an install, and of an uninstall, fails once, lost or kept
// though reported lost. Either it was all done, or nothing is left of it; and in
// any case uninstall gives back what was there.
func TestEachOperationFails(t *testing.T) {
	for _, s := range scenes(t) {
		s.setRepo(t)
		for _, kept := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/kept=%v", s.name, kept), func(t *testing.T) {
				d, _ := s.start(t)
				before := tree(t, d)
				failed := 0
				for n := 0; ; n++ {
					d, o := s.start(t)
					p, err := s.plan(o)
					if err != nil {
						t.Fatal(err)
					}
					first := d.Ops()
					d.Fail(vfstest.Fault{At: first + n, Err: vfstest.EIO, Kept: kept})
					_, err = p.Apply(t.Context())
					done := d.Ops() <= first+n
					d.Repair()
					if err != nil {
						failed++
						if got := tree(t, d); !maps.Equal(got, before) && !leftRecordOnly(got, before) {
							t.Errorf("operation %d failed, %v, and left (-want +got):\n%s", n, err, cmp.Diff(before, got))
						}
					}
					if got, err := freed(t, o, d); err != nil || !maps.Equal(got, before) && !leftRecordOnly(got, before) {
						t.Errorf("operation %d failed; uninstall = %v (-want +got):\n%s", n, err, cmp.Diff(before, got))
					}
					if done {
						break
					}
				}
				if failed < 8 {
					t.Errorf("only %d operations failed", failed)
				}
			})
		}
	}
}

// leftRecordOnly allows for the record, or a part of it, that a disk kept that
// reported its loss.
func leftRecordOnly(got, before map[string]string) bool {
	for name, text := range before {
		if got[name] != text {
			return false
		}
	}
	for name := range got {
		if _, ok := before[name]; !ok && !strings.HasPrefix(name, "/state/install/") {
			return false
		}
	}
	return true
}

func TestEachOperationOfUninstallFails(t *testing.T) {
	for _, s := range scenes(t) {
		s.setRepo(t)
		for _, kept := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/kept=%v", s.name, kept), func(t *testing.T) {
				d, _ := s.start(t)
				before := tree(t, d)
				for n := 0; ; n++ {
					d, o := s.start(t)
					p, err := s.plan(o)
					applied(t, p, err)
					if p, err = install.UninstallAll(t.Context(), o); err != nil {
						t.Fatal(err)
					}
					installed := tree(t, d)
					first := d.Ops()
					d.Fail(vfstest.Fault{At: first + n, Err: vfstest.EIO, Kept: kept})
					p.Apply(t.Context())
					done := d.Ops() <= first+n
					d.Repair()
					if got := tree(t, d); !maps.Equal(got, installed) && !leftRecordOnly(got, before) {
						t.Errorf("operation %d failed and left (-want +got):\n%s", n, cmp.Diff(installed, got))
					}
					if got, err := freed(t, o, d); err != nil || !maps.Equal(got, before) {
						t.Errorf("operation %d failed; uninstall again = %v (-want +got):\n%s", n, err, cmp.Diff(before, got))
					}
					if done {
						break
					}
				}
			})
		}
	}
}

// What Apply reported as done stays done when the power goes.
func TestAppliedIsDurable(t *testing.T) {
	for _, s := range scenes(t) {
		s.setRepo(t)
		t.Run(s.name, func(t *testing.T) {
			d, o := s.start(t)
			before := tree(t, d)
			p, err := s.plan(o)
			applied(t, p, err)
			after := tree(t, d)
			vfstest.Every(func(choose func(int) int) bool {
				if got := tree(t, d.Crash(choose)); !maps.Equal(got, after) {
					t.Errorf("an install is lost (-want +got):\n%s", cmp.Diff(after, got))
				}
				return !t.Failed()
			})
			if _, err := freed(t, o, d); err != nil {
				t.Fatal(err)
			}
			vfstest.Every(func(choose func(int) int) bool {
				if got := tree(t, d.Crash(choose)); !maps.Equal(got, before) {
					t.Errorf("an uninstall is lost (-want +got):\n%s", cmp.Diff(before, got))
				}
				return !t.Failed()
			})
		})
	}
}

// A meddler is somebody who acts in between.
type meddler struct {
	vfs.FS
	acts func(name string)
}

func (m *meddler) Rename(from, to string) error {
	m.acts(to)
	return m.FS.Rename(from, to)
}

func (m *meddler) Open(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	m.acts(name)
	return m.FS.Open(name, flag, perm)
}

// What somebody writes while Apply is at work is not written over.
func TestApplyDoesNotWriteOverWhatIsWrittenMeanwhile(t *testing.T) {
	const path = "/home/.claude/settings.json"
	d, o := disk(t)
	if err := vfs.WriteFile(d, path, []byte("{}\n")); err != nil {
		t.Fatal(err)
	}
	o.FS = &meddler{FS: d, acts: func(name string) {
		if name == path+".comity.tmp" {
			d.SetBytes(path, []byte("{\"new\": 1}\n"))
		}
	}}
	p, err := install.Claude(t.Context(), o, "user")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Apply(t.Context()); !errors.Is(err, install.ErrChanged) {
		t.Errorf("Apply = %v, want ErrChanged", err)
	}
	if got := string(d.Bytes(path)); got != "{\"new\": 1}\n" {
		t.Errorf("got %q", got)
	}
	if got := records(t, o); len(got) > 0 {
		t.Errorf("records left: %v", got)
	}

	// The same for a folder that somebody makes first.
	d, o = disk(t)
	if err := d.Remove("/home/.claude"); err != nil {
		t.Fatal(err)
	}
	planned := false
	o.FS = &meddler{FS: d, acts: func(name string) {
		if planned && strings.HasSuffix(name, ".json") {
			d.Mkdir("/home/.claude", 0o700)
		}
	}}
	if p, err = install.Claude(t.Context(), o, "user"); err != nil {
		t.Fatal(err)
	}
	planned = true
	if _, err := p.Apply(t.Context()); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Apply = %v, want ErrExist", err)
	}
	if _, err := d.Stat("/home/.claude"); err != nil {
		t.Errorf("their folder: %v, want it there", err)
	}
}

// The power goes at each operation, and the disk keeps what it likes of what was
// not synced. A settings file is as before or as after, and uninstall gives
// back what was there.
func TestPowerGoesAtEachOperation(t *testing.T) {
	for _, s := range scenes(t) {
		s.setRepo(t)
		t.Run(s.name, func(t *testing.T) {
			d, o := s.start(t)
			before := tree(t, d)
			p, err := s.plan(o)
			applied(t, p, err)
			after := tree(t, d)
			crashes := 0
			for n := 0; ; n++ {
				d, o := s.start(t)
				p, err := s.plan(o)
				if err != nil {
					t.Fatal(err)
				}
				first := d.Ops()
				d.PowerOff(first + n)
				_, err = p.Apply(t.Context())
				if err == nil {
					break
				}
				if !errors.Is(err, vfstest.ErrPowerOff) {
					t.Fatal(err)
				}
				limit := 200
				vfstest.Every(func(choose func(int) int) bool {
					crashes++
					c := d.Crash(choose)
					for _, name := range []string{"/home/.claude/settings.json", "/top/.git/config"} {
						if got := tree(t, c)[name]; got != before[name] && got != after[name] {
							t.Errorf("power off at %d: %s is %q", n, name, got)
						}
					}
					got, err := freed(t, s.options(c), c)
					delete(got, "/top/.git/config.lock") // cut: not to be told from git's own
					if err == nil && !maps.Equal(got, before) && !leftRecordOnly(got, before) {
						t.Errorf("power off at %d; uninstall (-want +got):\n%s", n, cmp.Diff(before, got))
					}
					if err != nil {
						t.Errorf("power off at %d; uninstall = %v", n, err)
					}
					limit--
					return limit > 0 && !t.Failed()
				})
			}
			if crashes < 20 {
				t.Errorf("only %d states after a crash", crashes)
			}
		})
	}
}
