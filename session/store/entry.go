package store

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/comity-dev/comity/session/event"
)

// A State is what a session is doing, as far as its events tell.
type State string

// The states.
const (
	Idle        State = "idle"    // no turn is open
	Running     State = "running" // a turn is open
	Waiting     State = "waiting" // a gate is open
	Failed      State = "failed"  // the last turn failed
	Interrupted State = "interrupted"
	Stopped     State = "stopped" // the session has ended
)

// An Entry is the row of the catalog for one session: for those who list
// sessions. It is made from the journal, may be behind it, and is never
// believed by anything that matters.
type Entry struct {
	Session event.ID `json:"session"`
	// Title is the first line of the input of the latest turn that no machine
	// caused, as a delegate's is, or the session's own title; at most 80 characters.
	Title string `json:"title,omitempty"`
	State State  `json:"state"`
	// LastSeq is the last record that the entry knows of. Seq is where the journal
	// ends; Catalog sets it, and where it cannot, leaves it 0.
	LastSeq uint64 `json:"last_seq"`
	Seq     uint64 `json:"-"`
	Epoch   uint64 `json:"epoch"`
	// Events, Turns and Steps count. Usage is that of all steps that are done, and
	// what turns that ended say to have used beyond their steps.
	Events uint64      `json:"events"`
	Turns  uint64      `json:"turns"`
	Steps  uint64      `json:"steps"`
	Usage  event.Usage `json:"usage"`
	// Updated is when the entry was written, by the clock of who wrote it, in
	// milliseconds since 1970 UTC.
	Updated int64 `json:"updated"`
	// Partial says that events before LastSeq are missing from it; RepairCatalog
	// makes it anew.
	Partial bool `json:"partial,omitempty"`

	OpenTurns []event.ID `json:"open_turns,omitempty"`
	OpenGates []event.ID `json:"open_gates,omitempty"`
	Last      State      `json:"last,omitempty"` // what the last turn came to
	// OpenUsage is what of Usage is that of steps of turns which are open.
	OpenUsage map[event.ID]event.Usage `json:"open_usage,omitempty"`
}

const (
	maxTitle = 80  // characters
	maxOpen  = 256 // turns and gates that an entry remembers
)

// fold adds an event to e.
func (e *Entry) fold(ev event.Event) {
	e.Events++
	switch b := ev.Body.(type) {
	case event.SessionStarted:
		if t := title(b.Title); t != "" {
			e.Title = t
		}
		e.Last = Idle
	case event.TurnStarted:
		e.Turns++
		e.open(&e.OpenTurns, ev.At.Turn)
		for _, block := range b.Input {
			if ev.Cause.Agency == event.Machine {
				break // what one agent tells another
			}
			if t := title(block.Text); t != "" && block.Type == event.BlockText {
				e.Title = t
				break
			}
		}
	case event.TurnEnded:
		e.OpenTurns = without(e.OpenTurns, ev.At.Turn)
		e.Usage = add(e.Usage, beyond(b.Usage, e.OpenUsage[ev.At.Turn]))
		e.stepped(ev.At.Turn, nil)
		switch b.Outcome {
		case event.Failed:
			e.Last = Failed
		case event.Interrupted:
			e.Last = Interrupted
		default:
			e.Last = Idle
		}
	case event.StepDone:
		e.Steps++
		if slices.Contains(e.OpenTurns, ev.At.Turn) { // else its turn tells
			e.Usage = add(e.Usage, b.Usage)
			e.stepped(ev.At.Turn, &b.Usage)
		}
	case event.GateOpened:
		e.open(&e.OpenGates, b.Gate)
	case event.GateResolved:
		e.OpenGates = without(e.OpenGates, b.Gate)
	case event.SessionStopped:
		e.OpenTurns, e.OpenGates, e.OpenUsage, e.Last = nil, nil, nil, Stopped
	case event.RestoreDone:
		e.OpenTurns, e.OpenGates, e.OpenUsage, e.Last = nil, nil, nil, Idle
	}
	switch {
	case e.Last == Stopped:
		e.State = Stopped
	case len(e.OpenGates) > 0:
		e.State = Waiting
	case len(e.OpenTurns) > 0:
		e.State = Running
	case e.Last == "":
		e.State = Idle
	default:
		e.State = e.Last
	}
}

func (e *Entry) open(list *[]event.ID, id event.ID) {
	if e.Last == Stopped {
		e.Last = Idle
	}
	if !slices.Contains(*list, id) && len(*list) < maxOpen {
		*list = append(slices.Clone(*list), id)
	}
}

// stepped adds to what the steps of a turn have used; nil ends the account. The
// map is replaced, for a row that is being stored has the old one.
func (e *Entry) stepped(turn event.ID, used *event.Usage) {
	m := maps.Clone(e.OpenUsage)
	switch {
	case used == nil:
		delete(m, turn)
	case *used == (event.Usage{}):
		return
	case m == nil:
		m = map[event.ID]event.Usage{turn: *used}
	default:
		m[turn] = add(m[turn], *used)
	}
	if len(m) == 0 {
		m = nil
	}
	e.OpenUsage = m
}

func without(list []event.ID, id event.ID) []event.ID {
	return slices.DeleteFunc(slices.Clone(list), func(other event.ID) bool { return other == id })
}

func add(a, b event.Usage) event.Usage {
	return event.Usage{
		CacheRead: a.CacheRead + b.CacheRead, CacheWrite: a.CacheWrite + b.CacheWrite,
		Input: a.Input + b.Input, Output: a.Output + b.Output,
	}
}

// beyond returns what all has more than part.
func beyond(all, part event.Usage) event.Usage {
	less := func(a, b uint64) uint64 { return a - min(a, b) }
	return event.Usage{
		CacheRead: less(all.CacheRead, part.CacheRead), CacheWrite: less(all.CacheWrite, part.CacheWrite),
		Input: less(all.Input, part.Input), Output: less(all.Output, part.Output),
	}
}

// title returns the first line of s that is not empty, shortened.
func title(s string) string {
	for line := range strings.Lines(s) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if utf8.RuneCountInString(line) > maxTitle {
			line = string([]rune(line)[:maxTitle])
		}
		return line
	}
	return ""
}
