package store

import (
	"context"
	"io"
	"maps"
	"slices"

	"github.com/comity-dev/comity/session/command"
	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/gate"
	"github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/session/runtimecommand"
)

// A Recovery is what is open in a session, as its journal tells: what a new
// owner has to end, ask again, or take up. All lists are in the order of their
// sequences. Coordinates are those to end it at: of a session that was imported
// under another id than it had, they have the new one, which its events have not.
type Recovery struct {
	Session event.ID
	// Tip is the last record, Epoch that of the last owner.
	Tip, Epoch uint64
	// Started and Stopped say whether the session began, and whether it ended.
	Started, Stopped bool
	Turns            []OpenTurn
	Calls            []OpenCall
	Gates            []OpenGate
	Attempts         []OpenAttempt
	Delegates        []OpenDelegate
	Deliveries       []OpenDelivery
	// Commands are the intents that no event names as its cause, and that no
	// attempt, delivery or later command accounts for: nobody knows whether
	// they had an effect.
	Commands []OpenCommand
	// Checkpoint is the last checkpoint of the workspace.
	Checkpoint event.WorkspaceCheckpointed
}

// An OpenTurn was started and not ended.
type OpenTurn struct {
	Seq  uint64
	At   event.Coordinates
	Turn event.TurnStarted
}

// An OpenCall is a tool call that did not finish.
type OpenCall struct {
	Seq  uint64
	At   event.Coordinates
	Call event.ToolCalled
}

// An OpenGate was prepared and not resolved. One that was prepared alone never
// showed itself.
type OpenGate struct {
	Gate       event.ID
	At         event.Coordinates
	Prepared   uint64 // sequence, 0 if the record is missing
	Opened     uint64 // sequence, 0 if it was not opened
	Payload    gate.Payload
	Restorable bool
}

// An OpenAttempt is a command from outside that was about to be applied and has
// no disposition. Effect is the first event that names the command as its cause,
// 0 if there is none.
type OpenAttempt struct {
	Seq         uint64
	Application runtimecommand.Application
	Effect      uint64
}

// An OpenDelegate was set to work and has not ended.
type OpenDelegate struct {
	Seq      uint64
	At       event.Coordinates // of who started it
	Delegate event.DelegateStarted
}

// An OpenDelivery is an input to a delegate whose fate is open: its intent is
// there, or its fallback too, and neither an event that names it as its cause nor
// another end.
type OpenDelivery struct {
	Intent, Fallback uint64 // sequences, 0 if not there
	Loop             event.ID
	Command          command.Command // of the later one
	State            event.DeliveryState
}

// An OpenCommand is an intent of which nothing is known to have come.
type OpenCommand struct {
	Seq     uint64
	Loop    event.ID
	Command command.Command
}

// Recover reads a session to its end and tells what is open in it. It writes
// nothing and believes nothing but the journal. Memory grows with what is open,
// not with the session.
func (s *Store) Recover(ctx context.Context, id event.ID) (Recovery, error) {
	c, err := s.Records().Open(ctx, journal.ReplayRequest{SessionID: id})
	if err != nil {
		return Recovery{}, err
	}
	defer c.Close()
	f := newFold(id)
	for {
		rec, seq, err := c.Next(ctx)
		if err == io.EOF {
			return f.result(), nil
		}
		if err != nil {
			return Recovery{}, err
		}
		f.add(seq, rec)
	}
}

// A fold makes a Recovery of records.
type fold struct {
	r          Recovery
	turns      map[event.ID]OpenTurn
	calls      map[event.ID]OpenCall
	gates      map[event.ID]OpenGate
	attempts   map[string]OpenAttempt
	byRuntime  map[event.ID]string // id of a command from outside, by the one here
	delegates  map[event.ID]OpenDelegate
	deliveries map[event.ID]OpenDelivery
	commands   map[event.ID]OpenCommand
}

func newFold(id event.ID) *fold {
	return &fold{
		r: Recovery{Session: id}, turns: make(map[event.ID]OpenTurn), calls: make(map[event.ID]OpenCall),
		gates: make(map[event.ID]OpenGate), attempts: make(map[string]OpenAttempt), byRuntime: make(map[event.ID]string),
		delegates: make(map[event.ID]OpenDelegate), deliveries: make(map[event.ID]OpenDelivery), commands: make(map[event.ID]OpenCommand),
	}
}

