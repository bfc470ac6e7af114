package natsstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/comity-dev/comity/storage"
)

// expiryLag is how much later than the time to live of a message the server may
// remove it.
const expiryLag = 3 * time.Second

// A lease is a grant that this store has made.
type lease struct {
	s     *Store
	name  string
	epoch uint64
	lost  chan struct{}
	halt  context.CancelFunc // ends the renewals
	ended chan struct{}      // closed when they have ended

	mu       sync.Mutex // held by the one who writes
	stalled  bool       // for tests: it hangs
	at       uint64     // the last message of the grant
	released bool

	once sync.Once // closes lost
}

func (l *lease) Name() string          { return l.name }
func (l *lease) Epoch() uint64         { return l.epoch }
func (l *lease) Lost() <-chan struct{} { return l.lost }

func (l *lease) lose() {
	l.once.Do(func() { close(l.lost) })
	l.s.mu.Lock()
	delete(l.s.leases, l)
	l.s.mu.Unlock()
}

// holder returns the epoch of the grant that a message is of, 0 for none.
func holder(m *stored) (uint64, error) {
	switch {
	case !m.live():
		return 0, nil
	case m.bad != nil:
		return 0, m.bad
	case m.head.kind != kindGrant:
		return 0, fmt.Errorf("message %d is a %q, not a grant", m.seq, m.head.kind)
	case m.head.a == 0:
		return m.seq, nil
	}
	return m.head.a, nil
}

// grantMsg returns a message that makes or renews a grant. What it tells besides
// is for people who look at the bucket.
func (s *Store) grantMsg(name string, epoch, expected uint64, reason string) *nats.Msg {
	data, _ := json.Marshal(struct { // strings: no error is possible
		Client string `json:"client"`
		Reason string `json:"takeover,omitempty"`
	}{s.nc.Opts.Name, reason})
	msg := newMsg(s.names.lease+token(name), head{kind: kindGrant, a: epoch}, expected, data)
	msg.Header[ttlKey] = []string{strconv.Itoa(int(s.o.LeaseTTL / time.Second))}
	return msg
}

type leases struct{ s *Store }

func (v leases) Acquire(ctx context.Context, name string) (storage.Lease, error) {
	return v.grant(ctx, "acquire", name, storage.Proof{})
}

func (v leases) Takeover(ctx context.Context, name string, proof storage.Proof) (storage.Lease, error) {
	if err := storage.CheckName(name); err != nil {
		return nil, err
	}
	if err := proof.Check(); err != nil {
		return nil, err
	}
	return v.grant(ctx, "take over", name, proof)
}

// grant makes a grant if there is none but the one that proof names.
func (v leases) grant(ctx context.Context, op, name string, proof storage.Proof) (storage.Lease, error) {
	s := v.s
	done, err := s.begin(ctx, name)
	if err != nil {
		return nil, err
	}
	defer done()
	ctx, cancel := s.limit(ctx)
	defer cancel()
	for {
		m, epoch, err := s.holder(ctx, name)
		if err != nil {
			return nil, fmt.Errorf("%s lease %s: %w", op, name, err)
		}
		if epoch != 0 && epoch != proof.Epoch {
			return nil, &storage.HeldError{Name: name, Epoch: epoch}
		}
		asked := time.Now()
		r := s.swap(ctx, s.names.leases, s.grantMsg(name, 0, m.last(), proof.Reason))
		switch {
		case r.err == nil:
			return s.hold(name, r.seq, asked), nil
		case !errors.Is(r.err, errWrongLast):
			return nil, r.failure(op, name)
		}
		// If a grant was made that nobody knows of, another one has its place now.
	}
}

func (s *Store) holder(ctx context.Context, name string) (*stored, uint64, error) {
	m, err := s.lastOf(ctx, s.names.leases, s.names.lease+token(name))
	if err != nil {
		return nil, 0, err
	}
	epoch, err := holder(m)
	if err != nil {
		return nil, 0, fmt.Errorf("its grant is damaged: %w", err)
	}
	return m, epoch, nil
}

