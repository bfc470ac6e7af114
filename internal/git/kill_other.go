//go:build !unix

package git

import "os/exec"

// killWithChildren leaves cmd as it is: its context ends git itself, and
// WaitDelay bounds the wait for what git has started.
func killWithChildren(*exec.Cmd) {}
