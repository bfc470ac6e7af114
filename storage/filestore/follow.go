package filestore

import (
	"context"
	"iter"
	"slices"

	"github.com/comity-dev/comity/storage"
)

const (
	maxRecent      = 1024
	maxRecentBytes = 1 << 20
)

// keepLocked keeps a batch for the followers, who then need not read it from the
// log. What is kept has no gap and ends at the tip: it begins with the first
// batch that was made while somebody followed. A slice of l.recent that was
// taken under the lock stays as it is.
func (l *ledger) keepLocked(seq uint64, b *batch) {
	if b.data == nil {
		return
	}
	for i, data := range b.data {
		l.recent = append(l.recent, storage.Record{Seq: seq + uint64(i), Data: data})
	}
	l.recentBytes += len(b.buf)
	for len(l.recent) > maxRecent || l.recentBytes > maxRecentBytes {
		l.recent = slices.Clone(l.recent[(len(l.recent)+1)/2:])
		l.recentBytes = 0
		for _, rec := range l.recent {
			l.recentBytes += headerBytes + len(rec.Data)
		}
	}
}

func (v ledgers) Follow(ctx context.Context, name string, from uint64) iter.Seq2[storage.Record, error] {
	return func(yield func(storage.Record, error) bool) {
		s := v.s
		if err := s.enter(ctx, name); err != nil {
			yield(storage.Record{}, err)
			return
		}
		l := s.ledgerLocked(name)
		l.followers++
		s.mu.Unlock()
		defer s.leave(l)
		c := cursor{s: s, ctx: ctx, tag: l.tag, name: name, next: max(from, 1)}
		for {
			recs, err := s.await(l, &c)
			if err != nil {
				yield(storage.Record{}, err)
				return
			}
			if recs == nil && !c.run(yield) {
				return
			}
			for _, rec := range recs {
				if err := s.over(ctx); err != nil {
					yield(storage.Record{}, err)
					return
				}
				if c.next = rec.Seq + 1; !yield(rec, nil) {
					return
				}
			}
		}
	}
}

func (s *Store) leave(l *ledger) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.followers--; l.followers == 0 {
		l.recent, l.recentBytes = nil, 0
	}
	s.tidyLocked(l)
}

// await waits until there is a record c.next. It returns what is in memory from
// there on, or nothing if it must be read from the log, up to c.tip.
func (s *Store) await(l *ledger, c *cursor) ([]storage.Record, error) {
	for {
		if err := s.over(c.ctx); err != nil {
			return nil, err
		}
		s.mu.Lock()
		if c.gen == 0 {
			c.gen = l.gen
		}
		if l.gen != c.gen {
			s.mu.Unlock()
			return nil, &storage.DeletedError{Name: c.name, Seq: c.next}
		}
		if c.next <= l.tip {
			defer s.mu.Unlock()
			c.tip = l.tip
			if n := len(l.recent); n > 0 && l.recent[0].Seq <= c.next {
				return l.recent[c.next-l.recent[0].Seq : n : n], nil
			}
			return nil, nil
		}
		if l.grown == nil {
			l.grown = make(chan struct{})
		}
		grown := l.grown
		s.mu.Unlock()
		if s.log == nil {
			return nil, &storage.ReadOnlyError{Reason: "it was opened for reading and shows what was there then; follow it through the process that holds it"}
		}
		select {
		case <-grown:
		case <-c.ctx.Done():
		case <-s.ended:
		}
	}
}
