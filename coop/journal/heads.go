package journal

import (
	"encoding/hex"
	"slices"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

// A head is how far a stream is held, and where its events are.
type head struct {
	seq, lamport uint64
	hash         [32]byte
	whole        uint64  // every event up to it is held: seq, unless some are lost
	bytes        int     // of the events
	states       int     // of their wide patterns
	events       indexes // of seq 1 and on; 0 where one is lost
	tie          *tie
	node         ident.NodeID
	ours         bool // of this runtime
}

// index is where an event is that the stream reaches, 0 when it is lost.
func (h *head) index(seq uint64) uint64 { return h.events.at(int(seq - 1)) }

func (h *head) lost(seq uint64) bool { return h.index(seq) == 0 }

// indexes are where the events are, by seq.
func (h *head) indexes() []uint64 {
	return slices.DeleteFunc(h.events.slice(0, h.events.len()), func(index uint64) bool { return index == 0 })
}

// heads are the ends of all streams held.
type heads map[ident.Stream]*head

// maxLost bounds the events that may be missing before one that is read from
// the log: more were never there.
const maxLost = 1 << 20

// hashes knows the hash of each event that is held.
type hashes interface {
	Hash(event.Key) ([32]byte, bool)
}

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
func (h *head) place(e *event.Event, held hashes) place {
	switch {
	case e.Seq <= h.seq && h.lost(e.Seq):
		return place{fills: true}
	case e.Seq <= h.seq && is(e, held):
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

// is reports whether e is what is held in its place.
func is(e *event.Event, held hashes) bool {
	hash, ok := held.Hash(e.Key())
	return ok && hash == e.Hash
}

// put takes in an event that place let through, held in the log at index.
func (h *head) put(e *event.Event, index uint64) {
	for uint64(h.events.len()) < e.Seq-1 {
		h.events.append(0)
	}
	if uint64(h.events.len()) < e.Seq {
		h.events.append(index)
	} else {
		h.events.set(int(e.Seq-1), index)
	}
	h.bytes += len(e.Raw)
	if e.Seq > h.seq {
		h.seq, h.lamport, h.hash = e.Seq, e.Lamport, e.Hash
	}
	for h.whole < h.seq && !h.lost(h.whole+1) {
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
