//go:build unix

package git

import (
	"os/exec"
	"syscall"
)

// killWithChildren makes the end of cmd's context end what git has started too:
// a helper that hangs would otherwise outlive it.
func killWithChildren(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
