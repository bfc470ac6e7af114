package main

import (
	"encoding/json"
	"os/exec"
	"strconv"
	"strings"
	"testing"

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
			env.Setenv(patient, "1")
			env.Values[agentsKey{}] = agents{}
			return setUp(t, env)
		},
		Cmds: agentCommands(),
	})
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