func (f *fold) add(seq uint64, rec journal.JournalRecord) {
	f.r.Tip = seq
	switch r := rec.(type) {
	case journal.FenceRecord:
		f.r.Epoch = r.Fence().Epoch
	case journal.EventRecord:
		f.event(seq, r.Event())
	case journal.CommandRecord:
		f.command(seq, r)
	case journal.GatePreparedRecord:
		b := r.Prepared().Body.(event.GatePrepared)
		f.gates[b.Gate] = OpenGate{Gate: b.Gate, At: f.here(r.Prepared().At), Prepared: seq, Payload: r.Payload(), Restorable: b.Restorable}
	case journal.CommandApplicationRecord:
		app := r.Application()
		f.attempts[app.CommandID] = OpenAttempt{Seq: seq, Application: app}
		f.byRuntime[app.RuntimeID] = app.CommandID
		delete(f.commands, app.RuntimeID) // the attempt accounts for it
	case journal.CommandDispositionRecord:
		d := r.Disposition()
		delete(f.attempts, d.CommandID)
		delete(f.byRuntime, d.RuntimeID)
	}
}

// here returns coordinates of an event in the session that it is in now.
func (f *fold) here(at event.Coordinates) event.Coordinates {
	at.Session = f.r.Session
	return at
}

func (f *fold) event(seq uint64, ev event.Event) {
	if cause := ev.Cause.Command; cause != "" {
		delete(f.commands, cause)
		if _, ok := ev.Body.(event.DelegateDelivery); !ok { // it took effect, so it arrived
			delete(f.deliveries, cause)
		}
		if outside, ok := f.byRuntime[cause]; ok {
			if a := f.attempts[outside]; a.Effect == 0 {
				a.Effect = seq
				f.attempts[outside] = a
			}
		}
	}
	switch b := ev.Body.(type) {
	case event.SessionStarted:
		f.r.Started, f.r.Stopped = true, false
	case event.SessionStopped:
		f.r.Stopped = true
	case event.RestoreDone:
		f.r.Stopped = false
	case event.TurnStarted:
		f.turns[ev.At.Turn] = OpenTurn{seq, f.here(ev.At), b}
	case event.TurnEnded:
		delete(f.turns, ev.At.Turn)
	case event.ToolCalled:
		f.calls[b.Call] = OpenCall{seq, f.here(ev.At), b}
	case event.ToolFinished:
		delete(f.calls, b.Call)
	case event.GateOpened:
		g := f.gates[b.Gate]
		g.Gate, g.At, g.Opened = b.Gate, f.here(ev.At), seq
		f.gates[b.Gate] = g
	case event.GateResolved:
		delete(f.gates, b.Gate)
	case event.DelegateStarted:
		f.delegates[b.Loop] = OpenDelegate{seq, f.here(ev.At), b}
	case event.DelegateEnded:
		delete(f.delegates, b.Loop)
	case event.DelegateDelivery:
		f.delivery(b)
	case event.InputCancelled:
		delete(f.commands, b.Command)
		delete(f.deliveries, b.Command)
	case event.WorkspaceCheckpointed:
		f.r.Checkpoint = b
	}
}

// delivery notes what became of an input to a delegate. The two ends close it.
func (f *fold) delivery(b event.DelegateDelivery) {
	d, ok := f.deliveries[b.Command]
	if !ok {
		return
	}
	d.State = b.State
	f.deliveries[b.Command] = d
	if b.State == event.ResolvedUnknown || b.State == event.ResolvedUntrackable {
		delete(f.deliveries, b.Command)
	}
}

func (f *fold) command(seq uint64, r journal.CommandRecord) {
	id := r.LogicalCommandID()
	if r.DeliveryPhase() == command.PhaseNone {
		if _, ok := f.byRuntime[id]; !ok {
			f.commands[id] = OpenCommand{seq, r.LoopID(), r.Command()}
		}
		return
	}
	d := f.deliveries[id]
	d.Loop, d.Command = r.LoopID(), r.Command()
	if r.DeliveryPhase() == command.PhaseIntent {
		d.Intent = seq
	} else {
		d.Fallback = seq
	}
	f.deliveries[id] = d
}

func (f *fold) result() Recovery {
	r := f.r
	r.Turns = inOrder(f.turns, func(v OpenTurn) uint64 { return v.Seq })
	r.Calls = inOrder(f.calls, func(v OpenCall) uint64 { return v.Seq })
	r.Gates = inOrder(f.gates, func(v OpenGate) uint64 { return max(v.Prepared, v.Opened) })
	r.Attempts = inOrder(f.attempts, func(v OpenAttempt) uint64 { return v.Seq })
	r.Delegates = inOrder(f.delegates, func(v OpenDelegate) uint64 { return v.Seq })
	r.Deliveries = inOrder(f.deliveries, func(v OpenDelivery) uint64 { return max(v.Intent, v.Fallback) })
	r.Commands = inOrder(f.commands, func(v OpenCommand) uint64 { return v.Seq })
	return r
}

func inOrder[K comparable, V any](m map[K]V, seq func(V) uint64) []V {
	return slices.SortedFunc(maps.Values(m), func(a, b V) int {
		if seq(a) < seq(b) {
			return -1
		}
		return 1
	})
}
