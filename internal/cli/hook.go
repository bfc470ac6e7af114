package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/client"
	"github.com/comity-dev/comity/internal/hooks"
	"github.com/spf13/cobra"
)

func (a *app) hookCommand() *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "hook CLIENT EVENT",
		Short: "Answer a hook of an agent or of git; comity install puts it in",
		Long: `Answer one call of a hook: of an agent (claude), whose words it reads on standard
input and answers on standard output, or of git (pre-commit, pre-push,
prepare-commit-msg). comity install puts the calls in.

It never stands in the way through a fault of its own: when the daemon cannot be
reached in time, or what it is told makes no sense, the agent or git goes on, and
is told so once.`,
		Args:   cobra.ArbitraryArgs,
		Hidden: true,
	}, func(cmd *cobra.Command, args []string) error { return a.hookCode(cmd.Context(), args) })
}

// hookCode is hook with its exit code as the outcome of a command.
func (a *app) hookCode(ctx context.Context, args []string) error {
	if code := a.hook(ctx, args); code != 0 {
		return found(code)
	}
	return nil
}

// isHook reports whether args are a hook's call, which needs none of the other
// commands.
func isHook(args []string) bool {
	return len(args) > 0 && args[0] == "hook" && !slices.Contains(args, "--help") && !slices.Contains(args, "-h")
}

// hook answers one call of a hook and returns the exit code, which is never 2: to
// an agent that is a refusal.
func (a *app) hook(ctx context.Context, args []string) int {
	a.ran = true
	switch {
	case len(args) < 2:
		a.note("hook takes CLIENT EVENT, as comity install writes them")
		return 1
	case args[0] == "git":
		return a.gitHook(ctx, args[1], args[2:])
	}
	h := agentHook{a: a, client: args[0], event: args[1]}
	wait := patienceIn(ctx)
	rep := within(ctx, wait.hook, wait.hookLimit, h.answer, func(why any) told {
		return told{note: fmt.Sprintf("hook %s %s: %v; the agent goes on", h.client, h.event, why)}
	})
	a.out.printf("%s", rep.answer)
	if rep.note != "" {
		a.note("%s", rep.note)
	}
	return 0
}

var errLate = errors.New("no answer in time")

// within returns what do returns, or what instead makes of it that do panicked,
// that limit passed or that ctx ended before it did. do is to end after patience;
// one that cannot, as in a read without an end, is left behind: the program ends
// next.
func within[T any](ctx context.Context, patience, limit time.Duration, do func(context.Context) T, instead func(why any) T) T {
	patient, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	end := time.NewTimer(limit)
	defer end.Stop()
	done := make(chan T, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				done <- instead(fmt.Sprintf("internal error: %v", p))
			}
		}()
		done <- do(patient)
	}()
	select {
	case rep := <-done:
		return rep
	case <-end.C:
		return instead(errLate)
	case <-ctx.Done():
		return instead("interrupted")
	}
}

// told is what a hook says: to the agent, and on standard error.
type told struct {
	answer []byte
	note   string
}

// An agentHook is one call of an agent's hook.
type agentHook struct {
	a             *app
	client, event string
}

func (h agentHook) answer(ctx context.Context) told {
	req, err := hooks.Read(h.client, h.event, h.a.stdin)
	if err != nil {
		h.drain(err)
		return told{note: err.Error() + "; the agent goes on"}
	}
	req.Session = h.a.actor() // whoever started the agent may have named its session
	var rep api.HookReply
	if err := h.a.askHook(ctx, api.OpHook, req, &rep); err != nil {
		return h.unchecked(req, err)
	}
	answer, err := h.write(rep)
	if err != nil {
		return told{note: err.Error() + "; the agent goes on"}
	}
	return told{answer: answer}
}

// drain reads on where the input was too large: a client may take it ill when
// nobody reads what it writes.
func (h agentHook) drain(err error) {
	if bad := new(hooks.InputError); errors.As(err, &bad) && bad.Reason == hooks.TooLarge {
		_, _ = io.Copy(io.Discard, io.LimitReader(h.a.stdin, 10*hooks.MaxInput)) // whatever comes of it
	}
}

// askHook makes a call that no person asked for: it starts a daemon, but not one
// that a person stopped.
func (a *app) askHook(ctx context.Context, op string, req, rep any) error {
	c, err := client.New(&client.Options{Getenv: a.getenv, NoStart: a.noStart, Build: build()})
	if err != nil {
		return err
	}
	return c.Do(ctx, op, req, rep)
}

// write is a reply in the client's words; nothing where the event has no place
// for it.
func (h agentHook) write(rep api.HookReply) ([]byte, error) {
	var b bytes.Buffer
	err := hooks.Write(h.client, h.event, rep, &b)
	if errors.Is(err, hooks.ErrNoPlace) {
		return nil, nil
	}
	return b.Bytes(), err
}

// unchecked tells the agent, once in a conversation, that comity does not look at
// what it writes.
func (h agentHook) unchecked(req api.HookRequest, err error) told {
	why := unguarded(req.Dir, err)
	if why == "" {
		return told{}
	}
	answer, err := h.write(api.HookReply{Tell: why})
	if err != nil || len(answer) == 0 { // nobody listens at this event; at another one
		return told{}
	}
	first, err := h.a.memory().first(req.Client + "\x00" + req.Conversation)
	if err != nil { // it cannot be remembered: say it where a turn begins
		first = req.Event == api.HookStart || req.Event == api.HookPrompt
	}
	if !first {
		return told{}
	}
	return told{answer: answer}
}

// unguarded says why err keeps writes in dir from being checked; empty where there
// is nothing to check.
func unguarded(dir string, err error) string {
	const unchecked = "edits are not checked against the claims of others"
	var e *api.Error
	code := api.CodeInternal
	if errors.As(err, &e) {
		code = e.Code
	}
	switch code {
	case api.CodeNoRepository:
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			return ""
		}
		return "comity: folder " + oneLine(dir) + " is gone: " + unchecked + "."
	case api.CodeEmptyRepository:
		return ""
	case api.CodeUnreachable, api.CodeStopping:
		return "comity is not reachable: " + unchecked + " until it is."
	case api.CodeHeld:
		return "comity was stopped by a person: " + unchecked + "."
	}
	return "comity does not work here: " + unchecked + ". Reason: " + strings.TrimSuffix(oneLine(middle(err.Error(), 200)), ".") + "."
}
