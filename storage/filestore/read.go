package filestore

import (
	"context"
	"errors"
	"iter"
	"sort"

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
		marks, err := c.marks()
		if err != nil {
			yield(storage.Record{}, err)
			return false
		}
		if !c.stretch(marks, yield) {
			return false
		}
	}
	return true
}

// marks returns the marks of the ledger from that of next on.
func (c *cursor) marks() ([]mark, error) {
	if err := c.s.over(c.ctx); err != nil {
		return nil, err
	}
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	l := c.s.ledgers[c.tag]
	if l == nil || l.gen != c.gen {
		return nil, &storage.DeletedError{Name: c.name, Seq: c.next}
	}
	i := sort.Search(len(l.marks), func(i int) bool { return l.marks[i].seq > c.next })
	if i == 0 {
		return nil, &storage.DamagedError{Name: c.name, Seq: c.next}
	}
	return l.marks[i-1:], nil
}

// stretch yields the records behind marks, up to a place where it is better to
// begin anew: because the next mark is far. It reports false when the
// iteration is over.
func (c *cursor) stretch(marks []mark, yield func(storage.Record, error) bool) bool {
	const far, checkEvery = 4 * reach, 64
	if len(marks) > 1 && marks[1].seq == c.next+1 && marks[0].seq == c.next && marks[1].index-marks[0].index >= far {
		return c.single(marks[0].index, yield)
	}
	n := 0
	for rec, err := range c.s.reader.From(marks[0].index) {
		if err != nil {
			return c.end(yield, translate(err))
		}
		if n++; n%checkEvery == 0 {
			if err := c.s.over(c.ctx); err != nil {
				return c.end(yield, err)
			}
		}
		for len(marks) > 1 && rec.Index >= marks[1].index {
			if marks = marks[1:]; c.next < marks[0].seq {
				return c.lost(yield, nil)
			}
		}
		own, data, err := c.match(rec)
		if err != nil {
			return c.end(yield, err)
		}
		switch {
		case own > c.next:
			return c.lost(yield, nil)
		case own == c.next:
			if c.next++; !yield(storage.Record{Seq: own, Data: data}, nil) {
				return false
			}
			if c.next > c.tip {
				return true
			}
		case own == 0 && rec.Index >= marks[0].index+reach:
			if len(marks) == 1 || c.next < marks[1].seq {
				return c.lost(yield, nil)
			}
			if marks[1].index-rec.Index > far {
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
	if _, err := c.marks(); err != nil {
		return c.end(yield, err)
	}
	return c.end(yield, &storage.DamagedError{Name: c.name, Seq: c.next, Cause: cause})
}

func (c *cursor) end(yield func(storage.Record, error) bool, err error) bool {
	yield(storage.Record{}, err)
	return false
}