// hold begins the renewals of a grant that was asked for at some time.
func (s *Store) hold(name string, epoch uint64, asked time.Time) *lease {
	l := &lease{s: s, name: name, epoch: epoch, at: epoch, lost: make(chan struct{}), ended: make(chan struct{})}
	ctx, halt := context.WithCancel(s.ctx)
	l.halt = halt
	s.mu.Lock()
	s.leases[l] = true // Close waits for this write, and finds it
	s.wg.Add(1)
	s.mu.Unlock()
	go func() {
		defer s.wg.Done()
		defer close(l.ended)
		l.renew(ctx, asked)
	}()
	return l
}

// renew renews the grant until ctx ends, or it is lost: taken over, or not
// renewed in time. The server counts the time to live from a moment after
// the holder has asked.
func (l *lease) renew(ctx context.Context, asked time.Time) {
	ttl := l.s.o.LeaseTTL
	for {
		until := asked.Add(ttl * 9 / 10)
		if pause(ctx, time.Until(asked.Add(ttl/3))); ctx.Err() != nil {
			return
		}
		rctx, cancel := context.WithDeadline(ctx, until)
		asked = time.Now()
		held := l.renewOnce(rctx)
		cancel()
		if ctx.Err() != nil {
			return
		}
		if !held || time.Now().After(until) {
			l.lose()
			return
		}
	}
}

// renewOnce reports whether the grant was renewed, and tries until ctx ends.
func (l *lease) renewOnce(ctx context.Context) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for ctx.Err() == nil {
		if l.stalled {
			<-ctx.Done()
			return false
		}
		r := l.s.swap(ctx, l.s.names.leases, l.s.grantMsg(l.name, l.epoch, l.at, ""))
		if r.err == nil {
			l.at = r.seq
			return true
		}
		m, epoch, err := l.s.holder(ctx, l.name)
		switch {
		case err != nil:
			pause(ctx, 10*time.Millisecond)
		case epoch != l.epoch:
			return false
		default:
			l.at = m.seq
			if !errors.Is(r.err, errWrongLast) { // it was refused, as by a server that is full
				pause(ctx, 100*time.Millisecond)
			}
		}
	}
	return false
}

// stall has the holder hang, for tests.
func (l *lease) stall() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stalled = true
}

func (l *lease) Release(ctx context.Context) error {
	if l.s.ctx.Err() != nil { // Close has done it, or could not
		<-l.ended
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.released {
			return nil
		}
		return fmt.Errorf("release lease %s: %w; it ends by its expiry", l.name, storage.ErrClosed)
	}
	return l.release(ctx)
}

// release ends the grant, by whoever asks first.
func (l *lease) release(ctx context.Context) error {
	l.halt()
	<-l.ended
	l.lose()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.released {
		return nil
	}
	ctx, cancel := l.s.limit(ctx)
	defer cancel()
	for open := false; ; {
		m, epoch, err := l.s.holder(ctx, l.name)
		if err == nil && epoch != l.epoch {
			l.released = true
			return nil
		}
		r := result{err: err}
		if err == nil {
			r = l.s.swap(ctx, l.s.names.leases, removal(m))
		}
		open = open || r.open
		switch {
		case r.err == nil:
			l.released = true
			return nil
		case !errors.Is(r.err, errWrongLast):
			return result{err: r.err, open: open}.failure("release lease", l.name)
		}
	}
}

func (v leases) Holder(ctx context.Context, name string) (uint64, error) {
	if err := v.s.enter(ctx, name); err != nil {
		return 0, err
	}
	ctx, stop := v.s.reading(ctx)
	defer stop()
	ctx, cancel := v.s.limit(ctx)
	defer cancel()
	_, epoch, err := v.s.holder(ctx, name)
	if err != nil {
		return 0, fmt.Errorf("holder of lease %s: %w", name, err)
	}
	return epoch, nil
}
