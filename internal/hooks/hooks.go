// Package hooks turns what an agent's hooks say on standard input into an
// [api.HookRequest], and an [api.HookReply] into what the agent reads on
// standard output. It is pure: it imports only api, opens nothing and asks
// nobody; all it knows comes from the bytes it is given.
//
// Each client has a file of its own with the Go types of its events. Fields
// that are not known are ignored, a field of another type than documented is
// an [*InputError]. Whoever calls it lets the agent go on then: a hook never
// stops an agent because of what it failed to understand.
//
// # Paths
//
// Paths are named as the tool names them: absolute, or relative to Where.Dir.
// They may lie outside of every repository; whoever knows the checkouts maps or
// leaves them. One that begins with "~/" (or is "~") lies in the home of the
// user; a file that really is called ~ is "./~". A name that no system can have
// (empty, with a NUL byte, longer than 4096 bytes) is left out, and so is all
// of /dev.
//
// # Shell commands
//
// A shell command is read as far as its text tells what it writes, see
// [api.HookRequest]. It is a reading, not a guard: an interpreter, a script, a
// build writes what it likes, and that shows only afterwards.
package hooks

import (
	"errors"
	"io"

	"github.com/comity-dev/comity/api"
)

// The words of the events, as they stand in an installed command.
const (
	SessionStart       = "session-start"
	Prompt             = "user-prompt-submit"
	PreToolUse         = "pre-tool-use"
	PostToolUse        = "post-tool-use"
	PostToolUseFailure = "post-tool-use-failure" // the tool ran and failed; a shell command may have written all the same
	Stop               = "stop"
	SubagentStart      = "subagent-start"
	SubagentStop       = "subagent-stop"
	SessionEnd         = "session-end"
)

// Claude is the word of Claude Code in an installed command.
const Claude = "claude"

// ErrNoPlace reports a reply that the event has no place for, such as a denial
// of something that has already happened. Nothing was written then.
var ErrNoPlace = errors.New("the event has no place for this reply")

// A client is how one agent speaks.
type client struct {
	name  string // in api.HookRequest.Client
	read  func(event string, in []byte) (api.HookRequest, error)
	write func(event string, rep api.HookReply) (any, error) // nil: nothing to say
}

func clientOf(word string) (client, bool) {
	switch word {
	case Claude:
		return client{"claude-code", readClaude, writeClaude}, true
	}
	return client{}, false
}

// Read parses one call of a hook. client and event are the words of the
// installed command. It reads at most MaxInput bytes and one more. Every error
// is an [*InputError].
func Read(client, event string, in io.Reader) (api.HookRequest, error) {
	c, ok := clientOf(client)
	if !ok {
		return api.HookRequest{}, &InputError{Client: client, Event: event, Reason: UnknownClient}
	}
	b, err := slurp(in)
	if err == nil {
		var req api.HookRequest
		if req, err = c.read(event, b); err == nil {
			req.Client = c.name
			return req, nil
		}
	}
	var bad *InputError
	if !errors.As(err, &bad) {
		bad = &InputError{Reason: Unreadable, Err: err}
	}
	bad.Client, bad.Event = client, event
	return api.HookRequest{}, bad
}

// Write says rep in the words of the client: one line of JSON in exactly the
// documented form, or nothing at all when there is nothing to say. Never does it
// allow a tool, which would skip the user's own question. Texts are cut at
// MaxText bytes. A reply that the event has no place for is ErrNoPlace; an
// unknown client or event is an [*InputError].
func Write(client, event string, rep api.HookReply, out io.Writer) error {
	c, ok := clientOf(client)
	if !ok {
		return &InputError{Client: client, Event: event, Reason: UnknownClient}
	}
	rep.Deny, rep.Tell = tidy(rep.Deny), tidy(rep.Tell)
	v, err := c.write(event, rep)
	if err != nil || v == nil {
		return err
	}
	b, err := encode(v)
	if err != nil {
		return err
	}
	_, err = out.Write(b)
	return err
}
