package proc

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/windows"
)

// facts is what an open process handle tells.
type facts struct {
	name   string
	parent int
	start  string // 100 ns since 1601
}

// bootID is constant: see ID.Boot.
func bootID() (string, error) { return "windows", nil }

func look(pid int) (facts, error) {
	h, err := open(pid, windows.PROCESS_QUERY_LIMITED_INFORMATION|windows.SYNCHRONIZE)
	if err != nil {
		return facts{}, err
	}
	defer windows.CloseHandle(h)
	started, err := creation(h)
	if err != nil {
		return facts{}, err
	}
	parent, err := livingParent(h, started)
	if err != nil {
		return facts{}, err
	}
	return facts{name: image(h), parent: parent, start: strconv.FormatInt(started, 10)}, nil
}

// open opens the process that has pid and runs. A process object outlives its
// process for as long as anybody holds a handle to it; that one is gone.
func open(pid int, access uint32) (windows.Handle, error) {
	if pid <= 0 {
		return 0, ErrGone
	}
	h, err := windows.OpenProcess(access, false, uint32(pid))
	switch {
	case errors.Is(err, windows.ERROR_INVALID_PARAMETER):
		return 0, ErrGone
	case errors.Is(err, windows.ERROR_ACCESS_DENIED):
		return 0, ErrHidden
	case err != nil:
		return 0, fmt.Errorf("open process: %w", err)
	}
	// The system rounds a pid down to a multiple of 4: 5 opens process 4.
	if got, err := windows.GetProcessId(h); err != nil || got != uint32(pid) {
		windows.CloseHandle(h)
		return 0, ErrGone
	}
	event, err := windows.WaitForSingleObject(h, 0)
	if err != nil {
		windows.CloseHandle(h)
		return 0, fmt.Errorf("look whether the process has ended: %w", err)
	}
	if event == windows.WAIT_OBJECT_0 {
		windows.CloseHandle(h)
		return 0, ErrGone
	}
	return h, nil
}

func creation(h windows.Handle) (int64, error) {
	var created, exited, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(h, &created, &exited, &kernel, &user); err != nil {
		return 0, fmt.Errorf("read the start time: %w", err)
	}
	return int64(created.HighDateTime)<<32 | int64(created.LowDateTime), nil
}

// livingParent is the parent's pid, or 0 when the parent has ended: the system
// keeps the number, and whoever has it by now started later than its child.
func livingParent(h windows.Handle, started int64) (int, error) {
	var info windows.PROCESS_BASIC_INFORMATION
	if err := windows.NtQueryInformationProcess(h, windows.ProcessBasicInformation,
		unsafe.Pointer(&info), uint32(unsafe.Sizeof(info)), nil); err != nil {
		return 0, fmt.Errorf("read the parent: %w", err)
	}
	pid := int(info.InheritedFromUniqueProcessId)
	p, err := open(pid, windows.PROCESS_QUERY_LIMITED_INFORMATION|windows.SYNCHRONIZE)
	if err != nil {
		return 0, nil // ended, or not to be seen
	}
	defer windows.CloseHandle(p)
	if since, err := creation(p); err != nil || since > started {
		return 0, nil
	}
	return pid, nil
}

// image is the name of the program file without its folder and ".exe".
func image(h windows.Handle) string {
	buf := make([]uint16, 32<<10)
	n := uint32(len(buf))
	if err := windows.QueryFullProcessImageName(h, 0, &buf[0], &n); err != nil {
		return ""
	}
	base := filepath.Base(windows.UTF16ToString(buf[:n]))
	if ext := filepath.Ext(base); strings.EqualFold(ext, ".exe") {
		base = strings.TrimSuffix(base, ext)
	}
	return base
}

func (f facts) fullName(pid int) (string, error) {
	if f.name == "" {
		return "", fmt.Errorf("pid %d: program name: %w", pid, ErrHidden)
	}
	return f.name, nil
}

// terminal has no answer: a console has no leader.
func (f facts) terminal(pid int) (leader int, ok bool, err error) {
	return 0, false, fmt.Errorf("terminal of pid %d: %w", pid, ErrUnsupported)
}
