package transcript_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/comity-dev/comity/session/command"
	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/gate"
	"github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/session/transcript"
)

func id(n int) event.ID { return event.ID(fmt.Sprintf("%08x-0000-4000-8000-%012x", n, n)) }

var formats = []transcript.Format{transcript.Markdown, transcript.JSON, transcript.HTML}

// A tape is a cursor over records that are made as it is read, or were made before.
type tape struct {
	next func(n uint64) journal.JournalRecord // nil at the end
	n    uint64
	err  error // in place of the end
}

func (t *tape) Next(ctx context.Context) (journal.JournalRecord, uint64, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, 0, err
	}
	rec := t.next(t.n + 1)
	if rec == nil {
		if t.err != nil {
			return nil, 0, t.err
		}
		return nil, 0, io.EOF
	}
	t.n++
	return rec, t.n, nil
}

func tapeOf(records []journal.JournalRecord) *tape {
	return &tape{next: func(n uint64) journal.JournalRecord {
		if n > uint64(len(records)) {
			return nil
		}
		return records[n-1]
	}}
}

func write(t *testing.T, f transcript.Format, o *transcript.Options, records ...journal.JournalRecord) (string, transcript.Summary) {
	t.Helper()
	var s strings.Builder
	sum, err := transcript.Write(t.Context(), &s, tapeOf(records), f, o)
	if err != nil {
		t.Fatal(err)
	}
	return s.String(), sum
}

// A script makes the records of a session, one a second.
type script struct {
	records []journal.JournalRecord
	at      event.Coordinates
}

func newScript() *script { return &script{at: event.Coordinates{Session: id(1), Loop: id(2)}} }

func (s *script) event(b event.Body) *script { return s.eventAt(s.at, b) }

func (s *script) eventAt(at event.Coordinates, b event.Body) *script {
	e := event.Event{Header: event.Header{ID: id(1000 + len(s.records)), At: at, CreatedAt: 1767225600000 + 1000*uint64(len(s.records))}, Body: b}
	if kind, ok := (*event.Kinds)(nil).Lookup(b.Kind()); ok {
		e.Visibility = kind.Visibility
		switch kind.Most {
		case event.AtSession:
			e.At = event.Coordinates{Session: at.Session}
		case event.AtTurn:
			e.At.Step = ""
		}
	}
	s.records = append(s.records, journal.NewEventRecord(e))
	return s
}

func (s *script) command(agency event.Agency, b command.Body) *script {
	c := command.Command{Header: command.Header{ID: id(5000 + len(s.records)), Agency: agency, CreatedAt: 1767225600000 + 1000*uint64(len(s.records))}, Body: b}
	s.records = append(s.records, journal.NewCommandRecord(s.at.Session, s.at.Loop, c))
	return s
}

func (s *script) prepared(g event.ID, p gate.Payload) *script {
	e := event.Event{Header: event.Header{ID: id(1000 + len(s.records)), At: s.at, Visibility: event.Internal}, Body: event.GatePrepared{Gate: g, Asks: p.Kind()}}
	s.records = append(s.records, journal.NewGatePreparedRecord(e, p))
	return s
}

func (s *script) turn(n int) *script {
	s.at.Turn, s.at.Step = id(100+n), ""
	return s
}

func (s *script) step(n int) *script {
	s.at.Step = id(200 + n)
	return s
}

func ada() gate.Decider { return gate.Decider{Kind: gate.Person, Name: "ada", Via: "cli"} }

