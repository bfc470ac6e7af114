package filestore

import "context"

// A garbage is about what Compact would drop. It says when the store is to be
// compacted, and nothing else depends on it: how long the records are that were
// there before the store was opened is told from their average alone.
type garbage struct {
	log     int64 // bytes of the records in the log
	dead    int64 // bytes of those that are of no use any more
	average int64 // bytes of a record, when the store was opened
	due     int64 // if so much of it is dead, and half of the log, compact
}

const compactAfterBytes = 64 << 20

// surveyLocked begins the account: of records in a log of so many bytes, those
// that the index names are of use.
func (s *Store) surveyLocked(records uint64, bytes int64) {
	g := &s.garbage
	*g = garbage{log: bytes, average: bytes / int64(max(records, 1)), due: s.o.CompactAfter}
	used := uint64(0)
	for _, l := range s.ledgers {
		used += l.tip
		l.bytes = int64(l.tip) * g.average
	}
	for _, r := range s.rows {
		used++
		r.bytes = g.average
	}
	if records > used {
		g.dead = int64(records-used) * g.average
	}
}

// wasteLocked notes that so many bytes of the log are of no use any more.
func (s *Store) wasteLocked(bytes int64) {
	s.garbage.dead += bytes
	s.askCompactLocked()
}

func (s *Store) askCompactLocked() {
	g := &s.garbage
	if s.o.CompactAfter < 0 || g.dead < g.due || g.dead < g.log/2 {
		return
	}
	select {
	case s.full <- struct{}{}:
	default:
	}
}

// clean compacts the store by itself. When that fails, on a full disk for
// instance, it is tried again after as much garbage as ever.
func (s *Store) clean() {
	s.mu.Lock()
	again := s.garbage.dead >= s.garbage.due
	s.mu.Unlock()
	if !again { // somebody called Compact meanwhile
		return
	}
	err := s.compact(context.Background())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.garbage.due = s.o.CompactAfter
	if err != nil {
		s.garbage.due += s.garbage.dead
	}
}

// droppedLocked settles the account after Compact: what was dead when it began
// is gone, and so many bytes.
func (s *Store) droppedLocked(dead, bytes int64) {
	g := &s.garbage
	g.dead = max(0, g.dead-dead)
	g.log = max(0, g.log-bytes)
}
