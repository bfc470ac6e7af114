package transcript

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/comity-dev/comity/session/event"
)

// event takes one event.
func (b *builder) event(e event.Event, seq uint64) {
	if b.head.session == "" {
		b.head.session = e.At.Session
		if _, first := e.Body.(event.SessionStarted); !first {
			b.warn(seq, "the records do not begin with the start of the session")
		}
	}
	if e.Visibility == event.Internal && !b.opt.Private {
		return
	}
	var form []byte // that Project made
	if b.opt.Project != nil && !b.opt.Private {
		var err error
		if form, err = b.opt.Project(e); err != nil {
			b.warn(seq, "an event of kind "+e.Body.Kind()+" cannot be shown")
			return
		}
		if form == nil {
			return
		}
		if public, err := b.opt.Kinds.Decode(form); err == nil && public.Body.Kind() == e.Body.Kind() {
			e.Body, form = public.Body, nil
		}
	}
	b.inputs.take(e.Cause.Command)
	l := b.loopOf(e.At.Loop, seq)
	l.used = seq
	defer b.flush(l, false)
	at := mark{seq, e.CreatedAt}
	body := e.Body
	if form != nil {
		body = nil // none of those below
	}
	switch body := body.(type) {
	case event.TurnStarted:
		b.turnStarted(l, at, e, body)
		return
	case event.TurnEnded:
		b.turnEnded(l, at, e, body)
		return
	case event.ToolFinished: // stands where its call does
		b.toolFinished(l, at, body)
		return
	case event.GateResolved: // stands where its gate does
		b.gateResolved(l, at, body)
		return
	case event.DelegateEnded:
		b.delegateEnded(l, at, body)
		return
	}
	b.enter(l, e)
	if form != nil { // of a shape of its own
		b.add(l, note{mark: at, kind: e.Body.Kind(), line: "An event of kind " + e.Body.Kind() + ".", detail: plain(b.cut(readable(form)))}, len(form))
		return
	}
	switch body := e.Body.(type) {
	case event.StepDone:
		l.usage = sum(l.usage, body.Usage)
		l.leaveStep(stepEnd{body.Model, body.Stop, body.Usage})
	case event.MessageAdded:
		content, n := b.blocks(body.Content)
		b.add(l, message{at, body.Role, content}, n)
	case event.ToolCalled:
		b.toolCalled(l, at, body)
	case event.GateOpened:
		b.gateOpened(l, at, body)
	case event.DelegateStarted:
		b.delegateStarted(l, at, body)
	default:
		b.other(l, at, e)
	}
}

// enter makes the turn and the step of e the open ones. A turn that began before the
// first record is entered without an input.
func (b *builder) enter(l *loop, e event.Event) {
	if e.At.Turn != "" && e.At.Turn != l.turn {
		l.leaveTurn(turnEnd{outcome: open})
		b.flush(l, true)
		l.enterTurn(e.At.Turn)
		l.push(turnStart{mark: mark{l.used, 0}}, false, entryBytes)
		b.warn(l.used, "what follows is of a turn whose start is not here")
	}
	l.enterStep(e.At.Step)
}

func (b *builder) turnStarted(l *loop, at mark, e event.Event, body event.TurnStarted) {
	b.sum.Turns++
	input, n := b.blocks(body.Input)
	if l == b.root && b.head.title == "" && !b.headDone {
		b.head.title = titleOf(body.Input)
	}
	if l.turn != "" {
		b.warn(at.seq, "a turn starts before the one before it has ended")
		l.leaveTurn(turnEnd{outcome: open})
	}
	b.flush(l, true)
	l.enterTurn(e.At.Turn)
	b.add(l, turnStart{at, body.Index, input, e.Cause.Agency}, n)
}

func (b *builder) turnEnded(l *loop, at mark, e event.Event, body event.TurnEnded) {
	if body.Usage == (event.Usage{}) && l.turn == e.At.Turn {
		body.Usage = l.usage // nobody added up the steps
	}
	b.foot.usage = sum(b.foot.usage, body.Usage)
	if l.turn != e.At.Turn {
		b.warn(at.seq, "a turn ends that is not open")
		b.add(l, note{mark: at, kind: "turn", line: "A turn ended that is not open here: " + string(body.Outcome) + ".", detail: plain(b.cut(body.Error))}, len(body.Error))
		return
	}
	l.leaveTurn(turnEnd{string(body.Outcome), b.cut(body.Error), body.Usage})
	b.flush(l, true)
}

