//go:build !unix

package process_test

import "os/exec"

func withoutTerminal(*exec.Cmd) {}
