package store

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/storage"
)

// A located frame is one that was read, with its place and its bytes.
type located struct {
	seq   uint64
	frame *journal.Frame
	raw   []byte
}

// A scan turns records of a ledger into frames, in order, and holds each to what
// can be told from those before it.
type scan struct {
	ledger string
	next   uint64 // the sequence that must come
	prev   located
	again  *[2]journal.Frame // if set, a frame is valid until the one behind the next
}

// take returns the frame of a record, or why it cannot be read.
func (c *scan) take(rec storage.Record) (located, error) {
	if rec.Seq != c.next {
		return located{}, &journal.ReplayReadError{Subject: c.ledger, Seq: c.next, Cause: fmt.Errorf("the store returned record %d", rec.Seq)}
	}
	f := c.frame()
	err := f.Parse(rec.Data)
	if err == nil {
		err = c.follows(rec.Seq, f)
	}
	if err != nil {
		return located{}, &journal.ReplayDecodeError{Subject: c.ledger, Seq: rec.Seq, Cause: err}
	}
	c.prev = located{rec.Seq, f, rec.Data}
	c.next++
	return c.prev, nil
}

// frame returns a frame that is of no use any more, or a new one.
func (c *scan) frame() *journal.Frame {
	switch {
	case c.again == nil:
		return new(journal.Frame)
	case c.prev.frame == &c.again[0]:
		return &c.again[1]
	}
	return &c.again[0]
}

// follows returns why f cannot be behind the frame before it.
func (c *scan) follows(seq uint64, f *journal.Frame) error {
	if seq == 1 && f.Family != journal.FamilyFence {
		return &journal.OrderError{Detail: "the first record is no fence"}
	}
	p := c.prev.frame
	if p == nil { // the reading began here
		return nil
	}
	switch {
	case f.Epoch < p.Epoch:
		return &journal.OrderError{Detail: fmt.Sprintf("epoch %d behind epoch %d", f.Epoch, p.Epoch)}
	case f.Epoch > p.Epoch && f.Family != journal.FamilyFence:
		return &journal.OrderError{Detail: fmt.Sprintf("epoch %d without its fence", f.Epoch)}
	case p.Batch < p.Of && (f.Token != p.Token || f.Of != p.Of || f.Batch != p.Batch+1):
		return &journal.OrderError{Detail: fmt.Sprintf("record %d of a batch of %d is missing", p.Batch+1, p.Of)}
	case p.Batch == p.Of && f.Batch != 1:
		return &journal.OrderError{Detail: fmt.Sprintf("record %d of a batch without those before it", f.Batch)}
	case f.Prev != (journal.Digest{}) && f.Prev != journal.DigestOf(c.prev.raw):
		return &journal.OrderError{Detail: "it was written behind another record"}
	}
	return nil
}

// frames yields the frames from from on, up to and with through. It ends at the
// first error.
func (s *Store) frames(ctx context.Context, n names, from, through uint64) iter.Seq2[located, error] {
	return func(yield func(located, error) bool) {
		if from > through {
			return
		}
		c := scan{ledger: n.ledger, next: max(from, 1)}
		for rec, err := range s.b.Ledger().Read(ctx, n.ledger, from) {
			if err != nil {
				yield(located{}, readError(ctx, n, c.next, err))
				return
			}
			at, err := c.take(rec)
			if !yield(at, err) || err != nil || at.seq == through {
				return
			}
		}
	}
}

// readError names the record that an error of the store is about. That of ctx
// stays as it is.
func readError(ctx context.Context, n names, next uint64, err error) error {
	if ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
		return err
	}
	var damaged *storage.DamagedError
	if errors.As(err, &damaged) && damaged.Seq != 0 {
		next = damaged.Seq
	}
	return &journal.ReplayReadError{Subject: n.ledger, Seq: next, Cause: err}
}
