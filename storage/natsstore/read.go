package natsstore

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/comity-dev/comity/storage"
)

// How many records a cursor asks for: few at first, since it may be all that is
// wanted, then more.
const (
	firstFetch = 64
	maxFetch   = 2048
)

// A cursor reads a ledger in batches.
type cursor struct {
	s    *Store
	l    *ledger
	name string
	next uint64 // the record that is wanted
	tip  place  // where it ends
	from uint64 // in the stream; 0: not known yet
	seen uint64 // the number of the record before from, wanted or not
	size int    // of the next batch
}

func (v ledgers) Read(ctx context.Context, name string, from uint64) iter.Seq2[storage.Record, error] {
	return func(yield func(storage.Record, error) bool) {
		s := v.s
		if err := s.enter(ctx, name); err != nil {
			yield(storage.Record{}, err)
			return
		}
		ctx, stop := s.reading(ctx)
		defer stop()
		l := s.use(name)
		defer s.leave(l)
		fctx, cancel := s.limit(ctx)
		tip, err := s.find(fctx, l, name)
		var damaged *storage.DamagedError
		if errors.As(err, &damaged) { // what lies in front of it may be found by what it says
			tip, _ = s.lastPlace(fctx, name)
		}
		cancel()
		if err != nil && (damaged == nil || tip.tip.Seq == 0 || tip.tip.Gen >= tip.at) {
			yield(storage.Record{}, fmt.Errorf("read ledger %s from record %d: %w", name, max(from, 1), err))
			return
		}
		c := cursor{s: s, l: l, name: name, next: max(from, 1), tip: tip}
		more, err := c.run(ctx, yield)
		if damaged != nil && (err == nil || errors.As(err, &damaged)) { // where it ends is not known
			err = &storage.DamagedError{Name: name, Seq: c.next, Cause: damaged.Cause}
		}
		if more && err != nil {
			yield(storage.Record{}, err)
		}
	}
}

// run yields the records from c.next up to c.tip. It reports false when the
// consumer wants no more.
func (c *cursor) run(ctx context.Context, yield func(storage.Record, error) bool) (more bool, err error) {
	for c.next <= c.tip.tip.Seq {
		list, err := c.batch(ctx)
		for _, rec := range list {
			if err := c.s.over(ctx); err != nil {
				return true, err
			}
			if !yield(rec, nil) {
				return false, nil
			}
		}
		if err != nil {
			return true, err
		}
	}
	return true, nil
}

// batch returns records from c.next on, without a gap, or the error that comes
// in the place of c.next.
func (c *cursor) batch(ctx context.Context) (recs []storage.Record, err error) {
	ctx, cancel := c.s.limit(ctx)
	defer cancel()
	if c.from == 0 {
		if err = c.locate(ctx); err != nil {
			return nil, c.failure(err)
		}
	}
	c.size = min(max(2*c.size, firstFetch), maxFetch)
	want := int(min(uint64(c.size), c.tip.tip.Seq-c.seen))
	list, err := c.s.fetch(ctx, c.s.names.ledgers, c.subject(), c.from, want)
	if err != nil {
		return nil, c.failure(err)
	}
	for i, m := range list {
		if c.next > c.tip.tip.Seq {
			break // the rest came later
		}
		keep, err := c.check(m)
		if err != nil && i == 0 {
			return c.single(ctx)
		}
		if err != nil {
			return recs, nil // it is looked at when it comes first
		}
		recs = c.pass(m, keep, recs)
	}
	if len(list) == 0 {
		return c.single(ctx)
	}
	return recs, nil
}

func (c *cursor) subject() string { return c.s.names.ledger + token(c.name) }

func (c *cursor) failure(err error) error {
	return fmt.Errorf("read record %d of ledger %s: %w", c.next, c.name, err)
}

// ours reports whether m is of the life that is read, as far as it tells.
func (c *cursor) ours(m *stored) bool {
	return (m.head.kind == kindRecord || m.head.kind == kindPack) && m.head.a == c.tip.tip.Gen
}

