package journal

import (
	"context"
	"crypto/rand"
	"iter"
	"sync"

	"github.com/comity-dev/comity/internal/seglog"
)

// memory is a log that ends with its process. It never fails.
type memory struct {
	incarnation [16]byte
	mu          sync.Mutex
	recs        [][]byte // record i has index i+1; one that was dropped is empty and not nil
}

func newMemory() *memory {
	m := new(memory)
	rand.Read(m.incarnation[:]) // never fails
	return m
}

func (m *memory) Enqueue(_ uint64, _ bool, recs ...[]byte) ticket {
	m.mu.Lock()
	defer m.mu.Unlock()
	first := uint64(len(m.recs)) + 1
	m.recs = append(m.recs, recs...)
	return arrived(first)
}

func (m *memory) Turn() uint64 { return 0 }

func (m *memory) Read(index uint64) (seglog.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if index == 0 || index > uint64(len(m.recs)) || dropped(m.recs[index-1]) {
		return seglog.Record{}, seglog.ErrNotFound
	}
	return seglog.Record{Index: index, Data: m.recs[index-1]}, nil
}

func (m *memory) From(index uint64) iter.Seq2[seglog.Record, error] {
	return func(yield func(seglog.Record, error) bool) {
		for i := max(index, 1); i <= m.End(); i++ {
			rec, err := m.Read(i)
			if err == nil && !yield(rec, nil) {
				return
			}
		}
	}
}

func (m *memory) Scan(index uint64) iter.Seq2[seglog.Record, error] { return m.From(index) }

func (m *memory) First() uint64 { return 1 }

func (m *memory) End() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return uint64(len(m.recs))
}

// Rewrite drops the records for which keep returns false, of all that are there
// when it is called.
func (m *memory) Rewrite(keep func(seglog.Record) bool) error {
	for i := uint64(1); i <= m.End(); i++ {
		if rec, err := m.Read(i); err == nil && rec.Data != nil && !keep(rec) {
			m.mu.Lock()
			m.recs[i-1] = []byte{}
			m.mu.Unlock()
		}
	}
	return nil
}

func dropped(rec []byte) bool { return rec != nil && len(rec) == 0 }

func (m *memory) Incarnation() [16]byte   { return m.incarnation }
func (m *memory) Damage() []seglog.Damage { return nil }
func (m *memory) Err() error              { return nil }
func (m *memory) Close() error            { return nil }

// arrived is the place of a batch that is where it is going to be.
type arrived uint64

func (a arrived) Wait(context.Context) (uint64, error) { return uint64(a), nil }

func (a arrived) Done() <-chan struct{} { return closed() }

func closed() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}
