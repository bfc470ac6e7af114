package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/comity-dev/comity/api"
)

// commands are what scripts have beside testscript's own.
func commands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"code":       cmdCode,
		"refused":    cmdRefused,
		"fits":       cmdFits,
		"full":       cmdFull,
		"bytes":      cmdBytes,
		"repeat":     cmdRepeat,
		"field":      cmdField,
		"repository": cmdRepository,
		"eventually": cmdEventually,
		"killdaemon": cmdKillDaemon,
		"handover":   cmdHandover,
		"review":     cmdReview,
		"once":       cmdOnce,
		"clean":      cmdClean,
	}
}

// execute runs a program as the script's exec does and returns its exit code.
func execute(ts *testscript.TestScript, args []string) (stdout, stderr string, code int) {
	return executeWith(ts, "", args)
}

// executeWith is execute with stdin.
func executeWith(ts *testscript.TestScript, stdin string, args []string) (stdout, stderr string, code int) {
	cmd := command(ts, args)
	cmd.Stdin = strings.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		ts.Fatalf("%v: %v", args, err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// command is a program in the script's folder and environment. It has no
// terminal, wherever the tests run.
func command(ts *testscript.TestScript, args []string) *exec.Cmd {
	path, err := exec.LookPath(args[0])
	ts.Check(err)
	cmd := exec.Command(path, args[1:]...)
	cmd.Dir = ts.MkAbs(".")
	withoutTerminal(cmd)
	if id := ts.Getenv("COMITY_SESSION"); id != "" {
		cmd.Env = append(cmd.Env, "COMITY_SESSION="+id)
	}
	for _, name := range []string{"PATH", "HOME", "COMITY_HOME", "GIT_CONFIG_NOSYSTEM", "GORACE", patient, "TMPDIR", "WORK", "SystemRoot"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	return cmd
}

// code N CMD...: CMD exits with N. What it printed is there for stdout and stderr.
func cmdCode(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	stdout, stderr, code := execute(ts, args[1:])
	ts.Logf("%s%s", stdout, stderr)
	if (code == want) == neg {
		ts.Fatalf("%v exits with %d, want %d (or not: %v)", args[1:], code, want, neg)
	}
	ts.Check(ts.Exec("sh", "-c", `printf %s "$1"; printf %s "$2" >&2`, "sh", stdout, stderr))
}

// eventually PATTERN CMD...: within ten seconds CMD prints a match.
func cmdEventually(ts *testscript.TestScript, neg bool, args []string) {
	re, err := regexp.Compile(args[0])
	ts.Check(err)
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
		if out, _, _ := execute(ts, args[1:]); re.MatchString(out) != neg {
			return
		}
	}
	ts.Fatalf("%v never printed %s", args[1:], args[0])
}

// killdaemon ends the script's own daemon as a crash does.
func cmdKillDaemon(ts *testscript.TestScript, _ bool, _ []string) {
	out, _, _ := execute(ts, []string{"comity", "version", "--json"})
	var v struct{ Daemon *api.Daemon }
	ts.Check(json.Unmarshal([]byte(out), &v))
	if v.Daemon == nil {
		ts.Fatalf("no daemon runs: %s", out)
	}
	p, err := os.FindProcess(v.Daemon.PID)
	ts.Check(err)
	ts.Check(p.Kill())
}

// clean: git sees nothing in this worktree, ignored files included.
func cmdClean(ts *testscript.TestScript, _ bool, _ []string) {
	out, _, code := execute(ts, []string{"git", "status", "--porcelain", "--ignored"})
	if code != 0 || out != "" {
		ts.Fatalf("git status: exit %d\n%s", code, out)
	}
	top := ts.MkAbs(".")
	if found, _ := filepath.Glob(filepath.Join(top, "*comity*")); len(found) > 0 {
		ts.Fatalf("files of ours in the working tree: %v", found)
	}
}
