package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/comity-dev/comity/internal/cli"
)

// The test binary is the program.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"comity": program, "fakeagent": agentMain})
}

// patient makes the program wait for answers to hooks as a test does, in the
// environment of a script that does not ask how soon they come.
const patient = "COMITY_TEST_PATIENT"

func program() {
	ctx := context.Background()
	if os.Getenv(patient) != "" {
		ctx = cli.Patient(ctx, 20*time.Second)
	}
	os.Exit(run(ctx))
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
	self, err := exec.LookPath("comity")
	if err != nil {
		return err
	}
	env.Defer(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		stop := exec.CommandContext(ctx, self, "stop")
		stop.Env = append(os.Environ(), "COMITY_HOME="+home, "COMITY=")
		if out, err := stop.CombinedOutput(); err != nil {
			t.Errorf("stop: %v: %s", err, out)
		}
		os.RemoveAll(home)
	})
	return nil
}
