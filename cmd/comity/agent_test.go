package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// An agent is a long-lived program that calls hooks as Claude Code does: through
// the installed shell line, with the documented JSON on standard input.
type agent struct {
	in           io.WriteCloser
	out          *bufio.Scanner
	dir          string
	conversation string
}

// A call is one hook for an agent to make, or a command for its shell.
type call struct {
	Dir, Line, Stdin string
}

type called struct {
	Stdout, Stderr string
	Code           int
}

// agentMain is the agent's side: it runs one line of shell after the other.
func agentMain() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var c call
		if err := json.Unmarshal(in.Bytes(), &c); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		cmd := exec.Command("sh", "-c", c.Line)
		cmd.Dir, cmd.Stdin = c.Dir, strings.NewReader(c.Stdin)
		var out, errs strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &errs
		_ = cmd.Run() // its code is in the answer
		b, _ := json.Marshal(called{out.String(), errs.String(), cmd.ProcessState.ExitCode()})
		os.Stdout.Write(append(b, '\n'))
	}
}

// agents are those of one script: scripts run beside each other, and call theirs
// by the same names.
type agents map[string]*agent

// agentsKey is where a script's agents are among its values.
type agentsKey struct{}

func agentCommands() map[string]func(*testscript.TestScript, bool, []string) {
	all := commands()
	for name, f := range map[string]func(agents, *testscript.TestScript, []string){
		"agent": agents.start, "hook": agents.hook, "shell": agents.shell, "endagent": agents.end,
	} {
		all[name] = func(ts *testscript.TestScript, _ bool, args []string) { f(ts.Value(agentsKey{}).(agents), ts, args) }
	}
	return all
}

// agent NAME: an agent begins in the current folder.
func (as agents) start(ts *testscript.TestScript, args []string) {
	cmd := command(ts, []string{"fakeagent"})
	in, err := cmd.StdinPipe()
	ts.Check(err)
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	ts.Defer(func() {
		in.Close()
		cmd.Wait()
	})
	a := &agent{in: in, out: bufio.NewScanner(out), dir: ts.MkAbs("."), conversation: "conversation of " + args[0]}
	a.out.Buffer(nil, 1<<20)
	as[args[0]] = a
}

// endagent NAME: the agent's process ends without a word.
func (as agents) end(_ *testscript.TestScript, args []string) { as[args[0]].in.Close() }

// hook NAME EVENT [TOOL WHAT]: one hook call; what it answers is there for
// stdout. It has to succeed within a second.
func (as agents) hook(ts *testscript.TestScript, args []string) {
	a := as[args[0]]
	event := args[1]
	said := map[string]any{"session_id": a.conversation, "cwd": a.dir, "transcript_path": "/t.jsonl", "hook_event_name": eventNames[event]}
	switch {
	case event == "user-prompt-submit":
		said["prompt"] = args[2]
	case event == "session-start":
		said["source"] = "startup"
	case event == "session-end":
		said["reason"] = "other"
	case len(args) > 3 && args[2] == "Bash":
		said["tool_name"], said["tool_input"], said["tool_use_id"] = "Bash", map[string]any{"command": args[3]}, "t"
	case len(args) > 3:
		said["tool_name"], said["tool_input"], said["tool_use_id"] = args[2], map[string]any{"file_path": args[3], "content": "x"}, "t"
	}
	b, err := json.Marshal(said)
	ts.Check(err)
	as.run(ts, a, call{a.dir, "command -v comity >/dev/null 2>&1 || exit 0; exec comity hook claude " + event, string(b)})
}

// shell NAME LINE: the agent's own shell runs a line.
func (as agents) shell(ts *testscript.TestScript, args []string) {
	a := as[args[0]]
	as.run(ts, a, call{a.dir, args[1], ""})
}

func (as agents) run(ts *testscript.TestScript, a *agent, c call) {
	b, err := json.Marshal(c)
	ts.Check(err)
	if _, err := a.in.Write(append(b, '\n')); err != nil {
		ts.Fatalf("the agent is gone: %v", err)
	}
	var done called
	if !a.out.Scan() {
		ts.Fatalf("the agent is gone")
	}
	ts.Check(json.Unmarshal(a.out.Bytes(), &done))
	if done.Code != 0 {
		ts.Fatalf("%s exits with %d: %s%s", c.Line, done.Code, done.Stdout, done.Stderr)
	}
	ts.Check(ts.Exec("sh", "-c", `printf %s "$1"; printf %s "$2" >&2`, "sh", done.Stdout, done.Stderr))
}

var eventNames = map[string]string{
	"session-start": "SessionStart", "user-prompt-submit": "UserPromptSubmit", "pre-tool-use": "PreToolUse",
	"post-tool-use": "PostToolUse", "stop": "Stop", "session-end": "SessionEnd", "subagent-start": "SubagentStart", "subagent-stop": "SubagentStop",
}
