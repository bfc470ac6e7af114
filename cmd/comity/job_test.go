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
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/comity-dev/comity/api"
)

// TestMainJob plays what comity is for, on a full clone of this repository.
func TestMainJob(t *testing.T) {
	top, err := exec.Command("git", "rev-parse", "--show-toplevel", "--is-shallow-repository").Output()
	if err != nil {
		t.Skip("this copy of comity is no git repository, so there is nothing to clone")
	}
	repo, shallow, _ := strings.Cut(strings.TrimSpace(string(top)), "\n")
	if shallow == "true" {
		t.Skip("this copy of comity is a shallow clone: git fetch --unshallow")
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/job",
		Setup: func(env *testscript.Env) error {
			env.Setenv("REPO", repo)
			return setUp(t, env)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code":       cmdCode,
			"eventually": cmdEventually,
			"killdaemon": cmdKillDaemon,
			"handover":   cmdHandover,
			"review":     cmdReview,
			"once":       cmdOnce,
			"clean":      cmdClean,
		},
	})
}

// execute runs a program as the script's exec does and returns its exit code.
func execute(ts *testscript.TestScript, args []string) (stdout, stderr string, code int) {
	path, err := exec.LookPath(args[0])
	ts.Check(err)
	cmd := exec.Command(path, args[1:]...)
	cmd.Dir = ts.MkAbs(".")
	for _, name := range []string{"PATH", "HOME", "COMITY_HOME", "GIT_CONFIG_NOSYSTEM", "TMPDIR", "WORK", "SystemRoot"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		ts.Fatalf("%v: %v", args, err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
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

// handover VAR sets VAR to the only offered handover, review VAR to the only
// open review.
func cmdHandover(ts *testscript.TestScript, _ bool, args []string) {
	out, _, _ := execute(ts, []string{"comity", "handover", "list", "--json"})
	var list api.HandoverListReply
	ts.Check(json.Unmarshal([]byte(out), &list))
	if len(list.Handovers) != 1 {
		ts.Fatalf("%d handovers are offered, want one: %s", len(list.Handovers), out)
	}
	ts.Setenv(args[0], list.Handovers[0].Short)
}

func cmdReview(ts *testscript.TestScript, _ bool, args []string) {
	out, _, _ := execute(ts, []string{"comity", "review", "list", "--json"})
	var list api.ReviewListReply
	ts.Check(json.Unmarshal([]byte(out), &list))
	if len(list.Reviews) != 1 {
		ts.Fatalf("%d reviews are open, want one: %s", len(list.Reviews), out)
	}
	ts.Setenv(args[0], list.Reviews[0].Short)
}

// once CMD...: CMD prints one JSON event a line, each event once, and every
// stream without a gap.
func cmdOnce(ts *testscript.TestScript, _ bool, args []string) {
	out, _, code := execute(ts, args)
	if code != 0 {
		ts.Fatalf("%v exits with %d", args, code)
	}
	last := map[string]int{}
	n := 0
	for line := range strings.Lines(out) {
		var e api.LogEvent
		ts.Check(json.Unmarshal([]byte(line), &e))
		stream, number, _ := strings.Cut(e.Event, "/")
		seq, err := strconv.Atoi(number)
		ts.Check(err)
		if seq != last[stream]+1 {
			ts.Fatalf("event %s follows number %d of its stream", e.Event, last[stream])
		}
		last[stream] = seq
		n++
	}
	if len(last) != 3 || n < 15 {
		ts.Fatalf("%d events in %d runs, want at least 15 in 3: two daemons were killed", n, len(last))
	}
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
