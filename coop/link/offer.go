package link

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

// offered is what of our events the peer got, and what it says of them.
type offered struct {
	complete bool     // the peer told all its marks
	flights  []launch // batches without their report, at most Window
	batches  uint64   // sent on this link
	lastAsk  uint64   // number of the peer's last ask
	asked    uint64   // that, when it wants a level; 0 for none

	void    map[ident.Stream]bool // whose refusals the peer voided, and we still go by
	voidAll bool
	landed  flight                // what was reported since, and not refused
	judged  map[ident.Stream]bool // what was refused since: that stands
	voidAt  time.Duration         // when we last went by such a word
	voidAny bool                  // there was one
}

// A flight is a batch on its way: the last event of each stream in it.
type flight map[ident.Stream]uint64

// A launch is a batch on its way, of so many bytes, and since when.
type launch struct {
	flight
	size int
	at   time.Duration
}

// eventsOut is the next batch that the peer lacks. Nothing is sent twice: what
// was sent counts as held, unless the peer asks for it again.
func (c *Core) eventsOut() []byte {
	if !c.complete || c.voidAll || len(c.lag) == 0 || len(c.flights) >= Window || c.broken != nil {
		return nil
	}
	theirs := make(event.Marks, len(c.lag))
	for s, r := range c.lag {
		theirs[s] = event.Mark{Seq: r.known()}
	}
	batch, frame := c.budgets()
	all, err := c.replica.Missing(theirs, batch, func(s ident.Stream) bool { return c.lag[s] == nil })
	if err != nil {
		c.broken = fmt.Errorf("link: read what the peer lacks: %w", err)
		return nil
	}
	all = slices.DeleteFunc(all, c.pointless)
	runs, _ := runsOf(all, frame)
	if len(runs) == 0 { // the journal cannot read them now
		maps.Copy(c.unread, c.lag)
		clear(c.lag)
		return nil
	}
	return c.launch(runs)
}

// budgets are the bytes of events in one batch, and those of a frame's body:
// room for one event at least.
func (c *Core) budgets() (batch, frame int) {
	if plantBudget {
		return 1 << 30, 1 << 30
	}
	frame = min(c.cfg.Limits.LinkMessage, MaxFrame) - headerBytes
	return c.most, max(frame, runBytes+2+event.MaxEventBytes)
}

// pointless reports whether e is too far behind one whose signature is not good.
func (c *Core) pointless(e event.Stored) bool {
	b := c.lag[e.Key.Stream].block
	return b.Why != "" && e.Key.Seq > b.Seq+vouch
}

func (c *Core) launch(runs []Run) []byte {
	f := flight{}
	for _, run := range runs {
		r := c.rows[run.Stream]
		r.sent = run.Last()
		f[run.Stream] = r.sent
		c.settle(run.Stream, r)
		c.stats.EventsOut += uint64(len(run.Raw))
	}
	frame := EventsFrame{runs}.Append(nil)
	c.flights = append(c.flights, launch{f, len(frame), c.now})
	c.batches++
	return frame
}

// takeReport backs off from the streams that the peer refuses.
func (c *Core) takeReport(raw []byte) error {
	report, err := parseReport(raw)
	if err != nil {
		return err
	}
	if len(c.flights) == 0 || report.Batch != c.batches-uint64(len(c.flights))+1 {
		return malformed("report", fmt.Sprintf("of batch %d, which is not due", report.Batch))
	}
	landed := c.flights[0]
	c.flights = c.flights[1:]
	c.answered(landed.size, c.now-landed.at)
	c.stats.count(report)
	c.learn(report, landed.flight)
	for _, b := range report.Blocked {
		delete(landed.flight, b.Stream)
		r := c.rows[b.Stream]
		if r == nil {
			continue
		}
		if c.voidAll || c.void[b.Stream] {
			c.judged[b.Stream] = true
		}
		r.block = b
		if !sticky(b.Why) && r.theirs >= b.Seq { // it has come from elsewhere since
			r.block = event.Blocked{}
		}
		c.settle(b.Stream, r)
	}
	for s, last := range landed.flight {
		if c.voidAll || c.void[s] {
			c.landed[s] = max(c.landed[s], last)
		}
	}
	return nil
}

// takeAgain notes that refusals are void. What is on its way is not sent again:
// it will be judged anew when it comes. We go by such a word once a heartbeat, so
// that nobody can have the history sent over and over.
func (c *Core) takeAgain(raw []byte) error {
	a, err := parseAgain(raw)
	if err != nil {
		return err
	}
	if len(a.Streams) == 0 { // all marks follow; until they are here we do not know what it holds
		c.voidAll, c.complete = true, false
		clear(c.landed)
		clear(c.judged)
		return nil
	}
	if c.void == nil {
		c.void = map[ident.Stream]bool{}
	}
	for _, s := range a.Streams {
		if c.rows[s] != nil {
			c.void[s] = true
		}
		delete(c.landed, s)
		delete(c.judged, s)
	}
	c.voided()
	return nil
}

// voided goes by what the peer took back, when it is time.
func (c *Core) voided() {
	if !c.complete || !c.voidAll && len(c.void) == 0 || c.voidAny && c.now-c.voidAt < c.cfg.Limits.Heartbeat {
		return
	}
	c.voidAny, c.voidAt = true, c.now
	streams := maps.Keys(c.void)
	if c.voidAll {
		streams = maps.Keys(c.rows)
	}
	for s := range streams {
		if c.judged[s] {
			continue
		}
		r := c.rows[s]
		r.block, r.sent, r.late = event.Blocked{}, c.landed[s], false
		for _, f := range c.flights {
			r.sent = max(r.sent, f.flight[s])
		}
		c.settle(s, r)
	}
	c.voidAll, c.void = false, nil
	clear(c.landed)
	clear(c.judged)
}

// takeAsk notes that the peer wants to know when it has all that we hold now.
func (c *Core) takeAsk(raw []byte) error {
	n, err := parseNumber("ask", raw)
	switch {
	case err != nil:
		return err
	case n <= c.lastAsk:
		return malformed("ask", "a number that does not rise")
	}
	c.lastAsk, c.asked, c.news = n, n, true
	for s, r := range c.later {
		c.settle(s, r)
	}
	return nil
}

// levelOut says that nothing is left to send: what the peer asked for is there,
// or it refuses it.
func (c *Core) levelOut() []byte {
	if c.asked == 0 || !c.complete || c.voidAll || len(c.lag) > 0 {
		return nil
	}
	n := c.asked
	c.asked = 0
	return numberFrame(TypeLevel, n)
}
