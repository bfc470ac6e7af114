package link

import (
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/comity-dev/comity/coop/ident"
)

type stage uint8

const (
	dialling  stage = iota // the dialer sent its hello and waits for the welcome
	answering              // the other side waits for the hello
	proving                // and then, its welcome sent, for the confirm
	up
	over
)

// A Core is one end of one link: it decides what is sent, and takes what comes.
// It reads no clock, starts nothing and never blocks but in calls of its
// Replica; equal inputs give equal outputs. It is not safe for concurrent use.
//
// Who drives it calls Receive with each frame that came, Tick at least twice
// each heartbeat, News when the journal has something new, and after each of
// them Next until it returns nothing: only there a frame is made, of what is
// then true, so nothing queues behind a slow peer. Next is called when the frame
// before is out; where that takes long, Came and Went tell that bytes move.
// Events that came are in Batch and want Ingested. Times are of the own boot-time
// clock and never run back.
type Core struct {
	cfg     Config
	replica Replica
	stage   stage
	err     error // why it is over
	now     time.Duration
	ready   [][]byte // greetings, and the last word
	stats   Stats

	peer      Card
	nonce     string
	hello     Hello  // of the dialer
	said      string // digest of our latest greeting
	heard     string // digest of the peer's
	started   time.Duration
	lastHeard time.Duration
	lastTick  time.Duration
	lastPulse time.Duration

	rows    map[ident.Stream]*row
	lag     map[ident.Stream]*row // what the peer lacks and may be sent
	holder  map[ident.Stream]*row // what the peer holds something of, as far as it told
	later   map[ident.Stream]*row // what the peer lacks and is to get from elsewhere
	unread  map[ident.Stream]*row // of lag, what the journal could not read
	version uint64                // of our marks
	news    bool
	broken  error // of the replica

	told

	pace
	offered
	inbox
	pulse
}

// NewCore begins a link at now.
func NewCore(cfg Config, r Replica, now time.Duration) (*Core, error) {
	if cfg.Key == nil {
		return nil, errors.New("link: a key is required")
	}
	if cfg.Rand == nil {
		cfg.Rand = rand.Reader
	}
	cfg.Limits = cfg.Limits.WithDefaults()
	cfg.Card.PK, cfg.Card.Runtime = cfg.Key.PublicHex(), cfg.Key.Runtime(cfg.Card.Repo)
	if wrong := cfg.Card.check(); wrong != "" {
		return nil, fmt.Errorf("link: card: %s", wrong)
	}
	c := &Core{
		cfg: cfg, replica: r, now: now, started: now, lastHeard: now, lastTick: now, lastPulse: now, stage: answering,
		rows: map[ident.Stream]*row{}, lag: map[ident.Stream]*row{}, holder: map[ident.Stream]*row{}, unread: map[ident.Stream]*row{}, later: map[ident.Stream]*row{},
		offered: offered{landed: flight{}, judged: map[ident.Stream]bool{}},
		pace:    pace{most: min(minBatch, cfg.Limits.EventBatch)},
		told:    told{untold: map[ident.Stream]fresh{}}, inbox: inbox{refusing: map[ident.Stream]*row{}, again: map[ident.Stream]bool{}},
	}
	if err := c.greet(); err != nil {
		return nil, fmt.Errorf("link: %w", err)
	}
	return c, nil
}

// Err tells why the link is over, nil while it is not: a *ProtocolError, a
// *RefusedError, a *GoodbyeError, ErrSilent, ErrLeft, or what the driver gave
// to End.
func (c *Core) Err() error { return c.err }

// Up reports whether the peer has proved who it is and the link is not over.
func (c *Core) Up() bool { return c.stage == up }

// Limit is the longest frame that the peer may send now.
func (c *Core) Limit() int {
	if c.peer.PK == "" {
		return MaxGreeting
	}
	return MaxFrame
}

// Receive takes a frame that came at now. An error is why the link is over.
func (c *Core) Receive(now time.Duration, f Frame) error {
	if c.stage == over {
		return c.err
	}
	c.at(now)
	c.hear()
	c.stats.In.add(f.Size)
	if err := c.take(f); err != nil {
		c.fail(err)
	}
	return c.err
}

