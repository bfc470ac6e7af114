package filestore

import (
	"context"
	"iter"
	"slices"
	"strings"
	"sync"

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
	l.gen, l.tip, l.index, l.marks, l.recent, l.recentBytes = 0, 0, 0, marks{}, nil, 0
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

// graves remembers the last generations of ledgers that ended since the store
// was opened, so that none of their writers begins them anew by mistake. Writers
// end with the process, and so do the graves; of more than maxGraves, only the
// last ones are kept.
type graves struct {
	gen   map[tag]uint64
	order []tag
}

const maxGraves = 1 << 16

func (g *graves) add(t tag, gen uint64) {
	if g.gen == nil {
		g.gen = make(map[tag]uint64)
	}
	if _, ok := g.gen[t]; !ok {
		g.order = append(g.order, t)
	}
	g.gen[t] = gen
	if len(g.order) > maxGraves {
		delete(g.gen, g.order[0])
		g.order = g.order[1:]
	}
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

func checkBatch(name string, recs [][]byte) (bytes int, err error) {
	if err := storage.CheckName(name); err != nil {
		return 0, err
	}
	for _, r := range recs {
		if len(r) > maxRecordBytes {
			return 0, &storage.TooLargeError{What: "record", Size: int64(len(r)), Max: maxRecordBytes}
		}
		bytes += len(r)
	}
	return bytes, storage.CheckBatch(len(recs), bytes, maxBatchRecords, maxBatchBytes)
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
	s.countLocked(len(b.recs), len(b.buf))
}

// A batch is the records of an append as the log gets them.
type batch struct {
	buf  []byte
	recs [][]byte
	data [][]byte // those of the caller within recs; nil unless they are kept
	pool *batch   // to be used again
}

var batches = sync.Pool{New: func() any { return new(batch) }}

// newBatch puts headers in front of recs, of which h is the first. If kept, the
// memory is not used again.
func newBatch(kept bool, recs [][]byte, bytes int, h header, seed uint32) *batch {
	b := new(batch)
	if !kept {
		b = batches.Get().(*batch)
		b.pool = b
	}
	need := bytes + len(recs)*headerBytes + len(h.name)
	b.buf = slices.Grow(b.buf[:0], need)
	b.recs = b.recs[:0]
	for _, r := range recs {
		at := len(b.buf)
		b.buf = h.append(b.buf, seed)
		data := len(b.buf)
		b.buf = append(b.buf, r...)
		b.recs = append(b.recs, b.buf[at:len(b.buf):len(b.buf)])
		if kept {
			b.data = append(b.data, b.buf[data:len(b.buf):len(b.buf)])
		}
		h.seq++
		h.name = ""
	}
	return b
}

func (b *batch) release() {
	const most = 256 << 10
	if b.pool != nil && cap(b.buf) <= most {
		batches.Put(b)
	}
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
			s.endLocked(l)
			s.countLocked(1, len(rec))
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
