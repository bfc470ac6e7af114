package filestore

import (
	"fmt"
	"slices"

	"github.com/comity-dev/comity/internal/seglog"
)

// A Report says what opening found.
type Report struct {
	Created bool // the store was new
	Clean   bool // the store was new or had been closed: nothing was recovered
	// Replayed counts the records of the log that were read to bring the index up
	// to date.
	Replayed uint64
	// DroppedBatches and DroppedBytes are what a crash left incomplete. None of it
	// was ever acknowledged.
	DroppedBatches int
	DroppedBytes   int64
	// Damage lists the bad places of the log, also those found before.
	Damage []Damage
	// Doubt says that damage may have held the last records of ledgers: those that
	// nothing attests are read-only until Verify.
	Doubt bool
}

// Damage is a place of the log that was synced once and cannot be read back.
type Damage struct {
	File           string // in the folder log
	Offset, Length int64
	// First and Last enclose the lost records of the log, by index; both are 0
	// when none is lost.
	First, Last uint64
	Reason      string
	// Owner tells whose record it was, if that is known.
	Owner string
}

// Report returns what opening found.
func (s *Store) Report() Report {
	r := s.report
	r.Damage = slices.Clone(r.Damage)
	return r
}

// load builds the index: from its file, and from the log behind that.
func (s *Store) load(found *seglog.Report) error {
	s.seed = seedOf(s.reader.Incarnation())
	x, err := s.loadIndex()
	if err != nil {
		return fmt.Errorf("read the index: %w", err)
	}
	if x != nil && s.log == nil && x.last() > s.reader.End() {
		x = nil // a reader may see less of the log than was durable when the index was written
	}
	r := replay{s: s, jumps: make(map[tag]uint64), ended: make(map[tag]uint64)}
	if x != nil {
		r.adopt(x)
	}
	if err := r.run(); err != nil {
		return fmt.Errorf("read the log: %w", err)
	}
	s.report = Report{
		Created: found.Created, Clean: found.Clean, Replayed: r.records,
		DroppedBatches: found.Tail.DroppedBatches, DroppedBytes: found.Tail.DroppedBytes,
	}
	r.settle(found)
	s.report.Doubt = s.doubt != 0
	for t, l := range s.ledgers {
		if l.gen == 0 {
			delete(s.ledgers, t)
		}
	}
	return nil
}

// A replay brings the index up to date.
type replay struct {
	s       *Store
	covers  uint64 // by the index on disk
	counter uint64 // of the index on disk
	short   bool   // the log ends before what the index covers
	records uint64
	jumps   map[tag]uint64 // numbers that are missing in a ledger which goes on
	ended   map[tag]uint64 // the last life that ended
}

func (r *replay) adopt(x *index) {
	s := r.s
	r.covers, r.counter, s.counter = x.covers, x.counter, x.counter
	if end := s.reader.End(); x.last() > end {
		r.short, r.covers = true, min(x.covers, end)
	}
	for i := range x.ledgers {
		l := x.ledgers[i]
		l.index = min(l.index, s.reader.End())
		s.ledgers[l.tag] = &l
		s.since.marks += len(l.marks.b)
	}
	for key, v := range x.rows {
		s.rows[key] = &row{revision: v.revision, index: v.index}
	}
}

// run applies the records behind what the index covers. What is in the index
// already, since it was written a little later, changes nothing.
func (r *replay) run() error {
	for rec, err := range r.s.reader.From(r.covers + 1) {
		if err != nil {
			return err
		}
		h, _, err := parse(rec.Data, true)
		if err != nil {
			return fmt.Errorf("record %d: %w", rec.Index, err)
		}
		r.records++
		r.s.since.bytes += int64(len(rec.Data))
		r.apply(&h, rec.Index)
	}
	r.s.since.records = int(r.records)
	return nil
}

func (r *replay) apply(h *header, index uint64) {
	s := r.s
	s.counter = max(s.counter, h.counter, h.life)
	switch h.kind {
	case kindRecord:
		r.record(h, index)
	case kindEnd:
		r.ended[h.tag] = max(r.ended[h.tag], h.life)
		if l := s.ledgers[h.tag]; l != nil && l.gen == h.life {
			*l = ledger{tag: l.tag, name: l.name}
			delete(r.jumps, h.tag)
		}
	case kindRow, kindRowEnd:
		if h.kind == kindRowEnd {
			r.ended[h.tag] = max(r.ended[h.tag], h.life)
		}
		s.rowLocked(h.name).applyLocked(h, index)
		s.tidyRowLocked(h.name)
	}
}

func (r *replay) record(h *header, index uint64) {
	l := r.s.ledgers[h.tag]
	if l == nil {
		l = &ledger{tag: h.tag}
		r.s.ledgers[h.tag] = l
	}
	if h.name != "" {
		l.name = h.name
	}
	if h.life < l.gen || h.life == l.gen && h.seq <= l.tip {
		return
	}
	if h.life > l.gen {
		if h.seq > 1 && h.life <= r.counter {
			return // the index was written when that life was over
		}
		*l = ledger{tag: l.tag, name: l.name, gen: h.life}
		delete(r.jumps, h.tag)
	}
	if missing := h.seq - l.tip - 1; missing > 0 {
		r.jumps[h.tag] += missing
	}
	l.addLocked(h.seq, index)
}
