package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

const (
	maxOutput  = 8 << 20 // bytes kept of one answer
	maxMessage = 4 << 10 // bytes kept of what git says on stderr

	// afterEnd is how long after its end, or its kill, what git wrote may still be
	// on its way to us: on a crowded machine our own reader waits for its turn.
	afterEnd = 10 * time.Second
)

// A call is one run of git.
type call struct {
	dir   string
	args  []string
	stdin string
	index string // the index to read instead of the checkout's own, if one is named
	list  bool   // an answer over maxOutput is cut; else it is an error
}

// An answer is what a run of git that came to its end has said.
type answer struct {
	out     []byte
	full    bool // out was cut at maxOutput
	code    int  // exit status; meaningless when full
	message string
}

// run runs git to its end. A non-zero exit status is an answer and no error: it
// is the caller who knows what it means.
func (c call) run(ctx context.Context) (answer, error) {
	exe, err := exec.LookPath("git")
	if err != nil {
		return answer{}, fmt.Errorf("%w (%w)", ErrNoGit, err)
	}
	out, message := bounded{max: maxOutput, stop: true}, bounded{max: maxMessage}
	args := append([]string{"-c", "advice.graftFileDeprecated=false"}, c.args...) // environ takes that file away
	cmd := exec.CommandContext(ctx, exe, args...)
	cmd.Dir, cmd.Env = c.dir, environ(os.Environ())
	if c.index != "" {
		cmd.Env = append(cmd.Env, "GIT_INDEX_FILE="+c.index)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(c.stdin), &out, &message
	cmd.WaitDelay = afterEnd
	killWithChildren(cmd)

	err = cmd.Run()
	a := answer{out: out.b.Bytes(), full: out.full, message: message.b.String()}
	var exit *exec.ExitError
	switch {
	case a.full && c.list, !a.full && err == nil:
		return a, nil
	case a.full:
		return a, fmt.Errorf("git %s: an answer over %d bytes", c.args[0], maxOutput)
	case ctx.Err() != nil:
		return a, fmt.Errorf("git %s: %w", c.args[0], ctx.Err())
	case errors.As(err, &exit) && exit.Exited():
		a.code = exit.ExitCode()
		return a, nil
	}
	return a, fmt.Errorf("git %s: %w", c.args[0], err)
}

// ask runs git and makes an error of an exit status other than zero.
func (c call) ask(ctx context.Context) (answer, error) {
	a, err := c.run(ctx)
	if err == nil && !a.full && a.code != 0 {
		err = a.fail(c.args[0])
	}
	return a, err
}

// git is a call in c.
func (c Checkout) git(args ...string) call { return call{dir: c.dir(), args: args} }

// list is a call in c for as much of a list as fits.
func (c Checkout) list(args ...string) call { return call{dir: c.dir(), args: args, list: true} }

// dir is where git is run for c.
func (c Checkout) dir() string {
	if c.Top != "" {
		return c.Top
	}
	return c.GitDir
}

// fail is the error of an answer that the caller did not expect.
func (a answer) fail(verb string) error {
	return fmt.Errorf("git %s: exit status %d: %s", verb, a.code, a.reason())
}

// reason is the first line of what git complained about, without its prefix.
func (a answer) reason() string {
	line, _, _ := strings.Cut(strings.TrimSpace(a.message), "\n")
	return strings.TrimPrefix(strings.ToValidUTF8(line, "?"), "fatal: ")
}

// environ is env without the variables that speak of one repository, and with
// those that make git quiet, lock-free and literal.
//
// What says where a person's configuration is and how far to search stays. git
// hands none of these to its hooks, so they can only be meant for us.
func environ(env []string) []string {
	var kept []string
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		name = strings.ToUpper(name)
		if (!strings.HasPrefix(name, "GIT_") || stays(name)) && name != "PWD" {
			kept = append(kept, kv)
		}
	}
	return append(kept,
		"GIT_OPTIONAL_LOCKS=0",       // a look must not make a person's git fail on a lock
		"GIT_TERMINAL_PROMPT=0",      // nobody is there to answer
		"GIT_NO_LAZY_FETCH=1",        // a look must not go to the network
		"GIT_NO_REPLACE_OBJECTS=1",   // refs/replace differs from clone to clone
		"GIT_LITERAL_PATHSPECS=1",    // a path is never a pattern
		"GIT_GRAFT_FILE="+os.DevNull, // as refs/replace
		"LC_ALL=C",                   // messages that we recognise
	)
}

func stays(name string) bool {
	switch name {
	case "GIT_EXEC_PATH", "GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM",
		"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_COUNT":
		return true
	}
	return strings.HasPrefix(name, "GIT_CONFIG_KEY_") || strings.HasPrefix(name, "GIT_CONFIG_VALUE_")
}

// bounded keeps the first max bytes written to it. With stop it then refuses,
// which ends git by a broken pipe; else it swallows the rest.
type bounded struct {
	b    bytes.Buffer
	max  int
	stop bool
	full bool
}

var errFull = errors.New("output limit reached")

func (w *bounded) Write(p []byte) (int, error) {
	room := w.max - w.b.Len()
	if len(p) <= room {
		return w.b.Write(p)
	}
	w.full = true
	w.b.Write(p[:room])
	if w.stop {
		return room, errFull
	}
	return len(p), nil
}
