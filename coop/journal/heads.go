package journal

import (
	"encoding/hex"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

// A head is how far a stream is held, and where its events are.
type head struct {
	seq, lamport uint64
	hash         [32]byte
	whole        uint64 // every event up to it is held: seq, unless some are lost
	bytes        int    // of the events
	events       []kept // of seq 1 and on
}

// kept is where an event is held, and enough of its hash to tell it from
// another: zero for one that is lost.
type kept struct {
	index uint64
	sum   [16]byte
}

func (k kept) lost() bool { return k.index == 0 }

func (k kept) is(e *event.Event) bool { return k.sum == [16]byte(e.Hash[:16]) }

// indexes are where the events are, by seq.
func (h *head) indexes() []uint64 {
	all := make([]uint64, 0, len(h.events))
	for _, k := range h.events {
		if !k.lost() {
			all = append(all, k.index)
		}
	}
	return all
}

// heads are the ends of all streams held.
type heads map[ident.Stream]*head

// maxLost bounds the events that may be missing before one that is read from
// the log: more were never there.
const maxLost = 1 << 20

// A place is where an event stands to what is held of its stream.
type place struct {
	refused  Refusal // "" when it may be taken
	lostFrom uint64  // first of the numbers missing before it; 0 when none is
	fills    bool    // it is one of those that were lost
}

// of returns the end of a stream, a zero one when nothing of it is held.
func (hs heads) of(s ident.Stream) head {
	if h := hs[s]; h != nil {
		return *h
	}
	return head{}
}

// place judges e by number, chain and stamp alone.
func (hs heads) place(e *event.Event) place {
	h := hs.of(e.Stream)
	switch {
	case e.Seq <= h.seq && h.events[e.Seq-1].lost():
		return place{fills: true}
	case e.Seq <= h.seq && h.events[e.Seq-1].is(e):
		return place{refused: RefusedDuplicate}
	case e.Seq <= h.seq:
		return place{refused: RefusedForked}
	case e.Lamport <= h.lamport:
		return place{refused: RefusedClockBehind}
	case e.Seq > h.seq+1+maxLost:
		return place{refused: RefusedChain}
	case e.Seq > h.seq+1:
		return place{lostFrom: h.seq + 1}
	case h.seq > 0 && !plantSkipChain && !hashIs(e.Prev, h.hash):
		return place{refused: RefusedChain}
	}
	return place{}
}

// put takes in an event that place let through, held in the log at index.
func (hs heads) put(e *event.Event, index uint64) {
	h := hs[e.Stream]
	if h == nil {
		h = new(head)
		hs[e.Stream] = h
	}
	for uint64(len(h.events)) < e.Seq {
		h.events = append(h.events, kept{})
	}
	h.events[e.Seq-1] = kept{index, [16]byte(e.Hash[:16])}
	h.bytes += len(e.Raw)
	if e.Seq > h.seq {
		h.seq, h.lamport, h.hash = e.Seq, e.Lamport, e.Hash
	}
	for h.whole < h.seq && !h.events[h.whole].lost() {
		h.whole++
	}
}

// end is how far a stream reaches, own events included that are numbered and not
// yet synced.
func (j *Journal) end(s ident.Stream) end {
	h := j.heads.of(s)
	e := end{h.seq, h.lamport, h.hash}
	if s.Node() != j.runtime.Node {
		return e
	}
	for _, p := range j.pending {
		if p.Stream == s {
			e = endOf(p)
		}
	}
	return e
}

// An end is the last event of a stream.
type end struct {
	seq, lamport uint64
	hash         [32]byte
}

func endOf(e *event.Event) end { return end{e.Seq, e.Lamport, e.Hash} }

// numbering is where a stream goes on.
type numbering struct {
	stream ident.Stream
	seq    uint64 // the last one given out, 0 for none
	prev   string // the last one's hash
}

func (n *numbering) put(e *event.Event) {
	n.seq, n.prev = e.Seq, hex.EncodeToString(e.Hash[:])
}

// from sets n back to what is held of its stream.
func (n *numbering) from(hs heads) {
	n.seq, n.prev = 0, ""
	if h := hs.of(n.stream); h.seq > 0 {
		n.seq, n.prev = h.seq, hex.EncodeToString(h.hash[:])
	}
}
