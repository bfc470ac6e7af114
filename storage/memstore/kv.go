package memstore

import (
	"bytes"
	"context"
	"iter"

	"github.com/comity-dev/comity/storage"
)

type row struct {
	value    []byte
	revision uint64
}

type rows struct{ s *Store }

func (v rows) Get(ctx context.Context, key string) ([]byte, uint64, error) {
	if err := v.s.enter(ctx, key); err != nil {
		return nil, 0, err
	}
	defer v.s.mu.Unlock()
	r, ok := v.s.rows[key]
	if !ok {
		return nil, 0, &storage.NotFoundError{What: "row", Name: key}
	}
	return bytes.Clone(r.value), r.revision, nil
}

func (v rows) Put(ctx context.Context, key string, expected uint64, value []byte) (uint64, error) {
	if err := storage.CheckName(key); err != nil {
		return 0, err
	}
	if len(value) > maxValueBytes {
		return 0, &storage.TooLargeError{What: "value", Size: int64(len(value)), Max: maxValueBytes}
	}
	if err := v.s.lock(ctx); err != nil {
		return 0, err
	}
	defer v.s.mu.Unlock()
	if r := v.s.rows[key]; r.revision != expected {
		return 0, &storage.RevisionError{Key: key, Expected: expected, Revision: r.revision}
	}
	r := row{append([]byte{}, value...), v.s.nextLocked()}
	v.s.rows[key] = r
	return r.revision, nil
}

func (v rows) Delete(ctx context.Context, key string, expected uint64) error {
	if err := v.s.enter(ctx, key); err != nil {
		return err
	}
	defer v.s.mu.Unlock()
	r, ok := v.s.rows[key]
	if ok && expected != 0 && r.revision != expected {
		return &storage.RevisionError{Key: key, Expected: expected, Revision: r.revision}
	}
	delete(v.s.rows, key)
	return nil
}

func (v rows) Keys(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return v.s.names(ctx, func() []string {
		return sorted(v.s.rows, prefix, func(row) bool { return true })
	})
}
