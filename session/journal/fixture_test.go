package journal_test

import (
	"fmt"

	"github.com/comity-dev/comity/session/command"
	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/gate"
	"github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/session/runtimecommand"
)

func id(n int) event.ID { return event.ID(fmt.Sprintf("%08x-0000-4000-8000-%012x", n, n)) }

var (
	session = id(1)
	loop    = id(2)
	turn    = id(3)
)

func started(n int) event.Event {
	return event.Event{
		Header: event.Header{ID: id(n), At: event.Coordinates{Session: session}, CreatedAt: 1_700_000_000_000},
		Body:   event.SessionStarted{Title: "a session", Workspace: "/home/ada/secret"},
	}
}

func noted(n int) event.Event {
	return event.Event{
		Header: event.Header{ID: id(n), At: event.Coordinates{Session: session}, Visibility: event.Internal},
		Body:   event.AuditNoted{Activity: "review", Phase: event.PhaseStarted},
	}
}

func prepared(n int) event.Event {
	return event.Event{
		Header: event.Header{ID: id(n), At: event.Coordinates{Session: session, Loop: loop}, Visibility: event.Internal},
		Body:   event.GatePrepared{Gate: id(900), Asks: gate.KindPermission},
	}
}

var permission = gate.Payload{Permission: &gate.Permission{Tool: "shell", Input: "rm -rf build"}}

func input(n int, phase command.DeliveryPhase) command.Command {
	return command.Command{
		Header: command.Header{ID: id(n), Agency: event.Machine},
		Body:   command.UserInput{Content: event.Text("go on"), Phase: phase, Target: loop},
	}
}

func application(epoch uint64) runtimecommand.Application {
	return runtimecommand.Application{CommandID: "req-1", CommandKind: runtimecommand.KindInput, LeaseEpoch: epoch, RuntimeID: id(50)}
}

func disposition(epoch uint64) runtimecommand.Disposition {
	return runtimecommand.Disposition{
		AttemptEpoch: epoch, AttemptID: "attempt-1", CommandID: "req-1", CommandKind: runtimecommand.KindInput,
		LeaseEpoch: epoch, Result: runtimecommand.Applied, RuntimeID: id(50),
	}
}

// everyRecord has one record of each family, by its name.
func everyRecord() map[journal.Family]journal.JournalRecord {
	return map[journal.Family]journal.JournalRecord{
		journal.FamilyEvent:        journal.NewEventRecord(started(10)),
		journal.FamilyCommand:      journal.NewCommandRecord(session, loop, input(11, command.PhaseNone)),
		journal.FamilyFence:        journal.NewFenceRecord(session, journal.LeaseFence{Epoch: 7}),
		journal.FamilyGatePrepared: journal.NewGatePreparedRecord(prepared(12), permission),
		journal.FamilyApplication:  journal.NewCommandApplicationRecord(application(7)),
		journal.FamilyDisposition:  journal.NewCommandDispositionRecord(disposition(7)),
		journal.FamilyOpaque:       journal.OpaqueRecord{Kind: "acme.note", ID: "n1", Schema: 1, Body: []byte("private"), Public: []byte("public")},
	}
}

// stored makes a frame whole, as a writer would.
func stored(f *journal.Frame) *journal.Frame {
	g := *f
	g.Epoch, g.Token, g.Batch, g.Of = 7, journal.Token{1, 2, 3}, 1, 1
	return &g
}
