package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What an agent pays at each write: the start of the program, and what its hook
// adds with a daemon that runs; and what the guard adds to a commit of 1,000
// files. Compare each with the one before it.
func BenchmarkHook(b *testing.B) {
	if _, err := exec.LookPath("git"); err != nil {
		b.Skip("no git here")
	}
	home, err := os.MkdirTemp("", "c")
	if err != nil {
		b.Fatal(err)
	}
	defer os.RemoveAll(home)
	dir, err := filepath.EvalSymlinks(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	env := append(os.Environ(), "COMITY_HOME="+home, "XDG_RUNTIME_DIR=", "GIT_CONFIG_GLOBAL="+os.DevNull)
	said := fmt.Sprintf(`{"session_id":"c-1","cwd":%q,"hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":%q}}`, dir, filepath.Join(dir, "a.go"))
	run := func(b *testing.B, env []string, name string, args ...string) {
		b.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.Env, cmd.Stdin = dir, env, strings.NewReader(said)
		if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), "not checked") {
			b.Fatalf("%s %v: %v: %s", name, args, err, out)
		}
	}
	run(b, env, "git", "init", "-q")
	run(b, env, "git", "-c", "user.name=ada", "-c", "user.email=a@example.org", "commit", "-q", "--allow-empty", "-m", "first")
	run(b, env, "comity", "session", "open", "--session", "s-1")
	defer run(b, env, "comity", "stop")

	b.Run("start", func(b *testing.B) {
		for b.Loop() {
			run(b, append(env, "COMITY=off"), "comity", "hook", "claude", "pre-tool-use")
		}
	})
	b.Run("write", func(b *testing.B) {
		for b.Loop() {
			run(b, env, "comity", "hook", "claude", "pre-tool-use")
		}
	})
	b.Run("guard", func(b *testing.B) {
		for i := range 1000 {
			name := filepath.Join(dir, fmt.Sprintf("dir%d", i%40), fmt.Sprintf("file-%d", i))
			if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
				b.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(name), 0o666); err != nil {
				b.Fatal(err)
			}
		}
		run(b, env, "git", "add", "-A")
		run(b, env, "comity", "claim", "dir39/", "--session", "s-1")
		for b.Loop() {
			run(b, append(env, "COMITY_SESSION=s-1"), "comity", "hook", "git", "pre-commit")
		}
	})
}
