package seglog

import (
	"bytes"
	"fmt"
	"iter"
)

// A Record is one record of the log.
type Record struct {
	Index uint64
	// Data must not be changed. That of Read belongs to the caller; that of From
	// is valid until the next step of the iteration.
	Data []byte
}

const (
	readChunk   = 256 << 10
	lookupChunk = placeStride + 8<<10
)

// Read returns the record of an index. The error wraps ErrNotFound when there
// is none, and ErrDamaged when it was lost. The data belongs to the caller.
func (s *store) Read(index uint64) (Record, error) {
	if index == 0 || index > s.End() {
		return Record{}, fmt.Errorf("read record %d: %w", index, ErrNotFound)
	}
	sp, err := s.span(index)
	if err != nil {
		return Record{}, fmt.Errorf("read record %d: %w", index, err)
	}
	if sp == nil {
		return Record{}, s.missing(index)
	}
	defer sp.file.release()
	w := s.walk(sp, index, lookupChunk)
	if b, ok := s.bufs.Get().(*[]byte); ok {
		w.buf = (*b)[:0]
	}
	defer func() { b := w.buf; s.bufs.Put(&b) }()
	for {
		ok, err := w.next()
		if err != nil {
			return Record{}, fmt.Errorf("read record %d: %w", index, err)
		}
		if ok && w.frame.mark() {
			continue
		}
		if ok && w.frame.index == index {
			return Record{index, bytes.Clone(w.body)}, nil
		}
		if !ok || w.frame.index > index {
			if !ok {
				w.settle(sp.last, sp.limit)
			}
			return Record{}, s.missing(index)
		}
	}
}

func (s *store) missing(index uint64) error {
	if s.damaged(index) {
		return fmt.Errorf("read record %d: %w", index, ErrDamaged)
	}
	return fmt.Errorf("read record %d: %w", index, ErrNotFound)
}

// From returns the records from index on, in order, up to the durable end as it
// is when the iteration starts. It never blocks appending. Records that were
// dropped are left out, and so are damaged ones: those Damage lists then. The
// one error, with which it ends, is one of reading the files, or ErrClosed.
func (s *store) From(index uint64) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		end := s.End()
		for next := max(index, 1); next <= end; {
			sp, err := s.span(next)
			if err != nil {
				yield(Record{}, fmt.Errorf("read from record %d: %w", next, err))
				return
			}
			if sp == nil || !s.readSpan(sp, next, end, yield) {
				return
			}
			next = sp.last + 1
		}
	}
}

// readSpan yields the records of sp from next to end. It reports false when
// the iteration is over.
func (s *store) readSpan(sp *span, next, end uint64, yield func(Record, error) bool) bool {
	defer sp.file.release()
	w := s.walk(sp, next, readChunk)
	for {
		ok, err := w.next()
		if err != nil {
			yield(Record{}, fmt.Errorf("read segment %s: %w", sp.name, err))
			return false
		}
		if !ok {
			w.settle(sp.last, sp.limit)
			return true
		}
		f := &w.frame
		if f.mark() || f.index < next {
			continue
		}
		if f.index > end || !yield(Record{f.index, w.body}, nil) {
			return false
		}
	}
}

// Verify reads the whole log and returns all damage known, in Damage's form.
func (s *store) Verify() ([]Damage, error) {
	for _, err := range s.From(1) {
		if err != nil {
			return s.Damage(), err
		}
	}
	return s.Damage(), nil
}
