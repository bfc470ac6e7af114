package install

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// Installed lists what is recorded, in the order of the record files' names. A
// record that is not understood is an error beside those that are.
func Installed(ctx context.Context, o Options) ([]Record, error) {
	o, err := o.filled()
	if err != nil {
		return nil, err
	}
	names, err := o.FS.List(o.recordFolder())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list install records: %w", err)
	}
	var all []Record
	var errs []error
	for _, name := range names {
		if !strings.HasSuffix(name, ".json") {
			continue
		}
		r, err := o.readRecord(filepath.Join(o.recordFolder(), name))
		if err == nil && r != nil && name != filepath.Base(o.recordPath(r.Name, r.Where)) {
			err = fmt.Errorf("install record %s is about %s in %s, which has another name", name, r.Name, r.Where)
		}
		if err != nil {
			errs = append(errs, err)
		} else if r != nil {
			all = append(all, *r)
		}
	}
	return all, errors.Join(errs...)
}

// Uninstall plans to take out what names say: ClaudeUser, ClaudeProject and
// GitHooks, the latter two of o.Repo. It needs no record: what is ours is known
// by its words, but without a record empty containers go with it.
//
// A name of which nothing is there is ErrNotInstalled.
func Uninstall(ctx context.Context, o Options, names ...string) (*Plan, error) {
	o, err := o.filled()
	if err != nil {
		return nil, err
	}
	p := &Plan{o: o}
	for _, name := range names {
		where := o.Repo.CommonDir
		if name != GitHooks {
			if where, err = o.settings(name); err != nil {
				return nil, err
			}
		}
		if !slices.Contains([]string{ClaudeUser, ClaudeProject, GitHooks}, name) || where == "" {
			return nil, fmt.Errorf("uninstall %s: %w", name, ErrNotInstalled)
		}
		if err := p.takeOut(name, where); err != nil {
			return nil, fmt.Errorf("uninstall %s: %w", name, err)
		}
	}
	return p, nil
}

// UninstallAll plans to take out all that is recorded. What cannot be taken out,
// as from a file with errors in it, is in the error; the plan that comes with it
// is good for all the rest.
func UninstallAll(ctx context.Context, o Options) (*Plan, error) {
	all, err := Installed(ctx, o)
	errs := []error{err}
	if o, err = o.filled(); err != nil {
		return nil, err
	}
	p := &Plan{o: o}
	for _, r := range all {
		part := &Plan{o: o}
		if err := part.takeOut(r.Name, r.Where); err != nil {
			errs = append(errs, fmt.Errorf("uninstall %s: %w", r.Name, err))
			continue
		}
		p.add(part.steps...)
		p.notes = append(p.notes, part.notes...)
		p.records = append(p.records, part.records...)
	}
	return p, errors.Join(errs...)
}

// takeOut plans to take out one name.
func (p *Plan) takeOut(name, where string) error {
	path := p.o.recordPath(name, where)
	r, err := p.o.readRecord(path)
	if err != nil {
		return err
	}
	if r != nil {
		p.records = append(p.records, recordChange{path: path, was: r})
	} else if r, err = p.o.guess(name, where); err != nil {
		return err
	}
	before := len(p.steps)
	for _, f := range r.Files {
		if f.Kind == kindHook {
			old := &f
			if f.Part == "" {
				old = nil
			}
			err = p.takeOutHook(filepath.Dir(f.Path), f.Hook, old)
		} else {
			err = p.takeOutText(f)
		}
		if err != nil {
			return err
		}
	}
	if len(p.steps) == before && len(p.records) == 0 {
		return ErrNotInstalled
	}
	for _, dir := range slices.Backward(r.Folders) {
		if info, err := p.o.FS.Stat(dir); err == nil && info.Dir {
			p.add(step{do: rmdir, path: dir, mode: info.Mode.Perm()})
		}
	}
	return nil
}

// guess is where we would be if there were a record.
func (o Options) guess(name, where string) (*Record, error) {
	r := &Record{Name: name, Where: where}
	if name != GitHooks {
		real, err := o.real(where)
		r.Files = []File{{Path: real, Kind: kindJSON}}
		return r, err
	}
	config, err := o.real(filepath.Join(where, "config"))
	if err != nil {
		return nil, err
	}
	r.Files = []File{{Path: config, Kind: kindConfig}}
	for _, hook := range gitHooks {
		r.Files = append(r.Files, File{Path: filepath.Join(where, "hooks", hook), Kind: kindHook, Hook: hook})
	}
	return r, nil
}

func (p *Plan) takeOutText(f File) error {
	known := &f
	if f.After == "" {
		known = nil
	}
	now, err := p.o.read(f.Path)
	if err != nil {
		return err
	}
	next, err := p.o.without(f.Kind, f.Path, now, known)
	if err != nil || next.same(now) {
		return err
	}
	if now.mode&0o200 == 0 {
		return fmt.Errorf("%s %w", f.Path, ErrReadOnly)
	}
	if !next.there {
		p.add(step{do: remove, path: f.Path, old: now})
		return nil
	}
	p.add(step{do: write, path: f.Path, old: now, new: next, git: f.Kind == kindConfig})
	return nil
}
