package memstore

import (
	"context"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/comity-dev/comity/storage"
)

// A ledger is one life of a name. Its records are only ever appended, so that
// a slice of them, once taken under the lock, can be read without it.
type ledger struct {
	gen       uint64 // 0 until the first append
	recs      [][]byte
	block     []byte // the last piece of memory that records lie in
	deleted   bool
	followers int
	grown     chan struct{} // closed at the next append or delete; nil when nobody waits
}

func (l *ledger) wakeLocked() {
	if l.grown != nil {
		close(l.grown)
		l.grown = nil
	}
}

type ledgers struct{ s *Store }

func (v ledgers) Append(ctx context.Context, name string, expected storage.Tip, recs ...[]byte) (storage.Tip, error) {
	s := v.s
	if err := check(name, recs); err != nil {
		return storage.Tip{}, err
	}
	if err := s.enter(ctx, name); err != nil {
		return storage.Tip{}, err
	}
	defer s.mu.Unlock()
	if tip := s.tipLocked(name); tip != expected {
		return storage.Tip{}, &storage.ConflictError{Name: name, Expected: expected, Tip: tip}
	}
	l := s.ledgers[name]
	if l == nil {
		l = new(ledger)
		s.ledgers[name] = l
	}
	if l.gen == 0 {
		l.gen = s.nextLocked()
		delete(s.dead, name)
	}
	for _, rec := range recs {
		l.addLocked(rec)
	}
	l.wakeLocked()
	return s.tipLocked(name), nil
}

func check(name string, recs [][]byte) error {
	if err := storage.CheckName(name); err != nil {
		return err
	}
	bytes := 0
	for _, r := range recs {
		if len(r) > maxRecordBytes {
			return &storage.TooLargeError{What: "record", Size: int64(len(r)), Max: maxRecordBytes}
		}
		bytes += len(r)
	}
	return storage.CheckBatch(len(recs), bytes, maxBatchRecords, maxBatchBytes)
}

const maxBlockBytes = 64 << 10

// addLocked appends a copy of rec. Small records share blocks of memory, which
// grow with the ledger.
func (l *ledger) addLocked(rec []byte) {
	at := len(l.block)
	if at+len(rec) > cap(l.block) {
		l.block = make([]byte, 0, max(min(2*cap(l.block), maxBlockBytes), len(rec), 512))
		at = 0
	}
	l.block = append(l.block, rec...)
	l.recs = append(l.recs, l.block[at:len(l.block):len(l.block)])
}

func (s *Store) tipLocked(name string) storage.Tip {
	if l := s.ledgers[name]; l != nil && l.gen != 0 {
		return storage.Tip{Gen: l.gen, Seq: uint64(len(l.recs))}
	}
	return storage.Tip{Gen: s.dead[name]}
}

func (v ledgers) Tip(ctx context.Context, name string) (storage.Tip, error) {
	if err := v.s.enter(ctx, name); err != nil {
		return storage.Tip{}, err
	}
	defer v.s.mu.Unlock()
	return v.s.tipLocked(name), nil
}

func (v ledgers) Read(ctx context.Context, name string, from uint64) iter.Seq2[storage.Record, error] {
	return func(yield func(storage.Record, error) bool) {
		if err := v.s.enter(ctx, name); err != nil {
			yield(storage.Record{}, err)
			return
		}
		var recs [][]byte
		if l := v.s.ledgers[name]; l != nil {
			recs = l.recs
		}
		v.s.mu.Unlock()
		v.s.each(ctx, recs, max(from, 1), yield)
	}
}

// each yields recs from number next on. It reports false when the iteration
// is over.
func (s *Store) each(ctx context.Context, recs [][]byte, next uint64, yield func(storage.Record, error) bool) bool {
	for ; next <= uint64(len(recs)); next++ {
		if err := s.over(ctx); err != nil {
			yield(storage.Record{}, err)
			return false
		}
		if !yield(storage.Record{Seq: next, Data: recs[next-1]}, nil) {
			return false
		}
	}
	return true
}

// over returns why an iteration must end.
func (s *Store) over(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	select {
	case <-s.ended:
		return storage.ErrClosed
	default:
		return nil
	}
}

func (v ledgers) Follow(ctx context.Context, name string, from uint64) iter.Seq2[storage.Record, error] {
	return func(yield func(storage.Record, error) bool) {
		l, err := v.s.join(ctx, name)
		if err != nil {
			yield(storage.Record{}, err)
			return
		}
		defer v.s.leave(name, l)
		for next := max(from, 1); ; {
			recs, err := v.s.await(ctx, l, name, next)
			if err != nil {
				yield(storage.Record{}, err)
				return
			}
			if !v.s.each(ctx, recs, next, yield) {
				return
			}
			next = uint64(len(recs)) + 1
		}
	}
}

// join returns the ledger of a name for a follower, who may be there before it
// begins.
func (s *Store) join(ctx context.Context, name string) (*ledger, error) {
	if err := s.enter(ctx, name); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	l := s.ledgers[name]
	if l == nil {
		l = new(ledger)
		s.ledgers[name] = l
	}
	l.followers++
	return l, nil
}

func (s *Store) leave(name string, l *ledger) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l.followers--
	if l.followers == 0 && l.gen == 0 && s.ledgers[name] == l {
		delete(s.ledgers, name)
	}
}

// await returns all records of l once number next is there.
func (s *Store) await(ctx context.Context, l *ledger, name string, next uint64) ([][]byte, error) {
	for {
		if err := s.over(ctx); err != nil {
			return nil, err
		}
		s.mu.Lock()
		recs, deleted := l.recs, l.deleted
		if l.grown == nil {
			l.grown = make(chan struct{})
		}
		grown := l.grown
		s.mu.Unlock()
		if deleted {
			return nil, &storage.DeletedError{Name: name, Seq: next}
		}
		if uint64(len(recs)) >= next {
			return recs, nil
		}
		select {
		case <-grown:
		case <-ctx.Done():
		case <-s.ended:
		}
	}
}

func (v ledgers) Delete(ctx context.Context, name string) error {
	s := v.s
	if err := s.enter(ctx, name); err != nil {
		return err
	}
	defer s.mu.Unlock()
	if l := s.ledgers[name]; l != nil && l.gen != 0 {
		l.deleted, l.recs, l.block = true, nil, nil
		l.wakeLocked()
		delete(s.ledgers, name)
		s.dead[name] = s.nextLocked()
	}
	return nil
}

func (v ledgers) Names(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return v.s.names(ctx, func() []string {
		return sorted(v.s.ledgers, prefix, func(l *ledger) bool { return l.gen != 0 })
	})
}

// names yields what list returns under the lock.
func (s *Store) names(ctx context.Context, list func() []string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		if err := s.lock(ctx); err != nil {
			yield("", err)
			return
		}
		names := list()
		s.mu.Unlock()
		for _, name := range names {
			if err := s.over(ctx); err != nil {
				yield("", err)
				return
			}
			if !yield(name, nil) {
				return
			}
		}
	}
}

func sorted[V any](m map[string]V, prefix string, there func(V) bool) []string {
	return slices.Sorted(func(yield func(string) bool) {
		for name := range maps.Keys(m) {
			if strings.HasPrefix(name, prefix) && there(m[name]) && !yield(name) {
				return
			}
		}
	})
}
