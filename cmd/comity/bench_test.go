package main

import (
	"os"
	"os/exec"
	"testing"
)

// What a hook pays before each write: the start of the program, and what `comity
// check` adds to it with a daemon that runs. Compare the two.
func BenchmarkCheck(b *testing.B) {
	if _, err := exec.LookPath("git"); err != nil {
		b.Skip("no git here")
	}
	home, err := os.MkdirTemp("", "c")
	if err != nil {
		b.Fatal(err)
	}
	defer os.RemoveAll(home)
	env := append(os.Environ(), "COMITY_HOME="+home, "XDG_RUNTIME_DIR=", "GIT_CONFIG_GLOBAL="+os.DevNull)
	dir := b.TempDir()
	run := func(b *testing.B, env []string, name string, args ...string) {
		b.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.Env = dir, env
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%s %v: %v: %s", name, args, err, out)
		}
	}
	run(b, env, "git", "init", "-q")
	run(b, env, "git", "-c", "user.name=ada", "-c", "user.email=a@example.org", "commit", "-q", "--allow-empty", "-m", "first")
	run(b, env, "comity", "session", "open", "--session", "s-1")
	defer run(b, env, "comity", "stop")

	b.Run("start", func(b *testing.B) {
		for b.Loop() {
			run(b, append(env, "COMITY=off"), "comity", "check", "a.go")
		}
	})
	b.Run("check", func(b *testing.B) {
		for b.Loop() {
			run(b, append(env, "COMITY_SESSION=s-1"), "comity", "check", "a.go")
		}
	})
}
