package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// The test binary is the program.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"comity": main, "fakeagent": agentMain})
}

// Each script has a state folder of its own, and leaves no daemon behind.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:   "testdata/script",
		Setup: func(env *testscript.Env) error { return setUp(t, env) },
		Cmds:  commands(),
	})
}

// setUp gives a script a state folder of its own and stops its daemon at the end.
func setUp(t *testing.T, env *testscript.Env) error {
	home, err := os.MkdirTemp("", "c") // short: a socket lives in it
	if err != nil {
		return err
	}
	env.Setenv("COMITY_HOME", home)
	env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
	env.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	env.Setenv("GORACE", "atexit_sleep_ms=0") // else each program that the race detector built ends a second late
	program, err := exec.LookPath("comity")
	if err != nil {
		return err
	}
	env.Defer(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		stop := exec.CommandContext(ctx, program, "stop")
		stop.Env = append(os.Environ(), "COMITY_HOME="+home, "COMITY=")
		if out, err := stop.CombinedOutput(); err != nil {
			t.Errorf("stop: %v: %s", err, out)
		}
		os.RemoveAll(home)
	})
	return nil
}
