//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// withoutTerminal gives a program a process session of its own, which has no
// terminal.
func withoutTerminal(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
