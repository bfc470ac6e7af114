package filestore

import (
	"bytes"
	"context"
	"errors"
	"iter"

	"github.com/comity-dev/comity/internal/seglog"
	"github.com/comity-dev/comity/storage"
)

func (v ledgers) Read(ctx context.Context, name string, from uint64) iter.Seq2[storage.Record, error] {
	return func(yield func(storage.Record, error) bool) {
		if err := v.s.enter(ctx, name); err != nil {
			yield(storage.Record{}, err)
			return
		}
		t := tagOf(familyLedger, name)
		tip := v.s.tipLocked(t)
		v.s.mu.Unlock()
		c := cursor{s: v.s, ctx: ctx, tag: t, name: name, gen: tip.Gen, next: max(from, 1), tip: tip.Seq}
		c.run(yield)
	}
}

// A cursor reads the records of one life of a ledger, from next to tip.
type cursor struct {
	s    *Store
	ctx  context.Context
	tag  tag
	name string
	gen  uint64
	next uint64
	tip  uint64
}

// run yields the records. It reports false when the iteration is over.
func (c *cursor) run(yield func(storage.Record, error) bool) bool {
	for c.next <= c.tip {
		t, err := c.trail()
		if err != nil {
			yield(storage.Record{}, err)
			return false
		}
		if !c.singles(&t, yield) || c.next <= c.tip && !c.stretch(&t, yield) {
			return false
		}
	}
	return true
}

// trail returns the marks of the ledger from that of next on.
func (c *cursor) trail() (t trail, err error) {
	if err := c.s.over(c.ctx); err != nil {
		return t, err
	}
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	l := c.s.ledgers[c.tag]
	if l == nil || l.gen != c.gen {
		return t, &storage.DeletedError{Name: c.name, Seq: c.next}
	}
	t, ok := l.marks.from(c.next)
	if !ok {
		return t, &storage.DamagedError{Name: c.name, Seq: c.next}
	}
	return t, nil
}

const (
	lonely     = 24 // so far from the next one, a record is looked up
	far        = 64 // so far from the next one, an iteration begins anew
	checkEvery = 64
)

// singles looks up records that have a mark of their own, as long as there are
// many of others between them.
func (c *cursor) singles(t *trail, yield func(storage.Record, error) bool) bool {
	near := 1
	for n := 1; c.next <= c.tip && t.cur.seq == c.next; n++ {
		if !t.more && c.next != c.tip || t.more && t.next.seq != c.next+1 {
			return true
		}
		if near++; t.next.index-t.cur.index >= lonely || !t.more {
			near = 0
		}
		if near > 1 {
			return true
		}
		if n%checkEvery == 0 {
			if err := c.s.over(c.ctx); err != nil {
				return c.end(yield, err)
			}
		}
		if !c.single(t.cur.index, yield) {
			return false
		}
		if t.more {
			t.step()
		}
	}
	return true
}

// stretch yields records on the trail, up to a place where it is better to begin
// anew: because the next mark is far. It reports false when the iteration is
// over.
func (c *cursor) stretch(t *trail, yield func(storage.Record, error) bool) bool {
	n := 0
	for rec, err := range c.s.reader.From(t.cur.index) {
		if err != nil {
			return c.end(yield, translate(err))
		}
		if n++; n%checkEvery == 0 {
			if err := c.s.over(c.ctx); err != nil {
				return c.end(yield, err)
			}
		}
		for t.more && rec.Index >= t.next.index {
			t.step()
		}
		own, data, err := c.match(rec)
		if err != nil {
			return c.end(yield, err)
		}
		switch {
		case own > c.next:
			return c.lost(yield, nil)
		case own == c.next:
			if c.next++; !yield(storage.Record{Seq: own, Data: bytes.Clone(data)}, nil) {
				return false
			}
			if c.next > c.tip {
				return true
			}
		case own == 0 && rec.Index >= t.cur.index+reach:
			if !t.more || c.next < t.next.seq {
				return c.lost(yield, nil)
			}
			if t.next.index-rec.Index > far {
				return true
			}
		}
	}
	return c.lost(yield, nil)
}

// match returns the number of the record in this ledger, 0 if it is another's.
func (c *cursor) match(rec seglog.Record) (seq uint64, data []byte, err error) {
	h, data, err := parse(rec.Data, false)
	if err != nil || h.kind != kindRecord || h.life != c.gen || h.tag != c.tag {
		return 0, nil, err
	}
	return h.seq, data[:len(data):len(data)], nil
}

// single yields one record, whose place is known and which has no neighbours.
func (c *cursor) single(index uint64, yield func(storage.Record, error) bool) bool {
	rec, err := c.s.reader.Read(index)
	if err != nil {
		if errors.Is(err, seglog.ErrDamaged) || errors.Is(err, seglog.ErrNotFound) {
			return c.lost(yield, err)
		}
		return c.end(yield, translate(err))
	}
	own, data, err := c.match(rec)
	if err != nil {
		return c.end(yield, err)
	}
	if own != c.next {
		return c.lost(yield, nil)
	}
	c.next++
	return yield(storage.Record{Seq: own, Data: data}, nil)
}

// lost ends the iteration at a record that is not where it must be: unless the
// ledger has ended, and Compact was quick.
func (c *cursor) lost(yield func(storage.Record, error) bool, cause error) bool {
	if _, err := c.trail(); err != nil {
		return c.end(yield, err)
	}
	return c.end(yield, &storage.DamagedError{Name: c.name, Seq: c.next, Cause: cause})
}

func (c *cursor) end(yield func(storage.Record, error) bool, err error) bool {
	yield(storage.Record{}, err)
	return false
}
