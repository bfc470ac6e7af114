package natsstore

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/nats-io/nats.go"

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
			return &permanent{&storage.DamagedError{Name: name, Seq: m.head.b, Cause: err}}
		}
		return nil
	})
	if err != nil {
		return place{}, err
	}
	s.know(l, p)
	return p, nil
}

type ledgers struct{ s *Store }

func (v ledgers) Append(ctx context.Context, name string, expected storage.Tip, recs ...[]byte) (storage.Tip, error) {
	s := v.s
	if err := s.checkBatch(name, recs); err != nil {
		return storage.Tip{}, err
	}
	done, err := s.begin(ctx, name)
	if err != nil {
		return storage.Tip{}, err
	}
	defer done()
	ctx, cancel := s.limit(ctx)
	defer cancel()
	l := s.use(name)
	defer s.leave(l)
	if err := s.take(ctx, l); err != nil {
		return storage.Tip{}, fmt.Errorf("append to ledger %s behind record %d: %w", name, expected.Seq, err)
	}
	defer func() { <-l.busy }()
	p, err := s.append(ctx, l, name, expected, recs)
	if err != nil {
		return storage.Tip{}, err
	}
	return p.tip, nil
}

func (s *Store) checkBatch(name string, recs [][]byte) error {
	if err := storage.CheckName(name); err != nil {
		return err
	}
	bytes := 0
	for _, r := range recs {
		if len(r) > s.record {
			return &storage.TooLargeError{What: "record", Size: int64(len(r)), Max: int64(s.record)}
		}
		bytes += len(r)
	}
	return storage.CheckBatch(len(recs), bytes, maxBatchRecords, maxBatchBytes)
}

// append stores recs behind the expected tip. Refusals that do not tell whether
// the tip is another one lead to another round.
func (s *Store) append(ctx context.Context, l *ledger, name string, expected storage.Tip, recs [][]byte) (place, error) {
	failed := func(err error) error {
		return fmt.Errorf("append to ledger %s behind record %d: %w", name, expected.Seq, err)
	}
	p := s.known(l)
	for asked := false; ; asked = true {
		if asked || p.tip != expected || p.at == 0 {
			var err error
			if p, err = s.find(ctx, l, name); err != nil {
				return place{}, failed(err)
			}
		}
		if p.tip != expected {
			return place{}, &storage.ConflictError{Name: name, Expected: expected, Tip: p.tip}
		}
		msgs := s.records(name, p, recs)
		r := s.send(ctx, s.names.ledgers, msgs...)
		next := place{storage.Tip{Gen: expected.Gen, Seq: expected.Seq + uint64(len(recs))}, r.seq}
		switch {
		case r.err == nil:
			s.know(l, next)
			return next, nil
		case errors.Is(r.err, errWrongLast) && r.open:
			first, err := s.settle(ctx, name, p, msgs[0].Header.Get(idKey))
			if err != nil {
				return place{}, &storage.AmbiguousError{Op: "append", Name: name, Cause: failed(err)}
			}
			if first != nil {
				next.at = first.seq + uint64(len(msgs)-1)
				return next, nil
			}
		case errors.Is(r.err, errWrongLast):
		case r.open:
			return place{}, &storage.AmbiguousError{Op: "append", Name: name, Cause: failed(r.err)}
		default:
			return place{}, failed(r.err)
		}
	}
}

// settle finds out about an append behind p that was refused after an attempt
// of it was not answered: it returns its first message if it is there, nil if
// it never will be because another one has its place.
func (s *Store) settle(ctx context.Context, name string, p place, id string) (*stored, error) {
	m, err := s.nextOf(ctx, s.names.ledgers, s.names.ledger+token(name), p.at+1)
	switch {
	case err != nil:
		return nil, err
	case m != nil && m.id == id:
		return m, nil
	case m != nil && m.bad == nil && m.head.a == p.tip.Gen && m.first == p.tip.Seq+1:
		return nil, nil
	}
	return nil, errors.New("the place is not to be found: the ledger was deleted, or the message in it is damaged")
}

func (v ledgers) Tip(ctx context.Context, name string) (storage.Tip, error) {
	if err := v.s.enter(ctx, name); err != nil {
		return storage.Tip{}, err
	}
	ctx, stop := v.s.reading(ctx)
	defer stop()
	ctx, cancel := v.s.limit(ctx)
	defer cancel()
	l := v.s.use(name)
	defer v.s.leave(l)
	p, err := v.s.find(ctx, l, name)
	if err != nil {
		return storage.Tip{}, fmt.Errorf("tip of ledger %s: %w", name, err)
	}
	return p.tip, nil
}

func (v ledgers) Delete(ctx context.Context, name string) error {
	s := v.s
	done, err := s.begin(ctx, name)
	if err != nil {
		return err
	}
	defer done()
	ctx, cancel := s.limit(ctx)
	defer cancel()
	l := s.use(name)
	defer s.leave(l)
	if err := s.take(ctx, l); err != nil {
		return fmt.Errorf("delete ledger %s: %w", name, err)
	}
	defer func() { <-l.busy }()
	open := false
	for {
		p, err := s.find(ctx, l, name)
		if err == nil && p.tip.Seq == 0 {
			return nil
		}
		r := result{err: err, open: open}
		if err == nil {
			r = s.send(ctx, s.names.ledgers, s.endOf(name, p))
		}
		open = open || r.open
		switch {
		case r.err == nil:
			s.know(l, place{storage.Tip{Gen: r.seq}, r.seq})
			return nil
		case !errors.Is(r.err, errWrongLast):
			return result{err: r.err, open: open}.failure("delete", name)
		}
	}
}

// endOf returns the message that ends the life of a ledger and takes all other
// messages of its subject with it.
func (s *Store) endOf(name string, p place) *nats.Msg {
	m := newMsg(s.names.ledger+token(name), head{kindEnd, p.tip.Gen, p.tip.Seq}, p.at, nil)
	m.Header[rollupKey] = []string{"sub"}
	return m
}

func (v ledgers) Names(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return v.s.list(ctx, v.s.names.ledgers, v.s.names.ledger, "*", prefix)
}

// list yields the names of the subjects below base that are live and begin with
// prefix. The name is the first token behind base.
func (s *Store) list(ctx context.Context, stream, base, filter, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		if err := s.over(ctx); err != nil {
			yield("", err)
			return
		}
		ctx, stop := s.reading(ctx)
		defer stop()
		lctx, cancel := s.limit(ctx)
		live, err := s.subjects(lctx, stream, base+filter)
		cancel()
		if err != nil {
			yield("", fmt.Errorf("list what begins with %.80q: %w", prefix, err))
			return
		}
		for _, name := range namesIn(live, base, prefix) {
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

func namesIn(live map[string]*stored, base, prefix string) []string {
	names := make([]string, 0, len(live))
	for subject := range live {
		first, _, _ := strings.Cut(strings.TrimPrefix(subject, base), ".")
		if name := untoken(first); strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