// lastIn returns the number of the last record in m, or of what it is in the
// place of.
func (c *cursor) lastIn(m *stored) uint64 {
	if c.ours(m) {
		return m.head.b
	}
	return c.seen + 1
}

// pass goes behind m, and adds to recs what it has from c.next up to the tip.
func (c *cursor) pass(m *stored, keep bool, recs []storage.Record) []storage.Record {
	c.from, c.seen = m.seq+1, max(c.seen, c.lastIn(m))
	if !keep {
		return recs
	}
	for ; c.next <= min(m.head.b, c.tip.tip.Seq); c.next++ {
		recs = append(recs, storage.Record{Seq: c.next, Data: m.recs[c.next-m.first]})
	}
	return recs
}

// check returns why m does not have the record c.next, or that it is to be left
// out: it comes before that, or a second time.
func (c *cursor) check(m *stored) (keep bool, err error) {
	switch {
	case m.seq > c.tip.at && m.bad == nil && !c.ours(m):
		return false, &storage.DeletedError{Name: c.name, Seq: c.next}
	case c.lastIn(m) < c.next:
		return false, nil
	case m.bad != nil:
		return false, &storage.DamagedError{Name: c.name, Seq: c.next, Cause: m.bad}
	case !c.ours(m):
		return false, &storage.DamagedError{Name: c.name, Seq: c.next, Cause: fmt.Errorf("message %d of the stream is in its place", m.seq)}
	case m.first > c.next:
		return false, &storage.DamagedError{Name: c.name, Seq: c.next, Cause: fmt.Errorf("it is missing: record %d comes in its place", m.first)}
	}
	return true, nil
}

// single asks the leader for what comes next, when a replica does not have it,
// or has something else.
func (c *cursor) single(ctx context.Context) ([]storage.Record, error) {
	if _, err := c.s.find(ctx, c.l, c.name); err != nil { // the leader knows the tip now
		return nil, c.failure(err)
	}
	m, err := c.s.nextOf(ctx, c.s.names.ledgers, c.subject(), c.from)
	if err != nil {
		return nil, c.failure(err)
	}
	if m == nil {
		return nil, &storage.DamagedError{Name: c.name, Seq: c.next, Cause: errors.New("the server has lost it")}
	}
	keep, err := c.check(m)
	if err != nil {
		return nil, err
	}
	return c.pass(m, keep, nil), nil
}

// near is the number of records that are rather read than stepped over by
// another question.
const near = 64

// locate finds a place in the stream behind which the record c.next comes soon.
// Numbers in the ledger rise with those of the stream, so it is found by
// halving, and by guessing, since a ledger that is written steadily lies evenly.
func (c *cursor) locate(ctx context.Context) error {
	low, lowSeq := c.tip.tip.Gen, uint64(0) // record lowSeq lies at low
	high, highSeq := c.tip.at, c.tip.tip.Seq
	for guess := true; c.next-lowSeq > near && high-low > 1; guess = !guess {
		at := low + (high-low)/2
		if guess {
			at = low + uint64(float64(high-low)*(float64(c.next-lowSeq)/float64(highSeq-lowSeq+1)))
			at = min(max(at, low+1), high-1)
		}
		m, err := c.s.nextOf(ctx, c.s.names.ledgers, c.subject(), at)
		switch {
		case err != nil:
			return err
		case m == nil || m.seq > c.tip.at || m.recs == nil || m.head.a != c.tip.tip.Gen:
			high = at // what is wrong there is found when it is read
		case m.first <= c.next && c.next <= m.head.b:
			c.from, c.seen = m.seq, m.first-1
			return nil
		case m.first > c.next:
			high, highSeq = at, m.first
		default:
			low, lowSeq = m.seq, m.head.b
		}
	}
	c.from, c.seen = low+1, lowSeq
	return nil
}
