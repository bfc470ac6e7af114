package install

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// takeOutHook plans to take our script for one hook out of dir, and to give the
// hook that was there before its name back. f is nil without a record.
//
// Our script is found by its words, also under another name: managers of hooks
// rename what they find and call it. What others wrote into it stays.
func (p *Plan) takeOutHook(dir, hook string, f *File) error {
	o := p.o
	path, aside := filepath.Join(dir, hook), filepath.Join(dir, hook+chained)
	before, err := o.read(aside)
	if err != nil {
		return err
	}
	carriers, err := o.carriers(dir, hook, f)
	if err != nil {
		return err
	}
	if len(carriers) == 0 {
		return p.takeBackAside(path, aside, before)
	}
	for i, name := range carriers {
		if i > 0 {
			before = content{} // it is given back once
		}
		if err := p.replaceScript(name, hook, f, aside, before); err != nil {
			return err
		}
	}
	return nil
}

// carriers lists the files in dir that hold our part for hook, hook itself first.
func (o Options) carriers(dir, hook string, f *File) ([]string, error) {
	if there, err := o.folder(dir); err != nil || !there {
		return nil, err
	}
	names, err := o.FS.List(dir)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, name := range names {
		if name != hook && !strings.HasPrefix(name, hook+".") || name == hook+chained || name == beside(hook) {
			continue
		}
		c, err := o.read(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		if o.carries(c.b, hook, f) && !c.link {
			found = append(found, filepath.Join(dir, name))
		}
	}
	return found, nil
}

// takeBackAside is for a hook in whose place our script no longer is.
func (p *Plan) takeBackAside(path, aside string, before content) error {
	now, err := p.o.read(path)
	switch {
	case err != nil || !before.there:
		return err
	case !now.there:
		p.add(step{do: move, path: aside, to: path, old: before})
	case bytes.Equal(now.b, before.b):
		p.add(step{do: remove, path: aside, old: before})
	default:
		p.note("%s was written by somebody since, so %s, the hook of before, stays; remove it if nothing calls it", path, aside)
	}
	return nil
}

// replaceScript gives the file name, which holds our part, back to what was there
// before; nothing, when before is not there.
func (p *Plan) replaceScript(name, hook string, f *File, aside string, before content) error {
	now, err := p.o.read(name)
	if err != nil {
		return err
	}
	ahead, behind, _ := strings.Cut(string(unixLines(now.b)), p.o.partIn(now.b, hook, f))
	rest, added := ahead+behind, strings.TrimPrefix(ahead+behind, shebang)
	switch untouched := strings.TrimSpace(added) == ""; {
	case untouched && before.there:
		p.add(step{do: move, path: aside, to: name, old: before, over: now})
	case untouched:
		p.add(step{do: remove, path: name, old: now})
	case !before.there:
		next := now
		next.b = []byte(rest)
		p.add(step{do: write, path: name, old: now, new: next})
	case ahead != shebang || before.link || !shell.Match(before.b):
		return fmt.Errorf("%s has lines of others in it, and %s was there before: put together what you need of both in the first, remove the second, and uninstall again", name, aside)
	default: // lines that were added behind our part belong behind the hook of before
		next := content{there: true, mode: before.mode, b: slices.Concat(before.b, []byte(behind))}
		if n := len(before.b); before.b[n-1] != '\n' {
			next.b = slices.Concat(before.b, []byte("\n"), []byte(behind))
		}
		p.add(step{do: write, path: name, old: now, new: next}, step{do: remove, path: aside, old: before})
	}
	return nil
}

// shell is how a hook begins that takes shell lines behind its last one.
var shell = regexp.MustCompile(`^#! *(/usr)?/bin/(env +)?(ba|da|k|z)?sh\b`)
