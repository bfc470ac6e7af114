// Package memstore is a storage.Backend in memory: for tests, and for sessions
// that nobody wants to keep. It stands on package storage alone, starts no
// goroutines, and forgets everything when it is let go.
package memstore

import (
	"context"
	"sync"
	"time"

	"github.com/comity-dev/comity/storage"
)

const (
	maxRecordBytes  = 16 << 20
	maxBatchBytes   = 32 << 20
	maxBatchRecords = 1 << 16
	maxValueBytes   = 1 << 20
)

// A Store is a backend in memory. Every grant lasts until it is released or
// taken over, or the store is closed.
type Store struct {
	ended chan struct{} // closed with the store

	mu      sync.Mutex
	closed  bool
	last    uint64 // the highest epoch, generation or revision
	ledgers map[string]*ledger
	dead    map[string]uint64 // generation after which a deleted ledger may begin anew
	leases  map[string]*lease
	rows    map[string]row
	spaces  map[string]map[storage.Digest]blob
	began   time.Time
}

// New returns an empty store.
func New() *Store {
	return &Store{
		ended:   make(chan struct{}),
		ledgers: make(map[string]*ledger),
		dead:    make(map[string]uint64),
		leases:  make(map[string]*lease),
		rows:    make(map[string]row),
		spaces:  make(map[string]map[storage.Digest]blob),
		began:   time.Now(),
	}
}

func (s *Store) Ledger() storage.Ledger { return ledgers{s} }
func (s *Store) Leaser() storage.Leaser { return leases{s} }
func (s *Store) KV() storage.KV         { return rows{s} }
func (s *Store) Blobs() storage.Blobs   { return blobs{s} }

func (s *Store) Traits() storage.Traits {
	return storage.Traits{
		Durable:         storage.Memory,
		MaxRecordBytes:  maxRecordBytes,
		MaxBatchBytes:   maxBatchBytes,
		MaxBatchRecords: maxBatchRecords,
		MaxValueBytes:   maxValueBytes,
	}
}

// Close ends all grants and wakes all followers.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	close(s.ended)
	for name := range s.leases {
		s.endLocked(name)
	}
	s.ledgers, s.dead, s.rows, s.spaces = nil, nil, nil, nil
	return nil
}

// enter checks what every method checks, and locks the store.
func (s *Store) enter(ctx context.Context, name string) error {
	if err := storage.CheckName(name); err != nil {
		return err
	}
	return s.lock(ctx)
}

func (s *Store) lock(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return storage.ErrClosed
	}
	return nil
}

func (s *Store) nextLocked() uint64 {
	s.last++
	return s.last
}
