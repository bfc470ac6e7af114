package store

import (
	"context"
	"fmt"
	"io"
	"iter"
	"sync"
	"sync/atomic"

	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/storage"
)

// Records reads all records, in their order: fences and private ones too.
func (s *Store) Records() journal.RecordReplayer { return recordReplayer{s} }

// Events reads all events as they were written, those that are internal too. It
// is for the session itself.
func (s *Store) Events() journal.EventReplayer { return eventReplayer{s, false} }

// PublicEvents reads the public events in their public form: what was stored for
// the public, and nothing that is private. A projection of a harness's own must
// write events for it; else it is a *journal.ReplayDecodeError, and Page reads it.
func (s *Store) PublicEvents() journal.EventReplayer { return eventReplayer{s, true} }

type recordReplayer struct{ s *Store }

func (r recordReplayer) Open(ctx context.Context, req journal.ReplayRequest) (journal.RecordCursor, error) {
	c, err := r.s.open(ctx, req)
	if err != nil {
		return nil, err
	}
	return recordCursor{c}, nil
}

type recordCursor struct{ *cursor }

func (c recordCursor) Next(ctx context.Context) (journal.JournalRecord, uint64, error) {
	for {
		at, err := c.frame(ctx)
		if err != nil {
			return nil, 0, err
		}
		rec, err := c.decode(ctx, at, at.frame.Body)
		if err != nil {
			return nil, 0, err
		}
		c.took(at)
		if inLoop(rec, c.req.LoopID) {
			return rec, at.seq, nil
		}
	}
}

// inLoop reports whether rec is of the session as a whole or of that loop.
func inLoop(rec journal.JournalRecord, loop event.ID) bool {
	if loop == "" {
		return true
	}
	at := loop
	switch r := rec.(type) {
	case journal.EventRecord:
		at = r.Event().At.Loop
	case journal.GatePreparedRecord:
		at = r.Prepared().At.Loop
	case journal.CommandRecord:
		at = r.LoopID()
	}
	return at == "" || at == loop
}

type eventReplayer struct {
	s      *Store
	public bool
}

func (r eventReplayer) Open(ctx context.Context, req journal.ReplayRequest) (journal.EventCursor, error) {
	c, err := r.s.open(ctx, req)
	if err != nil {
		return nil, err
	}
	return eventCursor{c, r.public}, nil
}

type eventCursor struct {
	*cursor
	public bool
}

func (c eventCursor) Next(ctx context.Context) (event.Event, uint64, error) {
	for {
		at, err := c.frame(ctx)
		if err != nil {
			return event.Event{}, 0, err
		}
		if at.frame.Family != journal.FamilyEvent || c.public && !at.frame.HasPublic {
			c.took(at)
			continue
		}
		field := at.frame.Body
		if c.public {
			field = at.frame.Public
		}
		rec, err := c.decode(ctx, at, field)
		if err != nil {
			return event.Event{}, 0, err
		}
		c.took(at)
		if inLoop(rec, c.req.LoopID) {
			return rec.(journal.EventRecord).Event(), at.seq, nil
		}
	}
}

// A cursor reads the frames of one replay.
type cursor struct {
	s       *Store
	n       names
	req     journal.ReplayRequest
	through uint64 // where a replay that does not follow ends

	once    sync.Mutex // held by the one Next, and by Close behind it
	scan    scan
	have    located // read, and not returned yet
	failed  error
	ahead   []storage.Record // read, and no frames yet
	behind  error            // what comes behind them
	next    func() (part, bool)
	stop    func()
	reading context.Context

	mu     sync.Mutex
	closed atomic.Bool        // set under mu
	cancel context.CancelFunc // ends what is being read
}

func (s *Store) open(ctx context.Context, req journal.ReplayRequest) (*cursor, error) {
	n, err := s.names(req.SessionID)
	if err != nil {
		return nil, err
	}
	if req.LoopID != "" && !req.LoopID.Valid() {
		return nil, fmt.Errorf("replay session %s: %.80q is not the id of a loop", n.id, string(req.LoopID))
	}
	c := &cursor{s: s, n: n, req: req, scan: scan{ledger: n.ledger, next: max(req.From.Seq(), 1), again: new([2]journal.Frame)}}
	if req.Follow {
		return c, nil
	}
	tip, err := s.b.Ledger().Tip(ctx, n.ledger)
	if err != nil {
		return nil, readError(ctx, n, c.scan.next, err)
	}
	c.through = tip.Seq
	return c, nil
}

