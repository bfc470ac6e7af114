package event_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/gate"
)

// Each rule of each field: the value at its bound is taken and the next one is not.
func TestBodiesAreBounded(t *testing.T) {
	x := func(n int) string { return strings.Repeat("x", n) }
	n := uint64(event.MaxInt)
	texts := func(n int) []event.Block {
		var all []event.Block
		for range n {
			all = append(all, event.Block{Type: event.BlockText})
		}
		return all
	}
	drifts := func(n int, d event.Drift) []event.Drift {
		var all []event.Drift
		for range n {
			all = append(all, d)
		}
		return all
	}
	drift := event.Drift{Field: "f", Level: event.DriftInfo}
	decided := gate.Decision{Action: gate.Denied, By: gate.Decider{Kind: gate.Person}}
	for _, tt := range []struct {
		field     string
		good, bad event.Body
	}{
		{"config", event.SessionStarted{Config: digest}, event.SessionStarted{Config: digest[1:]}},
		{"config", event.SessionStarted{Config: digest}, event.SessionStarted{Config: strings.ToUpper(digest)}},
		{"model", event.SessionStarted{Model: x(256)}, event.SessionStarted{Model: x(257)}},
		{"program", event.SessionStarted{Program: x(256)}, event.SessionStarted{Program: x(257)}},
		{"title", event.SessionStarted{Title: x(4096)}, event.SessionStarted{Title: x(4097)}},
		{"title", event.SessionStarted{Title: "\u00e9"}, event.SessionStarted{Title: "\xe9"}},
		{"version", event.SessionStarted{Version: x(256)}, event.SessionStarted{Version: x(257)}},
		{"workspace", event.SessionStarted{Workspace: x(4096)}, event.SessionStarted{Workspace: x(4097)}},
		{"error", event.SessionStopped{Error: x(65536)}, event.SessionStopped{Error: x(65537)}},
		{"reason", event.SessionStopped{Reason: x(4096)}, event.SessionStopped{Reason: x(4097)}},
		{"adopted", event.ConfigurationAdopted{Epoch: n, Adopted: digest}, event.ConfigurationAdopted{Epoch: n}},
		{"epoch", event.ConfigurationAdopted{Epoch: 1, Adopted: digest}, event.ConfigurationAdopted{Epoch: 0, Adopted: digest}},
		{"epoch", event.ConfigurationAdopted{Epoch: n, Adopted: digest}, event.ConfigurationAdopted{Epoch: n + 1, Adopted: digest}},
		{"drift", event.ConfigurationAdopted{Epoch: 1, Adopted: digest, Drift: drifts(256, drift)}, event.ConfigurationAdopted{Epoch: 1, Adopted: digest, Drift: drifts(257, drift)}},
		{"drift.field", event.ConfigurationAdopted{Epoch: 1, Adopted: digest, Drift: drifts(1, event.Drift{Field: x(256), Level: "warn"})}, event.ConfigurationAdopted{Epoch: 1, Adopted: digest, Drift: drifts(1, event.Drift{Level: "warn"})}},
		{"drift.level", event.ConfigurationAdopted{Epoch: 1, Adopted: digest, Drift: drifts(1, drift)}, event.ConfigurationAdopted{Epoch: 1, Adopted: digest, Drift: drifts(1, event.Drift{Field: "f", Level: "panic"})}},
		{"drift.new", event.ConfigurationAdopted{Epoch: 1, Adopted: digest, Drift: drifts(1, event.Drift{Field: "f", Level: "info", New: x(4096)})}, event.ConfigurationAdopted{Epoch: 1, Adopted: digest, Drift: drifts(1, event.Drift{Field: "f", Level: "info", New: x(4097)})}},
		{"summary", event.ContextCompacted{Summary: texts(4096)}, event.ContextCompacted{Summary: texts(4097)}},
		{"through", event.ContextCompacted{Through: id(1)}, event.ContextCompacted{Through: "x"}},
		{"activity", event.AuditNoted{Activity: x(256), Phase: "started"}, event.AuditNoted{Phase: "started"}},
		{"phase", event.AuditNoted{Activity: "a", Phase: "completed"}, event.AuditNoted{Activity: "a", Phase: "paused"}},
		{"index", event.TurnStarted{Index: 1}, event.TurnStarted{}},
		{"input.type", event.TurnStarted{Index: 1, Input: texts(1)}, event.TurnStarted{Index: 1, Input: []event.Block{{Type: "image"}}}},
		{"input", event.TurnStarted{Index: 1, Input: []event.Block{{Type: "file", Digest: digest}}}, event.TurnStarted{Index: 1, Input: []event.Block{{Type: "text", Digest: digest}}}},
		{"input.text", event.TurnStarted{Index: 1, Input: []event.Block{{Type: "file", Name: "n"}}}, event.TurnStarted{Index: 1, Input: []event.Block{{Type: "file", Text: "t"}}}},
		{"input.name", event.TurnStarted{Index: 1, Input: []event.Block{{Type: "file", Name: x(256)}}}, event.TurnStarted{Index: 1, Input: []event.Block{{Type: "file", Name: x(257)}}}},
		{"input.media", event.TurnStarted{Index: 1, Input: []event.Block{{Type: "file", Media: x(256)}}}, event.TurnStarted{Index: 1, Input: []event.Block{{Type: "file", Media: x(257)}}}},
		{"input.digest", event.TurnStarted{Index: 1, Input: []event.Block{{Type: "file", Digest: digest}}}, event.TurnStarted{Index: 1, Input: []event.Block{{Type: "file", Digest: digest[:40]}}}},
		{"input.size", event.TurnStarted{Index: 1, Input: []event.Block{{Type: "file", Size: n}}}, event.TurnStarted{Index: 1, Input: []event.Block{{Type: "file", Size: n + 1}}}},
		{"outcome", event.TurnEnded{Outcome: "rejected"}, event.TurnEnded{}},
		{"usage.output", event.TurnEnded{Outcome: "done", Usage: event.Usage{Output: n}}, event.TurnEnded{Outcome: "done", Usage: event.Usage{Output: n + 1}}},
		{"stop", event.StepDone{Index: 1, Stop: x(256)}, event.StepDone{Index: 1, Stop: x(257)}},
		{"role", event.MessageAdded{Role: "system"}, event.MessageAdded{Role: "tool"}},
		{"command", event.InputCancelled{Command: id(1)}, event.InputCancelled{}},
		{"type", event.TextStreamed{Type: "thinking"}, event.TextStreamed{Type: "file"}},
		{"call", event.ToolCalled{Call: id(1), Name: "n"}, event.ToolCalled{Name: "n"}},
		{"name", event.ToolCalled{Call: id(1), Name: x(256)}, event.ToolCalled{Call: id(1)}},
		{"use", event.ToolCalled{Call: id(1), Name: "n", Use: x(256)}, event.ToolCalled{Call: id(1), Name: "n", Use: x(257)}},
		{"input", event.ToolCalled{Call: id(1), Name: "n", Input: "not json {"}, event.ToolCalled{Call: id(1), Name: "n", Input: "\xff"}},
		{"outcome", event.ToolFinished{Call: id(1), Outcome: "denied"}, event.ToolFinished{Call: id(1), Outcome: "rejected"}},
		{"millis", event.ToolFinished{Call: id(1), Outcome: "done", Millis: n}, event.ToolFinished{Call: id(1), Outcome: "done", Millis: n + 1}},
		{"call", event.ToolProgressed{Call: id(1)}, event.ToolProgressed{}},
		{"gate", event.GatePrepared{Gate: id(1), Asks: "form"}, event.GatePrepared{Asks: "form"}},
		{"asks", event.GatePrepared{Gate: id(1), Asks: "form"}, event.GatePrepared{Gate: id(1), Asks: "riddle"}},
		{"asks", event.GateOpened{Gate: id(1), Asks: "permission"}, event.GateOpened{Gate: id(1)}},
		{"subject", event.GateOpened{Gate: id(1), Asks: "form", Subject: x(256)}, event.GateOpened{Gate: id(1), Asks: "form", Subject: x(257)}},
		{"decision.by.kind", event.GateResolved{Gate: id(1), Decision: decided}, event.GateResolved{Gate: id(1), Decision: gate.Decision{Action: gate.Denied}}},
		{"gate", event.GateResolved{Gate: id(1), Decision: decided}, event.GateResolved{Decision: decided}},
		{"loop", event.DelegateStarted{Loop: id(1)}, event.DelegateStarted{}},
		{"task", event.DelegateStarted{Loop: id(1), Task: texts(4096)}, event.DelegateStarted{Loop: id(1), Task: texts(4097)}},
		{"state", event.DelegateDelivery{Loop: id(1), Command: id(2), State: "resolved_unknown"}, event.DelegateDelivery{Loop: id(1), Command: id(2), State: "lost"}},
		{"outcome", event.DelegateEnded{Loop: id(1), Outcome: "interrupted"}, event.DelegateEnded{Loop: id(1), Outcome: "lost"}},
		{"base", event.WorkspaceCheckpointed{Checkpoint: id(1), Ref: "r", Base: digest[:40]}, event.WorkspaceCheckpointed{Checkpoint: id(1), Ref: "r", Base: digest[:41]}},
		{"ref", event.WorkspaceCheckpointed{Checkpoint: id(1), Ref: x(256)}, event.WorkspaceCheckpointed{Checkpoint: id(1)}},
		{"checkpoint", event.WorkspaceRestored{Checkpoint: id(1)}, event.WorkspaceRestored{}},
		{"tip", event.RestoreStarted{Epoch: 1, Tip: n}, event.RestoreStarted{Epoch: 1, Tip: n + 1}},
		{"turns", event.RestoreDone{Turns: n}, event.RestoreDone{Turns: n + 1}},
		{"error", event.RestoreFailed{Error: x(65536)}, event.RestoreFailed{}},
	} {
		place := placeOf(tt.good)
		var ks *event.Kinds
		if err := ks.Check(event.Event{Header: place, Body: tt.good}); err != nil {
			t.Errorf("Check(%s with a good %s) = %v", tt.good.Kind(), tt.field, err)
		}
		err := ks.Check(event.Event{Header: place, Body: tt.bad})
		var field *event.FieldError
		if !errors.As(err, &field) || field.Field != "body."+tt.field || field.Kind != tt.bad.Kind() {
			t.Errorf("Check(%s with a bad %s) = %v, want a *FieldError of it", tt.bad.Kind(), tt.field, err)
		}
	}
}

