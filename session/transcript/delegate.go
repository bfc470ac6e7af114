package transcript

import "github.com/comity-dev/comity/session/event"

// A goneLoop is a loop whose work was shown; more of it may come.
type goneLoop struct {
	parent event.ID
	call   event.ID
	agent  string
	ended  bool
}

// loopOf returns the loop of that id. The first loop that nobody started is the root.
func (b *builder) loopOf(id event.ID, seq uint64) *loop {
	if id == "" || id == b.root.id {
		return b.root
	}
	if l, ok := b.loops[id]; ok {
		return l
	}
	if b.root.id == "" {
		b.root.id = id
		return b.root
	}
	parent, view, call := b.root, delegate{loop: id, outcome: open}, event.ID("")
	if before, ok := b.gone.take(id); ok {
		if before.ended {
			b.warn(seq, "a delegate goes on after its end: "+string(id))
		}
		if p, ok := b.loops[before.parent]; ok {
			parent = p
		}
		view.agent, call = before.agent, before.call
	} else {
		b.warn(seq, "a loop was not started here: "+string(id))
	}
	view.seq = seq
	return b.openLoop(id, parent, call, view)
}

func (b *builder) openLoop(id event.ID, parent *loop, call event.ID, view delegate) *loop {
	for parent.depth() >= maxDepth {
		parent = parent.parent
	}
	// There are more loops than are above one another, so another leaf than parent.
	for len(b.loops) >= maxLoops {
		b.closeLoop(b.leaf(b.root, parent), true)
	}
	l := &loop{id: id, parent: parent, call: call, view: view, work: &spool{dir: b.opt.TempDir}, used: view.seq}
	l.out.w = l.work
	b.loops[id] = l
	return l
}

// leaf returns, of the loops below top that have no loop below themselves, the one that was
// heard of longest ago; nil when there is none. The loop except is left out.
func (b *builder) leaf(top, except *loop) *loop {
	above := make(map[*loop]bool, len(b.loops))
	for _, l := range b.loops {
		above[l.parent] = true
	}
	var found *loop
	for _, l := range b.loops {
		if !above[l] && l != except && l.under(top) && (found == nil || l.used < found.used || l.used == found.used && l.id < found.id) {
			found = l
		}
	}
	return found
}

// depth returns how many loops l is below.
func (l *loop) depth() (n int) {
	for l = l.parent; l != nil; l = l.parent {
		n++
	}
	return n
}

// under reports whether l is below top.
func (l *loop) under(top *loop) bool {
	for l = l.parent; l != nil; l = l.parent {
		if l == top {
			return true
		}
	}
	return false
}

// closeBelow closes the loops below top, the deepest first.
func (b *builder) closeBelow(top *loop) {
	for l := b.leaf(top, nil); l != nil; l = b.leaf(top, nil) {
		b.closeLoop(l, false)
	}
}

// closeLoop puts the work of l in its place: in the call that started it while that
// waits, else behind what its parent did since.
func (b *builder) closeLoop(l *loop, part bool) {
	l.leaveTurn(turnEnd{outcome: open})
	b.flush(l, true)
	delete(b.loops, l.id)
	if l.out.err != nil && b.root.out.err == nil {
		b.root.out.err = l.out.err
	}
	parent := l.parent.id
	b.gone.put(l.id, goneLoop{parent, l.call, l.view.agent, !part && l.view.outcome != open})
	d := l.view
	d.work, d.part = l.work, part
	size := spoolMemory + entryBytes + sizeOf(d.task) + sizeOf(d.result)
	if wait, ok := b.calls[l.call]; ok && l.call != "" {
		wait.call.delegates = append(wait.call.delegates, &d)
		wait.loop.grow(wait.item, size)
		return
	}
	b.add(l.parent, &d, size)
}

func (b *builder) delegateStarted(l *loop, at mark, body event.DelegateStarted) {
	task, _ := b.blocks(body.Task)
	for up := l; up != nil; up = up.parent {
		if up.id == body.Loop {
			b.warn(at.seq, "a delegate is started that is the loop itself, or one above it: "+string(body.Loop))
			return
		}
	}
	view := delegate{mark: at, loop: body.Loop, agent: body.Agent, model: body.Model, task: task, outcome: open}
	if known, ok := b.loops[body.Loop]; ok {
		b.warn(at.seq, "a delegate is started that is at work: "+string(body.Loop))
		if known.call == "" && known.view.agent == "" { // now it is known whose it is
			known.parent, known.call, known.view = l, body.Call, view
		}
		return
	}
	if _, ok := b.calls[body.Call]; !ok && body.Call != "" {
		b.warn(at.seq, "a delegate is of a tool call that is not open here: "+string(body.Call))
	}
	b.gone.take(body.Loop)
	b.openLoop(body.Loop, l, body.Call, view)
}

func (b *builder) delegateEnded(l *loop, at mark, body event.DelegateEnded) {
	result, n := b.blocks(body.Result)
	child, ok := b.loops[body.Loop]
	if !ok {
		agent := ""
		if before, known := b.gone.take(body.Loop); known {
			agent = before.agent
			b.gone.put(body.Loop, goneLoop{before.parent, before.call, before.agent, true})
		} else {
			b.warn(at.seq, "a delegate ends that was not started here: "+string(body.Loop))
		}
		b.add(l, &delegate{mark: at, loop: body.Loop, agent: agent, outcome: string(body.Outcome), err: b.cut(body.Error), result: result}, n)
		return
	}
	b.closeBelow(child)
	child.view.outcome, child.view.err, child.view.result = string(body.Outcome), b.cut(body.Error), result
	b.closeLoop(child, false)
}
