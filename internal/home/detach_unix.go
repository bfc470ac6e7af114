//go:build unix

package home

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// A spawn is a process to start.
type spawn struct {
	exe   string
	args  []string
	env   []string
	log   *os.File // its standard output and error
	ready *os.File // its pipe to say that it serves
}

// detach starts the process and lets go of it. A shell in between, which ends
// at once, makes it a child of the system: agents end the processes that they
// started with all their children, and a child that ended would stay with us
// as a zombie. Where there is no shell it is started without.
func detach(s spawn) error {
	if info, err := os.Stat(s.exe); err != nil {
		return err
	} else if info.IsDir() || info.Mode()&0o111 == 0 {
		return &fs.PathError{Op: "run", Path: s.exe, Err: fs.ErrPermission}
	}
	if err := closeInherited(); err != nil {
		return err
	}
	cmd := s.command("/bin/sh", append([]string{"-c", `"$0" "$@" &`, s.exe}, s.args...)...)
	err := cmd.Run()
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	cmd = s.command(s.exe, s.args...)
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}

func (s spawn) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = "/"
	cmd.Env = append(s.env, readyEnv+"=3")
	cmd.Stdout, cmd.Stderr = s.log, s.log // files, so nothing of ours has to copy
	cmd.ExtraFiles = []*os.File{s.ready}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd
}

// closeInherited marks the files that this process was started with, other
// than the standard three, to be closed in what it starts. What Go opens is
// marked already; a pipe or a lock that a script opened for its children is not,
// and a daemon would keep it open for hours.
func closeInherited() error {
	dir, err := os.Open("/dev/fd")
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil // the system does not show them
	}
	if err != nil {
		return err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return fmt.Errorf("list open files: %w", err)
	}
	for _, name := range names {
		if fd, err := strconv.Atoi(name); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
	return nil
}

// readyPipe is the pipe that this process was given, if it is one. The number
// may have been inherited from somewhere else and mean another file by now.
func readyPipe(value string) *os.File {
	fd, err := strconv.Atoi(value)
	if err != nil || fd <= 2 {
		return nil
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFIFO {
		return nil
	}
	return os.NewFile(uintptr(fd), "ready")
}
