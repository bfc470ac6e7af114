package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"

	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/gate"
	"github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/session/store"
)

// resume ends whatever the run before left open, and finds out how far it came.
// It may be killed too: what it has ended is not open any more for the next run.
func (h *harness) resume(ctx context.Context, open store.Recovery) error {
	session := event.Coordinates{Session: h.session}
	if !open.Started {
		return h.say(ctx, session, event.Cause{}, event.SessionStarted{
			Title: "notes", Program: "harness", Model: model, Workspace: h.files.dir,
		})
	}
	// Our fence is the last record, so nobody but us has written since.
	if err := h.say(ctx, session, event.Cause{}, event.RestoreStarted{Epoch: h.journal.Epoch(), Tip: open.Tip - 1}); err != nil {
		return err
	}
	if err := h.count(ctx); err != nil {
		return err
	}
	if err := h.endAttempts(ctx, open); err != nil {
		return err
	}
	for _, e := range h.endings(open) {
		if err := h.say(ctx, e.at, event.Cause{}, e.what...); err != nil {
			return err
		}
	}
	if err := h.restore(ctx, open.Checkpoint); err != nil {
		return err
	}
	return h.say(ctx, session, event.Cause{}, event.RestoreDone{
		Checkpoint: open.Checkpoint.Checkpoint,
		Gates:      uint64(len(open.Gates)), Turns: uint64(len(open.Turns)), Delegates: uint64(len(open.Delegates)),
	})
}

// endAttempts ends commands from outside that were about to be applied. Their
// effect is stored together with their disposition, so without one there was
// no effect; CloseAbandoned reads the journal to make sure.
func (h *harness) endAttempts(ctx context.Context, open store.Recovery) error {
	for _, a := range open.Attempts {
		app := a.Application
		ans, err := h.journal.CloseAbandoned(ctx, app, attemptID(app.CommandID, app.LeaseEpoch))
		if err != nil {
			return err
		}
		h.screen.answer(app.CommandID, ans)
	}
	return nil
}

// An ending ends what record seq began.
type ending struct {
	seq  uint64
	at   event.Coordinates
	what []event.Body
}

// endings are those of all that happened in the run before and has no end, from
// the inside to the outside: what began last ends first.
func (h *harness) endings(open store.Recovery) (list []ending) {
	end := func(seq uint64, at event.Coordinates, what ...event.Body) {
		list = append(list, ending{seq, at, what})
	}
	for _, t := range open.Turns {
		end(t.Seq, t.At, event.TurnEnded{Outcome: event.Interrupted})
	}
	for _, c := range open.Calls {
		end(c.Seq, c.At, event.ToolFinished{Call: c.Call.Call, Outcome: event.ToolCancelled})
	}
	for _, g := range open.Gates {
		gone := gate.Decision{Action: gate.Unavailable, By: gate.Decider{Kind: gate.System}, Reason: "the harness was ended while it asked"}
		what := []event.Body{event.GateResolved{Gate: g.Gate, Decision: gone}}
		if g.Opened == 0 { // nobody saw it: whoever sees its end sees its beginning too
			what = slices.Insert(what, 0, event.Body(event.GateOpened{Gate: g.Gate, Asks: g.Payload.Kind()}))
		}
		end(max(g.Prepared, g.Opened), g.At, what...)
	}
	for _, d := range open.Delegates {
		end(d.Seq, d.At, event.DelegateEnded{Loop: d.Delegate.Loop, Outcome: event.Interrupted})
	}
	for _, d := range open.Deliveries {
		// Of an input that was being handed over nobody knows whether it arrived.
		// Every other one did not, and its delegate is gone.
		var what event.Body = event.InputCancelled{Command: d.Command.ID, Reason: "its delegate is gone"}
		if d.State == event.SteerReserved {
			what = event.DelegateDelivery{Command: d.Command.ID, Loop: d.Loop, State: event.ResolvedUnknown}
		}
		end(max(d.Intent, d.Fallback), h.here, what)
	}
	slices.SortFunc(list, func(a, b ending) int { return cmp.Compare(b.seq, a.seq) })
	return list
}

// count reads the events of the root loop: what was done is what they say. The loop
// of the first turn is the root, whatever the session is called by now: one that was
// imported may have another id than it had.
func (h *harness) count(ctx context.Context) error {
	events, err := h.sessions.Events().Open(ctx, journal.ReplayRequest{SessionID: h.session})
	if err != nil {
		return err
	}
	defer events.Close()
	for {
		e, _, err := events.Next(ctx)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if _, turn := e.Body.(event.TurnStarted); turn && h.turns == 0 {
			h.here.Loop = e.At.Loop
		}
		if e.At.Loop != h.here.Loop {
			continue
		}
		switch e.Body.(type) {
		case event.TurnStarted:
			h.turns++
		case event.StepDone:
			h.done++
		}
	}
}
