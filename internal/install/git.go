package install

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/comity-dev/comity/internal/git"
)

// Git plans the hooks pre-commit and pre-push of o.Repo, and with trailer
// prepare-commit-msg. They serve all worktrees of the repository.
//
// With git 2.54 or newer they are configured hooks, which leave hook files and
// core.hooksPath alone; a program that brings an older git of its own does not
// run those. With an older one they are files in the repository's own
// hooks folder, in front of those that are there. A hooks folder that is
// elsewhere is somebody's: *ManagedError. What is installed one way stays that
// way until it is uninstalled.
func Git(ctx context.Context, o Options, trailer bool) (*Plan, error) {
	o, err := o.filled()
	if err != nil {
		return nil, err
	}
	if o.Repo.CommonDir == "" {
		return nil, fmt.Errorf("install git: %w", git.ErrNoRepository)
	}
	hooks := gitHooks[:]
	if !trailer {
		hooks = slices.DeleteFunc(slices.Clone(hooks), func(h string) bool { return h == trailerHook })
	}
	was, err := o.readRecord(o.recordPath(GitHooks, o.Repo.CommonDir))
	if err != nil {
		return nil, err
	}
	configured, err := o.configuresHooks(ctx)
	if err != nil {
		return nil, err
	}
	switch {
	case was.file(kindConfig) != nil && !configured:
		return nil, errors.New("install git: installed for git 2.54 or newer, which this git is not; uninstall git first, then install it again")
	case configured && was.file(kindHook) == nil:
		return o.planText(target{name: GitHooks, where: o.Repo.CommonDir, kind: kindConfig,
			path: filepath.Join(o.Repo.CommonDir, "config"), mode: 0o644, hooks: hooks})
	}
	dir, err := o.hooksFolder(ctx)
	if err != nil {
		return nil, err
	}
	return o.planHooks(dir, hooks, was)
}

// configuresHooks says whether git knows hooks by configuration.
func (o Options) configuresHooks(ctx context.Context) (bool, error) {
	text := o.GitVersion
	if text == "" {
		out, err := exec.CommandContext(ctx, "git", "version").Output()
		if err != nil {
			return false, fmt.Errorf("install git: ask git for its version: %w", err)
		}
		text = string(out)
	}
	major, minor, err := version(text)
	return err == nil && (major > 2 || major == 2 && minor >= 54), err
}

// version reads "git version 2.54.0.windows.1".
func version(text string) (major, minor int, err error) {
	parts := strings.Split(strings.TrimPrefix(strings.TrimSpace(text), "git version "), ".")
	if len(parts) >= 2 {
		if major, err = strconv.Atoi(parts[0]); err == nil {
			minor, err = strconv.Atoi(parts[1])
		}
	}
	if len(parts) < 2 || err != nil {
		return 0, 0, fmt.Errorf("install git: %q is no version of git", text)
	}
	return major, minor, nil
}

// hooksFolder is where git looks for the hooks of the repository, if that is
// inside the repository's own folder.
func (o Options) hooksFolder(ctx context.Context) (string, error) {
	dir := filepath.Join(o.Repo.CommonDir, "hooks")
	set, ok, err := o.Repo.Config(ctx, "core.hooksPath")
	if err != nil {
		return "", err
	}
	if ok {
		dir = o.expand(set)
	}
	real, err := o.real(dir)
	if err != nil {
		return "", err
	}
	if inside(o.Repo.CommonDir, real) {
		return real, nil
	}
	return "", o.managed(dir, real, ok)
}

// expand is the folder that a value of core.hooksPath names.
func (o Options) expand(set string) string {
	if rest, ok := strings.CutPrefix(set, "~/"); ok {
		return filepath.Join(o.Home, filepath.FromSlash(rest))
	}
	dir := filepath.FromSlash(set)
	if filepath.IsAbs(dir) {
		return filepath.Clean(dir)
	}
	if o.Repo.Top == "" {
		return filepath.Join(o.Repo.GitDir, dir)
	}
	return filepath.Join(o.Repo.Top, dir)
}

func inside(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel) && rel != "."
}

