// Package proc says which process is which: a process is its pid, the moment
// it started and the boot it runs in, so that a pid that the system hands out
// again is never taken for the process that had it before.
//
// It stands on the ground floor and imports nothing of this module. It only
// reads: from /proc on Linux, from sysctl on macOS, through process handles on
// Windows. What a system cannot tell is [ErrUnsupported] and never a guess.
// Everything here may be called from several goroutines.
package proc

import (
	"errors"
	"fmt"
	"os"
	"runtime"
)

var (
	// ErrGone reports that no such process runs: it never did, it has ended, or
	// it is a zombie that waits to be reaped.
	ErrGone = errors.New("no such process")

	// ErrHidden reports that a process runs, but that the system does not let
	// this user look at it. It says nothing about which process it is.
	ErrHidden = errors.New("process belongs to another user and is hidden")

	// ErrUnsupported reports a question that this system has no answer for.
	// It matches [errors.ErrUnsupported].
	ErrUnsupported = fmt.Errorf("not supported on %s: %w", runtime.GOOS, errors.ErrUnsupported)

	// ErrIncomplete reports an [ID] that lacks one of its parts and so names no process.
	ErrIncomplete = errors.New("incomplete process identity")
)

// An ID names one process for ever. Two IDs are the same process exactly when
// they are equal.
type ID struct {
	PID int

	// Start is the moment the process started, in the system's own units. It is
	// opaque, and constant for the life of the process.
	Start string

	// Boot names the boot that the process runs in; after a reboot it is
	// another. On Windows, where no boot has a name, it is a constant: there
	// Start counts from a fixed date and tells boots apart by itself.
	Boot string
}

// String gives the pid for messages: "pid 4711".
func (id ID) String() string { return fmt.Sprintf("pid %d", id.PID) }

func (id ID) complete() bool { return id.PID > 0 && id.Start != "" && id.Boot != "" }

// Self is the identity of the calling process.
func Self() (ID, error) { return Of(os.Getpid()) }

// Of is the identity of the process that has pid now.
// It is [ErrGone] when there is none and [ErrHidden] when it may not be seen.
func Of(pid int) (ID, error) {
	if pid <= 0 {
		return ID{}, fmt.Errorf("pid %d: %w", pid, ErrGone)
	}
	boot, err := bootID()
	if err != nil {
		return ID{}, err
	}
	f, err := look(pid)
	if err != nil {
		return ID{}, fmt.Errorf("pid %d: %w", pid, err)
	}
	return ID{PID: pid, Start: f.start, Boot: boot}, nil
}

// Alive reports whether the process that id names still runs: same pid, same
// start, same boot, and not a zombie. An error means that it could not be told;
// a caller must not take it for an end.
func (id ID) Alive() (bool, error) {
	if !id.complete() {
		return false, fmt.Errorf("%v: %w", id, ErrIncomplete)
	}
	now, err := Of(id.PID)
	if errors.Is(err, ErrGone) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return now == id, nil
}

// Name is the name of the program that pid runs, without its folder, as ps and
// task managers show it: what was executed, unless the process chose another.
func Name(pid int) (string, error) {
	f, err := look(pid)
	if err != nil {
		return "", fmt.Errorf("pid %d: %w", pid, err)
	}
	return f.fullName(pid)
}

// Terminal is the session leader of the terminal that controls pid: one for
// all that was started from one terminal window, and another for the next
// window. It is false when no terminal controls pid.
func Terminal(pid int) (ID, bool, error) {
	f, err := look(pid)
	if err != nil {
		return ID{}, false, fmt.Errorf("pid %d: %w", pid, err)
	}
	leader, ok, err := f.terminal(pid)
	if err != nil || !ok {
		return ID{}, false, err
	}
	id, err := Of(leader)
	if errors.Is(err, ErrGone) {
		return ID{}, false, nil // a terminal without its leader is being hung up
	}
	return id, err == nil, err
}
