package filestore

import (
	"context"
	"errors"
	"fmt"

	"github.com/comity-dev/comity/internal/seglog"
	"github.com/comity-dev/comity/storage"
)

// A slot is the right to write one ledger, name of a grant, or row: one at
// a time has it.
type slot struct {
	busy bool
	free chan struct{} // closed when it becomes free; nil when nobody waits
	from uint64        // the end of the log when it was taken: what is written lies behind it
}

// takeLocked takes the slot that find returns, once it is free. find is asked
// again after each wait, since what it found may be gone. s.mu is held before
// and after, unless the error is not nil.
func (s *Store) takeLocked(ctx context.Context, name string, find func() *slot) error {
	if s.log == nil {
		s.mu.Unlock()
		return &storage.ReadOnlyError{Reason: "it was opened for reading"}
	}
	for {
		sl := find()
		if !sl.busy {
			sl.busy, sl.from = true, s.log.End()
			s.slots[sl] = true
			s.writes.Add(1)
			return nil
		}
		if sl.free == nil {
			sl.free = make(chan struct{})
		}
		free := sl.free
		s.mu.Unlock()
		select {
		case <-free:
		case <-ctx.Done():
		}
		if err := s.lock(ctx); err != nil {
			return err
		}
	}
}

func (s *Store) giveLocked(sl *slot) {
	sl.busy = false
	delete(s.slots, sl)
	if sl.free != nil {
		close(sl.free)
		sl.free = nil
	}
	s.writes.Done()
}

// doubtLocked returns why what was last written at index must not be written
// now; 0 stands for what seems never to have been written.
func (s *Store) doubtLocked(name string, index uint64) error {
	if index >= s.doubt {
		return nil
	}
	return &storage.ReadOnlyError{Name: name, Reason: "its last records may have been in a damaged place of the log; verify the store to see what is lost and to write on"}
}

// numberLocked gives out the next number.
func (s *Store) numberLocked() uint64 {
	s.counter++
	return s.counter
}

// broken returns why nothing can be written any more. What has nothing to write
// asks too: that there is nothing is not certain while the outcome of an earlier
// write is open.
func (s *Store) broken(op, name string) error {
	if err := s.log.Err(); err != nil {
		return fmt.Errorf("%s %s: %w: %w", op, name, storage.ErrBroken, err)
	}
	return nil
}

// write appends to the log. s.mu is not held, the slot is.
func (s *Store) write(ctx context.Context, op, name string, reserve bool, recs ...[]byte) (first uint64, err error) {
	if err := s.broken(op, name); err != nil {
		return 0, err
	}
	if reserve {
		first, err = s.log.AppendReserve(ctx, recs...)
	} else {
		first, err = s.log.Append(ctx, recs...)
	}
	switch {
	case err == nil:
		return first, nil
	case errors.Is(err, seglog.ErrPoisoned):
		return 0, &storage.AmbiguousError{Op: op, Name: name, Cause: err}
	}
	return 0, fmt.Errorf("%s %s: %w", op, name, translate(err))
}

// A backlog is what was written since the index was.
type backlog struct {
	records int
	bytes   int64
	marks   int // bytes of marks in the index, as it was written last
}

const indexAfterBytes = 64 << 20

// countLocked notes what was written, and has the index written when it is due:
// it costs as much as it has marks, and so it comes the less often the more it
// has.
func (s *Store) countLocked(records int, bytes int) {
	b := &s.since
	b.records += records
	b.bytes += int64(bytes)
	s.garbage.log += int64(bytes)
	if s.o.IndexAfter < 0 || b.records < max(s.o.IndexAfter, b.marks/32) && b.bytes < max(indexAfterBytes, int64(b.marks)) {
		return
	}
	select {
	case s.due <- struct{}{}:
	default:
	}
}

// maintain writes the index and compacts the log when that is due, until the store
// is closed.
func (s *Store) maintain() {
	for {
		select {
		case <-s.ended:
			return
		case <-s.due:
			s.saveIndex(false) // the next one comes; opening can do without
		case <-s.full:
			s.clean()
		}
	}
}
