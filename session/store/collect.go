package store

import (
	"context"
	"fmt"

	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/storage"
)

// Collected says what a collection did.
type Collected struct {
	Blobs   int // that there are
	Young   int // that nothing refers to, and that are younger than Options.Grace
	Deleted int
	Bytes   int64 // that were deleted
}

// A CollectError reports a collection that did not come to its end. What it had
// deleted until then was not referred to.
type CollectError struct {
	SessionID event.ID
	Step      string // "scan", "list" or "delete"
	Cause     error
}

func (e *CollectError) Error() string {
	return fmt.Sprintf("collect blobs of session %s: %s: %v", e.SessionID, e.Step, e.Cause)
}

func (e *CollectError) Unwrap() error { return e.Cause }

// collectChunk is how many blobs are deleted at once, while appends wait.
const collectChunk = 16

// Collect deletes content that no record refers to: of appends that failed, or
// whose process died, between the blob and the frame. It reads the whole journal
// first, and if any record of it cannot be read, it deletes nothing. Blobs younger
// than Options.Grace are kept. Appends go on meanwhile, but for a moment now and
// then: a blob is looked up in what was appended last, and deleted, while none is in
// flight. It ends when the lease is lost.
func (w *Writer) Collect(ctx context.Context) (Collected, error) {
	c := &collection{w: w, used: make(map[storage.Digest]bool)}
	if err := c.underTurn(ctx, func() error { c.tip = w.tip.Seq; return nil }); err != nil {
		return c.done, err
	}
	if err := c.read(ctx, c.tip); err != nil {
		return c.done, err
	}
	idle, err := c.candidates(ctx, w.n.content)
	if err != nil {
		return c.done, err
	}
	if err := c.delete(ctx, w.n.content, idle); err != nil {
		return c.done, err
	}
	return c.done, c.index(ctx)
}

type collection struct {
	w       *Writer
	used    map[storage.Digest]bool
	through uint64 // the records that have been read
	tip     uint64
	done    Collected
}

func (c *collection) fail(step string, err error) error {
	return &CollectError{c.w.n.id, step, err}
}

func (c *collection) underTurn(ctx context.Context, do func() error) error {
	if err := c.w.enter(ctx); err != nil {
		return err
	}
	defer c.w.leave()
	if err := c.w.guard(); err != nil {
		return err
	}
	return do()
}

// read notes what the records up to a sequence refer to.
func (c *collection) read(ctx context.Context, through uint64) error {
	for at, err := range c.w.s.frames(ctx, c.w.n, c.through+1, through) {
		if err != nil {
			return c.fail("scan", err)
		}
		c.use(at.frame)
		c.through = at.seq
	}
	if c.through < through {
		return c.fail("scan", &journal.ReplayReadError{Subject: c.w.n.ledger, Seq: c.through + 1, Cause: errMissing})
	}
	return nil
}

func (c *collection) use(f *journal.Frame) {
	for _, d := range []journal.Digest{f.Body.Ref.Digest, f.Public.Ref.Digest} {
		c.used[storage.Digest(d)] = true
	}
}

// candidates returns the blobs of a space that nothing is known to refer to.
func (c *collection) candidates(ctx context.Context, space string) ([]storage.BlobInfo, error) {
	var idle []storage.BlobInfo
	for info, err := range c.w.s.b.Blobs().List(ctx, space) {
		if err != nil {
			return nil, c.fail("list", err)
		}
		c.done.Blobs++
		switch {
		case c.used[info.Digest]:
		case info.Age <= c.w.s.o.Grace:
			c.done.Young++
		default:
			idle = append(idle, info)
		}
	}
	return idle, nil
}

// delete deletes what is still not referred to.
func (c *collection) delete(ctx context.Context, space string, idle []storage.BlobInfo) error {
	for len(idle) > 0 {
		chunk := idle[:min(len(idle), collectChunk)]
		idle = idle[len(chunk):]
		err := c.underTurn(ctx, func() error {
			if err := c.catchUp(ctx); err != nil {
				return err
			}
			return c.deleteNow(ctx, space, chunk)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// catchUp notes what was appended since, and what may have been.
func (c *collection) catchUp(ctx context.Context) error {
	if err := c.read(ctx, c.w.tip.Seq); err != nil {
		return err
	}
	if c.w.doubt == nil {
		return nil
	}
	for _, raw := range c.w.doubt.frames {
		f, err := journal.ParseFrame(raw)
		if err != nil {
			return c.fail("scan", err)
		}
		c.use(f)
	}
	return nil
}

func (c *collection) deleteNow(ctx context.Context, space string, chunk []storage.BlobInfo) error {
	for _, info := range chunk {
		if c.used[info.Digest] {
			continue
		}
		if !holds(c.w.lease) {
			return &journal.JournalLeaseLostError{SessionID: c.w.n.id, Epoch: c.w.lease.Epoch()}
		}
		if err := c.w.s.b.Blobs().Delete(ctx, space, info.Digest); err != nil {
			return c.fail("delete", err)
		}
		c.done.Deleted++
		c.done.Bytes += info.Size
	}
	return nil
}

// index deletes parts of checkpoints that were never finished.
func (c *collection) index(ctx context.Context) error {
	return c.underTurn(ctx, func() error {
		x := c.w.index
		if x.sealing != nil { // what it writes is not known yet: another time
			return nil
		}
		c.used = make(map[storage.Digest]bool)
		for _, r := range x.point.Runs {
			for _, d := range r.Shards {
				c.used[d] = true
			}
		}
		idle, err := c.candidates(ctx, c.w.n.index)
		if err != nil {
			return err
		}
		return c.deleteNow(ctx, c.w.n.index, idle)
	})
}

// Collect collects a session that nobody has open; see Writer.Collect. It opens
// it for that, which appends a fence: without it a stale owner could refer to
// a blob while it is deleted.
func (s *Store) Collect(ctx context.Context, id event.ID) (Collected, error) {
	n, err := s.names(id)
	if err != nil {
		return Collected{}, err
	}
	idle, err := s.anyOldBlob(ctx, n)
	if err != nil || !idle {
		return Collected{}, err
	}
	w, err := s.Open(ctx, id, nil)
	if err != nil {
		return Collected{}, err
	}
	done, err := w.Collect(ctx)
	if cerr := w.Close(); err == nil {
		err = cerr
	}
	return done, err
}

// anyOldBlob reports whether a session that is there has blobs that could be
// collected.
func (s *Store) anyOldBlob(ctx context.Context, n names) (bool, error) {
	tip, err := s.b.Ledger().Tip(ctx, n.ledger)
	if err != nil || tip.Seq == 0 {
		return false, err
	}
	for info, err := range s.b.Blobs().List(ctx, n.content) {
		if err != nil {
			return false, &CollectError{n.id, "list", err}
		}
		if info.Age > s.o.Grace {
			return true, nil
		}
	}
	return false, nil
}
