package link

import (
	"maps"
	"slices"
	"time"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

// told is what of our marks the peer knows.
type told struct {
	untold  map[ident.Stream]fresh // changed since it was told
	round   []StreamMark           // being told, by stream
	taken   time.Duration          // when its ages were
	first   bool                   // the next round tells all
	tellDue bool
	renew   bool // our trust changed: say so, and tell all
}

// fresh is a mark, and when it was read.
type fresh struct {
	event.Mark
	at time.Duration
}

// marksBytes is how much of marks goes into one frame.
const marksBytes = 256 << 10

// pull reads what changed in our marks.
func (c *Core) pull() {
	c.news = false
	marks, version := c.replica.MarksSince(c.version)
	c.version = version
	for s, m := range marks {
		r := c.row(s)
		if m.Seq < r.ours { // it was dropped, and is wanted again
			r.fell = true
			c.again[s] = true
		}
		r.ours, r.fell = m.Seq, r.fell && m.Seq < r.theirs
		c.settle(s, r)
		c.untold[s] = fresh{m, c.now}
	}
}

// TrustChanged says that other keys are believed than before. When the peer's is
// not, the link ends; else the peer may offer again what was refused, and is told
// all marks anew.
func (c *Core) TrustChanged() {
	if c.stage != up {
		return
	}
	if !c.cfg.Trust(c.peer.Peer().Node) {
		c.fail(&ProtocolError{CodeUntrusted, "no longer on the list of " + string(c.cfg.Key.Node())})
		return
	}
	c.renew = true
}

// renewOut voids our refusals. A batch that is being taken is judged by the trust
// there was, so its report goes first.
func (c *Core) renewOut() []byte {
	if !c.renew || c.ingesting {
		return nil
	}
	c.renew = false
	for s, r := range c.rows {
		r.fell = r.fell || r.refused != nil // what comes next may go on behind it
		r.ours, r.told, r.got, r.refused = 0, 0, 0, nil
		c.settle(s, r)
	}
	clear(c.refusing)
	c.unstored = 0
	clear(c.again)
	clear(c.untold)
	c.version, c.round, c.first, c.tellDue, c.news = 0, nil, true, true, true
	return Again{}.Append(nil)
}

// marksOut is the next piece of what the peer is to be told.
func (c *Core) marksOut() []byte {
	if c.round == nil && c.tellDue {
		c.tellDue = false
		c.gather()
		if len(c.round) == 0 && !c.first {
			c.round = nil
			return nil
		}
		return c.chunk()
	}
	if c.round != nil {
		return c.chunk()
	}
	return nil
}

// gather makes a round of what is untold. Beats that the peer told us, its own among
// them, are no news to it; those of another user of its key are.
func (c *Core) gather() {
	c.pull()
	c.round, c.taken = []StreamMark{}, c.now
	for _, s := range slices.Sorted(maps.Keys(c.untold)) {
		m, r := c.untold[s], c.rows[s]
		if m.Beat != nil && m.Beat.Uptime <= r.beat {
			m.Beat = nil
		}
		if m.Beat == nil && m.Seq == r.told && (m.Seq == 0 || !c.first) {
			continue
		}
		m.Age += c.now - m.at
		r.told = m.Seq
		c.round = append(c.round, StreamMark{s, m.Mark})
	}
	clear(c.untold)
}

func (c *Core) chunk() []byte {
	f := MarksFrame{First: c.first}
	c.first = false
	n := min(len(c.round), max(1, min(c.most, marksBytes)/maxMarkBytes))
	if plantBudget {
		n = len(c.round)
	}
	f.Marks = slices.Clone(c.round[:n])
	for i := range f.Marks {
		f.Marks[i].Age += c.now - c.taken
	}
	c.round = c.round[n:]
	if len(c.round) == 0 {
		c.round, f.Last = nil, true
		c.startAsking()
	}
	return f.Append(nil)
}

// settleTold is settle for what the peer tells. That has the journal read again nothing that
// it could not read, which the next heartbeat does: a mark is said in a few bytes, and often.
func (c *Core) settleTold(s ident.Stream, r *row) {
	if c.unread[s] == nil {
		c.settle(s, r)
	}
}

// takeMarks notes how far the peer is, and gives the journal its beats.
func (c *Core) takeMarks(raw []byte) error {
	f, err := parseMarks(raw)
	if err != nil {
		return err
	}
	if f.First {
		c.complete = false
		for s, r := range c.holder { // those alone: the peer may say it in a few bytes, and often
			r.theirs = 0
			c.settleTold(s, r)
		}
		c.holder = map[ident.Stream]*row{}
	}
	beats := event.Marks{}
	for _, m := range f.Marks {
		heard := m.Beat != nil && c.hears()
		if heard {
			beats[m.Stream] = m.Mark
		}
		r := c.guest(m.Stream)
		if r == nil {
			c.stats.Ignored++
			continue
		}
		c.holds(m.Stream, r, m.Seq)
		if heard {
			r.beat = max(r.beat, m.Beat.Uptime)
		}
		c.settleTold(m.Stream, r)
	}
	if len(beats) > 0 {
		c.replica.MergeMarks(beats)
	}
	if f.Last {
		c.complete = true
		c.voided()
	}
	return nil
}
