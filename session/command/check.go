package command

import (
	"cmp"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/gate"
)

// A FieldError reports a value against the rule of its field.
type FieldError = event.FieldError

// Check reports whether c can be a command of a session: nil, an
// *UnknownCommandTypeError, or a *FieldError that names what is wrong.
func (c Command) Check() error {
	if c.Body == nil {
		return &UnknownCommandTypeError{}
	}
	k := c.Body.Kind()
	kind, known := kinds[k]
	if !known {
		return &UnknownCommandTypeError{k}
	}
	if !kind.is(c.Body) {
		return &FieldError{Kind: k, Field: "body", Detail: fmt.Sprintf("is a %T", c.Body)}
	}
	if err := cmp.Or(
		c.Agency.Check(k, "header.agency"),
		c.Cause.Check(k, "header.cause"),
		needID(k, "header.id", c.ID),
	); err != nil {
		return err
	}
	if c.CreatedAt > event.MaxInt {
		return &FieldError{Kind: k, Field: "header.created_at", Detail: "above 2^53-1"}
	}
	if in, ok := c.Body.(UserInput); ok {
		if in.Phase != PhaseNone && c.Agency != event.Machine {
			return &FieldError{Kind: k, Field: "body.phase", Detail: "only a machine's input has one"}
		}
		if target, routed := c.Routed(); routed && target == "" {
			return &FieldError{Kind: k, Field: "body.target", Detail: "missing: an input with no_fold or a phase has one"}
		}
	}
	return c.Body.check()
}

func (b UserInput) check() error {
	k := KindUserInput
	switch b.Phase {
	case PhaseNone, PhaseIntent, PhaseFallbackQueued:
	default:
		return &FieldError{Kind: k, Field: "body.phase", Detail: "unknown"}
	}
	return cmp.Or(
		text(k, "body.attempt", b.Attempt, 0, MaxAttempt),
		event.CheckContent(k, "body.content", b.Content),
		mayID(k, "body.target", b.Target),
	)
}

func (b SubagentResult) check() error {
	k := KindSubagentResult
	switch b.Outcome {
	case event.Done, event.Failed, event.Interrupted, event.Rejected:
	default:
		return &FieldError{Kind: k, Field: "body.outcome", Detail: "missing or unknown"}
	}
	return cmp.Or(
		mayID(k, "body.call", b.Call),
		event.CheckContent(k, "body.content", b.Content),
		needID(k, "body.delegate", b.Delegate),
	)
}

// The decisions are checked as the gate's own would be.

func (b ApproveToolCall) check() error {
	k := KindApproveToolCall
	return cmp.Or(decided(k, gate.Decision{Action: gate.Approved, By: b.By, Scope: b.Scope}), mayID(k, "body.call", b.Call), needID(k, "body.gate", b.Gate))
}

func (b DenyToolCall) check() error {
	k := KindDenyToolCall
	return cmp.Or(decided(k, gate.Decision{Action: gate.Denied, By: b.By, Reason: b.Reason}), mayID(k, "body.call", b.Call), needID(k, "body.gate", b.Gate))
}

func (b ProvideInput) check() error {
	k := KindProvideInput
	return cmp.Or(decided(k, gate.Decision{Action: gate.Answered, By: b.By, Answers: b.Answers}), needID(k, "body.gate", b.Gate))
}

func decided(kind string, d gate.Decision) error {
	err := d.Check()
	if wrong := (*gate.FieldError)(nil); errors.As(err, &wrong) {
		return &FieldError{Kind: kind, Field: "body." + wrong.Field, Detail: wrong.Detail}
	}
	return err
}

func (b CancelQueued) check() error {
	k := KindCancelQueued
	return cmp.Or(needID(k, "body.command", b.Command), text(k, "body.reason", b.Reason, 0, event.MaxText))
}

func (b CancelDelegate) check() error {
	k := KindCancelDelegate
	return cmp.Or(needID(k, "body.delegate", b.Delegate), text(k, "body.reason", b.Reason, 0, event.MaxText))
}

func (b Interrupt) check() error {
	k := KindInterrupt
	return cmp.Or(text(k, "body.reason", b.Reason, 0, event.MaxText), mayID(k, "body.target", b.Target))
}

func (b Shutdown) check() error { return text(KindShutdown, "body.reason", b.Reason, 0, event.MaxText) }

func (b Compact) check() error {
	k := KindCompact
	return cmp.Or(text(k, "body.instructions", b.Instructions, 0, event.MaxText), mayID(k, "body.target", b.Target))
}

func (b ProcessNotification) check() error {
	k := KindProcessNotification
	return cmp.Or(
		text(k, "body.exit", b.Exit, 0, event.MaxName),
		text(k, "body.output", b.Output, 0, event.MaxError),
		text(k, "body.process", b.Process, 1, event.MaxName),
		mayID(k, "body.target", b.Target),
	)
}

func text(kind, field, s string, least, most int) error {
	switch {
	case len(s) < least:
		return &FieldError{Kind: kind, Field: field, Detail: "missing"}
	case len(s) > most:
		return &FieldError{Kind: kind, Field: field, Detail: fmt.Sprintf("%d bytes, limit %d", len(s), most)}
	case !utf8.ValidString(s):
		return &FieldError{Kind: kind, Field: field, Detail: "not UTF-8"}
	}
	return nil
}

func needID(kind, field string, id ID) error {
	if id == "" {
		return &FieldError{Kind: kind, Field: field, Detail: "missing"}
	}
	return mayID(kind, field, id)
}

func mayID(kind, field string, id ID) error {
	if id != "" && !id.Valid() {
		return &FieldError{Kind: kind, Field: field, Detail: "not an id: want a UUID with lower-case digits, not all zero"}
	}
	return nil
}
