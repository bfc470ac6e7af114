package journal

import "github.com/comity-dev/comity/coop/ident"

// A share is what one node has of what is bounded.
type share struct {
	streams, events int
	bytes           int64 // of the events
}

// shares are those of the nodes that have one.
type shares map[ident.NodeID]*share

// of is the share of a node now.
func (all shares) of(n ident.NodeID) share {
	if one := all[n]; one != nil {
		return *one
	}
	return share{}
}

// add counts for a node, or takes back, which makes the numbers fall.
func (all shares) add(n ident.NodeID, streams, events, bytes int) {
	one := all[n]
	if one == nil {
		one = new(share)
		all[n] = one
	}
	one.streams += streams
	one.events += events
	one.bytes += int64(bytes)
	if *one == (share{}) {
		delete(all, n)
	}
}

// count notes what came to a head's node, or left it, and how many bytes of events
// others have here.
func (j *Journal) count(h *head, streams, events, bytes int) {
	j.shares.add(h.node, streams, events, bytes)
	if h.node != j.runtime.Node {
		j.theirs += int64(bytes)
	}
}
