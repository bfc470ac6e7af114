package natsstore

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/nats-io/nats.go"

	"github.com/comity-dev/comity/storage"
)

// removedTTL is how long, in the header of the message, the server keeps the
// note that something is gone.
const removedTTL = "1m"

// removal returns the message that takes the place of m.
func removal(m *stored) *nats.Msg {
	msg := newMsg(m.subject, head{kind: kindRemoved}, m.seq, nil)
	msg.Header[rollupKey] = []string{"sub"}
	msg.Header[ttlKey] = []string{removedTTL}
	return msg
}

// swap stores msg in the place of what is expected: the last message of its
// subject. It returns errWrongLast when another one was there, or is now
// without being msg.
func (s *Store) swap(ctx context.Context, stream string, msg *nats.Msg) result {
	r := s.send(ctx, stream, msg)
	if !r.open || !errors.Is(r.err, errWrongLast) {
		return r
	}
	m, err := s.lastOf(ctx, stream, msg.Subject)
	switch {
	case err != nil:
		return result{err: err, open: true}
	case m != nil && m.id == msg.Header.Get(idKey):
		return result{seq: m.seq}
	}
	return r // it may have been there and be gone again
}

type rows struct{ s *Store }

func (v rows) Get(ctx context.Context, key string) ([]byte, uint64, error) {
	if err := v.s.enter(ctx, key); err != nil {
		return nil, 0, err
	}
	ctx, stop := v.s.reading(ctx)
	defer stop()
	ctx, cancel := v.s.limit(ctx)
	defer cancel()
	m, err := v.s.lastOf(ctx, v.s.names.rows, v.s.names.row+token(key))
	switch {
	case err != nil:
		return nil, 0, fmt.Errorf("get row %s: %w", key, err)
	case !m.live():
		return nil, 0, &storage.NotFoundError{What: "row", Name: key}
	case m.bad != nil:
		return nil, 0, &storage.DamagedError{Name: key, Cause: m.bad}
	}
	return m.data, m.seq, nil
}

func (v rows) Put(ctx context.Context, key string, expected uint64, value []byte) (uint64, error) {
	s := v.s
	if err := storage.CheckName(key); err != nil {
		return 0, err
	}
	if len(value) > maxValueBytes {
		return 0, &storage.TooLargeError{What: "value", Size: int64(len(value)), Max: maxValueBytes}
	}
	return s.setRow(ctx, "put", key, func(m *stored) (*nats.Msg, error) {
		if m.live() != (expected != 0) || m.live() && m.seq != expected {
			return nil, revisionError(key, expected, m)
		}
		return newMsg(s.names.row+token(key), head{kind: kindRow}, m.last(), value), nil
	})
}

func revisionError(key string, expected uint64, m *stored) error {
	e := &storage.RevisionError{Key: key, Expected: expected}
	if m.live() {
		e.Revision = m.seq
	}
	return e
}

// setRow writes the message that next makes from what is there, nil for none,
// as soon as that was still there when the message came to the server.
func (s *Store) setRow(ctx context.Context, op, key string, next func(*stored) (*nats.Msg, error)) (uint64, error) {
	done, err := s.begin(ctx, key)
	if err != nil {
		return 0, err
	}
	defer done()
	ctx, cancel := s.limit(ctx)
	defer cancel()
	for {
		m, err := s.lastOf(ctx, s.names.rows, s.names.row+token(key))
		if err != nil {
			return 0, fmt.Errorf("%s row %s: %w", op, key, err)
		}
		msg, err := next(m)
		if err != nil || msg == nil {
			return 0, err
		}
		r := s.swap(ctx, s.names.rows, msg)
		switch {
		case r.err == nil:
			return r.seq, nil
		case !errors.Is(r.err, errWrongLast) || r.open:
			return 0, r.failure(op+" row", key)
		}
	}
}

func (v rows) Delete(ctx context.Context, key string, expected uint64) error {
	_, err := v.s.setRow(ctx, "delete", key, func(m *stored) (*nats.Msg, error) {
		switch {
		case !m.live():
			return nil, nil
		case expected != 0 && m.seq != expected:
			return nil, revisionError(key, expected, m)
		}
		return removal(m), nil
	})
	return err
}

func (v rows) Keys(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return v.s.list(ctx, v.s.names.rows, v.s.names.row, ">", prefix)
}