// placeOf returns a header in which a body of that kind may stand.
func placeOf(b event.Body) event.Header {
	for _, e := range full() {
		if e.Body.Kind() == b.Kind() {
			return e.Header
		}
	}
	return event.Header{}
}

// Each kind takes the coordinates that it says it takes, and no others.
func TestCoordinatesOfKinds(t *testing.T) {
	var ks *event.Kinds
	levels := []event.Coordinates{{}, session, loop, turn, step}
	for _, e := range full() {
		kind, _ := ks.Lookup(e.Body.Kind())
		for level, at := range levels {
			e.At = at
			err := ks.Check(e)
			if want := event.Level(level) >= kind.Least && event.Level(level) <= kind.Most; (err == nil) != want {
				t.Errorf("Check(%s at level %d) = %v, want %v to %v", kind.Name, level, err, kind.Least, kind.Most)
			}
		}
	}
	for _, at := range []event.Coordinates{{Loop: id(2)}, {Session: id(1), Turn: id(3)}, {Session: id(1), Loop: id(2), Step: id(4)}, {Session: id(1), Loop: id(2), Turn: "T"}} {
		e := full()[9]
		e.At = at
		if err := ks.Check(e); err == nil {
			t.Errorf("Check(%+v) = nil, want an error", at)
		}
		e.At, e.Cause.At = session, at
		if err := ks.Check(e); err == nil {
			t.Errorf("Check(cause at %+v) = nil, want an error", at)
		}
	}
}

