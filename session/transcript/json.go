package transcript

import (
	"bytes"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/gate"
)

// jsonForm writes one object: "format", "v", "session", "items" and "end". Items have a
// "type": turn and step have items of their own, a tool call has gates and delegates, a
// delegate has items. Members that have nothing to say are left out. Each item begins a
// line.
type jsonForm struct{}

type (
	jsonSession struct {
		ID        event.ID `json:"id,omitzero"`
		Title     string   `json:"title,omitzero"`
		Program   string   `json:"program,omitzero"`
		Version   string   `json:"version,omitzero"`
		Model     string   `json:"model,omitzero"`
		Config    string   `json:"config,omitzero"`
		Workspace string   `json:"workspace,omitzero"`
		Started   string   `json:"started,omitzero"` // RFC 3339, as all times
		Exported  string   `json:"exported,omitzero"`
	}
	jsonHead struct {
		Format  string      `json:"format"`
		V       int         `json:"v"`
		Session jsonSession `json:"session"`
	}
	jsonBlock struct {
		Type    event.BlockType `json:"type"`
		Text    string          `json:"text,omitzero"`
		LeftOut int             `json:"left_out,omitzero"` // bytes
		Name    string          `json:"name,omitzero"`
		Media   string          `json:"media,omitzero"`
		Size    uint64          `json:"size,omitzero"`
		Digest  string          `json:"digest,omitzero"`
	}
	// jsonItem is an item of any type, without its own items.
	jsonItem struct {
		Type     string        `json:"type"`
		Record   uint64        `json:"record,omitzero"`
		Time     string        `json:"time,omitzero"`
		ID       event.ID      `json:"id,omitzero"`
		Index    uint64        `json:"index,omitzero"`
		Agency   event.Agency  `json:"agency,omitzero"`
		Role     event.Role    `json:"role,omitzero"`
		Kind     string        `json:"kind,omitzero"`
		Line     string        `json:"line,omitzero"`
		Name     string        `json:"name,omitzero"`
		Use      string        `json:"use,omitzero"`
		Agent    string        `json:"agent,omitzero"`
		Model    string        `json:"model,omitzero"`
		Late     bool          `json:"late,omitzero"`
		Part     bool          `json:"part,omitzero"`
		Outcome  string        `json:"outcome,omitzero"`
		Error    string        `json:"error,omitzero"`
		Millis   uint64        `json:"millis,omitzero"`
		Asks     gate.Kind     `json:"asks,omitzero"`
		Subject  string        `json:"subject,omitzero"`
		Input    []jsonBlock   `json:"input,omitempty"`
		Task     []jsonBlock   `json:"task,omitempty"`
		Content  []jsonBlock   `json:"content,omitempty"`
		Payload  *gate.Payload `json:"payload,omitzero"`
		Result   []jsonBlock   `json:"result,omitempty"`
		Decision *jsonDecision `json:"decision,omitzero"`
	}
	jsonDecision struct {
		gate.Decision
		Time string `json:"time,omitzero"`
	}
	// jsonEnd is what is known of a turn or a step at its end.
	jsonEnd struct {
		Outcome string      `json:"outcome,omitzero"`
		Error   string      `json:"error,omitzero"`
		Model   string      `json:"model,omitzero"`
		Stop    string      `json:"stop,omitzero"`
		Usage   event.Usage `json:"usage,omitzero"`
	}
	jsonFoot struct {
		State        string        `json:"state"` // "stopped" or "running"
		Reason       string        `json:"reason,omitzero"`
		Error        string        `json:"error,omitzero"`
		LastRecord   uint64        `json:"last_record"`
		Turns        uint64        `json:"turns"`
		ToolCalls    uint64        `json:"tool_calls"`
		Usage        event.Usage   `json:"usage,omitzero"`
		Waiting      []jsonItem    `json:"waiting,omitempty"` // inputs that nothing came of
		MoreWaiting  uint64        `json:"more_waiting,omitzero"`
		Warnings     []jsonWarning `json:"warnings,omitempty"`
		MoreWarnings uint64        `json:"more_warnings,omitzero"`
	}
	jsonWarning struct {
		Record uint64 `json:"record,omitzero"`
		Text   string `json:"text"`
	}
)

func (f jsonForm) write(o *out, entry any) {
	switch e := entry.(type) {
	case head:
		o.open(jsonHead{"comity-transcript", 1, jsonSession{
			e.session, e.title, e.start.Program, e.start.Version, e.start.Model, e.start.Config, e.start.Workspace, stamp(e.at), stamp(e.exported),
		}}, "items")
	case turnStart:
		o.element()
		o.open(jsonItem{Type: "turn", Record: e.seq, Time: stamp(e.at), Index: e.index, Agency: e.agency, Input: jsonBlocks(e.input)}, "items")
	case turnEnd:
		o.close(jsonEnd{Outcome: e.outcome, Error: e.err.s, Usage: e.usage})
	case stepStart:
		o.element()
		o.open(jsonItem{Type: "step", Index: uint64(e.n)}, "items")
	case stepEnd:
		o.close(jsonEnd{Model: e.model, Stop: e.stop, Usage: e.usage})
	case message:
		o.element()
		o.json(jsonItem{Type: "message", Record: e.seq, Time: stamp(e.at), Role: e.role, Content: jsonBlocks(e.content)})
	case note:
		o.element()
		o.json(jsonItem{Type: "note", Record: e.seq, Time: stamp(e.at), Kind: e.kind, Line: e.line, Content: jsonBlocks(e.detail)})
	case *call:
		o.element()
		f.call(o, e)
	case *gateEntry:
		o.element()
		o.json(jsonGate(e))
	case *delegate:
		o.element()
		f.delegate(o, e)
	case foot:
		f.foot(o, e)
	default:
		panic(fmt.Sprintf("no form of a %T", e)) // unreachable unless an entry is new
	}
}

