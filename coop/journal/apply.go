package journal

import (
	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/fold"
)

// apply is the one way into the fold: for an authentic event of this repository
// that is durable at index, own or not, new or reloaded. It returns "" or why
// the event cannot stand where its stream is.
func (j *Journal) apply(e *event.Event, index uint64) (fold.Changes, Refusal) {
	h := j.heads[e.Stream]
	first := h == nil
	if first {
		h = &head{tie: newTie(), node: e.Stream.Node(), ours: e.Stream.Runtime() == j.runtime}
	}
	at := h.place(e, j.state)
	if at.refused != "" {
		return fold.Changes{}, at.refused
	}
	if at.lostFrom > 0 {
		j.lost(e.Stream, at.lostFrom, e.Seq-1)
	}
	if at.fills {
		j.regain(e.Stream, e.Seq)
	}
	more := takes(e)
	if first {
		j.heads[e.Stream], more.streams = h, 1
	}
	if first || e.Seq == 1 {
		j.lives.begin(e, j.clock.Boot())
	}
	j.lift(e.Stream)
	h.put(e, index)
	h.states += more.states
	h.tie.observe(e)
	j.count(h, more)
	delete(j.health.Suspects, e.Stream) // it goes on
	if h.ours {
		j.wrote = max(j.wrote, e.At)
	}
	j.stamp = max(j.stamp, e.Lamport)
	j.settled = j.settled || h.node != j.runtime.Node
	j.lives.touch(e.Stream)
	if h.ours && !j.lives.second(e.Stream) {
		j.lineages.observe(e, at.fills)
	}
	j.named(e)
	changes := j.state.Apply(e)
	j.arrivals.append(index)
	return changes, ""
}

// arrive applies an event and tells who observes.
func (j *Journal) arrive(a Arrival) Refusal {
	changes, refused := j.apply(a.Event, a.Index)
	if refused != "" {
		return refused
	}
	if j.cfg.Observe != nil {
		a.Again = j.tombs.again(a.Event.Key(), a.Index)
		if !a.Reloaded { // what a cursor means is known when the reload is over
			a.Cursor = j.cursor(a.Index)
		}
		j.cfg.Observe(View{j}, a, changes)
	}
	return ""
}

// wake tells followers that something arrived.
func (j *Journal) wake() {
	if j.grown != nil {
		close(j.grown)
		j.grown = make(chan struct{})
	}
}
