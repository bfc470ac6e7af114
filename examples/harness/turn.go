package main

import (
	"context"
	"time"

	"github.com/comity-dev/comity/session/event"
)

// step asks the model once and does what it says, in a turn that it begins and
// ends as needed. Each thing is in the journal before the next one begins, so
// that a crash leaves a true story: a call that has no end may have run.
func (h *harness) step(ctx context.Context) error {
	m := think(h.done)
	if err := h.pause(ctx); err != nil {
		return err
	}
	if err := h.beginTurn(ctx, m); err != nil {
		return err
	}
	h.here.Step = event.NewID()
	if err := h.say(ctx, h.here, event.Cause{}, event.MessageAdded{Role: event.RoleAssistant, Content: event.Text(m.says)}); err != nil {
		return err
	}
	call := event.NewID()
	if err := h.say(ctx, h.here, event.Cause{}, event.ToolCalled{Call: call, Name: m.tool, Input: m.input}); err != nil {
		return err
	}
	spent := event.Usage{Input: uint64(len(m.input)), Output: uint64(len(m.says))}
	began := time.Now()
	r, err := h.use(ctx, call, m)
	if err != nil {
		return err
	}
	// What the call did, that it ended and that the step is done become durable as
	// one: a crash leaves either a step to be made again, whose effect is taken
	// back, or one that is done.
	if err := h.say(ctx, h.here, event.Cause{}, append(r.did,
		event.ToolFinished{Call: call, Outcome: r.outcome, Millis: uint64(time.Since(began).Milliseconds()), Result: event.Text(r.text)},
		event.StepDone{Index: h.steps + 1, Model: model, Usage: spent},
	)...); err != nil {
		return err
	}
	h.done++
	h.steps++
	h.here.Step = ""
	h.used.Input += spent.Input
	h.used.Output += spent.Output
	if m.last {
		return h.endTurn(ctx, event.Done)
	}
	return nil
}

// beginTurn begins a turn if none runs.
func (h *harness) beginTurn(ctx context.Context, m move) error {
	if h.here.Turn != "" {
		return nil
	}
	at := h.here
	at.Turn = event.NewID()
	if err := h.say(ctx, at, event.Cause{Agency: event.Human}, event.TurnStarted{Index: h.turns + 1, Input: event.Text(m.task)}); err != nil {
		return err
	}
	h.here = at
	h.turns++
	h.steps, h.used = 0, event.Usage{}
	return nil
}

// endTurn ends the turn if one runs.
func (h *harness) endTurn(ctx context.Context, how event.Outcome) error {
	if h.here.Turn == "" {
		return nil
	}
	if err := h.say(ctx, h.here, event.Cause{}, event.TurnEnded{Outcome: how, Usage: h.used}); err != nil {
		return err
	}
	h.here.Turn = ""
	return nil
}

// pause is how long the model thinks. It ends when the session is lost.
func (h *harness) pause(ctx context.Context) error {
	t := time.NewTimer(h.pace)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