func (f jsonForm) call(o *out, c *call) {
	item := jsonItem{
		Type: "tool_call", Record: c.seq, Time: stamp(c.at), ID: c.id, Name: c.name, Use: c.use, Late: c.late, Outcome: c.outcome, Millis: c.millis,
		Input: jsonBlocks(plain(c.input)), Result: jsonBlocks(c.result),
	}
	if len(c.gates) == 0 && len(c.delegates) == 0 {
		o.json(item)
		return
	}
	o.open(item, "gates")
	for _, g := range c.gates {
		o.element()
		o.json(jsonGate(g))
	}
	o.lists = o.lists[:len(o.lists)-1]
	o.str(`],"delegates":[`)
	o.lists = append(o.lists, false)
	for _, d := range c.delegates {
		o.element()
		f.delegate(o, d)
	}
	o.close(jsonEnd{})
}

func (jsonForm) delegate(o *out, d *delegate) {
	o.open(jsonItem{
		Type: "delegate", Record: d.seq, Time: stamp(d.at), ID: d.loop, Agent: d.agent, Model: d.model, Part: d.part, Outcome: d.outcome, Error: d.err.s,
		Task: jsonBlocks(d.task), Result: jsonBlocks(d.result),
	}, "items")
	if d.work != nil && o.err == nil {
		o.err = d.work.copyTo(o.w)
	}
	o.close(jsonEnd{})
}

func (jsonForm) foot(o *out, e foot) {
	state := "running"
	if e.sum.Stopped {
		state = "stopped"
	}
	end := jsonFoot{
		State: state, Reason: e.stopped.Reason, Error: e.stopped.Error, LastRecord: e.sum.Last, Turns: e.sum.Turns, ToolCalls: e.sum.Calls, Usage: e.usage,
		MoreWaiting: e.moreWait, MoreWarnings: e.moreWarns,
	}
	for _, w := range e.waiting {
		end.Waiting = append(end.Waiting, jsonItem{Type: "input", Record: w.seq, Time: stamp(w.at), ID: w.id, Line: w.text})
	}
	for _, w := range e.warnings {
		end.Warnings = append(end.Warnings, jsonWarning{w.seq, w.text})
	}
	o.lists = o.lists[:len(o.lists)-1]
	o.str("\n],\n\"end\":")
	o.json(end)
	o.str("}\n")
}

func jsonGate(g *gateEntry) jsonItem {
	item := jsonItem{Type: "gate", Record: g.seq, Time: stamp(g.at), ID: g.id, Asks: g.asks, Subject: g.subject, Late: g.late, Payload: g.payload}
	if g.decision.Action == "" {
		item.Outcome = open
	} else {
		item.Outcome, item.Decision = string(g.decision.Action), &jsonDecision{g.decision, stamp(g.decidedAt)}
	}
	return item
}

func jsonBlocks(blocks []block) []jsonBlock {
	var all []jsonBlock
	for _, b := range blocks {
		all = append(all, jsonBlock{b.Type, b.text.s, b.text.more, b.Name, b.Media, b.Size, b.Digest})
	}
	return all
}

func stamp(millis uint64) string {
	if timeOf(millis) == "" {
		return ""
	}
	return time.UnixMilli(int64(millis)).UTC().Format("2006-01-02T15:04:05.000Z07:00")
}

// element begins an element of the innermost list.
func (o *out) element() {
	if n := len(o.lists); n > 0 {
		if o.lists[n-1] {
			o.str(",")
		}
		o.lists[n-1] = true
	} else { // the list of a spool begins with it
		o.lists = append(o.lists, true)
	}
	o.str("\n")
}

// open writes the members of v and begins a list that is the last member.
func (o *out) open(v any, list string) {
	b := o.marshal(v)
	o.str(string(bytes.TrimSuffix(b, []byte("}"))), `,"`, list, `":[`)
	o.lists = append(o.lists, false)
}

// close ends the innermost list and writes the members of v behind it.
func (o *out) close(v any) {
	o.lists = o.lists[:len(o.lists)-1]
	b := o.marshal(v)
	o.str("]")
	if len(b) > 2 {
		o.str(",", string(b[1:]))
	} else {
		o.str("}")
	}
}

func (o *out) json(v any) { o.str(string(o.marshal(v))) }

// marshal returns v with each hidden character as an escape. They are nowhere but in
// strings.
func (o *out) marshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		o.err = fmt.Errorf("write JSON: %w", err) // unreachable unless a text is not UTF-8
		return []byte("{}")
	}
	if !strings.ContainsFunc(string(b), hidden) {
		return b
	}
	var escaped []byte
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		switch {
		case !hidden(r):
			escaped = append(escaped, b[:n]...)
		case r > 0xffff:
			r -= 0x10000
			escaped = fmt.Appendf(escaped, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			escaped = fmt.Appendf(escaped, `\u%04x`, r)
		}
		b = b[n:]
	}
	return escaped
}
