package link

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

// inbox is what the peer sent and what we said of it.
type inbox struct {
	arrived   []EventsFrame // for the journal, at most Window
	ingesting bool          // the first of them is being taken
	reports   [][]byte      // to be sent, at most Window
	unsaid    int           // batches that came and whose report is not out yet
	reported  uint64        // batches
	refusing  map[ident.Stream]*row
	unstored  int                   // of those, what our disk did not take
	again     map[ident.Stream]bool // to be offered again
	againDue  bool
}

// refused is a stream that we take no further.
type refused struct {
	seq        uint64
	why        event.Reason
	wait, next time.Duration // before we ask for it again; 0 when that would be in vain
}

// takeEvents puts a batch before the journal. Within a link a stream only rises,
// so a replay ends it.
func (c *Core) takeEvents(raw []byte) error {
	f, err := parseEvents(raw)
	if err != nil {
		return err
	}
	if c.unsaid >= Window {
		return malformed("events", "more batches than the window allows")
	}
	for _, run := range f.Runs {
		r := c.guest(run.Stream)
		switch {
		case r == nil:
			return &ProtocolError{CodeCapacity, "events of too many streams"}
		case run.First <= r.got:
			return malformed("events", fmt.Sprintf("%s/%d came before on this link", run.Stream, run.First))
		}
		r.got = run.Last()
		if run.First <= r.theirs+1 && r.theirs < run.Last() { // who sends it holds it
			c.holds(run.Stream, r, run.Last())
		}
		c.settle(run.Stream, r)
		c.stats.EventsIn += uint64(len(run.Raw))
	}
	c.arrived = append(c.arrived, f)
	c.unsaid++
	if plantSendBeforeDurable {
		c.report(event.IngestReport{Outcomes: make([]event.Outcome, f.events())})
	}
	return nil
}

func (f EventsFrame) events() (n int) {
	for _, r := range f.Runs {
		n += len(r.Raw)
	}
	return n
}

// Batch returns the events that came and are not taken yet, for the journal's
// Ingest; false when there are none, or when the last batch still wants Ingested.
func (c *Core) Batch() (batch [][]byte, ok bool) {
	if c.ingesting || len(c.arrived) == 0 {
		return nil, false
	}
	c.ingesting = true
	for _, r := range c.arrived[0].Runs {
		batch = append(batch, r.Raw...)
	}
	return batch, true
}

// Ingested takes the report on the last batch: the peer is told.
func (c *Core) Ingested(now time.Duration, r event.IngestReport) {
	c.at(now)
	if c.stage != up || !c.ingesting {
		return
	}
	c.hear() // nothing was read meanwhile
	if !plantSendBeforeDurable {
		c.report(r)
	}
	c.arrived, c.ingesting = c.arrived[1:], false
	if r.Accepted+r.Released > 0 {
		c.news = true
	}
	c.levelled()
}

func (c *Core) report(r event.IngestReport) {
	c.reported++
	out := Report{Batch: c.reported, Accepted: r.Accepted, Duplicate: r.Duplicate, Pending: r.Pending, NotStored: r.NotStored, Rejected: r.Rejected}
	blocked := c.nameless(r)
	for _, b := range r.Blocked {
		if n, known := blocked[b.Stream]; !known || b.Seq < n.Seq {
			blocked[b.Stream] = b
		}
	}
	seen := map[ident.Stream]bool{}
	for _, run := range c.arrived[0].Runs {
		if !seen[run.Stream] {
			c.refuse(run.Stream, blocked[run.Stream])
		}
		seen[run.Stream] = true
	}
	for _, s := range slices.Sorted(maps.Keys(blocked)) {
		out.Blocked = append(out.Blocked, blocked[s])
	}
	out.Blocked = out.Blocked[:min(len(out.Blocked), MaxStreams)]
	c.reports = append(c.reports, out.Append(nil))
}