// whole is a session with one of everything.
func whole() []journal.JournalRecord {
	s := newScript()
	s.records = append(s.records, journal.NewFenceRecord(id(1), journal.LeaseFence{Epoch: 1}))
	s.event(event.SessionStarted{Program: "claude-code", Version: "2.1", Model: "m-1", Workspace: "/home/ada/src"})
	s.command(event.Human, command.UserInput{Content: event.Text("Fix the test.\nIt fails.")})
	cause := s.records[len(s.records)-1].(journal.CommandRecord).Command().ID
	s.turn(1).event(event.TurnStarted{Index: 1, Input: event.Text("Fix the test.\nIt fails.")})
	started := s.records[len(s.records)-1].(journal.EventRecord).Event()
	started.Cause = event.Cause{Command: cause, Agency: event.Human}
	s.records[len(s.records)-1] = journal.NewEventRecord(started)

	s.step(1).event(event.MessageAdded{Role: event.RoleAssistant, Content: []event.Block{
		{Type: event.BlockThinking, Text: "Where is it?"}, {Type: event.BlockText, Text: "# Plan\n\nI **look** at `a_test.go`:\n\n```go\nfunc TestA() {}\n```\n\n- one\n- two"},
	}})
	s.event(event.ToolCalled{Call: id(11), Name: "Read", Use: "toolu_1", Input: `{"path":"a_test.go"}`})
	s.event(event.ToolCalled{Call: id(12), Name: "Bash", Use: "toolu_2", Input: `{"command":"go test ./..."}`})
	s.event(event.ToolFinished{Call: id(11), Outcome: event.ToolDone, Millis: 12, Result: event.Text("package a")})
	s.prepared(id(21), gate.Payload{Permission: &gate.Permission{Tool: "Bash", Description: "runs the tests", Scopes: []gate.Scope{gate.ScopeOnce, gate.ScopeSession}}})
	s.event(event.GateOpened{Gate: id(21), Call: id(12), Asks: gate.KindPermission, Subject: "Bash"})
	s.command(event.Human, command.ApproveToolCall{Gate: id(21), Call: id(12), Scope: gate.ScopeSession, By: ada()})
	s.event(event.GateResolved{Gate: id(21), Decision: gate.Decision{Action: gate.Approved, Scope: gate.ScopeSession, By: ada(), Reason: "tests are fine", Audit: "an audit"}})
	s.event(event.ToolFinished{Call: id(12), Outcome: event.ToolFailed, Millis: 2345, Result: event.Text("\x1b[31mFAIL\x1b[0m a\r\n``` inside\n")})
	s.event(event.StepDone{Index: 1, Model: "m-1", Stop: "tool_use", Usage: event.Usage{Input: 10, Output: 5}})

	s.step(2).event(event.ToolCalled{Call: id(13), Name: "Task", Input: `{"task":"look"}`})
	s.event(event.DelegateStarted{Loop: id(3), Call: id(13), Agent: "finder", Model: "m-2", Task: event.Text("Find it.")})
	child := event.Coordinates{Session: id(1), Loop: id(3), Turn: id(103)}
	s.eventAt(child, event.TurnStarted{Index: 1, Input: event.Text("Find it.")})
	child.Step = id(203)
	s.eventAt(child, event.ToolCalled{Call: id(14), Name: "Grep", Input: `{"q":"A"}`})
	s.eventAt(child, event.ToolFinished{Call: id(14), Outcome: event.ToolDone, Result: event.Text("a.go:1")})
	s.eventAt(child, event.MessageAdded{Role: event.RoleAssistant, Content: event.Text("Line 1.")})
	s.eventAt(child, event.TurnEnded{Outcome: event.Done, Usage: event.Usage{Input: 3, Output: 2, CacheRead: 1}})
	s.event(event.DelegateEnded{Loop: id(3), Outcome: event.Done, Result: event.Text("It is in line 1.")})
	s.event(event.ToolFinished{Call: id(13), Outcome: event.ToolDone, Result: event.Text("done")})
	s.event(event.WorkspaceCheckpointed{Checkpoint: id(31), Ref: "refs/comity/1"})
	s.event(event.AuditNoted{Activity: "review of a permission", Phase: event.PhaseCompleted, Note: "harmless"})
	s.event(event.TurnEnded{Outcome: event.Done, Usage: event.Usage{Input: 20, Output: 9}})
	s.command(event.Human, command.UserInput{Content: event.Text("And then?")})
	s.event(event.SessionStopped{Reason: "the end"})
	return s.records
}
