package transcript

import "github.com/comity-dev/comity/session/event"

// A loop is one loop of the session: where its entries go, and those that wait. An
// entry waits while it, or one before it, is open: a call without its result, a gate
// without its decision.
type loop struct {
	id     event.ID
	parent *loop // nil of the root
	call   event.ID
	view   delegate // what is known of it; not of the root
	work   *spool   // where out writes; nil of the root
	out    out
	queue  []*item
	bytes  int // of the texts in queue
	used   uint64

	turn  event.ID    // "" between turns
	step  event.ID    // "" between steps
	steps int         // of the turn
	usage event.Usage // of the steps of the turn
}

type item struct {
	entry any
	open  bool
	bytes int
}

func (l *loop) push(entry any, open bool, bytes int) *item {
	it := &item{entry, open, bytes}
	l.queue = append(l.queue, it)
	l.bytes += bytes
	return it
}

// flush writes what waits for nothing, and tells wrote of each entry. With force it
// writes all, open or not.
func (l *loop) flush(r renderer, force bool, wrote func(entry any)) {
	n := 0
	for _, it := range l.queue {
		if it.open && !force {
			break
		}
		r.write(&l.out, it.entry)
		wrote(it.entry)
		l.bytes -= it.bytes
		n++
	}
	clear(l.queue[:n])
	l.queue = l.queue[n:]
	if len(l.queue) == 0 {
		l.queue = nil
	}
}

// enterTurn makes turn the open one.
func (l *loop) enterTurn(turn event.ID) {
	l.turn, l.step, l.steps, l.usage = turn, "", 0, event.Usage{}
}

// enterStep opens a step, unless it is the open one.
func (l *loop) enterStep(step event.ID) {
	if step == "" || step == l.step || l.turn == "" {
		return
	}
	l.leaveStep(stepEnd{})
	l.steps++
	l.step = step
	l.push(stepStart{l.steps}, false, entryBytes)
}

func (l *loop) leaveStep(end stepEnd) {
	if l.step != "" {
		l.push(end, false, entryBytes)
		l.step = ""
	}
}

// leaveTurn closes the open turn, with its step.
func (l *loop) leaveTurn(end turnEnd) {
	if l.turn == "" {
		return
	}
	l.leaveStep(stepEnd{})
	l.push(end, false, entryBytes+len(end.err.s))
	l.turn = ""
}

// discard removes what was spooled and not written.
func (l *loop) discard() {
	if l.work != nil {
		l.work.discard()
	}
	for _, it := range l.queue {
		switch e := it.entry.(type) {
		case *delegate:
			e.discard()
		case *call:
			for _, d := range e.delegates {
				d.discard()
			}
		}
	}
}

func (d *delegate) discard() {
	if d.work != nil {
		d.work.discard()
	}
}