func TestHeadersAreChecked(t *testing.T) {
	for _, tt := range []struct {
		field string
		spoil func(*event.Header)
	}{
		{"header.agent", func(h *event.Header) { h.Agent = strings.Repeat("x", 257) }},
		{"header.created_at", func(h *event.Header) { h.CreatedAt = event.MaxInt + 1 }},
		{"header.id", func(h *event.Header) { h.ID = "" }},
		{"header.id", func(h *event.Header) { h.ID = "x" }},
		{"header.visibility", func(h *event.Header) { h.Visibility = event.Internal }},
		{"header.visibility", func(h *event.Header) { h.Visibility = "x" }},
		{"header.at.session", func(h *event.Header) { h.At.Session = "x" }},
		{"header.at.loop", func(h *event.Header) { h.At.Loop = "x" }},
		{"header.at.turn", func(h *event.Header) { h.At.Turn = "x" }},
		{"header.at.step", func(h *event.Header) { h.At.Step = "x" }},
		{"header.cause.agency", func(h *event.Header) { h.Cause.Agency = "x" }},
		{"header.cause.at.loop", func(h *event.Header) { h.Cause.At.Loop = "x" }},
		{"header.cause.command", func(h *event.Header) { h.Cause.Command = "x" }},
		{"header.cause.event", func(h *event.Header) { h.Cause.Event = "x" }},
		{"header.cause.tool", func(h *event.Header) { h.Cause.Tool = "x" }},
	} {
		e := event.Event{Header: event.Header{ID: id(1), At: step, Cause: event.Cause{At: step}}, Body: event.ContextCompacted{}}
		if err := (*event.Kinds)(nil).Check(e); err != nil {
			t.Fatal(err)
		}
		tt.spoil(&e.Header)
		var field *event.FieldError
		if err := (*event.Kinds)(nil).Check(e); !errors.As(err, &field) || field.Field != tt.field {
			t.Errorf("Check with a bad %s = %v, want a *FieldError of it", tt.field, err)
		}
	}
}

