package filestore

import (
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/comity-dev/comity/storage"
)

// A ledger is what is known of one name: all of it while it has records, else
// only that somebody writes to it or follows it.
type ledger struct {
	slot
	tag   tag
	name  string // "" when the record that had it is lost
	gen   uint64 // 0: absent
	tip   uint64
	index uint64 // of the last record
	marks marks
	bytes int64 // of its records, see garbage

	followers   int
	recent      []storage.Record // the last ones, for followers; see keepLocked
	recentBytes int
	grown       chan struct{} // closed when the tip moves or the life ends; nil when nobody waits
}

// addLocked notes that the record seq lies at index.
func (l *ledger) addLocked(seq, index uint64) {
	if l.marks.n == 0 || index-l.marks.last.index >= reach {
		l.marks.add(mark{seq, index})
	}
	l.tip, l.index = seq, index
}

func (l *ledger) wakeLocked() {
	if l.grown != nil {
		close(l.grown)
		l.grown = nil
	}
}

// endLocked ends the life of l.
func (s *Store) endLocked(l *ledger) {
	s.dead.add(l.tag, l.gen)
	l.gen, l.tip, l.index, l.marks, l.bytes, l.recent, l.recentBytes = 0, 0, 0, marks{}, 0, nil, 0
	l.wakeLocked()
}

// ledgerLocked returns the ledger of a name, and makes it if need be.
func (s *Store) ledgerLocked(name string) *ledger {
	t := tagOf(familyLedger, name)
	l := s.ledgers[t]
	if l == nil {
		l = &ledger{tag: t}
		s.ledgers[t] = l
	}
	if l.name == "" {
		l.name = name
	}
	return l
}

// tidyLocked forgets l if nobody needs it.
func (s *Store) tidyLocked(l *ledger) {
	if l.gen == 0 && l.followers == 0 && !l.busy && s.ledgers[l.tag] == l {
		delete(s.ledgers, l.tag)
	}
}

func (s *Store) tipLocked(t tag) storage.Tip {
	if l := s.ledgers[t]; l != nil && l.gen != 0 {
		return storage.Tip{Gen: l.gen, Seq: l.tip}
	}
	return storage.Tip{Gen: s.dead.gen[t]}
}

type ledgers struct{ s *Store }

func (v ledgers) Append(ctx context.Context, name string, expected storage.Tip, recs ...[]byte) (storage.Tip, error) {
	s := v.s
	bytes, err := checkBatch(name, recs)
	if err != nil {
		return storage.Tip{}, err
	}
	if err := s.enter(ctx, name); err != nil {
		return storage.Tip{}, err
	}
	var l *ledger
	if err := s.takeLocked(ctx, name, func() *slot { l = s.ledgerLocked(name); return &l.slot }); err != nil {
		return storage.Tip{}, err
	}
	h, err := s.planLocked(l, expected)
	if err != nil {
		s.giveLocked(&l.slot)
		s.tidyLocked(l)
		s.mu.Unlock()
		return storage.Tip{}, err
	}
	kept := l.followers > 0
	s.mu.Unlock()

	b := newBatch(kept, recs, bytes, h, s.seed)
	first, err := s.write(ctx, "append", name, false, b.recs...)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		s.commitLocked(l, &h, first, b)
	}
	b.release()
	s.giveLocked(&l.slot)
	s.tidyLocked(l)
	if err != nil {
		return storage.Tip{}, err
	}
	return storage.Tip{Gen: l.gen, Seq: l.tip}, nil
}

// planLocked returns the header of the first record of a batch that expects
// a tip.
func (s *Store) planLocked(l *ledger, expected storage.Tip) (h header, err error) {
	if tip := s.tipLocked(l.tag); tip != expected {
		return h, &storage.ConflictError{Name: l.name, Expected: expected, Tip: tip}
	}
	if err := s.doubtLocked("ledger "+l.name, l.index); err != nil {
		return h, err
	}
	h = header{kind: kindRecord, tag: l.tag, life: l.gen, seq: l.tip + 1}
	if l.gen == 0 {
		h.life, h.name = s.numberLocked(), l.name
	}
	h.counter = s.counter
	return h, nil
}

// commitLocked shows a batch that is durable.
func (s *Store) commitLocked(l *ledger, h *header, first uint64, b *batch) {
	l.gen = h.life
	for i := range b.recs {
		l.addLocked(h.seq+uint64(i), first+uint64(i))
	}
	if l.followers > 0 {
		l.keepLocked(h.seq, b)
	}
	l.wakeLocked()
	l.bytes += int64(len(b.buf))
	s.countLocked(len(b.recs), len(b.buf))
}

func (v ledgers) Tip(ctx context.Context, name string) (storage.Tip, error) {
	if err := v.s.enter(ctx, name); err != nil {
		return storage.Tip{}, err
	}
	defer v.s.mu.Unlock()
	return v.s.tipLocked(tagOf(familyLedger, name)), nil
}

// Delete may use the reserve of a full disk, since Compact can make room then.
func (v ledgers) Delete(ctx context.Context, name string) error {
	s := v.s
	if err := s.enter(ctx, name); err != nil {
		return err
	}
	var l *ledger
	if err := s.takeLocked(ctx, name, func() *slot { l = s.ledgerLocked(name); return &l.slot }); err != nil {
		return err
	}
	err := s.doubtLocked("ledger "+name, l.index)
	if err == nil {
		err = s.broken("delete ledger", name)
	}
	if err == nil && l.gen != 0 {
		s.numberLocked()
		h := header{kind: kindEnd, tag: l.tag, life: l.gen, counter: s.counter, name: name}
		s.mu.Unlock()
		rec := h.append(nil, s.seed)
		_, err = s.write(ctx, "delete ledger", name, true, rec)
		s.mu.Lock()
		if err == nil {
			dead := l.bytes + int64(len(rec))
			s.endLocked(l)
			s.countLocked(1, len(rec))
			s.wasteLocked(dead)
		}
	}
	s.giveLocked(&l.slot)
	s.tidyLocked(l)
	s.mu.Unlock()
	return err
}

func (v ledgers) Names(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return v.s.names(ctx, func(yield func(string) bool) {
		for _, l := range v.s.ledgers {
			if l.gen != 0 && l.name != "" && strings.HasPrefix(l.name, prefix) && !yield(l.name) {
				return
			}
		}
	})
}

// names yields in order what list yields under the lock.
func (s *Store) names(ctx context.Context, list iter.Seq[string]) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		if err := s.lock(ctx); err != nil {
			yield("", err)
			return
		}
		names := slices.Sorted(list)
		s.mu.Unlock()
		for _, name := range names {
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
