package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/storage"
)

// A Lease is the right to write a session, over a lease of the backend. It is
// Lost when that is, and it never becomes valid again.
type Lease struct {
	id   event.ID
	base uint64 // what imported journals had reached before
	l    storage.Lease
}

var _ journal.Lease = (*Lease)(nil)

// SessionID is the session that is held.
func (l *Lease) SessionID() event.ID { return l.id }

// Epoch is above that of every earlier owner, and of every owner elsewhere whose
// records were imported.
func (l *Lease) Epoch() uint64 { return l.base + l.l.Epoch() }

// Lost is closed when the lease has ended.
func (l *Lease) Lost() <-chan struct{} { return l.l.Lost() }

// Valid reports whether the lease has not ended.
func (l *Lease) Valid() bool {
	select {
	case <-l.l.Lost():
		return false
	default:
		return true
	}
}

// Release gives the session up.
func (l *Lease) Release(ctx context.Context) error {
	if err := l.l.Release(ctx); err != nil {
		return fmt.Errorf("release session %s: %w", l.id, err)
	}
	return nil
}

// Acquire makes the caller the owner of a session, which need not exist yet. It
// does not wait for another one: that is a *journal.LeaseHeldError.
func (s *Store) Acquire(ctx context.Context, id event.ID) (*Lease, error) {
	return s.grant(ctx, id, func(name string, _ uint64) (storage.Lease, error) {
		return s.b.Leaser().Acquire(ctx, name)
	})
}

// Takeover ends the ownership that proof names, by its epoch as LeaseHeldError
// gives it, and makes the caller the owner: for a person who has seen that the
// owner hangs. The owner's next append is refused.
func (s *Store) Takeover(ctx context.Context, id event.ID, proof storage.Proof) (*Lease, error) {
	return s.grant(ctx, id, func(name string, base uint64) (storage.Lease, error) {
		if proof.Epoch > base {
			proof.Epoch -= base
		}
		return s.b.Leaser().Takeover(ctx, name, proof)
	})
}

// Owner returns the epoch of whoever owns a session now, 0 if nobody does.
func (s *Store) Owner(ctx context.Context, id event.ID) (epoch uint64, err error) {
	n, err := s.names(id)
	if err != nil {
		return 0, err
	}
	o, _, err := s.origin(ctx, n)
	if err != nil {
		return 0, err
	}
	held, err := s.b.Leaser().Holder(ctx, n.ledger)
	if err != nil || held == 0 {
		return 0, err
	}
	return o.Base + held, nil
}

func (s *Store) grant(ctx context.Context, id event.ID, get func(name string, base uint64) (storage.Lease, error)) (*Lease, error) {
	n, err := s.names(id)
	if err != nil {
		return nil, err
	}
	o, _, err := s.origin(ctx, n)
	if err != nil {
		return nil, err
	}
	l, err := get(n.ledger, o.Base)
	var held *storage.HeldError
	if errors.As(err, &held) {
		return nil, &journal.LeaseHeldError{SessionID: id, Epoch: o.Base + held.Epoch}
	}
	if err != nil {
		return nil, fmt.Errorf("acquire session %s: %w", id, err)
	}
	return &Lease{id, o.Base, l}, nil
}
