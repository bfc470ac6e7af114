package main

import (
	"context"

	"github.com/comity-dev/comity/session/command"
	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/journal"
)

// A child is the loop of a delegate.
type child struct {
	at    event.Coordinates
	turns uint64
}

// delegate sets another loop to work and returns what it came back with. Two
// inputs are sent to it: one while it works, one that is too late for that.
func (h *harness) delegate(ctx context.Context, call event.ID, task string) (string, error) {
	c := &child{at: event.Coordinates{Session: h.session, Loop: event.NewID()}}
	if err := h.say(ctx, h.here, event.Cause{}, event.DelegateStarted{Loop: c.at.Loop, Call: call, Agent: "reader", Model: model, Task: event.Text(task)}); err != nil {
		return "", err
	}
	if err := h.beginChild(ctx, c, event.Cause{Agency: event.Machine, Tool: call}, task); err != nil {
		return "", err
	}
	if err := h.deliver(ctx, c, "Count the lines too."); err != nil {
		return "", err
	}
	if err := h.endChild(ctx, c, "There are some."); err != nil {
		return "", err
	}
	if err := h.deliver(ctx, c, "And how many words?"); err != nil {
		return "", err
	}
	if err := h.endChild(ctx, c, "A few."); err != nil {
		return "", err
	}
	return "some lines, a few words", h.say(ctx, h.here, event.Cause{}, event.DelegateEnded{Loop: c.at.Loop, Outcome: event.Done, Result: event.Text("some lines, a few words")})
}

// deliver sends an input to a delegate. First its intent is stored. While the
// delegate works, one attempt is made to put it into the running turn; nobody
// could tell after a crash whether that arrived, so the attempt is announced.
// Else the input is queued, under the same id, for the delegate's next turn.
func (h *harness) deliver(ctx context.Context, c *child, text string) error {
	input := command.UserInput{Content: event.Text(text), Target: c.at.Loop, Phase: command.PhaseIntent}
	cmd := command.Command{Header: command.Header{ID: event.NewID(), Agency: event.Machine, Cause: event.Cause{At: h.here}}, Body: input}
	if err := h.note(ctx, "input_intent", journal.NewCommandRecord(h.session, c.at.Loop, cmd)); err != nil {
		return err
	}
	why := event.Cause{Command: cmd.ID, Agency: event.Machine}
	if c.at.Turn != "" {
		if err := h.say(ctx, h.here, event.Cause{}, event.DelegateDelivery{Command: cmd.ID, Loop: c.at.Loop, State: event.SteerReserved}); err != nil {
			return err
		}
		return h.say(ctx, c.at, why, event.MessageAdded{Role: event.RoleUser, Content: input.Content})
	}
	input.Phase = command.PhaseFallbackQueued
	cmd.Body = input
	if err := h.note(ctx, "input_queued", journal.NewCommandRecord(h.session, c.at.Loop, cmd)); err != nil {
		return err
	}
	return h.beginChild(ctx, c, why, text)
}

func (h *harness) beginChild(ctx context.Context, c *child, why event.Cause, input string) error {
	c.turns++
	c.at.Turn = event.NewID()
	return h.say(ctx, c.at, why, event.TurnStarted{Index: c.turns, Input: event.Text(input)})
}

func (h *harness) endChild(ctx context.Context, c *child, says string) error {
	if err := h.say(ctx, c.at, event.Cause{}, event.MessageAdded{Role: event.RoleAssistant, Content: event.Text(says)}); err != nil {
		return err
	}
	err := h.say(ctx, c.at, event.Cause{}, event.TurnEnded{Outcome: event.Done})
	c.at.Turn = ""
	return err
}