// managed is why the hooks in dir are left alone, with what the user may add.
func (o Options) managed(dir, real string, set bool) error {
	e := &ManagedError{Hooks: dir, Why: "is outside the repository's own folder and may serve other repositories"}
	if o.Repo.Top != "" && inside(o.Repo.Top, real) {
		e.Why = "is in the working tree, where others share it"
	}
	if set {
		e.Why += " (core.hooksPath)"
	}
	if filepath.Base(dir) == "_" && filepath.Base(filepath.Dir(dir)) == ".husky" {
		dir = filepath.Dir(dir) // what is in _ is made anew by each npm install
	}
	for _, hook := range gitHooks[:2] {
		e.Lines = append(e.Lines, filepath.Join(dir, hook)+": "+o.ownLine(hook))
	}
	return e
}

// planHooks plans scripts in the hooks folder dir.
func (o Options) planHooks(dir string, hooks []string, was *Record) (*Plan, error) {
	p := &Plan{o: o}
	r := &Record{Format: recordFormat, Name: GitHooks, Where: o.Repo.CommonDir}
	if was != nil {
		r.Folders = was.Folders
	}
	if err := p.makeFolder(r, dir, target{mode: 0o755}); err != nil {
		return nil, err
	}
	during := *r
	for _, hook := range gitHooks {
		old := was.hook(hook)
		if !slices.Contains(hooks, hook) {
			if old != nil {
				if err := p.takeOutHook(dir, hook, old); err != nil {
					return nil, err
				}
				during.Files = append(during.Files, *old)
			}
			continue
		}
		f, err := p.putHook(dir, hook, old)
		if err != nil {
			return nil, err
		}
		if f != nil {
			r.Files, during.Files = append(r.Files, *f), append(during.Files, *f)
		}
	}
	change := recordChange{path: o.recordPath(GitHooks, o.Repo.CommonDir), was: was, during: &during, then: r}
	if len(r.Files) == 0 {
		change.then = nil
	}
	if len(p.steps) > 0 || !sameRecord(was, change.then) {
		p.records = []recordChange{change}
	}
	return p, nil
}

// putHook plans our script for one hook. It returns nothing when the hook that
// is there calls us by itself.
func (p *Plan) putHook(dir, hook string, old *File) (*File, error) {
	o := p.o
	path, aside := filepath.Join(dir, hook), filepath.Join(dir, hook+chained)
	now, err := o.read(path)
	if err != nil {
		return nil, err
	}
	before, err := o.read(aside)
	if err != nil {
		return nil, err
	}
	f := &File{Path: path, Kind: kindHook, Hook: hook, Part: o.part(hook)}
	script := content{there: true, mode: 0o755, b: []byte(o.script(hook))}
	switch {
	case o.carries(now.b, hook, nil):
		if now.mode&0o100 == 0 && runtime.GOOS != "windows" {
			p.note("%s is not executable, so git does not run it", path)
		}
		return f, nil
	case o.carries(now.b, hook, old) && !now.link: // of an earlier build
		next := now
		next.b = bytes.Replace(unixLines(now.b), []byte(old.Part), []byte(f.Part), 1)
		p.add(step{do: write, path: path, old: now, new: next})
		return f, nil
	case bytes.Contains(now.b, []byte(o.call("hook", "git", hook))):
		p.note("%s calls %s by itself and is left as it is", path, o.Command[0])
		return nil, nil
	case now.there && before.there:
		return nil, fmt.Errorf("%s is in the way: it was put aside by an earlier install, and %s was written since; look at both, and remove or rename the first", aside, path)
	case before.there && old == nil:
		return nil, fmt.Errorf("%s is in the way, and no record says whose it is; remove or rename it", aside)
	case now.there:
		p.add(step{do: move, path: path, to: aside, old: now})
	}
	p.add(step{do: write, path: path, new: script})
	return f, nil
}

// carries says that our part, of this build or as recorded, is in a script.
func (o Options) carries(b []byte, hook string, f *File) bool {
	return o.partIn(b, hook, f) != ""
}

func (o Options) partIn(b []byte, hook string, f *File) string {
	b = unixLines(b)
	if part := o.part(hook); bytes.Contains(b, []byte(part)) {
		return part
	}
	if f != nil && bytes.Contains(b, []byte(f.Part)) {
		return f.Part
	}
	return ""
}

// unixLines is a script with the line ends that a shell wants: an editor may
// have changed ours.
func unixLines(b []byte) []byte { return bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n")) }