func TestScopeIsThatOfTheCoordinates(t *testing.T) {
	if got := (event.Header{At: session}).Scope(); got != event.ScopeSession {
		t.Errorf("Scope of %+v = %v", session, got)
	}
	if got := (event.Header{At: loop}).Scope(); got != event.ScopeLoop {
		t.Errorf("Scope of %+v = %v", loop, got)
	}
}

func TestIDs(t *testing.T) {
	seen := map[event.ID]bool{}
	for range 100 {
		one := event.NewID()
		if _, err := event.ParseID(string(one)); err != nil || seen[one] || one[14] != '4' {
			t.Errorf("NewID() = %s, %v", one, err)
		}
		seen[one] = true
	}
	if got, want := event.IDFrom([16]byte{15: 1}), event.ID("00000000-0000-4000-8000-000000000001"); got != want {
		t.Errorf("IDFrom = %s, want %s", got, want)
	}
	for _, bad := range []string{"", "00000000-0000-0000-0000-000000000000", "6F1b3c1e-9a54-4c0e-8d3e-2f7a1d0b5c11", "6f1b3c1e-9a54-4c0e-8d3e-2f7a1d0b5c1",
		"6f1b3c1e-9a54-4c0e-8d3e-2f7a1d0b5c111", "6f1b3c1e09a54-4c0e-8d3e-2f7a1d0b5c11", "6f1b3c1e-9a54-4c0e-8d3e-2f7a1d0b5c1g", "{f1b3c1e-9a54-4c0e-8d3e-2f7a1d0b5c1}"} {
		if got, err := event.ParseID(bad); err == nil || got != "" {
			t.Errorf("ParseID(%q) = %q, %v, want an error", bad, got, err)
		}
	}
}