func (c *Core) at(now time.Duration) { c.now = max(c.now, now) }

func (c *Core) take(f Frame) error {
	switch {
	case !f.Type.known():
		c.stats.Unknown++
		return nil
	case f.Size > c.Limit():
		return &ProtocolError{Code: CodeOversized, Detail: fmt.Sprintf("frame of type %d: %d bytes, limit %d", f.Type, f.Size, c.Limit())}
	}
	switch f.Type {
	case TypeRefusal:
		return c.takeRefusal(f.Body)
	case TypeGoodbye:
		reason, err := parseGoodbye(f.Body)
		if err == nil {
			err = &GoodbyeError{reason}
		}
		return err
	case TypeHello, TypeWelcome, TypeConfirm:
		return c.takeGreeting(f)
	}
	if c.stage != up {
		return malformed("frame", fmt.Sprintf("type %d before the greeting", f.Type))
	}
	return c.takeUp(f)
}

func (c *Core) takeUp(f Frame) error {
	switch f.Type {
	case TypeMarks:
		return c.takeMarks(f.Body)
	case TypeEvents:
		return c.takeEvents(f.Body)
	case TypeReport:
		return c.takeReport(f.Body)
	case TypeAgain:
		return c.takeAgain(f.Body)
	case TypeBeat:
		return c.takeBeat(f.Body)
	case TypePing:
		return c.takePing(f.Body)
	case TypePong:
		return c.takePong(f.Body)
	case TypeAsk:
		return c.takeAsk(f.Body)
	case TypeLevel:
		return c.takeLevel(f.Body)
	}
	return malformed("frame", fmt.Sprintf("type %d out of its place", f.Type)) // unreachable unless a type has no reader
}

// News says that the journal holds something new.
func (c *Core) News() { c.news = true }

// Leave ends the link cleanly, with a reason of 1 to 64 of [A-Za-z0-9._:#-].
// What Next returns now is the last frame.
func (c *Core) Leave(reason string) {
	if c.stage == over {
		return
	}
	if !isWord(reason) {
		reason = "stopped"
	}
	c.end(ErrLeft, goodbyeFrame(reason))
}

// End notes that the stream under the link has ended.
func (c *Core) End(err error) {
	if c.stage != over {
		c.end(err, nil)
	}
}

// fail ends the link for what the peer sent. Only what it did wrong is answered.
func (c *Core) fail(err error) {
	var wrong *ProtocolError
	if !errors.As(err, &wrong) {
		c.end(err, nil)
		return
	}
	c.end(err, c.refusal(wrong.Code, wrong.Detail))
}

func (c *Core) end(err error, last []byte) {
	c.stage, c.err, c.ready = over, err, nil
	if last != nil {
		c.ready = [][]byte{last}
	}
	c.joined()
	c.rows, c.lag, c.later, c.holder, c.unread, c.arrived, c.untold, c.round = nil, nil, nil, nil, nil, nil, nil, nil
}

// Next returns the next frame to send, nil when there is none for now. It is
// the peer's once it is returned: a frame that is not sent ends the link.
func (c *Core) Next(now time.Duration) []byte {
	c.at(now)
	c.written()
	frame := c.next()
	if frame != nil {
		c.stats.Out.add(len(frame))
		c.writes(len(frame))
	}
	return frame
}

func (c *Core) next() []byte {
	if len(c.ready) > 0 {
		frame := c.ready[0]
		c.ready = c.ready[1:]
		return frame
	}
	if c.stage != up {
		return nil
	}
	if c.news {
		c.pull()
	}
	if len(c.rows) > 2*MaxStreams { // on a link a stream stays: the next one begins anew
		c.Leave("renew")
		return c.next()
	}
	for _, out := range []func() []byte{
		c.pongOut, c.reportOut, c.beatOut, c.pingOut, c.renewOut, c.marksOut, c.againOut, c.askOut, c.eventsOut, c.levelOut,
	} {
		if frame := out(); frame != nil {
			return frame
		}
	}
	if c.broken != nil { // the journal is closed
		c.end(c.broken, goodbyeFrame("closed"))
		return c.next()
	}
	return nil
}
