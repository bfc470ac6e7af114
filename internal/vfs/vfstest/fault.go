package vfstest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
)

// A Fault makes operations fail.
type Fault struct {
	// At is the number of the operation, as Disk.Ops counts: the first one after
	// the disk was made is 0.
	At      int
	Forever bool // and all operations of the same kinds behind it
	Err     error
	// Kept: the operation happens, though it is reported as failed. Else it does
	// not happen.
	Kept bool
	// Short: a write happens up to its middle.
	Short bool
	// Kinds are the operations that it is about; empty means all.
	// They are: create open read write truncate sync size rename remove mkdir list
	// stat syncdir lock.
	Kinds []string
}

// EIO and ENOSPC are the errors that disks have.
var (
	EIO    error = syscall.EIO
	ENOSPC error = syscall.ENOSPC
)

// ErrPowerOff is the error of every operation after PowerOff.
var ErrPowerOff = errors.New("the power is off")

// Fail adds a fault.
func (d *Disk) Fail(f Fault) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.faults = append(d.faults, f)
}

// Repair takes out all faults.
func (d *Disk) Repair() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.faults = nil
}

// Ops returns how many operations there were.
func (d *Disk) Ops() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ops
}

// Changes returns how many operations changed something, or synced it.
func (d *Disk) Changes() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.changes
}

// Log returns the operations since Trace was set, one a line, for messages of
// tests.
func (d *Disk) Log() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.log)
}

// PowerOff makes every operation fail from operation n on (see Ops), without
// effect. What was done before stays as it is, for Crash.
func (d *Disk) PowerOff(n int) {
	d.Fail(Fault{At: n, Forever: true, Err: ErrPowerOff})
}

// fault counts an operation and returns what is to go wrong with it.
func (d *Disk) fault(kind, name string) *Fault {
	n := d.ops
	d.ops++
	if d.Trace {
		d.log = append(d.log, fmt.Sprintf("%d %s %s", n, kind, name))
	}
	for i := range d.faults {
		f := &d.faults[i]
		if (n == f.At || f.Forever && n > f.At) && (len(f.Kinds) == 0 || slices.Contains(f.Kinds, kind)) {
			return f
		}
	}
	return nil
}

func (f *Fault) error(kind, name string) error {
	return fmt.Errorf("%s %s: %w", kind, strings.TrimPrefix(name, "/"), f.Err)
}

func (d *Disk) run(kind, name string, do func() error) error {
	f := d.fault(kind, name)
	if do != nil && (f == nil || f.Kept) {
		d.changes++
		if err := do(); err != nil {
			return err
		}
	}
	if f != nil {
		return f.error(kind, name)
	}
	return nil
}

func (d *Disk) runWrite(name string, n int, do func(part int)) error {
	f := d.fault("write", name)
	if f == nil || f.Kept || f.Short {
		d.changes++
	}
	switch {
	case f == nil || f.Kept:
		do(n)
	case f.Short:
		do(n / 2)
	default:
		do(0)
	}
	if f != nil {
		return f.error("write", name)
	}
	return nil
}

func (d *Disk) runSync(kind, name string, do func(ok bool)) error {
	f := d.fault(kind, name)
	if f != nil && errors.Is(f.Err, ErrPowerOff) {
		return f.error(kind, name)
	}
	d.changes++
	do(f == nil || f.Kept)
	if f != nil {
		return f.error(kind, name)
	}
	return nil
}
