package store_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/comity-dev/comity/session/command"
	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/gate"
	"github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/session/runtimecommand"
	"github.com/comity-dev/comity/session/store"
	"github.com/comity-dev/comity/storage/memstore"
)

// What is open in a session, after each of its records: the journal is cut
// there, as a crash would leave it.
func TestRecoverTellsWhatIsOpen(t *testing.T) {
	s := newStore(t, closing(t, memstore.New()), nil)
	w := open(t, s)
	turn, call, delegate := id(3), id(4), id(5)
	at := event.Coordinates{Loop: loop, Turn: turn}
	do := func(n int, body event.Body) journal.JournalRecord { return journal.NewEventRecord(in(body, n, at)) }
	decision := gate.Decision{Action: gate.Approved, Scope: gate.ScopeOnce, By: gate.Decider{Kind: gate.Person}}
	app := runtimecommand.Application{CommandID: "req", CommandKind: runtimecommand.KindInput, LeaseEpoch: w.Epoch(), RuntimeID: id(50)}
	cmd := journal.NewCommandRecord(session, loop, command.Command{Header: command.Header{ID: id(50)}, Body: command.UserInput{Content: event.Text("hi")}})
	other := journal.NewCommandRecord(session, loop, command.Command{Header: command.Header{ID: id(51)}, Body: command.Interrupt{}})
	interrupted := in(event.TurnEnded{Outcome: event.Interrupted}, 28, at)
	interrupted.Cause.Command = id(51)
	for i, tt := range []struct {
		rec  journal.JournalRecord
		want string
	}{
		{ev(10), ""},
		{cmd, "command "},
		{journal.NewCommandApplicationRecord(app), "attempt "},
		{do(11, event.TurnStarted{Index: 1, Input: event.Text("hi")}), "turn attempt "},
		{caused(12, id(50)), "turn attempt(effect) "},
		{journal.NewCommandDispositionRecord(runtimecommand.Disposition{
			AttemptEpoch: w.Epoch(), AttemptID: "a", CommandID: "req", CommandKind: runtimecommand.KindInput, LeaseEpoch: w.Epoch(), Result: runtimecommand.Applied, RuntimeID: id(50),
		}), "turn "},
		{do(13, event.ToolCalled{Call: call, Name: "shell"}), "turn call "},
		{prepared(14, 900), "turn call gate(prepared) "},
		{do(15, event.GateOpened{Gate: id(900), Asks: gate.KindPermission}), "turn call gate(opened) "},
		{do(16, event.GateResolved{Gate: id(900), Decision: decision}), "turn call "},
		{do(17, event.ToolFinished{Call: call, Outcome: event.ToolDone}), "turn "},
		{do(18, event.DelegateStarted{Loop: delegate}), "turn delegate "},
		{phased(19, command.PhaseIntent), "turn delegate delivery(intent) "},
		{phased(19, command.PhaseFallbackQueued), "turn delegate delivery(fallback) "},
		{do(20, event.DelegateDelivery{Command: id(19), Loop: delegate, State: event.SteerReserved}), "turn delegate delivery(fallback) "},
		{do(21, event.DelegateDelivery{Command: id(19), Loop: delegate, State: event.ResolvedUnknown}), "turn delegate "},
		{phased(23, command.PhaseIntent), "turn delegate delivery(intent) "},
		{caused(24, id(23)), "turn delegate "},
		{do(22, event.DelegateEnded{Loop: delegate, Outcome: event.Done}), "turn "},
		{other, "turn command "},
		{journal.NewEventRecord(interrupted), ""},
		{journal.NewEventRecord(in(event.SessionStopped{}, 29, event.Coordinates{})), "stopped "},
		{journal.NewEventRecord(in(event.RestoreDone{}, 30, event.Coordinates{})), ""},
	} {
		seq := mustAppend(t, w, tt.rec)
		r, err := s.Recover(t.Context(), session)
		if err != nil {
			t.Fatal(err)
		}
		if got := openOf(r); got != tt.want || r.Tip != seq || r.Epoch != w.Epoch() || !r.Started {
			t.Errorf("step %d, behind %s: %q open (%+v), want %q", i, tt.rec.IdempotencyID(), got, r, tt.want)
		}
		for _, g := range r.Gates {
			if g.Payload.Permission == nil || g.Payload.Permission.Input != permission.Permission.Input || g.Prepared == 0 {
				t.Errorf("step %d: the gate is %+v, without what it asks", i, g)
			}
		}
	}
	if r, err := s.Recover(t.Context(), id(77)); err != nil || r.Tip != 0 || r.Started || openOf(r) != "" {
		t.Errorf("a session that is not there: %+v, %v", r, err)
	}
}

