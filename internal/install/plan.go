package install

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/comity-dev/comity/internal/vfs"
)

// A Plan is what is to be changed, made by looking only. It is good until one
// of its files changes.
type Plan struct {
	o       Options
	steps   []step
	notes   []string
	records []recordChange
	applied bool
}

// A recordChange is what happens to one record.
type recordChange struct {
	path   string
	was    *Record // nil: none
	during *Record // durable before the first step; nil: as it was
	then   *Record // durable behind the last step; nil: none
}

// Applied says what Apply did.
type Applied struct {
	Changed []string // names that were made, edited, renamed, or removed
	Notes   []string // what was left and why
}

// Empty says that there is nothing to change.
func (p *Plan) Empty() bool { return len(p.steps) == 0 }

// Notes says what the plan leaves alone, and why.
func (p *Plan) Notes() []string { return p.notes }

func (p *Plan) note(format string, args ...any) {
	p.notes = append(p.notes, fmt.Sprintf(format, args...))
}

func (p *Plan) add(s ...step) { p.steps = append(p.steps, s...) }

// Apply makes the changes, all or none of them: when one fails, those before it
// are taken back. A second Apply does nothing. It is refused with ErrChanged when a file is not as it was
// when the plan was made, and with vfs.ErrLocked while another applies.
//
// A record of what is done is durable before the first file changes. When a
// crash or a dead disk leaves some changes made, the record is there: take out
// what it names, or install again.
func (p *Plan) Apply(ctx context.Context) (Applied, error) {
	done := Applied{Notes: p.notes}
	if p.applied || len(p.steps) == 0 && len(p.records) == 0 {
		return done, nil
	}
	if err := ctx.Err(); err != nil {
		return done, err
	}
	if err := vfs.MkdirAll(p.o.FS, p.o.recordFolder()); err != nil {
		return done, fmt.Errorf("make folder of install records: %w", err)
	}
	lock, err := p.o.FS.Lock(filepath.Join(p.o.recordFolder(), "lock"))
	if err != nil {
		return done, fmt.Errorf("install: %w", err)
	}
	defer lock.Close()
	p.o.sweep()
	if err := p.apply(); err != nil {
		return done, err
	}
	p.applied = true
	for _, s := range p.steps {
		done.Changed = append(done.Changed, s.path)
	}
	return done, nil
}

func (p *Plan) apply() error {
	if err := p.fresh(); err != nil {
		return err
	}
	for _, r := range p.records {
		p.o.sweepFiles(r.was)
		if r.during == nil {
			continue
		}
		if err := p.o.writeRecord(r.path, r.during); err != nil {
			return errors.Join(err, p.takeBack())
		}
	}
	if err := p.run(); err != nil {
		return errors.Join(err, p.takeBack())
	}
	for _, r := range p.records {
		var err error
		switch {
		case r.then == nil:
			err = p.o.removeRecord(r.path)
		case !sameRecord(r.then, r.during):
			err = p.o.writeRecord(r.path, r.then)
		}
		if err != nil { // all is done; a record too many is found out by the next look
			return err
		}
	}
	return nil
}

// fresh reports a file or a record that is not as the plan saw it. Nothing has
// been written by then.
func (p *Plan) fresh() error {
	moved := make(map[string]bool) // names that earlier steps have made other than they are now
	for _, s := range p.steps {
		if moved[s.path] || moved[s.to] {
			continue
		}
		if err := s.unchanged(p.o); err != nil {
			return err
		}
		if s.do == move {
			moved[s.path], moved[s.to] = true, true
		}
	}
	for _, r := range p.records {
		now, err := p.o.readRecord(r.path)
		if err != nil {
			return err
		}
		if !sameRecord(now, r.was) {
			return fmt.Errorf("%s: %w", r.path, ErrChanged)
		}
	}
	return nil
}

func (p *Plan) run() error {
	for i := range p.steps {
		if err := p.steps[i].prepare(p.o); err != nil {
			return fmt.Errorf("%s %s: %w", p.steps[i].do, p.steps[i].path, err)
		}
	}
	for i := range p.steps {
		if err := p.steps[i].commit(p.o); err != nil {
			return fmt.Errorf("%s %s: %w", p.steps[i].do, p.steps[i].path, err)
		}
	}
	return nil
}

// takeBack undoes a failed apply. The records are put back only when everything
// else is: while they are there, nothing is lost.
func (p *Plan) takeBack() error {
	var errs []error
	for i := len(p.steps) - 1; i >= 0; i-- {
		if err := p.steps[i].back(p.o); err != nil {
			errs = append(errs, fmt.Errorf("put back %s: %w", p.steps[i].path, err))
		}
	}
	if len(errs) > 0 {
		return errors.Join(append(errs, errors.New("not everything could be put back: uninstall again once the disk works"))...)
	}
	for _, r := range p.records {
		switch {
		case r.during == nil:
		case r.was == nil:
			errs = append(errs, p.o.removeRecord(r.path))
		default:
			errs = append(errs, p.o.writeRecord(r.path, r.was))
		}
	}
	return errors.Join(errs...)
}
