package journal

import (
	"slices"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

// leave takes a stream out of all that is known of events, as if none of it had
// ever come, and returns where its events are and what is known of its life.
func (j *Journal) leave(s ident.Stream) (indexes []uint64, l *life) {
	changes := j.state.Undo(s, 1)
	if h := j.heads[s]; h != nil {
		indexes = h.indexes()
		j.count(h, share{-1, -len(indexes), -int64(h.bytes), -h.states})
	}
	delete(j.heads, s)
	delete(j.health.Damaged, s)
	delete(j.health.Suspects, s)
	for _, c := range j.waiting.streams[s] {
		j.waiting.remove(c)
	}
	j.lineages.drop(s)
	l = j.lives.remove(s)
	j.lives.changes.note(s)
	if j.cfg.Left != nil {
		j.cfg.Left(View{j}, changes)
	}
	return indexes, l
}

// unlist takes indexes out of the arrivals. Pages under way go on with the list
// that they have.
func (j *Journal) unlist(gone []uint64) {
	if len(gone) == 0 {
		return
	}
	slices.Sort(gone)
	var left indexes
	for i := range j.arrivals.len() {
		index := j.arrivals.at(i)
		if _, is := slices.BinarySearch(gone, index); !is {
			left.append(index)
		}
	}
	j.arrivals = left
}

// bury drops a stream: its events can go from the disk, and nothing of it is
// taken again that is no further than it was. It returns where they are.
func (j *Journal) bury(t *tomb) []uint64 {
	indexes, _ := j.leave(t.stream)
	delete(j.forks, t.stream)
	if over := j.tombs.put(t, j.cfg.Limits.Tombstones); over != nil && j.lives.byStream[over.stream] == nil {
		j.lives.changes.forget(over.stream)
	}
	j.dead = append(j.dead, indexes...)
	j.health.Compacted += uint64(len(indexes))
	return indexes
}

// lift lets a dropped stream come back: it is to be sent whole.
func (j *Journal) lift(s ident.Stream) {
	if t := j.tombs.of(s); t != nil {
		t.returned = true
		j.want(t)
	}
}

// want asks for a stream that is let back.
func (j *Journal) want(t *tomb) {
	l := j.lives.of(t.stream, j.clock.Boot())
	l.asked = true
	if t.measured && !l.measured {
		l.measured, l.difference, l.taken, l.latest = true, t.difference, t.taken, noBound
	}
	j.lives.touch(t.stream)
}

// shut closes a tomb again whose stream was let back and did not come, unless it was
// heard since that was decided.
func (j *Journal) shut(t *tomb) {
	open, l := j.tombs.byStream[t.stream], j.lives.byStream[t.stream]
	if open == nil || l != nil && l.beat != nil && l.beat.Uptime > t.uptime {
		return
	}
	*open = *t
	for _, c := range j.waiting.streams[t.stream] {
		j.waiting.remove(c)
	}
	j.lives.remove(t.stream)
	j.lives.changes.note(t.stream)
}

// named lifts the streams that the first event of a run names.
func (j *Journal) named(e *event.Event) {
	first, ok := e.Body.(event.StreamSucceeded)
	if !ok || e.Seq > 1 {
		return
	}
	for _, s := range first.Streams {
		if s.Runtime() == e.Stream.Runtime() {
			j.lift(s)
		}
	}
}

// relist brings the arrivals back into the order of the log, in a list of its own.
func (j *Journal) relist() {
	all := j.arrivals.slice(0, j.arrivals.len())
	if slices.IsSorted(all) {
		return
	}
	slices.Sort(all)
	j.arrivals = indexes{}
	for _, index := range all {
		j.arrivals.append(index)
	}
}
