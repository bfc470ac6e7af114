package install

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// A step is one change of one name. Steps are prepared in order, then done in
// order, and taken back in the reverse order when one of them fails.
type step struct {
	do   verb
	path string
	to   string  // of a move
	old  content // what is at path (of a move: at path, too)
	over content // of a move: what it replaces
	new  content // of a write
	git  bool    // a write of git's config, under git's own lock
	mode fs.FileMode

	begun bool
}

type verb string

const (
	write  verb = "write"
	move   verb = "rename"
	remove verb = "remove"
	mkdir  verb = "make folder"
	rmdir  verb = "remove folder"
)

// prepare does what can fail most, and changes nothing that anybody reads.
func (s *step) prepare(o Options) error {
	s.begun = true
	switch s.do {
	case mkdir:
		err := o.FS.Mkdir(s.path, s.mode)
		if err == nil {
			err = o.FS.SyncDir(filepath.Dir(s.path))
		}
		s.begun = !errors.Is(err, fs.ErrExist) // then it is somebody else's
		return err
	case write:
		return o.prepare(s.path, s.new)
	}
	return nil
}

func (s *step) commit(o Options) error {
	if err := s.unchanged(o); err != nil {
		return err
	}
	switch s.do {
	case write:
		if s.git {
			return o.commitConfig(s.path, func() error { return s.unchanged(o) })
		}
		return o.commit(s.path)
	case move:
		return o.rename(s.path, s.to)
	case remove:
		return o.remove(s.path)
	case rmdir:
		if err := o.remove(s.path); err != nil && !o.filledFolder(s.path) {
			return err
		}
	}
	return nil
}

// filledFolder says that somebody put something into a folder that we made: then it
// stays.
func (o Options) filledFolder(path string) bool {
	names, err := o.FS.List(path)
	return errors.Is(err, fs.ErrNotExist) || err == nil && len(names) > 0
}

// unchanged compares with what the plan saw.
func (s *step) unchanged(o Options) error {
	if s.do == mkdir || s.do == rmdir {
		return nil
	}
	now, err := o.read(s.path)
	if err == nil && !now.same(s.old) {
		err = fmt.Errorf("%s: %w", s.path, ErrChanged)
	}
	if err != nil || s.do != move {
		return err
	}
	now, err = o.read(s.to)
	if err == nil && !now.same(s.over) {
		err = fmt.Errorf("%s: %w", s.to, ErrChanged)
	}
	return err
}

// back takes the step back, whether it happened or not: an operation that was
// reported as failed may have been done.
func (s *step) back(o Options) error {
	if !s.begun {
		return nil
	}
	var err error
	switch s.do {
	case write:
		err = errors.Join(o.discard(beside(s.path)), o.restore(s.path, s.new, s.old))
	case move:
		err = s.backMove(o)
	case remove:
		err = o.restore(s.path, content{}, s.old)
	case mkdir:
		if rerr := o.remove(s.path); rerr != nil && !o.filledFolder(s.path) {
			err = rerr
		}
	case rmdir:
		var there bool
		if there, err = o.folder(s.path); err == nil && !there {
			err = o.FS.Mkdir(s.path, s.mode)
		}
	}
	return err
}

func (s *step) backMove(o Options) error {
	from, err := o.read(s.path)
	if err != nil || from.there {
		return err
	}
	if err := o.rename(s.to, s.path); err != nil {
		return err
	}
	return o.restore(s.to, content{}, s.over)
}

// restore puts old back at path if what is there is what we made it.
func (o Options) restore(path string, made, old content) error {
	now, err := o.read(path)
	switch {
	case err != nil:
		return err
	case now.same(old):
		return nil
	case now.there != made.there || string(now.b) != string(made.b):
		return nil // somebody's by now
	case !old.there:
		return o.remove(path)
	}
	if err := o.prepare(path, old); err != nil {
		return err
	}
	return o.commit(path)
}
