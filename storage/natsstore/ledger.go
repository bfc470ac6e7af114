package natsstore

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/nats-io/nats.go"

	"github.com/comity-dev/comity/storage"
)

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
				return place{}, doubt("append", name, failed(err))
			}
			if first != nil {
				next.at = first.seq + uint64(len(msgs)-1)
				return next, nil
			}
		case errors.Is(r.err, errWrongLast):
		case r.open:
			return place{}, doubt("append", name, failed(r.err))
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
	var first *place
	for {
		p, err := s.find(ctx, l, name)
		switch {
		case errors.As(err, new(*storage.DamagedError)):
			p, err = s.lastPlace(ctx, name) // which life it is can be told no more
		case err != nil:
		case p.tip.Seq == 0, first != nil && p.tip.Gen != first.tip.Gen:
			return nil // the life that was to end has ended
		case first == nil:
			first = &p
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

// lastPlace returns where the last message of a ledger lies, as far as it can be told
// although it is damaged.
func (s *Store) lastPlace(ctx context.Context, name string) (place, error) {
	m, err := s.lastOf(ctx, s.names.ledgers, s.names.ledger+token(name))
	if err != nil || m == nil {
		return place{}, err
	}
	return place{storage.Tip{Gen: m.head.a, Seq: m.head.b}, m.seq}, nil
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
