package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/comity-dev/comity/api"
	"github.com/spf13/cobra"
)

func (a *app) demoCommand() *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "demo",
		Short: "Show in five seconds what comity is for",
		Long: `Play two worktrees and three sessions in a temporary folder, with this very
program: a conflict, a wait, a killed daemon, a handover, a review. Your own
sessions and repositories are not touched, and nothing stays behind.`,
		Args: cobra.NoArgs,
	}, func(cmd *cobra.Command, _ []string) error { return a.demo(cmd.Context()) })
}

// A demo is one play of it.
type demo struct {
	*app
	ctx   context.Context
	exe   string
	dir   string // of everything
	beat  time.Duration
	shown []scene
}

// A scene is one command as it was played.
type scene struct {
	Who     string `json:"who"`
	Command string `json:"command"`
	Exit    int    `json:"exit"`
	Output  string `json:"output"`
}

func (a *app) demo(ctx context.Context) error {
	d := &demo{app: a, ctx: ctx}
	if a.redo && !a.json {
		d.beat = 350 * time.Millisecond // time to read; nobody reads a pipe
	}
	var err error
	if d.exe, err = os.Executable(); err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	if d.dir, err = os.MkdirTemp("", "comity-demo-"); err != nil {
		return fmt.Errorf("make a folder for the demo: %w", err)
	}
	defer d.cleanUp()
	if err := d.play(); err != nil {
		return err
	}
	if a.json {
		a.printJSON(map[string]any{"scenes": d.shown})
	}
	return nil
}

// cleanUp stops the demo's own daemon, also after an interrupt, and removes the
// folder.
func (d *demo) cleanUp() {
	end, cancel := context.WithTimeout(context.WithoutCancel(d.ctx), stopPatience)
	defer cancel()
	stop := d.comity(end, "", "main", "stop")
	_ = stop.Run() // the folder goes all the same, and the daemon with its idle time
	_ = os.RemoveAll(d.dir)
}

func (d *demo) play() error {
	if err := d.repository(); err != nil {
		return err
	}
	d.tell("Two worktrees of one repository, three sessions: ada and cy work in main/, bob in api/.")
	return d.acts(
		act{who: "ada", in: "main", args: []string{"session", "open", "--session", "ada", "--intent", "split the parser"}},
		act{who: "bob", in: "api", args: []string{"session", "open", "--session", "bob", "--intent", "new routes"}},
		act{who: "cy", in: "main", args: []string{"session", "open", "--session", "cy", "--intent", "reviews"}},
		act{who: "ada", in: "main", args: []string{"claim", "src/parse/"}, before: "ada takes a folder. bob wants a file in it, from another worktree."},
		act{who: "bob", in: "api", args: []string{"claim", "src/**/*.go"}, exit: 10},
		act{who: "bob", in: "api", args: []string{"claim", "docs/"}, before: "What does not meet is free. A hook asks this before each edit:"},
		act{who: "bob", in: "api", args: []string{"check", "src/parse/lex.go"}, exit: 10},
		act{do: d.kill, before: "The daemon is killed (SIGKILL). What was acknowledged is on disk; the next command starts a new one."},
		act{do: d.waitAndRelease, before: "bob waits; ada hands over what she did and releases; bob gets it that moment."},
		act{who: "bob", in: "api", args: []string{"handover", "take"}, newest: "handover", before: "bob takes the handover in his own worktree, with the facts from git."},
		act{who: "bob", in: "api", args: []string{"review", "request", "routes on top of the new parser"}, before: "And somebody else looks at it; the verdict is bound to the tree that was seen."},
		act{who: "cy", in: "main", args: []string{"review", "answer"}, newest: "review", more: []string{"--approve", "--note", "reads well"}},
		act{who: "cy", in: "main", args: []string{"status"}, before: "Everybody sees the same:"},
		act{who: "cy", in: "main", args: []string{"log", "--limit", "20"}, before: "Every event once, signed, in order:"},
		act{do: d.end},
	)
}

