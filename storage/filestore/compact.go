package filestore

import (
	"context"

	"github.com/comity-dev/comity/internal/seglog"
	"github.com/comity-dev/comity/storage"
)

// Compact drops from the log what is of no use any more: the records of deleted
// ledgers, old values of rows, old grants. The store calls it by itself, see
// Options.CompactAfter; to call it earlier gives the space back at once. Reading and writing go on meanwhile.
// It returns how many records it dropped. It may use the reserve of a full
// disk. A crash, or the end of ctx or of the store, leaves part of it done; it can
// be called again at any time.
func (s *Store) Compact(ctx context.Context) (dropped uint64, err error) {
	if err := s.lock(ctx); err != nil {
		return 0, err
	}
	if s.log == nil || s.doubt != 0 {
		defer s.mu.Unlock()
		if s.log == nil {
			return 0, &storage.ReadOnlyError{Reason: "it was opened for reading"}
		}
		return 0, &storage.ReadOnlyError{Reason: "a place of the log is damaged, and it is not known whose records are lost; verify the store first"}
	}
	s.writes.Add(1)
	m := header{kind: kindMark, counter: s.counter}
	dead, bytes := s.garbage.dead, int64(0)
	s.mu.Unlock()
	defer s.writes.Done()

	// The counter must outlive the grants that are dropped.
	at, err := s.write(ctx, "compact", s.dir, true, m.append(nil, s.seed))
	if err != nil {
		return 0, err
	}
	s.saving.Lock()
	defer s.saving.Unlock()
	x, err := s.saveIndexLocked(false)
	if err != nil {
		return 0, translate(err)
	}
	p := newPass(x, at)
	err = s.log.Rewrite(func(rec seglog.Record) bool {
		if s.over(ctx) != nil || p.keep(rec) {
			return true
		}
		dropped++
		bytes += int64(len(rec.Data))
		return false
	})
	if err == nil {
		err = s.over(ctx)
	}
	if err == nil {
		s.mu.Lock()
		s.droppedLocked(dead, bytes)
		s.mu.Unlock()
	}
	return dropped, translate(err)
}

// A pass decides which records stay. It sees them in their order.
type pass struct {
	covers uint64
	mark   uint64 // index of the mark that holds the counter
	lives  map[tag]uint64
	rows   map[tag]uint64
	gone   map[tag]bool // some record was dropped in this pass
}

func newPass(x *index, mark uint64) *pass {
	p := &pass{x.covers, mark, map[tag]uint64{}, map[tag]uint64{}, map[tag]bool{}}
	for i := range x.ledgers {
		p.lives[x.ledgers[i].tag] = x.ledgers[i].gen
	}
	for key, r := range x.rows {
		p.rows[tagOf(familyRow, key)] = r.revision
	}
	return p
}

// keep keeps all that the index on disk does not cover. The end of a ledger or
// of a row stays as long as this pass drops something before it: a crash
// could leave that and not the end.
func (p *pass) keep(rec seglog.Record) bool {
	if rec.Index > p.covers || rec.Index == p.mark {
		return true
	}
	h, _, err := parse(rec.Data, false)
	if err != nil {
		return true
	}
	switch h.kind {
	case kindRecord:
		if p.lives[h.tag] == h.life {
			return true
		}
	case kindRow:
		if p.rows[h.tag] == h.life {
			return true
		}
	case kindEnd, kindRowEnd:
		return p.gone[h.tag]
	default:
		return false
	}
	p.gone[h.tag] = true
	return false
}
