package proc

import (
	"os/exec"
	"testing"
)

// The end is announced, not found by looking: here nothing looks.
func TestEndIsAnnounced(t *testing.T) {
	cmd := exec.Command("/bin/sh", "-c", "read x")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer in.Close()
	wait, cancel, err := announced(cmd.Process.Pid)
	if err != nil {
		t.Skipf("no pidfd here: %v", err)
	}
	defer cancel()
	got := make(chan bool)
	go func() { got <- wait() }()
	cmd.Process.Kill()
	if !<-got {
		t.Error("wait = false at the end of the process, want true")
	}
}
