package journal

import (
	"iter"
	"slices"
	"time"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

// Marks tells how far each stream is held, without a gap, and the latest beat
// of each, with its age.
func (j *Journal) Marks() event.Marks {
	marks, _ := j.MarksSince(0)
	return marks
}

// MarksSince tells the marks that changed since version, and the version to ask
// with next time; 0 asks for all. Ages are those of now. It costs what changed.
//
// A stream that was dropped has a mark as if it were held, so that nobody sends
// it. One that is wanted again has a mark of 0.
func (j *Journal) MarksSince(version uint64) (event.Marks, uint64) {
	j.lock()
	defer j.unlock()
	now := j.clock.Boot()
	marks := event.Marks{}
	for s := range j.lives.changes.since(version) {
		if m, told := j.mark(s, now); told {
			marks[s] = m
		}
	}
	return marks, j.lives.changes.version
}

// mark is that of one stream; false when there is none to tell.
func (j *Journal) mark(s ident.Stream, now time.Duration) (event.Mark, bool) {
	if t := j.tombs.of(s); t != nil { // as if it were held: nobody need send it
		return event.Mark{Seq: t.head}, j.believed(s.Node())
	}
	l := j.lives.byStream[s]
	if l == nil {
		return event.Mark{}, false
	}
	m := event.Mark{Seq: j.heads.of(s).whole}
	if made, ok := l.made(); ok {
		m.Beat, m.Age = l.beat, max(0, now-made)
	}
	return m, m.Seq > 0 || m.Beat != nil || l.asked
}

// minEventBytes is less than any event has.
const minEventBytes = 256

// Missing returns events that a peer with these marks lacks and skip does not
// pass over: in the order of each stream, at most budget bytes in all, but always
// one when there is one. Only what is synced is sent. Each call begins with
// another stream, so that one which the peer refuses does not keep out the rest.
// Skip may be nil.
func (j *Journal) Missing(theirs event.Marks, budget int, skip func(ident.Stream) bool) ([]event.Stored, error) {
	if err := j.gate.enter(); err != nil {
		return nil, err
	}
	defer j.gate.leave()
	unread := map[ident.Stream]bool{}
	over := func(s ident.Stream) bool { return unread[s] || skip != nil && skip(s) }
	for {
		before := len(unread)
		out := j.load(j.lacking(theirs, budget/minEventBytes+1, over), budget, unread)
		if len(out) > 0 || len(unread) == before {
			return out, nil
		}
	}
}

// load reads events in their order, about budget bytes of them. A stream of which one
// cannot be read is unread from there on, damaged or compacted since: the peer would
// only wait for it, or gets the stream anew.
func (j *Journal) load(all iter.Seq2[event.Key, uint64], budget int, unread map[ident.Stream]bool) (out []event.Stored) {
	for k, index := range all {
		if unread[k.Stream] {
			continue
		}
		rec, err := j.log.Read(index)
		if err != nil || len(rec.Data) < recordHeader {
			unread[k.Stream] = true
			continue
		}
		raw := rec.Data[recordHeader:]
		if budget -= len(raw); budget < 0 && len(out) > 0 {
			break
		}
		out = append(out, event.Stored{Key: k, Raw: raw})
	}
	return out
}

// lacking names up to n events that a peer lacks, and where they are.
func (j *Journal) lacking(theirs event.Marks, n int, skip func(ident.Stream) bool) iter.Seq2[event.Key, uint64] {
	type place struct {
		key   event.Key
		index uint64
	}
	var all []place
	j.lock()
	for _, s := range j.rotated() {
		if len(all) >= n || skip(s) {
			continue
		}
		h := j.heads[s]
		for seq := theirs[s].Seq + 1; seq <= h.seq && len(all) < n; seq++ {
			index := h.index(seq)
			if index == 0 {
				break // what is behind it would only wait there
			}
			all = append(all, place{event.Key{Stream: s, Seq: seq}, index})
		}
	}
	j.unlock()
	return func(yield func(event.Key, uint64) bool) {
		for _, p := range all {
			if !yield(p.key, p.index) {
				return
			}
		}
	}
}

// rotated are the streams held, each call from another one on.
func (j *Journal) rotated() []ident.Stream {
	all := make([]ident.Stream, 0, len(j.heads))
	for s := range j.heads {
		all = append(all, s)
	}
	slices.Sort(all)
	if len(all) == 0 {
		return nil
	}
	j.turnOf++
	n := int(j.turnOf % uint64(len(all)))
	return append(slices.Clone(all[n:]), all[:n]...)
}
