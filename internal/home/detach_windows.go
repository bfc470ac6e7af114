package home

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/windows"
)

// A spawn is a process to start.
type spawn struct {
	exe   string
	args  []string
	env   []string
	log   *os.File // its standard output and error
	ready *os.File // its pipe to say that it serves
}

// detach starts the process without a console and lets go of it. It stays in
// the job of the caller, if that is in one: Windows lets no process leave a job
// that does not allow it.
func detach(s spawn) error {
	pipe := windows.Handle(s.ready.Fd())
	if err := windows.SetHandleInformation(pipe, windows.HANDLE_FLAG_INHERIT, windows.HANDLE_FLAG_INHERIT); err != nil {
		return fmt.Errorf("hand over the ready pipe: %w", err)
	}
	cmd := exec.Command(s.exe, s.args...)
	cmd.Dir = filepath.VolumeName(s.exe) + `\`
	cmd.Env = append(s.env, readyEnv+"="+strconv.FormatUint(uint64(pipe), 10))
	cmd.Stdout, cmd.Stderr = s.log, s.log
	cmd.SysProcAttr = &syscall.SysProcAttr{
		CreationFlags:              windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP,
		AdditionalInheritedHandles: []syscall.Handle{syscall.Handle(pipe)},
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}

// readyPipe is the pipe that this process was given, if it is one.
func readyPipe(value string) *os.File {
	n, err := strconv.ParseUint(value, 10, 64)
	if err != nil || n == 0 {
		return nil
	}
	if kind, err := windows.GetFileType(windows.Handle(n)); err != nil || kind != windows.FILE_TYPE_PIPE {
		return nil
	}
	return os.NewFile(uintptr(n), "ready")
}
