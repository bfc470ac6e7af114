package memstore

import (
	"context"

	"github.com/comity-dev/comity/storage"
)

type lease struct {
	s     *Store
	name  string
	epoch uint64
	lost  chan struct{}
}

func (l *lease) Name() string          { return l.name }
func (l *lease) Epoch() uint64         { return l.epoch }
func (l *lease) Lost() <-chan struct{} { return l.lost }

func (l *lease) Release(context.Context) error {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	if l.s.leases[l.name] == l {
		l.s.endLocked(l.name)
	}
	return nil
}

func (s *Store) endLocked(name string) {
	close(s.leases[name].lost)
	delete(s.leases, name)
}

func (s *Store) grantLocked(name string) *lease {
	l := &lease{s, name, s.nextLocked(), make(chan struct{})}
	s.leases[name] = l
	return l
}

type leases struct{ s *Store }

func (v leases) Acquire(ctx context.Context, name string) (storage.Lease, error) {
	if err := v.s.enter(ctx, name); err != nil {
		return nil, err
	}
	defer v.s.mu.Unlock()
	if l := v.s.leases[name]; l != nil {
		return nil, &storage.HeldError{Name: name, Epoch: l.epoch}
	}
	return v.s.grantLocked(name), nil
}

func (v leases) Takeover(ctx context.Context, name string, proof storage.Proof) (storage.Lease, error) {
	if err := storage.CheckName(name); err != nil {
		return nil, err
	}
	if err := proof.Check(); err != nil {
		return nil, err
	}
	if err := v.s.lock(ctx); err != nil {
		return nil, err
	}
	defer v.s.mu.Unlock()
	if l := v.s.leases[name]; l != nil {
		if l.epoch != proof.Epoch {
			return nil, &storage.HeldError{Name: name, Epoch: l.epoch}
		}
		v.s.endLocked(name)
	}
	return v.s.grantLocked(name), nil
}

func (v leases) Holder(ctx context.Context, name string) (uint64, error) {
	if err := v.s.enter(ctx, name); err != nil {
		return 0, err
	}
	defer v.s.mu.Unlock()
	if l := v.s.leases[name]; l != nil {
		return l.epoch, nil
	}
	return 0, nil
}
