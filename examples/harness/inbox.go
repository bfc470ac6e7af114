package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/comity-dev/comity/session/command"
	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/gate"
	"github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/session/runtimecommand"
	"github.com/comity-dev/comity/session/store"
)

// A request is a command from outside: a line "ID VERB REST". The sender makes
// up the id, and sends the same line again as long as it has no answer, also to
// the next run of the program.
type request struct{ id, verb, rest string }

// listen reads requests until r ends. It does so for as long as the program runs.
func listen(r io.Reader) <-chan request {
	c := make(chan request)
	go func() {
		defer close(c)
		for lines := bufio.NewScanner(r); lines.Scan(); {
			id, rest, _ := strings.Cut(strings.TrimSpace(lines.Text()), " ")
			verb, rest, _ := strings.Cut(strings.TrimSpace(rest), " ")
			if id != "" {
				c <- request{id, verb, strings.TrimSpace(rest)}
			}
		}
	}()
	return c
}

// takeAll applies the commands that wait.
func (h *harness) takeAll(ctx context.Context) error {
	for {
		select {
		case r, more := <-h.inbox:
			if !more {
				return nil
			}
			if err := h.take(ctx, r); err != nil {
				return err
			}
		default:
			return nil
		}
	}
}

// take applies a command from outside at most once, however often it is sent and
// whatever dies meanwhile: the journal knows its id before it has any effect.
func (h *harness) take(ctx context.Context, r request) error {
	kind, body := understand(r)
	if body == nil {
		h.screen.print("command %s: %s", r.id, h.misunderstood(r))
		return nil
	}
	// The same line makes the same command, to the byte: it has no time in it.
	cmd := command.Command{Header: command.Header{ID: idOf(h.here.Loop, "command", r.id), Agency: event.Human}, Body: body}
	intent := journal.NewCommandRecord(h.session, h.here.Loop, cmd)
	var then func()
	ans, err := h.journal.Apply(ctx, store.Attempt{
		CommandID: r.id, AttemptID: attemptID(r.id, h.journal.Epoch()), Kind: kind, RuntimeID: cmd.ID, Intent: &intent,
	}, func(context.Context) (effect store.Effect, err error) {
		effect, then = h.effect(cmd)
		return effect, nil
	})
	var other *journal.IdempotencyCollisionError
	var mapped *store.MappingConflictError
	switch {
	case errors.As(err, &other), errors.As(err, &mapped):
		h.screen.print("command %s: that id was another command's", r.id)
		return nil
	case err != nil:
		return err
	case ans.First && then != nil:
		then()
	}
	h.screen.answer(r.id, ans)
	if ans.Result == runtimecommand.NoOp && kind == runtimecommand.KindGateResponse {
		h.screen.print("    gate %s is not open; %s", r.rest, h.openGate())
	}
	return nil
}

// misunderstood says what is wrong with a request that is no command.
func (h *harness) misunderstood(r request) string {
	if r.verb == "approve" || r.verb == "deny" {
		return fmt.Sprintf("%q is not the id of a gate; %s", r.rest, h.openGate())
	}
	return "want ID say TEXT, ID approve GATE, ID deny GATE or ID stop"
}

func (h *harness) openGate() string {
	if h.asked == nil || h.asked.decision != nil {
		return "none is open"
	}
	return fmt.Sprint("open is ", h.asked.gate)
}

// attemptID names the attempt of one owner to apply a command, so that a later
// owner can name it too.
func attemptID(command string, epoch uint64) string { return fmt.Sprintf("%s/%d", command, epoch) }

// understand returns nil when there is no such command.
func understand(r request) (runtimecommand.Kind, command.Body) {
	by := gate.Decider{Kind: gate.Person, Via: "stdin"}
	id, err := event.ParseID(r.rest)
	switch {
	case r.verb == "say" && r.rest != "":
		return runtimecommand.KindInput, command.UserInput{Content: event.Text(r.rest)}
	case r.verb == "approve" && err == nil:
		return runtimecommand.KindGateResponse, command.ApproveToolCall{Gate: id, Scope: gate.ScopeOnce, By: by}
	case r.verb == "deny" && err == nil:
		return runtimecommand.KindGateResponse, command.DenyToolCall{Gate: id, By: by, Reason: "not now"}
	case r.verb == "stop" && r.rest == "":
		return runtimecommand.KindInterrupt, command.Interrupt{}
	}
	return "", nil
}

// effect is what a command comes to: events that become durable in one piece
// with the word that it was applied, and what the harness does once they are.
func (h *harness) effect(cmd command.Command) (store.Effect, func()) {
	happened := func(what event.Body) store.Effect {
		why := event.Cause{Command: cmd.ID, Agency: cmd.Agency}
		return store.Effect{Result: runtimecommand.Applied, Records: []journal.JournalRecord{journal.NewEventRecord(newEvent(h.here, why, what))}}
	}
	answer := func(id event.ID, d gate.Decision) (store.Effect, func()) {
		if h.asked == nil || h.asked.gate != id { // of an earlier run, or answered already
			return store.Effect{Result: runtimecommand.NoOp}, nil
		}
		return happened(event.GateResolved{Gate: id, Decision: d}), func() { h.asked.decision = &d }
	}
	switch b := cmd.Body.(type) {
	case command.UserInput:
		return happened(event.MessageAdded{Role: event.RoleUser, Content: b.Content}), nil
	case command.ApproveToolCall:
		return answer(b.Gate, gate.Decision{Action: gate.Approved, Scope: b.Scope, By: b.By})
	case command.DenyToolCall:
		return answer(b.Gate, gate.Decision{Action: gate.Denied, By: b.By, Reason: b.Reason})
	case command.Interrupt:
		switch {
		case h.asked != nil: // a question is answered first
			return store.Effect{Result: runtimecommand.Refused}, nil
		case h.here.Turn == "":
			return store.Effect{Result: runtimecommand.NoOp}, nil
		}
		return happened(event.TurnEnded{Outcome: event.Interrupted, Usage: h.used}), func() { h.here.Turn = "" }
	}
	return store.Effect{Result: runtimecommand.Refused}, nil
}
