package event_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/gate"
)

func id(n int) event.ID { return event.ID(fmt.Sprintf("%08x-0000-4000-8000-%012x", n, n)) }

var (
	session = event.Coordinates{Session: id(1)}
	loop    = event.Coordinates{Session: id(1), Loop: id(2)}
	turn    = event.Coordinates{Session: id(1), Loop: id(2), Turn: id(3)}
	step    = event.Coordinates{Session: id(1), Loop: id(2), Turn: id(3), Step: id(4)}
)

// digest is the SHA-256 of nothing.
const digest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

func content() []event.Block {
	return []event.Block{
		{Type: event.BlockThinking, Text: "well"},
		{Type: event.BlockText, Text: "caf\u00e9 <b>\n\"\\"},
		{Type: event.BlockFile, Name: "shot.png", Media: "image/png", Digest: digest, Size: 7},
	}
}

func usage() event.Usage { return event.Usage{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4} }

// full has one event of each kind with every field set.
func full() []event.Event {
	all := []struct {
		at   event.Coordinates
		body event.Body
	}{
		{session, event.SessionStarted{Program: "claude-code", Version: "2.1", Model: "m-1", Title: "fix it", Workspace: "/home/ada/src", Config: digest}},
		{session, event.SessionStopped{Reason: "done", Error: "none"}},
		{session, event.ConfigurationAdopted{Epoch: 2, Previous: digest, Adopted: digest, Source: "person", By: "ada", Note: "moved", Drift: []event.Drift{
			{Field: "workspace", Level: event.DriftWarn, Old: "/home/ada/src", New: "/home/ada/other"}, {Field: "model", Level: event.DriftInfo, Old: "m-1", New: "m-2"},
		}}},
		{loop, event.ContextCompacted{Summary: content(), Through: id(5)}},
		{step, event.AuditNoted{Activity: "permission review", Phase: event.PhaseFailed, Note: "n", Error: "e"}},
		{turn, event.TurnStarted{Index: 1, Input: content()}},
		{turn, event.TurnEnded{Outcome: event.Failed, Error: "e", Usage: usage()}},
		{step, event.StepDone{Index: 1, Model: "m-1", Stop: "end_turn", Usage: usage()}},
		{step, event.MessageAdded{Role: event.RoleAssistant, Content: content()}},
		{session, event.InputCancelled{Command: id(6), Reason: "r"}},
		{step, event.TextStreamed{Type: event.BlockText, Text: "t"}},
		{step, event.ToolCalled{Call: id(7), Name: "Bash", Use: "toolu_1", Input: `{"t":0.5}`}},
		{step, event.ToolFinished{Call: id(7), Outcome: event.ToolDone, Millis: 12, Result: content()}},
		{step, event.ToolProgressed{Call: id(7), Text: "t"}},
		{step, event.GatePrepared{Gate: id(8), Call: id(7), Asks: gate.KindPermission, Restorable: true}},
		{step, event.GateOpened{Gate: id(8), Call: id(7), Asks: gate.KindPermission, Subject: "Bash"}},
		{step, event.GateResolved{Gate: id(8), Decision: gate.Decision{
			Action: gate.Answered, Answers: []gate.Answer{{Field: "f", Values: []string{"secret answer"}}}, Audit: "secret audit", Reason: "r",
			By: gate.Decider{Kind: gate.Person, Name: "ada", Via: "cli"},
		}}},
		{step, event.DelegateStarted{Loop: id(9), Call: id(7), Agent: "reviewer", Model: "m-2", Task: content()}},
		{loop, event.DelegateDelivery{Loop: id(9), Command: id(6), State: event.SteerReserved}},
		{step, event.DelegateEnded{Loop: id(9), Outcome: event.Done, Error: "e", Result: content()}},
		{session, event.WorkspaceCheckpointed{Checkpoint: id(10), Ref: "refs/x", Base: strings.Repeat("a", 40), Note: "n"}},
		{session, event.WorkspaceRestored{Checkpoint: id(10), Note: "n"}},
		{session, event.RestoreStarted{Epoch: 2, Tip: 9}},
		{session, event.RestoreDone{Checkpoint: id(10), Gates: 1, Turns: 2, Delegates: 3}},
		{session, event.RestoreFailed{Error: "e"}},
	}
	var events []event.Event
	for i, a := range all {
		events = append(events, event.Event{Header: event.Header{
			ID: id(100 + i), At: a.at, Agent: "root", CreatedAt: 1767225600000 + uint64(i),
			Cause: event.Cause{At: turn, Command: id(20), Event: id(21), Tool: id(22), Agency: event.Machine},
		}, Body: a.body})
		if kind, _ := (*event.Kinds)(nil).Lookup(a.body.Kind()); kind.Visibility == event.Internal {
			events[i].Visibility = event.Internal
		}
	}
	return events
}

