package journal

import (
	"encoding/hex"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

// A head is how far a stream is held.
type head struct {
	seq, lamport uint64
	hash         [32]byte
}

// heads are the ends of all streams held.
type heads map[ident.Stream]head

// A place is where an event stands to what is held of its stream.
type place struct {
	refused  Refusal // "" when it may come next
	lostFrom uint64  // first of the numbers missing before it; 0 when none is
}

// place judges e by number, chain and stamp alone.
func (hs heads) place(e *event.Event) place {
	h := hs[e.Stream]
	switch {
	case e.Seq == h.seq && e.Hash == h.hash:
		return place{refused: RefusedDuplicate}
	case e.Seq <= h.seq:
		return place{refused: RefusedForked}
	case e.Lamport <= h.lamport:
		return place{refused: RefusedClockBehind}
	case e.Seq > h.seq+1:
		return place{lostFrom: h.seq + 1}
	case h.seq > 0 && e.Prev != hex.EncodeToString(h.hash[:]):
		return place{refused: RefusedChain}
	}
	return place{}
}

func (hs heads) put(e *event.Event) {
	hs[e.Stream] = head{e.Seq, e.Lamport, e.Hash}
}

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
	if h := hs[n.stream]; h.seq > 0 {
		n.seq, n.prev = h.seq, hex.EncodeToString(h.hash[:])
	}
}
