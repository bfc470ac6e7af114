//go:build unix

package process_test

import (
	"os/exec"
	"syscall"
)

func withoutTerminal(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
