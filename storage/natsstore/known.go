package natsstore

import (
	"context"
	"fmt"

	"github.com/comity-dev/comity/storage"
)

// maxKnown bounds the ledgers whose tips a store remembers.
const maxKnown = 4096

// A place is a tip and where it lies in the stream: the sequence number of its
// last message, 0 if there is none.
type place struct {
	tip storage.Tip
	at  uint64
}

// placeOf returns the place that the last message of a ledger's subject is.
func placeOf(m *stored) (place, error) {
	switch {
	case m == nil:
		return place{}, nil
	case m.bad != nil:
		return place{}, m.bad
	case m.head.kind == kindEnd:
		return place{storage.Tip{Gen: m.seq}, m.seq}, nil
	case (m.head.kind == kindRecord || m.head.kind == kindPack) && m.head.b > 0:
		return place{storage.Tip{Gen: m.head.a, Seq: m.head.b}, m.seq}, nil
	}
	return place{}, fmt.Errorf("message %d is a %q, not a record", m.seq, m.head.kind)
}

// A ledger is what a store remembers of one while somebody writes to it or
// follows it, and for some time after.
type ledger struct {
	busy  chan struct{} // holds the one who writes
	known place         // the last one that was seen, if it is not zero
	users int           // writers, who may be waiting
	watch *watch        // nil when nobody follows
}

// use returns the ledger of a name, which stays until leave.
func (s *Store) use(name string) *ledger {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.ledgers[name]
	if l == nil {
		s.forgetLocked()
		l = &ledger{busy: make(chan struct{}, 1)}
		s.ledgers[name] = l
	}
	l.users++
	return l
}

func (s *Store) leave(l *ledger) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l.users--
}

// forgetLocked makes room for another ledger.
func (s *Store) forgetLocked() {
	if len(s.ledgers) < maxKnown {
		return
	}
	for name, l := range s.ledgers {
		if l.users == 0 && l.watch == nil {
			delete(s.ledgers, name)
			return
		}
	}
}

// take waits until nobody else writes to l.
func (s *Store) take(ctx context.Context, l *ledger) error {
	select {
	case l.busy <- struct{}{}:
		return nil
	default:
	}
	select {
	case l.busy <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ended(ctx, nil)
	case <-s.ctx.Done():
		return storage.ErrClosed
	}
}

// know notes a place that was acknowledged or read.
func (s *Store) know(l *ledger, p place) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.at >= l.known.at {
		l.known = p
	}
}

func (s *Store) known(l *ledger) place {
	s.mu.Lock()
	defer s.mu.Unlock()
	return l.known
}

// find asks the server for the tip of a ledger. What the store knows of already
// is the least that it takes for an answer: a leader that leads no more is
// asked again.
func (s *Store) find(ctx context.Context, l *ledger, name string) (place, error) {
	least := s.known(l).at
	var p place
	err := s.retry(ctx, func(ctx context.Context) error {
		m, err := s.lastOf(ctx, s.names.ledgers, s.names.ledger+token(name))
		if err != nil {
			return err
		}
		if m.last() < least {
			return fmt.Errorf("message %d of the stream was acknowledged, and the server shows %d as the last one of the ledger", least, m.last())
		}
		if p, err = placeOf(m); err != nil {
			return &permanent{&storage.DamagedError{Name: name, Seq: max(m.head.b, s.known(l).tip.Seq+1), Cause: err}}
		}
		return nil
	})
	if err != nil {
		return place{}, err
	}
	s.know(l, p)
	return p, nil
}
