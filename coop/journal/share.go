package journal

import (
	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

// A share is what one node has of what is bounded.
type share struct {
	streams, events int
	bytes           int64 // of the events
	states          int   // of wide patterns
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
func (all shares) add(n ident.NodeID, more share) {
	one := all[n]
	if one == nil {
		one = new(share)
		all[n] = one
	}
	one.streams += more.streams
	one.events += more.events
	one.bytes += more.bytes
	one.states += more.states
	if *one == (share{}) {
		delete(all, n)
	}
}

// share is what a stream in which nothing is lost has of its node's.
func (h *head) share() share {
	return share{streams: 1, events: h.events.len(), bytes: int64(h.bytes), states: h.states}
}

// takes is what one more event of a stream that is held takes.
func takes(e *event.Event) share {
	return share{events: 1, bytes: int64(len(e.Raw)), states: wide(e)}
}

// narrow is how many states the patterns of a claim may have and cost no more than
// other claims do. What people write has fewer.
const narrow = 128

// wide is how many states more the patterns of a claim have. Whether two claims meet
// costs the product of their states, and each is held beside all others: short words
// can have many.
func wide(e *event.Event) int {
	c, ok := e.Body.(event.ClaimAcquired)
	if !ok {
		return 0
	}
	return max(0, c.Scope.States()-narrow)
}

// count notes what came to a head's node, or left it, and how many bytes of events
// others have here.
func (j *Journal) count(h *head, more share) {
	j.shares.add(h.node, more)
	if h.node != j.runtime.Node {
		j.theirs += more.bytes
	}
}