func sum(a, b event.Usage) event.Usage {
	return event.Usage{Input: a.Input + b.Input, Output: a.Output + b.Output, CacheRead: a.CacheRead + b.CacheRead, CacheWrite: a.CacheWrite + b.CacheWrite}
}

// other takes the events that are said in a line.
func (b *builder) other(l *loop, at mark, e event.Event) {
	n := note{mark: at}
	switch body := e.Body.(type) {
	case event.SessionStarted:
		b.started(l, at, body)
		return
	case event.SessionStopped:
		b.sum.Stopped = true
		b.foot.stopped = body
		n.kind, n.line = "session", "The session stopped"+because(body.Reason)
		n.detail = plain(b.cut(body.Error))
	case event.ConfigurationAdopted:
		n.kind, n.line = "configuration", fmt.Sprintf("Configuration %d was adopted%s%s", body.Epoch, by(body.By, body.Source), because(body.Note))
		n.detail = plain(b.cut(b.drift(body.Drift)))
	case event.ContextCompacted:
		n.kind, n.line = "compaction", "The model's view of what is above was replaced by a summary."
		n.detail, _ = b.blocks(body.Summary)
	case event.InputCancelled:
		b.inputs.take(body.Command)
		n.kind, n.line = "input", "An input that waited was cancelled"+because(body.Reason)
	case event.DelegateDelivery:
		n.kind, n.line = "delivery", "An input for a delegate: "+deliveries[body.State]
	case event.WorkspaceCheckpointed:
		n.kind, n.line = "workspace", "The workspace was saved as "+body.Ref+because(body.Note)
	case event.WorkspaceRestored:
		n.kind, n.line = "workspace", "The workspace was set back to checkpoint "+string(body.Checkpoint)+because(body.Note)
	case event.RestoreStarted:
		b.sum.Stopped = false
		n.kind, n.line = "restore", fmt.Sprintf("The session was taken up by owner %d, at record %d.", body.Epoch, body.Tip)
	case event.RestoreDone:
		n.kind, n.line = "restore", fmt.Sprintf("The session goes on. Ended by the restore: %d turns, %d gates, %d delegates.", body.Turns, body.Gates, body.Delegates)
	case event.RestoreFailed:
		n.kind, n.line = "restore", "The session could not be taken up."
		n.detail = plain(b.cut(body.Error))
	case event.AuditNoted:
		n.kind, n.line = "audit", body.Activity+": "+string(body.Phase)
		n.detail = append(plain(b.cut(body.Note)), plain(b.cut(body.Error))...)
	default:
		n.kind, n.line = e.Body.Kind(), "An event of kind "+e.Body.Kind()+"."
		raw, err := b.own(e)
		if err != nil {
			b.warn(at.seq, "an event of kind "+e.Body.Kind()+" cannot be shown")
		}
		n.detail = plain(b.cut(string(raw)))
	}
	b.add(l, n, len(n.line)+sizeOf(n.detail))
}

// own returns what may be shown of the body of a harness's own event, as JSON.
func (b *builder) own(e event.Event) ([]byte, error) {
	if !b.opt.Private && b.opt.Project == nil { // else e is what Project made
		public, err := b.opt.Kinds.Public(e)
		if err != nil {
			return nil, err
		}
		if e, err = b.opt.Kinds.Decode(public); err != nil {
			return nil, err
		}
	}
	return json.Marshal(e.Body, json.Deterministic(true))
}

func (b *builder) started(l *loop, at mark, body event.SessionStarted) {
	if !b.opt.Private {
		body.Workspace = ""
	}
	if b.headDone || b.head.at != 0 || b.head.start != (event.SessionStarted{}) {
		b.warn(at.seq, "the session starts again")
		b.add(l, note{mark: at, kind: "session", line: "The session started again."}, 0)
		return
	}
	b.head.start, b.head.at, b.head.title = body, at.at, firstLine(body.Title)
}

func (b *builder) drift(all []event.Drift) string {
	var s strings.Builder
	for _, d := range all {
		if d.Field == "workspace" && !b.opt.Private {
			d.Old, d.New = "", ""
		}
		fmt.Fprintf(&s, "%s: %s: %q -> %q\n", d.Level, d.Field, d.Old, d.New)
	}
	return s.String()
}

var deliveries = map[event.DeliveryState]string{
	event.SteerReserved:       "it is about to be handed over.",
	event.ResolvedUnknown:     "nobody can tell whether it arrived.",
	event.ResolvedUntrackable: "it was handed over where no trace is kept.",
}