func openOf(r store.Recovery) (s string) {
	if r.Stopped {
		s += "stopped "
	}
	for range r.Turns {
		s += "turn "
	}
	for range r.Calls {
		s += "call "
	}
	for _, g := range r.Gates {
		s += map[bool]string{true: "gate(opened) ", false: "gate(prepared) "}[g.Opened != 0]
	}
	for _, a := range r.Attempts {
		s += map[bool]string{true: "attempt(effect) ", false: "attempt "}[a.Effect != 0]
	}
	for range r.Delegates {
		s += "delegate "
	}
	for _, d := range r.Deliveries {
		s += map[bool]string{true: "delivery(fallback) ", false: "delivery(intent) "}[d.Fallback != 0]
	}
	for range r.Commands {
		s += "command "
	}
	return s
}

// A journal that cannot be read is not recovered in part.
func TestRecoverOfADamagedJournal(t *testing.T) {
	b := closing(t, memstore.New())
	w := open(t, newStore(t, b, nil))
	mustAppend(t, w, ev(10), note("1", "x"))
	s := newStore(t, spoilt{Backend: b, change: damagedAt(2)}, nil)
	r, err := s.Recover(t.Context(), session)
	if e := want[*journal.ReplayReadError](t, "Recover", err); e.Seq != 2 || fmt.Sprint(r) != fmt.Sprint(store.Recovery{}) {
		t.Errorf("it says %+v, and returns %+v", e, r)
	}
}

// A session that was imported under another id can be carried on: what is open in it
// is ended in the session that it is now.
func TestCarryingOnUnderAnotherID(t *testing.T) {
	s := newStore(t, closing(t, memstore.New()), nil)
	w := open(t, s)
	at := event.Coordinates{Loop: loop, Turn: id(3)}
	do := func(n int, body event.Body) journal.JournalRecord { return journal.NewEventRecord(in(body, n, at)) }
	mustAppend(t, w, ev(10), do(11, event.TurnStarted{Index: 1}), do(12, event.ToolCalled{Call: id(4), Name: "shell"}),
		prepared(13, 900), prepared(14, 901), do(15, event.GateOpened{Gate: id(901), Asks: gate.KindPermission}), do(16, event.DelegateStarted{Loop: id(5)}))
	closed(t, w)
	other := id(77)
	there := newStore(t, closing(t, memstore.New()), nil)
	if _, err := there.Import(t.Context(), bytes.NewReader(exported(t, s)), other); err != nil {
		t.Fatal(err)
	}
	r, err := there.Recover(t.Context(), other)
	if err != nil || len(r.Turns) != 1 || len(r.Calls) != 1 || len(r.Gates) != 2 || len(r.Delegates) != 1 {
		t.Fatalf("Recover = %+v, %v", r, err)
	}
	w, err = there.Open(t.Context(), other, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	gone := gate.Decision{Action: gate.Unavailable, By: gate.Decider{Kind: gate.System}}
	for i, e := range []struct {
		at   event.Coordinates
		what event.Body
	}{
		{r.Delegates[0].At, event.DelegateEnded{Loop: id(5), Outcome: event.Interrupted}},
		{r.Gates[0].At, event.GateOpened{Gate: r.Gates[0].Gate, Asks: gate.KindPermission}},
		{r.Gates[0].At, event.GateResolved{Gate: r.Gates[0].Gate, Decision: gone}},
		{r.Gates[1].At, event.GateResolved{Gate: r.Gates[1].Gate, Decision: gone}},
		{r.Calls[0].At, event.ToolFinished{Call: id(4), Outcome: event.ToolCancelled}},
		{r.Turns[0].At, event.TurnEnded{Outcome: event.Interrupted}},
	} {
		mustAppend(t, w, journal.NewEventRecord(event.Event{Header: event.Header{ID: id(100 + i), At: e.at}, Body: e.what}))
	}
	if r, err := there.Recover(t.Context(), other); err != nil || len(r.Turns)+len(r.Calls)+len(r.Gates)+len(r.Delegates) > 0 {
		t.Errorf("behind it: %+v, %v", r, err)
	}
	if r, err := there.Verify(t.Context(), other); err != nil || !r.Good() {
		t.Errorf("Verify = %+v, %v", r, err)
	}
}
