package link

import (
	"time"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

// A row is what a link knows of one stream.
type row struct {
	ours   uint64        // how far we hold it
	told   uint64        // what the peer was told of that
	theirs uint64        // how far the peer holds it, by its word or because it sent it
	sent   uint64        // the last event that we sent on this link
	got    uint64        // the last one that the peer sent
	beat   time.Duration // uptime in the latest beat that the peer told, -1 for none

	fell bool // it is asked for anew from where we are, which is less than the peer

	late   bool   // what we last sent of it the peer had from elsewhere
	waited uint64 // how far we held it a heartbeat ago, 0 when the peer lacked nothing since
	due    bool   // the peer lacks some of that still: it is sent

	block   event.Blocked // what the peer refuses; Why is "" for nothing
	refused *refused      // what we refuse
}

// known is the last event that need not be sent.
func (r *row) known() uint64 { return max(r.theirs, r.sent) }

// parked reports whether the peer refuses what would be sent next. Of a signature
// that is not good the next events may be the cure.
func (r *row) parked() bool {
	switch r.block.Why {
	case "":
		return false
	case event.BadSignature:
		return r.known() >= r.block.Seq+vouch
	}
	return true
}

// sticky refusals hold until the peer takes them back, wherever its marks are.
func sticky(why event.Reason) bool { return why == event.Untrusted || why == event.Forked }

// holds notes how far the peer is.
func (c *Core) holds(s ident.Stream, r *row, seq uint64) {
	r.theirs = seq
	c.holder[s] = r
	if r.block.Why != "" && !sticky(r.block.Why) && seq >= r.block.Seq {
		r.block = event.Blocked{}
	}
}

// row returns that of a stream, a new one when it has none.
func (c *Core) row(s ident.Stream) *row {
	r := c.rows[s]
	if r == nil {
		r = &row{beat: -1}
		c.rows[s] = r
	}
	return r
}

// guest is row for what the peer tells: nil when the link has too many already.
func (c *Core) guest(s ident.Stream) *row {
	if c.rows[s] == nil && len(c.rows) >= MaxStreams {
		return nil
	}
	return c.row(s)
}

// settle notes whether something of the stream is to be sent.
func (c *Core) settle(s ident.Stream, r *row) {
	delete(c.unread, s)
	delete(c.lag, s)
	switch {
	case r.ours <= r.known() || r.parked():
		r.waited, r.due = 0, false
		delete(c.later, s)
	case r.late && !r.due && c.asked == 0:
		c.later[s] = r
	default:
		delete(c.later, s)
		c.lag[s] = r
	}
}

// relay sends, each heartbeat, what the peer does not have from elsewhere: it told its
// marks meanwhile. Of a stream that grows all the time it lacks something at any moment,
// so what counts is what was there a heartbeat ago.
func (c *Core) relay() {
	for s, r := range c.later {
		r.waited, r.due = r.ours, r.waited > r.known()
		c.settle(s, r)
	}
}

// learn takes from a report on a batch who is sooner with its streams. In a mesh each
// event would cross each link, when every one passes on at once what the others have
// from its author already. Our own events wait for nobody. A report counts a batch, not a
// stream: when the peer lacked any of it, no stream in it is left to others.
func (c *Core) learn(r Report, sent flight) {
	more, us := r.Pending+r.NotStored+len(r.Rejected), c.cfg.Card.Peer()
	for s := range sent {
		switch {
		case more > 0 || s.Runtime() == us:
		case r.Accepted == 0:
			c.rows[s].late = true
		default:
			c.rows[s].late = false
		}
	}
}

// reread has the journal asked anew, each heartbeat, for what it could not read.
func (c *Core) reread() {
	for s, r := range c.unread {
		c.settle(s, r)
	}
}
