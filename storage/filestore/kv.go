package filestore

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"strings"

	"github.com/comity-dev/comity/internal/seglog"
	"github.com/comity-dev/comity/storage"
)

// A row is what is known of a key: where its value lies, or only that somebody
// writes it.
type row struct {
	slot
	revision uint64 // 0: there is none
	index    uint64 // in the log
	bytes    int64  // of its record, see garbage
}

func (s *Store) rowLocked(key string) *row {
	r := s.rows[key]
	if r == nil {
		r = new(row)
		s.rows[key] = r
	}
	return r
}

func (s *Store) tidyRowLocked(key string) {
	if r := s.rows[key]; r != nil && r.revision == 0 && !r.busy {
		delete(s.rows, key)
	}
}

type rows struct{ s *Store }

func (v rows) Get(ctx context.Context, key string) ([]byte, uint64, error) {
	for {
		if err := v.s.enter(ctx, key); err != nil {
			return nil, 0, err
		}
		var r row
		if p := v.s.rows[key]; p != nil {
			r.revision, r.index = p.revision, p.index
		}
		v.s.mu.Unlock()
		if r.revision == 0 {
			return nil, 0, &storage.NotFoundError{What: "row", Name: key}
		}
		value, err := v.s.value(key, &r)
		if err == nil {
			return value, r.revision, nil
		}
		var damaged *storage.DamagedError
		if !errors.As(err, &damaged) || v.s.isRow(key, r.revision) {
			return nil, 0, err
		} // else it was written meanwhile, and Compact was quick
	}
}

func (s *Store) isRow(key string, revision uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.rows[key]
	return r != nil && r.revision == revision
}

// value reads the value of a row from the log.
func (s *Store) value(key string, r *row) ([]byte, error) {
	rec, err := s.reader.Read(r.index)
	if errors.Is(err, seglog.ErrDamaged) || errors.Is(err, seglog.ErrNotFound) {
		return nil, &storage.DamagedError{Name: key, Cause: err}
	}
	if err != nil {
		return nil, translate(err)
	}
	h, data, err := parse(rec.Data, false)
	if err != nil {
		return nil, err
	}
	if h.kind != kindRow || h.life != r.revision || h.tag != tagOf(familyRow, key) {
		return nil, &storage.DamagedError{Name: key}
	}
	return bytes.Clone(data), nil
}

func (v rows) Put(ctx context.Context, key string, expected uint64, value []byte) (uint64, error) {
	if err := storage.CheckName(key); err != nil {
		return 0, err
	}
	if len(value) > maxValueBytes {
		return 0, &storage.TooLargeError{What: "value", Size: int64(len(value)), Max: maxValueBytes}
	}
	var revision uint64
	err := v.s.writeRow(ctx, "put row", key, func(r *row) (*header, error) {
		if r.revision != expected {
			return nil, &storage.RevisionError{Key: key, Expected: expected, Revision: r.revision}
		}
		revision = v.s.numberLocked()
		return &header{kind: kindRow, life: revision}, nil
	}, value)
	if err != nil {
		return 0, err
	}
	return revision, nil
}

func (v rows) Delete(ctx context.Context, key string, expected uint64) error {
	return v.s.writeRow(ctx, "delete row", key, func(r *row) (*header, error) {
		switch {
		case r.revision == 0:
			return nil, nil
		case expected != 0 && r.revision != expected:
			return nil, &storage.RevisionError{Key: key, Expected: expected, Revision: r.revision}
		}
		return &header{kind: kindRowEnd, life: v.s.numberLocked()}, nil
	}, nil)
}

// writeRow writes what plan, called under the lock, says: nothing if it returns
// nil.
func (s *Store) writeRow(ctx context.Context, op, key string, plan func(*row) (*header, error), value []byte) error {
	if err := s.enter(ctx, key); err != nil {
		return err
	}
	var r *row
	if err := s.takeLocked(ctx, key, func() *slot { r = s.rowLocked(key); return &r.slot }); err != nil {
		return err
	}
	h, err := plan(r)
	if err == nil {
		err = s.doubtLocked("row "+key, r.index)
	}
	if err == nil {
		err = s.broken(op, key)
	}
	if err == nil && h != nil {
		h.tag, h.name, h.counter = tagOf(familyRow, key), key, s.counter
		s.mu.Unlock()
		rec := append(h.append(nil, s.seed), value...)
		var index uint64
		index, err = s.write(ctx, op, key, h.kind == kindRowEnd, rec)
		s.mu.Lock()
		if err == nil {
			r.applyLocked(h, index)
			s.countLocked(1, len(rec))
			s.replacedLocked(r, h, int64(len(rec)))
		}
	}
	s.giveLocked(&r.slot)
	s.tidyRowLocked(key)
	s.mu.Unlock()
	return err
}

// replacedLocked notes that the value before is of no use any more, and the end of
// a row neither.
func (s *Store) replacedLocked(r *row, h *header, bytes int64) {
	dead := r.bytes
	if r.bytes = bytes; h.kind == kindRowEnd {
		dead, r.bytes = dead+bytes, 0
	}
	s.wasteLocked(dead)
}

// applyLocked takes over a row or its end, unless it knows a later one.
func (r *row) applyLocked(h *header, index uint64) {
	if h.life <= r.revision {
		return
	}
	r.revision, r.index = h.life, index
	if h.kind == kindRowEnd {
		r.revision, r.index = 0, 0
	}
}

func (v rows) Keys(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return v.s.names(ctx, func(yield func(string) bool) {
		for key, r := range v.s.rows {
			if r.revision != 0 && strings.HasPrefix(key, prefix) && !yield(key) {
				return
			}
		}
	})
}
