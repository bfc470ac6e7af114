package link

import (
	"time"

	"github.com/comity-dev/comity/coop/event"
)

// pulse is what keeps a link alive and tells how alive the peer is.
type pulse struct {
	beatDue, pingDue bool

	ping     uint64 // number of our last ping
	pinged   time.Duration
	theirs   uint64 // number of the peer's last ping
	pong     uint64 // that, when it wants an answer, 0 for none
	pongNext time.Duration

	ask    uint64 // number of our last ask
	askDue bool
	level  uint64 // the highest level that the peer told and that is not looked at, 0 for none
	rounds uint64 // the highest level that counts
	owed   bool   // a level did not count: one is asked for anew

	listens int // beats of the peer that are still looked at in this heartbeat

	joinEnd time.Duration
	done    func() // of the first exchange, nil when it is over
}

// pongsPerBeat is how many pongs go out in a heartbeat at most.
const pongsPerBeat = 5

// Tick tells the time: beats go out every heartbeat, and a peer that is silent
// for one expiry is given up.
func (c *Core) Tick(now time.Duration) {
	gap := now - c.lastTick
	c.at(now)
	c.lastTick = c.now
	lim := c.cfg.Limits
	if gap > lim.Expiry/2 { // we were away: what came meanwhile is still to be read
		c.hear()
		c.started, c.moved = c.now, c.now
	}
	switch {
	case c.stage == over:
		return
	case c.stage != up:
		if c.now-c.started > lim.Request {
			c.silent()
		}
		return
	case c.ingesting: // nothing is read meanwhile
		c.hear()
	case c.now-c.lastHeard > lim.Expiry, c.stuck():
		c.silent()
		return
	}
	if c.now >= c.joinEnd {
		c.joined()
	}
	if c.now-c.lastPulse < lim.Heartbeat {
		return
	}
	c.lastPulse = c.now
	c.listen()
	c.beatDue, c.pingDue, c.tellDue = true, true, true
	c.pull()
	c.retry()
	c.reread()
	c.relay()
	c.levelled()
	c.voided()
}

func (c *Core) silent() { c.end(ErrSilent, c.refusal(CodeSilent, "nothing was heard")) }

func (c *Core) beatOut() []byte {
	if !c.beatDue {
		return nil
	}
	c.beatDue = false
	if b, ok := c.replica.Beat(); ok {
		return beatFrame(b)
	}
	return nil
}

// takeBeat takes the peer's own beat: it comes straight, so its age is the way's.
func (c *Core) takeBeat(raw []byte) error {
	b, err := parseBeat(raw)
	if err != nil {
		return err
	}
	if b.Stream.Runtime() != c.peer.Peer() {
		return malformed("beat", "of another runtime than the peer's")
	}
	if c.hears() {
		c.heardOf(b)
		c.replica.MergeMarks(event.Marks{b.Stream: {Seq: b.Seq, Beat: b}})
	}
	return nil
}

// roundsPerBeat is how many of a peer's rounds may fall into one of our heartbeats: it
// counts its own, and what is on its way a while comes together.
const roundsPerBeat = 2

// listen begins to count the beats of a heartbeat: in each as many are looked at as an
// honest peer can tell, which is two rounds of all the streams that a journal may know.
func (c *Core) listen() { c.listens = roundsPerBeat * c.cfg.Limits.Streams }

// hears reports whether one more beat of the peer is looked at, which may cost a check
// of a signature.
func (c *Core) hears() bool {
	if c.listens == 0 {
		c.stats.Unheard++
		return false
	}
	c.listens--
	return true
}

// heardOf notes that the peer has a beat.
func (c *Core) heardOf(b *event.Beat) {
	if r := c.guest(b.Stream); r != nil {
		r.beat = max(r.beat, b.Uptime)
	}
}

func (c *Core) pingOut() []byte {
	if !c.pingDue {
		return nil
	}
	c.pingDue = false
	c.ping++
	c.pinged = c.now
	return numberFrame(TypePing, c.ping)
}

func (c *Core) takePing(raw []byte) error {
	n, err := parseNumber("ping", raw)
	switch {
	case err != nil:
		return err
	case n <= c.theirs:
		return malformed("ping", "a number that does not rise")
	}
	c.theirs, c.pong = n, n
	return nil
}

// pongOut answers the peer's latest ping with a beat made for it. A beat costs a
// signature, so they are not made faster than a few in a heartbeat.
func (c *Core) pongOut() []byte {
	if c.pong == 0 || c.now < c.pongNext {
		return nil
	}
	n := c.pong
	c.pong, c.pongNext = 0, c.now+c.cfg.Limits.Heartbeat/pongsPerBeat
	b, _ := c.replica.Beat()
	return pongFrame(n, b)
}

// takePong gives the journal a beat that its origin made after our ping, and
// sent to us itself: it tells the difference of the two clocks.
func (c *Core) takePong(raw []byte) error {
	n, b, err := parsePong(raw)
	switch {
	case err != nil:
		return err
	case n > c.ping:
		return malformed("pong", "to a ping that was never sent")
	case n < c.ping || c.pinged < 0:
		return nil // a later one asks already, or this one was answered
	}
	c.stats.RTT, c.pinged = c.now-c.pinged, -1
	if b != nil && b.Stream.Runtime() == c.peer.Peer() {
		c.heardOf(b)
		c.replica.Answered(b)
	}
	return nil
}

// Round asks the peer to say when it has sent all that it holds, and returns the
// number by which Stats tells that it did and that the journal has it, but for what
// it refused. While our own disk does not take it the round goes on.
func (c *Core) Round() uint64 {
	c.ask, c.askDue = c.ask+1, true
	return c.ask
}

// startAsking begins the first exchange's end, once our marks are told.
func (c *Core) startAsking() {
	if c.ask == 0 {
		c.Round()
	}
}

func (c *Core) askOut() []byte {
	if !c.askDue {
		return nil
	}
	c.askDue = false
	return numberFrame(TypeAsk, c.ask)
}

func (c *Core) takeLevel(raw []byte) error {
	n, err := parseNumber("level", raw)
	switch {
	case err != nil:
		return err
	case n > c.ask:
		return malformed("level", "to an ask that was never sent")
	}
	c.level = max(c.level, n)
	c.levelled()
	return nil
}

// levelled ends a round once the journal has all that came before its level. What
// our disk did not take we have not heard: once it is here the peer is asked again,
// for more of it may be on its way.
func (c *Core) levelled() {
	if len(c.arrived) > 0 || c.level == 0 && !c.owed {
		return
	}
	level := c.level
	c.level = 0
	switch {
	case c.unstored > 0:
		c.owed = true
	case c.owed:
		c.owed = false
		c.Round()
	default:
		c.rounds = max(c.rounds, level)
		c.joined()
	}
}

func (c *Core) join(done func()) {
	c.done, c.joinEnd = done, c.now+joinExpiries*c.cfg.Limits.Expiry
}

// joined ends the first exchange.
func (c *Core) joined() {
	if c.done != nil {
		c.done()
		c.done = nil
	}
}