// frame returns the next frame, again and again until took is called.
func (c *cursor) frame(ctx context.Context) (located, error) {
	c.once.Lock()
	defer c.once.Unlock()
	for {
		switch {
		case c.closed.Load():
			return located{}, io.EOF
		case ctx.Err() != nil:
			return located{}, context.Cause(ctx)
		case c.failed != nil:
			return located{}, c.failed
		case c.have.frame != nil:
			return c.have, nil
		case !c.req.Follow && c.scan.next > c.through:
			return located{}, io.EOF
		}
		rec, err, ok := c.pull(ctx)
		switch {
		case !ok || err != nil:
			ended := ok && c.reading != nil && c.reading.Err() != nil // by this call's context, or one's before it
			c.end()
			if ended || c.closed.Load() {
				continue
			}
			if !ok {
				err = errMissing
			}
			c.failed = readError(ctx, c.n, c.scan.next, err)
		default:
			c.have, c.failed = c.scan.take(rec)
		}
	}
}

// pull returns the next record. The end of ctx ends the reading, which the next
// call begins anew at the same place.
func (c *cursor) pull(ctx context.Context) (storage.Record, error, bool) {
	if len(c.ahead) == 0 && c.behind == nil {
		if c.next == nil && !c.begin() {
			return storage.Record{}, context.Canceled, true // closed
		}
		c.mu.Lock()
		cancel := c.cancel
		c.mu.Unlock()
		unwatch := context.AfterFunc(ctx, cancel)
		p, ok := c.next()
		unwatch()
		if !ok {
			return storage.Record{}, nil, false
		}
		c.ahead, c.behind = p.recs, p.err
	}
	if len(c.ahead) == 0 {
		return storage.Record{}, c.behind, true
	}
	rec := c.ahead[0]
	c.ahead = c.ahead[1:]
	return rec, nil, true
}

func (c *cursor) begin() bool {
	reading, cancel := context.WithCancel(context.Background())
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed.Load() {
		cancel()
		return false
	}
	c.reading, c.cancel = reading, cancel
	if c.req.Follow { // a record that is there is not kept back for one that is not
		c.next, c.stop = iter.Pull(parts(c.s.b.Ledger().Follow(reading, c.n.ledger, c.scan.next), 1))
	} else {
		c.next, c.stop = iter.Pull(parts(c.s.b.Ledger().Read(reading, c.n.ledger, c.scan.next), aheadRecords))
	}
	return true
}

// end lets go of what is being read.
func (c *cursor) end() {
	if c.next == nil {
		return
	}
	c.stop()
	c.cancel()
	c.next, c.stop = nil, nil
	c.ahead, c.behind = nil, nil
}

// took says that a frame has been returned.
func (c *cursor) took(at located) {
	c.once.Lock()
	defer c.once.Unlock()
	if c.have.seq == at.seq {
		c.have = located{}
	}
}

// decode returns the record of a frame, made of the content of field. An error
// that is not ctx's ends the replay.
func (c *cursor) decode(ctx context.Context, at located, field journal.Field) (journal.JournalRecord, error) {
	content, err := c.s.content(ctx, c.n, at.seq, field)
	if err == nil {
		f := *at.frame
		f.Body = journal.Field{Bytes: content}
		rec, derr := c.s.o.Kinds.Decode(c.n.id, &f)
		if derr == nil {
			return rec, nil
		}
		err = &journal.ReplayDecodeError{Subject: c.n.ledger, Seq: at.seq, Cause: derr}
	}
	if ctx.Err() == nil {
		c.once.Lock()
		c.failed = err
		c.once.Unlock()
	}
	return nil, err
}

// Close ends the replay. A Next in flight returns io.EOF.
func (c *cursor) Close() error {
	c.mu.Lock()
	c.closed.Store(true)
	cancel := c.cancel
	c.mu.Unlock()
	if cancel != nil {
		cancel()
	}
	c.once.Lock()
	defer c.once.Unlock()
	c.end()
	return nil
}