// nameless are the streams of what the journal's report gives no stream for, from where
// on: what the disk did not take, and what is no event that this build can read. The
// peer has said of which streams they are.
func (c *Core) nameless(r event.IngestReport) map[ident.Stream]event.Blocked {
	blocked := map[ident.Stream]event.Blocked{}
	n := 0
	for _, run := range c.arrived[0].Runs {
		for i := range run.Raw {
			if n == len(r.Outcomes) {
				return blocked
			}
			if _, known := blocked[run.Stream]; !known {
				if why := reasonOf(r.Outcomes[n]); why != "" {
					blocked[run.Stream] = event.Blocked{Stream: run.Stream, Seq: run.First + uint64(i), Why: why}
				}
			}
			n++
		}
	}
	return blocked
}

// reasonOf is why a stream gets no further by an outcome that names none; "" for any
// other outcome.
func reasonOf(o event.Outcome) event.Reason {
	switch {
	case o.Status == event.NotStored:
		return NotStored
	case o.Status != event.Rejected:
		return ""
	}
	switch o.Reason {
	case event.Oversized, event.Malformed, event.Versioned, event.Identity, event.OtherRepository:
		return o.Reason
	}
	return ""
}

// forgive notes that nothing of a stream is refused any more.
func (c *Core) forgive(s ident.Stream, r *row) {
	if r.refused != nil && r.refused.why == NotStored {
		c.unstored--
	}
	r.refused = nil
	delete(c.refusing, s)
}

// refuse notes what of a stream is refused; Why is "" for nothing. What may come
// right by itself is asked for again after an expiry, and later after twice the
// time each; what came behind it and waits for it changes nothing.
func (c *Core) refuse(s ident.Stream, b event.Blocked) {
	r := c.rows[s]
	if b.Why == event.Waiting && r.refused != nil && r.refused.wait > 0 && b.Seq == r.refused.seq {
		return
	}
	if b.Why == event.Waiting && r.fell { // it was on its way when we asked for all of it
		c.again[s] = true
	}
	if b.Why == "" {
		c.forgive(s, r)
		return
	}
	if r.refused == nil {
		r.refused = new(refused)
	}
	if r.refused.why == NotStored {
		c.unstored--
	}
	if b.Why == NotStored {
		c.unstored++
	}
	r.refused.seq, r.refused.why = b.Seq, b.Why
	switch b.Why {
	case event.Capacity, event.ClockAhead, NotStored:
		wait := c.cfg.Limits.Expiry
		if r.refused.wait > 0 {
			wait = min(2*r.refused.wait, longestRetry)
		}
		r.refused.wait, r.refused.next = wait, c.now+wait
	default:
		r.refused.wait = 0
	}
	c.refusing[s] = r
}

// retry looks, each heartbeat, for refusals of ours that are over: what we waited
// for has come from elsewhere, or it is time to try.
func (c *Core) retry() {
	for s, r := range c.refusing {
		over := !sticky(r.refused.why) && r.ours >= r.refused.seq
		switch {
		case over && r.got > r.ours:
			c.again[s] = true
		case !over && r.refused.wait > 0 && c.now >= r.refused.next:
			c.again[s] = true
			r.refused.next = c.now + longestRetry // until its report
		}
		if over {
			c.forgive(s, r)
		}
	}
	c.againDue = len(c.again) > 0
}

// againOut asks for what was refused. Our marks were told just before, so the
// peer knows from where on.
func (c *Core) againOut() []byte {
	if !c.againDue || c.ingesting {
		return nil
	}
	c.againDue = false
	a := Again{slices.Sorted(maps.Keys(c.again))}
	for _, s := range a.Streams {
		c.rows[s].got = 0
	}
	clear(c.again)
	return a.Append(nil)
}

// reportOut is the report on a batch that the journal has taken.
func (c *Core) reportOut() []byte {
	if len(c.reports) == 0 {
		return nil
	}
	frame := c.reports[0]
	c.reports, c.unsaid = c.reports[1:], c.unsaid-1
	return frame
}
