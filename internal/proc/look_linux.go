package proc

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// facts is what one look at /proc/<pid>/stat tells.
type facts struct {
	name    string // at most 15 bytes: what was executed, or what the process called itself
	state   byte
	parent  int
	session int
	tty     int // device number, 0 without a controlling terminal
	threads int
	start   string // clock ticks since boot
}

// maxStat is far above the longest stat line the kernel writes.
const maxStat = 8 << 10

func bootID() (string, error) {
	b, err := readSmall("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", fmt.Errorf("read the boot id (is /proc mounted?): %w", err)
	}
	id := strings.TrimSpace(string(b))
	if id == "" {
		return "", errors.New("read the boot id: /proc/sys/kernel/random/boot_id is empty")
	}
	return id, nil
}

func look(pid int) (facts, error) {
	if pid <= 0 {
		return facts{}, ErrGone
	}
	b, err := readSmall("/proc/" + strconv.Itoa(pid) + "/stat")
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH) {
		return facts{}, absent(pid)
	}
	if errors.Is(err, fs.ErrPermission) {
		return facts{}, ErrHidden
	}
	if err != nil {
		return facts{}, err
	}
	f, err := parseStat(b)
	if err != nil {
		return facts{}, err
	}
	if f.ended() {
		return facts{}, ErrGone
	}
	return f, nil
}

// absent tells a process that has ended from one that /proc hides (its mount
// option hidepid) and from a /proc that is not there at all.
func absent(pid int) error {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		return fmt.Errorf("look at processes (is /proc mounted?): %w", err)
	}
	if err := unix.Kill(pid, 0); errors.Is(err, unix.EPERM) {
		return ErrHidden
	}
	return ErrGone
}

// parseStat reads the line of proc(5). The name is between the first and the
// last parenthesis, and may itself hold parentheses, spaces and newlines.
func parseStat(b []byte) (facts, error) {
	left, right := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if left < 0 || right < left {
		return facts{}, fmt.Errorf("parse process stat %.60q: no name in parentheses", b)
	}
	rest := strings.Fields(string(b[right+1:])) // rest[0] is field 3
	if len(rest) < 20 || len(rest[0]) != 1 {
		return facts{}, fmt.Errorf("parse process stat %.60q: %d fields after the name, want 20 or more", b, len(rest))
	}
	f := facts{name: string(b[left+1 : right]), state: rest[0][0], start: rest[19]}
	for _, n := range []struct {
		into  *int
		field int
	}{{&f.parent, 4}, {&f.session, 6}, {&f.tty, 7}, {&f.threads, 20}} {
		v, err := strconv.Atoi(rest[n.field-3])
		if err != nil {
			return facts{}, fmt.Errorf("parse process stat %.60q: field %d: %w", b, n.field, err)
		}
		*n.into = v
	}
	if _, err := strconv.ParseUint(f.start, 10, 64); err != nil {
		return facts{}, fmt.Errorf("parse process stat %.60q: start time: %w", b, err)
	}
	return f, nil
}

// ended reports a zombie. A process whose first thread has returned while
// others go on looks like one, and is alive.
func (f facts) ended() bool {
	switch f.state {
	case 'X', 'x':
		return true
	case 'Z':
		return f.threads <= 1
	}
	return false
}

func (f facts) terminal(int) (leader int, ok bool, err error) {
	return f.session, f.tty != 0 && f.session != 0, nil
}

// fullName undoes the kernel's cut at 15 bytes where the command line shows
// the whole word.
func (f facts) fullName(pid int) (string, error) {
	const kept = 15
	if len(f.name) < kept {
		return f.name, nil
	}
	b, err := readSmall("/proc/" + strconv.Itoa(pid) + "/cmdline")
	if err != nil {
		return f.name, nil
	}
	first, _, _ := bytes.Cut(b, []byte{0})
	if base := filepath.Base(string(first)); strings.HasPrefix(base, f.name) {
		return base, nil
	}
	return f.name, nil
}

// readSmall reads the beginning of a file of /proc, in one go when it can. It
// does without package os, whose files first ask to be polled.
func readSmall(name string) ([]byte, error) {
	fd, err := retry(func() (int, error) { return unix.Open(name, unix.O_RDONLY|unix.O_CLOEXEC, 0) })
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", name, err)
	}
	defer unix.Close(fd)
	b := make([]byte, maxStat)
	for n := 0; ; {
		k, err := retry(func() (int, error) { return unix.Read(fd, b[n:]) })
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		if n += k; k == 0 || n == len(b) {
			return b[:n], nil
		}
	}
}

func retry(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if err != unix.EINTR {
			return n, err
		}
	}
}
