package transcript

import (
	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/gate"
	"github.com/comity-dev/comity/session/journal"
)

type (
	// An openCall is a call that waits in the queue of its loop for its result.
	openCall struct {
		loop *loop
		item *item
		call *call
	}
	// An openGate waits for its decision: as an item of its own, or in a call.
	openGate struct {
		loop  *loop
		item  *item // of the gate, or of the call that it is in
		entry *gateEntry
		alone bool // item is the gate's own
	}
	lateCall struct{ name, use string }
	lateGate struct {
		asks    gate.Kind
		subject string
	}
	preparedGate struct{ payload *gate.Payload }
)

func (p preparedGate) size() int { return payloadSize(p.payload) }

// grow counts n more bytes of an item that waits.
func (l *loop) grow(it *item, n int) {
	it.bytes += n
	l.bytes += n
}

// wrote forgets what waited in an entry that was written, or remembers that it was
// written open.
func (b *builder) wrote(entry any) {
	switch e := entry.(type) {
	case *call:
		if e.outcome == open {
			delete(b.calls, e.id)
			b.lateCalls.put(e.id, lateCall{e.name, e.use})
		}
		for _, g := range e.gates {
			b.wrote(g)
		}
	case *gateEntry:
		if e.decision.Action == "" {
			delete(b.gates, e.id)
			b.lateGates.put(e.id, lateGate{e.asks, e.subject})
		}
	}
}

func (b *builder) toolCalled(l *loop, at mark, body event.ToolCalled) {
	b.sum.Calls++
	if _, twice := b.calls[body.Call]; twice {
		b.warn(at.seq, "a tool call has the id of one that is open")
	}
	c := &call{mark: at, id: body.Call, name: body.Name, use: body.Use, input: b.cut(body.Input), outcome: open}
	it := l.push(c, true, len(c.input.s)+entryBytes)
	b.calls[c.id] = &openCall{l, it, c}
}

func (b *builder) toolFinished(l *loop, at mark, body event.ToolFinished) {
	result, n := b.blocks(body.Result)
	if wait, ok := b.calls[body.Call]; ok {
		delete(b.calls, body.Call)
		wait.call.outcome, wait.call.millis, wait.call.result = string(body.Outcome), body.Millis, result
		wait.loop.grow(wait.item, n)
		wait.item.open = false
		return
	}
	c := &call{mark: at, id: body.Call, outcome: string(body.Outcome), millis: body.Millis, result: result, late: true}
	if before, ok := b.lateCalls.take(body.Call); ok {
		c.name, c.use = before.name, before.use
	} else {
		b.warn(at.seq, "a result is of a tool call that is not here: "+string(body.Call))
	}
	b.add(l, c, n)
}

func (b *builder) gatePrepared(r journal.GatePreparedRecord) {
	prepared, ok := r.Prepared().Body.(event.GatePrepared)
	if !ok || !b.opt.Private {
		return
	}
	payload := r.Payload()
	b.prepared.put(prepared.Gate, preparedGate{b.cutPayload(payload)})
}

func (b *builder) gateOpened(l *loop, at mark, body event.GateOpened) {
	g := &gateEntry{mark: at, id: body.Gate, asks: body.Asks, subject: body.Subject}
	if p, ok := b.prepared.take(body.Gate); ok {
		g.payload = p.payload
	}
	size := 2*entryBytes + len(g.subject) + payloadSize(g.payload)
	if wait, ok := b.calls[body.Call]; ok && body.Call != "" {
		wait.call.gates = append(wait.call.gates, g)
		wait.loop.grow(wait.item, size)
		b.gates[g.id] = &openGate{wait.loop, wait.item, g, false}
		return
	}
	if body.Call != "" {
		b.warn(at.seq, "a gate is of a tool call that is not open here: "+string(body.Call))
	}
	it := l.push(g, true, size)
	b.gates[g.id] = &openGate{l, it, g, true}
}

func (b *builder) gateResolved(l *loop, at mark, body event.GateResolved) {
	d := body.Decision
	if !b.opt.Private {
		d = d.Public()
	}
	size := len(d.Audit) + len(d.Reason)
	for _, a := range d.Answers {
		for _, v := range a.Values {
			size += len(v) + entryBytes
		}
	}
	if wait, ok := b.gates[body.Gate]; ok {
		delete(b.gates, body.Gate)
		d.Answers = openAnswers(wait.entry.payload, d.Answers)
		wait.entry.decision, wait.entry.decidedAt = d, at.at
		wait.loop.grow(wait.item, size)
		if wait.alone {
			wait.item.open = false
		}
		return
	}
	d.Answers = openAnswers(nil, d.Answers)
	g := &gateEntry{mark: at, id: body.Gate, decision: d, decidedAt: at.at, late: true}
	if before, ok := b.lateGates.take(body.Gate); ok {
		g.asks, g.subject = before.asks, before.subject
	} else {
		b.warn(at.seq, "a decision is of a gate that is not here: "+string(body.Gate))
	}
	b.add(l, g, size)
}

// openAnswers returns answers without the values of fields that are secret, or of which
// the form that would say so is not there.
func openAnswers(p *gate.Payload, answers []gate.Answer) []gate.Answer {
	secret := map[string]bool{}
	if p != nil && p.Form != nil {
		for _, f := range p.Form.Fields {
			secret[f.Name] = f.Secret
		}
	}
	var all []gate.Answer
	for _, a := range answers {
		if hide, known := secret[a.Field]; hide || !known {
			a.Values = []string{"(not shown)"}
		}
		all = append(all, a)
	}
	return all
}
