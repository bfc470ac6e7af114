package install

import (
	"bytes"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
)

// A target is a text file that gets our words by edits: settings, or git's
// config.
type target struct {
	name, where string
	path        string // links not followed
	kind        string
	mode        fs.FileMode // of a file that is not there yet
	hooks       []string    // of git's config
}

// planText plans the edits of one file. It takes out what an earlier install
// left and adds anew, so that after it the file is as after a first install on
// what others wrote.
func (o Options) planText(t target) (*Plan, error) {
	p := &Plan{o: o}
	rpath := o.recordPath(t.name, t.where)
	was, err := o.readRecord(rpath)
	if err != nil {
		return nil, err
	}
	real, now, err := o.open(t.path)
	if err != nil {
		return nil, err
	}
	complete, err := p.complete(t, real, now.b)
	if err != nil {
		return nil, err
	}
	if complete {
		if was == nil {
			p.note("%s has all of it already; no record says that it was put there from here", real)
		}
		return p, nil
	}
	base, err := o.without(t.kind, real, now, was.file(t.kind))
	if err != nil {
		return nil, err
	}
	f, next, err := o.with(t, real, base)
	if err != nil {
		return nil, err
	}
	if now.there {
		next.mode = now.mode
	}
	r := &Record{Format: recordFormat, Name: t.name, Where: t.where}
	if was != nil {
		r.Folders = was.Folders
	}
	if err := p.makeFolder(r, filepath.Dir(real), t); err != nil {
		return nil, err
	}
	r.Files = []File{*f}
	p.add(step{do: write, path: real, old: now, new: next, git: t.kind == kindConfig})
	during := *r
	if old := was.file(t.kind); old != nil && old.Path != real { // the link leads elsewhere by now
		if err := p.takeOutText(*old); err != nil {
			return nil, err
		}
		during.Files = []File{*f, *old}
	}
	p.records = []recordChange{{path: rpath, was: was, during: &during, then: r}}
	return p, nil
}

// open reads the file that path leads to, which must be one that may be written.
func (o Options) open(path string) (real string, c content, err error) {
	if real, err = o.real(path); err != nil {
		return "", c, err
	}
	if c, err = o.read(real); err != nil {
		return "", c, err
	}
	if c.there && c.mode&0o200 == 0 {
		return "", c, fmt.Errorf("%s %w", real, ErrReadOnly)
	}
	return real, c, nil
}

// makeFolder plans the folder of a file, which may be missing with its parent.
func (p *Plan) makeFolder(r *Record, dir string, t target) error {
	var missing []string
	for {
		there, err := p.o.folder(dir)
		if err != nil {
			return err
		}
		if there {
			break
		}
		missing = append(missing, dir)
		if filepath.Dir(dir) == dir {
			break
		}
		dir = filepath.Dir(dir)
	}
	slices.Reverse(missing)
	mode := fs.FileMode(0o700)
	if t.mode&0o044 != 0 {
		mode = 0o755
	}
	for _, m := range missing {
		p.add(step{do: mkdir, path: m, mode: mode})
		if !slices.Contains(r.Folders, m) {
			r.Folders = append(slices.Clone(r.Folders), m)
		}
	}
	return nil
}

// complete says that nothing is missing in b.
func (p *Plan) complete(t target, path string, b []byte) (bool, error) {
	if t.kind == kindConfig {
		return p.o.configComplete(b, t.hooks), nil
	}
	if blank(b) {
		return false, nil
	}
	d, err := parse(path, b)
	if err != nil {
		return false, err
	}
	if off := d.root.member("disableAllHooks"); off != nil && off.kind == 't' {
		p.note("%s has disableAllHooks: no hook runs while it is true", path)
	}
	return p.o.settingsComplete(d), nil
}

// without is a file without what is ours: to the byte what was there before, if
// nobody wrote it since.
func (o Options) without(kind, path string, now content, f *File) (content, error) {
	if f != nil && f.Path == path {
		switch now.digest() {
		case f.Before:
			return now, nil
		case f.After:
			before, err := undo(now.b, f.Edits)
			if err != nil {
				return content{}, fmt.Errorf("%s: %w", path, err)
			}
			return content{there: f.Before != "", mode: now.mode, b: before}, nil
		}
	}
	if !now.there {
		return now, nil
	}
	var gone bool
	var err error
	switch kind {
	case kindJSON:
		now.b, gone, err = o.stripSettings(path, now.b, f)
	case kindConfig:
		now.b = o.stripConfig(now.b, f)
	}
	if gone {
		return content{}, err
	}
	return now, err
}

// with is base with what is ours, and what to remember of it.
func (o Options) with(t target, path string, base content) (*File, content, error) {
	f := &File{Path: path, Kind: t.kind, Before: base.digest()}
	var err error
	switch t.kind {
	case kindJSON:
		f.Commands = o.claudeLines()
		f.Edits, err = o.addSettings(path, base.b, f)
	case kindConfig:
		for _, hook := range t.hooks {
			f.Commands = append(f.Commands, o.gitLine(hook))
		}
		f.Edits = o.addConfig(base.b, t.hooks)
	}
	if err != nil {
		return nil, content{}, err
	}
	next := content{there: true, mode: t.mode}
	if next.b, err = apply(base.b, f.Edits); err != nil {
		return nil, content{}, fmt.Errorf("%s: %w", path, err) // unreachable unless an edit is misplaced
	}
	f.After = next.digest()
	return f, next, nil
}

func blank(b []byte) bool { return len(bytes.TrimSpace(bytes.TrimPrefix(b, []byte(bom)))) == 0 }