// repository makes a small repository with a second worktree.
func (d *demo) repository() error {
	files := map[string]string{
		"src/parse/lex.go": "package parse\n", "src/api/routes.go": "package api\n", "docs/guide.md": "# Guide\n",
	}
	for name, text := range files {
		path := filepath.Join(d.dir, "main", filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			return err
		}
	}
	for _, args := range [][]string{
		{"init", "--quiet", "--initial-branch=main", "."},
		{"config", "user.name", "demo"}, {"config", "user.email", "demo@localhost"},
		{"add", "."}, {"commit", "--quiet", "--message=first"},
		{"worktree", "add", "--quiet", "-b", "routes", filepath.Join(d.dir, "api")},
	} {
		cmd := exec.CommandContext(d.ctx, "git", args...)
		cmd.Dir, cmd.Env = filepath.Join(d.dir, "main"), d.env("")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w: %s", args[0], err, bytes.TrimSpace(out))
		}
	}
	return nil
}

// env is the environment of a session of the demo: a state folder of its own,
// and none of the caller's settings.
func (d *demo) env(session string) []string {
	var env []string
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(name, "GIT_") && !strings.HasPrefix(name, "COMITY") && name != "XDG_RUNTIME_DIR" {
			env = append(env, kv)
		}
	}
	return append(env, "COMITY_HOME="+filepath.Join(d.dir, "state"), "COMITY_SESSION="+session,
		"GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
}

func (d *demo) comity(ctx context.Context, who, in string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, d.exe, args...)
	cmd.Dir, cmd.Env = filepath.Join(d.dir, in), d.env(who)
	return cmd
}

// An act is one command of the play, or something else that is done.
type act struct {
	before  string // told first
	who, in string
	args    []string
	newest  string   // "handover" or "review": its newest one is put behind args
	more    []string // behind that
	exit    int      // wanted
	do      func() error
}

func (d *demo) acts(acts ...act) error {
	for _, x := range acts {
		if err := d.ctx.Err(); err != nil {
			return err
		}
		if x.before != "" {
			d.tell(x.before)
		}
		if err := d.act(x); err != nil {
			return err
		}
		d.pause(1)
	}
	return nil
}

func (d *demo) act(x act) error {
	if x.do != nil {
		return x.do()
	}
	args := x.args
	if x.newest != "" {
		id, err := d.newest(x)
		if err != nil {
			return err
		}
		args = append(append(args[:len(args):len(args)], id), x.more...)
	}
	return d.show(x, args, d.comity(d.ctx, x.who, x.in, args...))
}

// show runs a command and prints it as it would look in a terminal.
func (d *demo) show(x act, args []string, cmd *exec.Cmd) error {
	out, err := cmd.CombinedOutput()
	return d.outcome(x, args, string(out), cmd, err)
}

func (d *demo) outcome(x act, args []string, out string, cmd *exec.Cmd, err error) error {
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return err
	}
	s := scene{Who: x.who, Command: "comity " + quoted(args), Exit: cmd.ProcessState.ExitCode(), Output: out}
	d.shown = append(d.shown, s)
	if !d.json {
		d.out.printf("\n%s %s\n", d.out.paint(bold, s.Who+"$"), s.Command)
		for line := range strings.Lines(strings.TrimRight(out, "\n") + "\n") {
			d.out.printf("    %s", line)
		}
		if err := d.out.flush(); err != nil {
			return err
		}
	}
	if s.Exit != x.exit {
		return api.Errorf(api.CodeInternal, "the demo went wrong: %s exited with %d, not %d: %s", s.Command, s.Exit, x.exit, strings.TrimSpace(out))
	}
	return nil
}

func quoted(args []string) string {
	var out []string
	for _, a := range args {
		if strings.ContainsAny(a, " *") {
			a = "'" + a + "'"
		}
		out = append(out, a)
	}
	return strings.Join(out, " ")
}

func (d *demo) tell(text string) {
	if d.json {
		return
	}
	d.out.printf("\n")
	d.out.wrapped(0, 0, text)
	_ = d.out.flush() // the next line says it too
	d.pause(2)
}

// pause lets a person read.
func (d *demo) pause(beats int) {
	select {
	case <-time.After(time.Duration(beats) * d.beat):
	case <-d.ctx.Done():
	}
}