// lean has one event of each kind with nothing that may be left out.
func lean() []event.Event {
	events := full()
	for i, e := range events {
		events[i].Header = event.Header{ID: e.ID, At: e.At, Visibility: e.Visibility}
		switch b := e.Body.(type) {
		case event.SessionStarted:
			events[i].Body = event.SessionStarted{}
		case event.SessionStopped:
			events[i].Body = event.SessionStopped{}
		case event.ConfigurationAdopted:
			events[i].Body = event.ConfigurationAdopted{Epoch: b.Epoch, Adopted: b.Adopted}
		case event.ContextCompacted:
			events[i].Body = event.ContextCompacted{}
		case event.AuditNoted:
			events[i].Body = event.AuditNoted{Activity: b.Activity, Phase: b.Phase}
		case event.TurnStarted:
			events[i].Body = event.TurnStarted{Index: b.Index}
		case event.TurnEnded:
			events[i].Body = event.TurnEnded{Outcome: b.Outcome}
		case event.StepDone:
			events[i].Body = event.StepDone{Index: b.Index}
		case event.MessageAdded:
			events[i].Body = event.MessageAdded{Role: b.Role}
		case event.InputCancelled:
			events[i].Body = event.InputCancelled{Command: b.Command}
		case event.ToolCalled:
			events[i].Body = event.ToolCalled{Call: b.Call, Name: b.Name}
		case event.ToolFinished:
			events[i].Body = event.ToolFinished{Call: b.Call, Outcome: b.Outcome}
		case event.GatePrepared:
			events[i].Body = event.GatePrepared{Gate: b.Gate, Asks: b.Asks}
		case event.GateOpened:
			events[i].Body = event.GateOpened{Gate: b.Gate, Asks: b.Asks}
		case event.GateResolved:
			events[i].Body = event.GateResolved{Gate: b.Gate, Decision: gate.Decision{Action: gate.Denied, By: gate.Decider{Kind: gate.Policy}}}
		case event.DelegateStarted:
			events[i].Body = event.DelegateStarted{Loop: b.Loop}
		case event.DelegateEnded:
			events[i].Body = event.DelegateEnded{Loop: b.Loop, Outcome: b.Outcome}
		case event.WorkspaceCheckpointed:
			events[i].Body = event.WorkspaceCheckpointed{Checkpoint: b.Checkpoint, Ref: b.Ref}
		case event.WorkspaceRestored:
			events[i].Body = event.WorkspaceRestored{Checkpoint: b.Checkpoint}
		case event.RestoreStarted:
			events[i].Body = event.RestoreStarted{Epoch: b.Epoch}
		case event.RestoreDone:
			events[i].Body = event.RestoreDone{}
		}
	}
	return events
}

func ephemeral(e event.Event) bool {
	kind, _ := (*event.Kinds)(nil).Lookup(e.Body.Kind())
	return kind.Class == event.Ephemeral
}

// The fixture is what the other tests stand on: it has every kind and every field.
func TestFixtureIsComplete(t *testing.T) {
	have := map[string]bool{}
	for _, e := range full() {
		have[e.Body.Kind()] = true
		if name := unset(reflect.ValueOf(e.Body)); name != "" && name != "Scope" {
			t.Errorf("%s leaves %s unset", e.Body.Kind(), name)
		}
	}
	all := (*event.Kinds)(nil).All()
	for _, k := range all {
		if !have[k.Name] {
			t.Errorf("no %s", k.Name)
		}
	}
	if len(all) != len(have) {
		t.Errorf("%d kinds, want %d", len(all), len(have))
	}
}

// unset returns the name of a field of v that has its zero value, but for those in
// lists, of which not every entry has every field.
func unset(v reflect.Value) string {
	for i := range v.NumField() {
		f := v.Field(i)
		if f.IsZero() {
			return v.Type().Field(i).Name
		}
		if f.Kind() == reflect.Struct {
			if name := unset(f); name != "" {
				return name
			}
		}
	}
	return ""
}
