package link

import (
	"maps"
	"slices"
	"time"

	"github.com/comity-dev/comity/coop/event"
)

// Stats is what can be told of a link. Counts are since it began.
type Stats struct {
	Up     bool
	Peer   Card // once up
	Proto  int
	Joined bool   // the first exchange is over, or was given up
	Round  uint64 // the highest round (see Core.Round) that has ended
	Err    error  // why it is over

	Heard time.Duration // when something last came, since boot
	RTT   time.Duration // of the last ping; 0 before

	In, Out Traffic
	Unknown uint64 // frames of types that this build does not know
	Ignored uint64 // marks beyond the bound
	Unheard uint64 // beats beyond what is looked at in a heartbeat

	EventsIn, EventsOut          uint64
	Accepted, Duplicate, Pending uint64 // of those sent, by the peer's reports
	NotStored, Rejected          uint64
	Refused                      []event.Blocked // what we refuse, by stream
	Blocked                      []event.Blocked // what the peer refuses, by stream
	Lagging                      int             // streams of which the peer is to be sent something
	Unreported                   int             // batches
}

// Traffic counts frames.
type Traffic struct{ Frames, Bytes uint64 }

func (t *Traffic) add(size int) {
	t.Frames++
	t.Bytes += uint64(size)
}

func (s *Stats) count(r Report) {
	s.Accepted += uint64(r.Accepted)
	s.Duplicate += uint64(r.Duplicate)
	s.Pending += uint64(r.Pending)
	s.NotStored += uint64(r.NotStored)
	for _, n := range r.Rejected {
		s.Rejected += uint64(n)
	}
}

// Stats returns what is known now.
func (c *Core) Stats() Stats {
	s := c.stats
	s.Up, s.Err, s.Heard, s.Round = c.stage == up, c.err, c.lastHeard, c.rounds
	s.Peer, s.Joined = c.peer, c.peer.PK != "" && c.done == nil
	s.Lagging, s.Unreported = len(c.lag)+len(c.later), len(c.flights)
	for _, stream := range slices.Sorted(maps.Keys(c.rows)) {
		r := c.rows[stream]
		if r.block.Why != "" {
			s.Blocked = append(s.Blocked, r.block)
		}
		if r.refused != nil {
			s.Refused = append(s.Refused, event.Blocked{Stream: stream, Seq: r.refused.seq, Why: r.refused.why})
		}
	}
	return s
}
