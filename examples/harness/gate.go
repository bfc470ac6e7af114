package main

import (
	"context"

	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/gate"
	"github.com/comity-dev/comity/session/journal"
)

// A question is a gate that is open.
type question struct {
	gate     event.ID
	decision *gate.Decision // nil until it is answered, and the answer is durable
}

// ask asks whether a call may run, and waits until somebody has said so. What is
// asked is stored in private before the gate opens; the answer is stored before
// it is acted upon.
func (h *harness) ask(ctx context.Context, call event.ID, m move) (allowed bool, why string, err error) {
	id := event.NewID()
	prepared := newEvent(h.here, event.Cause{}, event.GatePrepared{Gate: id, Call: call, Asks: gate.KindPermission})
	prepared.Visibility = event.Internal
	payload := gate.Payload{Permission: &gate.Permission{Tool: m.tool, Input: m.input, Description: m.says}}
	if err := h.note(ctx, event.KindGatePrepared, journal.NewGatePreparedRecord(prepared, payload)); err != nil {
		return false, "", err
	}
	if err := h.say(ctx, h.here, event.Cause{}, event.GateOpened{Gate: id, Call: call, Asks: gate.KindPermission, Subject: m.tool}); err != nil {
		return false, "", err
	}
	h.asked = &question{gate: id}
	defer func() { h.asked = nil }()
	if h.yes {
		err = h.decide(ctx, gate.Decision{Action: gate.Approved, Scope: gate.ScopeOnce, By: gate.Decider{Kind: gate.Policy, Name: "-yes"}})
	} else {
		err = h.await(ctx)
	}
	if err != nil {
		return false, "", err
	}
	return h.asked.decision.Action == gate.Approved, h.asked.decision.Reason, nil
}

// await takes commands until one of them has answered the question.
func (h *harness) await(ctx context.Context) error {
	h.screen.print("may this run? answer with a line, ID being any word that you did not use before:")
	h.screen.print("    ID approve %s", h.asked.gate)
	h.screen.print("    ID deny %s", h.asked.gate)
	for h.asked.decision == nil {
		select {
		case r, more := <-h.inbox:
			if !more {
				h.screen.print("denied: the input has ended, and there is nobody to ask; -yes approves every gate")
				return h.decide(ctx, gate.Decision{Action: gate.Denied, By: gate.Decider{Kind: gate.System}, Reason: "there is nobody to ask"})
			}
			if err := h.take(ctx, r); err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// decide ends the gate without a command from outside.
func (h *harness) decide(ctx context.Context, d gate.Decision) error {
	if err := h.say(ctx, h.here, event.Cause{}, event.GateResolved{Gate: h.asked.gate, Decision: d}); err != nil {
		return err
	}
	h.asked.decision = &d
	return nil
}
