package filestore

import (
	"context"

	"github.com/comity-dev/comity/storage"
)

// A grant is a name that is held, or about to be.
type grant struct {
	slot
	holder *lease
}

type lease struct {
	s     *Store
	name  string
	epoch uint64
	lost  chan struct{}
}

func (l *lease) Name() string          { return l.name }
func (l *lease) Epoch() uint64         { return l.epoch }
func (l *lease) Lost() <-chan struct{} { return l.lost }

// Release needs no disk: a grant is held by memory alone.
func (l *lease) Release(context.Context) error {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	if g := l.s.grants[l.name]; g != nil && g.holder == l {
		g.endLocked()
		l.s.tidyGrantLocked(l.name)
	}
	return nil
}

func (g *grant) endLocked() {
	if g.holder != nil {
		close(g.holder.lost)
		g.holder = nil
	}
}

func (s *Store) tidyGrantLocked(name string) {
	if g := s.grants[name]; g != nil && g.holder == nil && !g.busy {
		delete(s.grants, name)
	}
}

type grants struct{ s *Store }

func (v grants) Acquire(ctx context.Context, name string) (storage.Lease, error) {
	return v.s.grant(ctx, "acquire", name, storage.Proof{})
}

func (v grants) Takeover(ctx context.Context, name string, proof storage.Proof) (storage.Lease, error) {
	if err := storage.CheckName(name); err != nil {
		return nil, err
	}
	if err := proof.Check(); err != nil {
		return nil, err
	}
	return v.s.grant(ctx, "take over", name, proof)
}

// grant grants name if nobody holds it but the one whom proof names, if it does.
// The epoch is durable before anybody has it; the old holder has lost before.
func (s *Store) grant(ctx context.Context, op, name string, proof storage.Proof) (storage.Lease, error) {
	if err := s.enter(ctx, name); err != nil {
		return nil, err
	}
	var g *grant
	find := func() *slot {
		if g = s.grants[name]; g == nil {
			g = new(grant)
			s.grants[name] = g
		}
		return &g.slot
	}
	if err := s.takeLocked(ctx, name, find); err != nil {
		return nil, err
	}
	l, err := s.grantLocked(ctx, op, g, name, proof)
	s.giveLocked(&g.slot)
	s.tidyGrantLocked(name)
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return l, nil
}

// grantLocked unlocks s.mu while it writes.
func (s *Store) grantLocked(ctx context.Context, op string, g *grant, name string, proof storage.Proof) (*lease, error) {
	if g.holder != nil && g.holder.epoch != proof.Epoch {
		return nil, &storage.HeldError{Name: name, Epoch: g.holder.epoch}
	}
	l := &lease{s, name, s.numberLocked(), make(chan struct{})}
	h := header{kind: kindGrant, tag: tagOf(familyGrant, name), life: l.epoch, counter: s.counter, name: name}
	s.mu.Unlock()
	rec := append(h.append(nil, s.seed), proof.Reason...)
	_, err := s.write(ctx, op, name, false, rec)
	s.mu.Lock()
	if err != nil {
		return nil, err
	}
	s.countLocked(1, len(rec))
	s.wasteLocked(int64(len(rec))) // a later Compact keeps the counter, and no grant
	g.endLocked()
	if s.closed {
		return nil, storage.ErrClosed
	}
	g.holder = l
	return l, nil
}

func (v grants) Holder(ctx context.Context, name string) (uint64, error) {
	if err := v.s.enter(ctx, name); err != nil {
		return 0, err
	}
	defer v.s.mu.Unlock()
	if v.s.log == nil {
		return 0, &storage.ReadOnlyError{Reason: "it was opened for reading; who holds a lease is known to the process that holds the store"}
	}
	if g := v.s.grants[name]; g != nil && g.holder != nil {
		return g.holder.epoch, nil
	}
	return 0, nil
}
