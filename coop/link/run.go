package link

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/comity-dev/comity/coop/event"
)

// A Journal is what a Link serves. A *journal.Journal is one. It is called from
// several goroutines.
type Journal interface {
	Replica
	Ingest(ctx context.Context, batch [][]byte) event.IngestReport
}

// A Link drives a Core over a stream of bytes. Its methods are safe for
// concurrent use.
type Link struct {
	journal Journal
	now     func() time.Duration
	limits  event.Limits

	mu   sync.Mutex
	core *Core

	newer, trust atomic.Bool
	kick         chan struct{} // one of them was set
	wake         chan struct{} // there may be a frame to write
	over         chan struct{} // closed once the core is over
	once         sync.Once
}

// New begins a link; now is the own boot-time clock.
func New(cfg Config, j Journal, now func() time.Duration) (*Link, error) {
	core, err := NewCore(cfg, j, now())
	if err != nil {
		return nil, err
	}
	return &Link{
		journal: j, now: now, limits: cfg.Limits.WithDefaults(), core: core,
		kick: make(chan struct{}, 1), wake: make(chan struct{}, 1), over: make(chan struct{}),
	}, nil
}

// News says that the journal has something new. It never blocks, and may be
// called under the journal's lock.
func (l *Link) News() {
	l.newer.Store(true)
	signal(l.kick)
}

// TrustChanged says that other keys are believed than before (see
// Core.TrustChanged). It never blocks, and may be called under the journal's lock.
func (l *Link) TrustChanged() {
	l.trust.Store(true)
	signal(l.kick)
}

// Receive hands in a frame that was read from the stream before Run: the hello
// from which the caller learnt which repository is asked for (see ParseHello).
func (l *Link) Receive(f Frame) {
	l.do(func(c *Core) { c.Receive(l.now(), f) })
}

// Leave is Core.Leave.
func (l *Link) Leave(reason string) { l.do(func(c *Core) { c.Leave(reason) }) }

// Round is Core.Round.
func (l *Link) Round() (n uint64) {
	l.do(func(c *Core) { n = c.Round() })
	return n
}

// Stats returns what is known of the link now.
func (l *Link) Stats() (s Stats) {
	l.do(func(c *Core) { s = c.Stats() })
	return s
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// do lets f work on the core; what it has to say is then written.
func (l *Link) do(f func(c *Core)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f(l.core)
	if l.core.Err() != nil {
		l.once.Do(func() { close(l.over) })
	}
	signal(l.wake)
}

// Run drives the link over conn until it is over, and closes conn. It may be
// called once. It returns why: ErrLeft when ctx ended, a *GoodbyeError when the
// peer left, ErrCut when the stream ended otherwise, a *RefusedError, a
// *ProtocolError, ErrSilent, or what reading and writing gave.
//
// When the link ends, the peer is still told so, for Limits.Request at most.
// Close of conn must end a Read and a Write that are under way.
func (l *Link) Run(ctx context.Context, conn io.ReadWriteCloser) error {
	var both sync.WaitGroup
	both.Go(func() { l.read(ctx, conn) })
	both.Go(func() { l.write(conn) })
	idle := make(chan struct{})
	go func() {
		both.Wait()
		close(idle)
	}()
	l.supervise(ctx)
	grace := time.NewTimer(l.limits.Request)
	defer grace.Stop()
	select {
	case <-idle:
	case <-grace.C:
	}
	conn.Close()
	<-idle
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.core.Err()
}

// ticksPerBeat is how often a core hears the time.
const ticksPerBeat = 4

// supervise tells the core the time and the news until it is over.
func (l *Link) supervise(ctx context.Context) {
	tick := time.NewTicker(max(l.limits.Heartbeat/ticksPerBeat, time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-l.over:
			return
		case <-ctx.Done():
			l.do(func(c *Core) { c.Leave("stopped") })
		case <-tick.C:
			l.do(func(c *Core) { c.Tick(l.now()) })
		case <-l.kick:
			l.do(l.told)
		}
	}
}

func (l *Link) told(c *Core) {
	if l.newer.Swap(false) {
		c.News()
	}
	if l.trust.Swap(false) {
		c.TrustChanged()
	}
}

// read takes frames, and each batch into the journal before the next frame: a
// peer that sends faster than the disk takes it has to wait. Once the link is
// over it reads on to the end, or to the peer's last word, so that ours is not
// lost with what was unread.
func (l *Link) read(ctx context.Context, conn io.Reader) {
	r := bufio.NewReaderSize(&watched{conn, l}, readStep)
	for {
		var limit int
		l.do(func(c *Core) { limit = c.Limit() })
		f, err := ReadFrame(r, limit)
		if err != nil {
			l.do(func(c *Core) { cut(c, l.now(), f, err) })
			return
		}
		l.do(func(c *Core) { err = c.Receive(l.now(), f) })
		if err != nil && (f.Type == TypeGoodbye || f.Type == TypeRefusal) {
			return
		}
		l.ingest(ctx)
	}
}

// cut ends the core for what became of the stream.
func cut(c *Core, now time.Duration, f Frame, err error) {
	var wrong *ProtocolError
	switch {
	case errors.As(err, &wrong):
		c.at(now)
		if c.Err() == nil {
			c.fail(err)
		}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		c.End(ErrCut)
	default:
		c.End(fmt.Errorf("%w: %w", ErrCut, err))
	}
}

func (l *Link) ingest(ctx context.Context) {
	var batch [][]byte
	var ok bool
	l.do(func(c *Core) { batch, ok = c.Batch() })
	if !ok {
		return
	}
	report := l.journal.Ingest(ctx, batch)
	l.do(func(c *Core) { c.Ingested(l.now(), report) })
}

// watched tells the core of the bytes that come.
type watched struct {
	io.Reader
	l *Link
}

func (w *watched) Read(b []byte) (int, error) {
	n, err := w.Reader.Read(b)
	w.l.mu.Lock()
	defer w.l.mu.Unlock()
	w.l.core.Came(w.l.now(), n)
	return n, err
}

// writeStep is how much is written at once: of a peer that takes less in the time that
// a frame may stand still nobody could tell that it takes any.
const writeStep = 16 << 10

// put writes one frame, and tells the core how it goes.
func (l *Link) put(conn io.Writer, frame []byte) error {
	for some := range slices.Chunk(frame, writeStep) {
		if _, err := conn.Write(some); err != nil {
			return err
		}
		l.mu.Lock()
		l.core.Went(l.now())
		l.mu.Unlock()
	}
	return nil
}

// write writes one frame after the other, each made when the one before is out.
func (l *Link) write(conn io.Writer) {
	for {
		frame, done := l.next()
		switch {
		case frame != nil:
			if err := l.put(conn, frame); err != nil {
				l.do(func(c *Core) { c.End(fmt.Errorf("%w: %w", ErrCut, err)) })
				return
			}
		case done:
			return
		default:
			select {
			case <-l.wake:
			case <-l.over:
			}
		}
	}
}

func (l *Link) next() (frame []byte, done bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	frame = l.core.Next(l.now())
	if l.core.Err() != nil {
		l.once.Do(func() { close(l.over) })
	}
	return frame, l.core.Err() != nil
}
