package fold

import (
	"cmp"
	"slices"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

// head is what an event says beside its body.
type head struct {
	seq, lamport uint64
	at           int64
	hash         [32]byte
}

// A gap is a run of places that were skipped and not filled since.
type gap struct{ first, last uint64 }

// A stream is what is held of one stream, in sequence order. A stream that is
// only named by others has head 0.
type stream struct {
	id         ident.Stream
	rt         *runtime
	head       uint64
	lamport    uint64
	entries    entries
	removed    map[uint64]struct{} // the places whose effect a checkpoint took
	gaps       []gap
	waiting    map[uint64][]fact // facts about events of this stream that are not held
	run        *succession       // its first event, nil until held or when it is something else
	rec        *record           // the one it is a run of, else its own
	namedBy    []*stream         // the runs that name it, the last to arrive last
	carriers   int               // of them: later runs of its record
	ckpts      []*checkpoint     // those that name this stream, whoever wrote them
	masks      []*checkpoint     // those of ckpts in force here
	left       []event.Range     // the places that they leave, when there are any
	latest     *line             // the one that was last asked for: a session mostly says more at once
	rescan     bool              // it is being looked at again
	opaque     int
	unreadable int
}

// stream returns the stream of that id, made when it was unknown.
func (s *State) stream(id ident.Stream) *stream {
	st := s.streams[id]
	if st == nil {
		st = &stream{id: id, rt: s.runtime(id.Runtime())}
		st.rec = &record{runs: []*stream{st}}
		s.streams[id] = st
	}
	return st
}

// find is the place of seq in entries, and whether it is held there. A stream of
// which nothing was skipped is dense, so that no search is needed.
func (st *stream) find(seq uint64) (int, bool) {
	n := st.entries.len()
	if uint64(n) == st.head {
		return int(min(max(seq, 1)-1, st.head)), seq >= 1 && seq <= st.head
	}
	i := st.entries.search(seq)
	return i, i < n && st.entries.seq(i) == seq
}

func (st *stream) holds(seq uint64) bool {
	_, ok := st.find(seq)
	return ok
}

// put makes the entry of an event and tells whether it filled a gap.
func (st *stream) put(h head, f fact) (filled bool) {
	i, _ := st.find(h.seq)
	st.entries.insert(i, h.hash, f)
	st.lamport = max(st.lamport, h.lamport)
	if h.seq > st.head {
		st.head = h.seq
		return false
	}
	for i, g := range st.gaps {
		if g.first <= h.seq && h.seq <= g.last {
			st.gaps = slices.Replace(st.gaps, i, i+1, split(g, h.seq)...)
			break
		}
	}
	return true
}

// split is what is left of g without seq.
func split(g gap, seq uint64) []gap {
	var out []gap
	if g.first < seq {
		out = append(out, gap{g.first, seq - 1})
	}
	if seq < g.last {
		out = append(out, gap{seq + 1, g.last})
	}
	return out
}

func (st *stream) skip(first, last uint64) {
	if n := len(st.gaps); n > 0 && st.gaps[n-1].last+1 == first {
		st.gaps[n-1].last = last
	} else {
		st.gaps = append(st.gaps, gap{first, last})
	}
	st.head = last
}

// lostBetween tells whether an event between two places, both apart, is lost
// that no checkpoint removed.
func (st *stream) lostBetween(after, before uint64) bool {
	for _, g := range st.gaps {
		first, last := max(g.first, after+1), min(g.last, before-1)
		if first <= last && st.unmasked(first, last) {
			return true
		}
	}
	return false
}

// remove notes that a checkpoint took the effect of an event.
func (st *stream) remove(seq uint64) {
	if st.removed == nil {
		st.removed = map[uint64]struct{}{}
	}
	st.removed[seq] = struct{}{}
}

// damaged tells whether an event of the stream is lost that still matters.
func (st *stream) damaged() bool { return st.lostBetween(0, st.head+1) }

// target returns what refers to the event of seq: in its thing when that is
// held, among the waiting else.
func (st *stream) target(seq uint64) holder {
	if i, ok := st.find(seq); ok {
		h, _ := st.entries.fact(i).(holder)
		return h
	}
	return nil
}

// join adds f to what refers to r, part takes it out. Both return the thing
// referred to, nil while it is not held or is no such thing.
func (r ref) join(f fact) holder {
	if h := r.st.target(r.seq); h != nil {
		h.it().refs.add(f)
		return h
	}
	if r.st.waiting == nil {
		r.st.waiting = map[uint64][]fact{}
	}
	r.st.waiting[r.seq] = append(r.st.waiting[r.seq], f)
	return nil
}

func (r ref) part(f fact) holder {
	if h := r.st.target(r.seq); h != nil {
		h.it().refs.drop(f)
		return h
	}
	if left := without(r.st.waiting[r.seq], f); len(left) > 0 {
		r.st.waiting[r.seq] = left
	} else {
		delete(r.st.waiting, r.seq)
	}
	return nil
}

func without(facts []fact, f fact) []fact {
	if i := slices.Index(facts, f); i >= 0 {
		return slices.Delete(facts, i, i+1)
	}
	return facts
}

// adopt hands a thing the facts that waited for it.
func (st *stream) adopt(t *thing) {
	for _, f := range st.waiting[t.seq] {
		t.refs.add(f)
	}
	delete(st.waiting, t.seq)
}

func orderOf(la uint64, ka event.Key, lb uint64, kb event.Key) int {
	return cmp.Or(cmp.Compare(la, lb), ka.Compare(kb))
}
