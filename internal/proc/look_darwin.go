package proc

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// facts is what the kernel's process table says, by sysctl kern.proc.pid.
type facts struct {
	name   string // at most 16 bytes
	parent int
	tty    int32  // device number, -1 without a controlling terminal
	start  string // wall time when it started, microseconds, never corrected afterwards
}

const (
	stateZombie = 5  // SZOMB of sys/proc.h
	noTTY       = -1 // NODEV
)

// bootID is the session id that the kernel draws at each boot. The time of
// the boot would not do: it moves whenever the clock is set.
func bootID() (string, error) {
	id, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return "", fmt.Errorf("read the boot id (sysctl kern.bootsessionuuid): %w", err)
	}
	if id == "" {
		return "", errors.New("read the boot id: sysctl kern.bootsessionuuid is empty")
	}
	return id, nil
}

func look(pid int) (facts, error) {
	if pid <= 0 {
		return facts{}, ErrGone
	}
	// The slice form, since it tells "no such process" (empty) from an error.
	found, err := unix.SysctlKinfoProcSlice("kern.proc.pid", pid)
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
		return facts{}, ErrHidden
	}
	if err != nil && !errors.Is(err, unix.ESRCH) {
		return facts{}, fmt.Errorf("sysctl kern.proc.pid: %w", err)
	}
	if len(found) == 0 || int(found[0].Proc.P_pid) != pid || found[0].Proc.P_stat == stateZombie {
		return facts{}, ErrGone
	}
	k := &found[0]
	return facts{
		name:   word(k.Proc.P_comm[:]),
		parent: int(k.Eproc.Ppid),
		tty:    k.Eproc.Tdev,
		start:  fmt.Sprintf("%d.%06d", k.Proc.P_starttime.Sec, k.Proc.P_starttime.Usec),
	}, nil
}

func (f facts) terminal(pid int) (leader int, ok bool, err error) {
	if f.tty == noTTY {
		return 0, false, nil
	}
	leader, err = unix.Getsid(pid)
	if errors.Is(err, unix.ESRCH) {
		return 0, false, fmt.Errorf("pid %d: %w", pid, ErrGone)
	}
	if err != nil {
		return 0, false, fmt.Errorf("session of pid %d: %w", pid, err)
	}
	return leader, leader != 0, nil
}

// fullName undoes the kernel's cut at 16 bytes where the path that was
// executed shows the whole word.
func (f facts) fullName(pid int) (string, error) {
	const kept = 16
	if len(f.name) < kept {
		return f.name, nil
	}
	b, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil || len(b) < 4 {
		return f.name, nil
	}
	if base := filepath.Base(word(b[4:])); strings.HasPrefix(base, f.name) { // 4 bytes of argc come first
		return base, nil
	}
	return f.name, nil
}

func word(b []byte) string {
	w, _, _ := bytes.Cut(b, []byte{0})
	return string(w)
}
