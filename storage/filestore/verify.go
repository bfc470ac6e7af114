package filestore

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/comity-dev/comity/internal/seglog"
	"github.com/comity-dev/comity/storage"
)

// A VerifyReport says what Verify read and what it found wrong.
type VerifyReport struct {
	Records  uint64 // of the log
	Ledgers  int
	Rows     int
	Blobs    int
	Bytes    int64 // of records and blobs
	Findings []Finding
}

// A Finding is something that was stored and cannot be read back.
type Finding struct {
	What  string // "ledger", "row", "blob", "log" or "index"
	Name  string // of the ledger, row, or space
	First uint64 // records of a ledger, or of the log, that are lost
	Last  uint64
	Text  string // what is wrong, in words
}

// Verify reads the whole store and returns all that is wrong with it. When it
// returns without an error, its caller has been told, and what was read-only
// because of damage can be written again; the numbers of records that are
// lost and known by nothing are given out again.
//
// progress, if it is not nil, is called now and then with the bytes read, and
// with those that there are, as far as that can be told.
func (s *Store) Verify(ctx context.Context, progress func(done, total int64)) (VerifyReport, error) {
	if err := s.lock(ctx); err != nil {
		return VerifyReport{}, err
	}
	x, doubt := s.indexLocked(), s.doubt
	s.mu.Unlock()
	v := &verifier{s: s, ctx: ctx, x: x, progress: progress, total: s.logBytes()}
	if err := v.log(); err != nil {
		return v.report, err
	}
	if err := v.files(); err != nil {
		return v.report, err
	}
	if err := v.blobs(); err != nil {
		return v.report, err
	}
	if doubt == 0 || s.log == nil {
		return v.report, nil
	}
	if err := s.saveIndex(true); err != nil {
		return v.report, fmt.Errorf("attest the tips of the ledgers: %w", translate(err))
	}
	s.mu.Lock()
	s.doubt = 0
	s.mu.Unlock()
	return v.report, nil
}

type verifier struct {
	s        *Store
	ctx      context.Context
	x        *index
	progress func(done, total int64)
	total    int64
	report   VerifyReport
}

func (v *verifier) add(f Finding) { v.report.Findings = append(v.report.Findings, f) }

func (v *verifier) read(n int) {
	v.report.Bytes += int64(n)
	if v.progress != nil && v.report.Records%1024 == 0 {
		v.progress(v.report.Bytes, max(v.total, v.report.Bytes))
	}
}

// logBytes returns the size of the log, as far as it can be told.
func (s *Store) logBytes() (total int64) {
	names, err := s.fsys.List(s.path("log"))
	if err != nil {
		return 0
	}
	for _, name := range names {
		if info, err := s.fsys.Stat(s.path("log", name)); err == nil && !info.Dir {
			total += info.Size
		}
	}
	return total
}

// log reads all records of the log and compares them with the index.
func (v *verifier) log() error {
	seen := make(map[tag]*ledger, len(v.x.ledgers)) // tip: the last record read
	for i := range v.x.ledgers {
		l := &v.x.ledgers[i]
		seen[l.tag] = &ledger{name: l.name, gen: l.gen}
	}
	values := make(map[uint64]string, len(v.x.rows))
	for key, r := range v.x.rows {
		values[r.index] = key
	}
	for rec, err := range v.s.reader.From(1) {
		if err != nil {
			return translate(err)
		}
		if err := v.s.over(v.ctx); err != nil {
			return err
		}
		if rec.Index > v.x.covers {
			break
		}
		h, _, err := parse(rec.Data, false)
		if err != nil {
			return fmt.Errorf("record %d of the log: %w", rec.Index, err)
		}
		v.report.Records++
		v.read(len(rec.Data))
		if h.kind == kindRow {
			delete(values, rec.Index)
		}
		if l := seen[h.tag]; l != nil && h.kind == kindRecord && h.life == l.gen {
			v.missing(l.name, l.tip+1, h.seq-1)
			l.tip = h.seq
		}
	}
	for i := range v.x.ledgers {
		l := &v.x.ledgers[i]
		if l.name == "" {
			v.add(Finding{What: "ledger", Last: l.tip, Text: "its name is lost; it comes back to whoever asks for it by its name"})
		}
		if l.index <= v.x.covers {
			v.missing(l.name, seen[l.tag].tip+1, l.tip)
		}
	}
	for index, key := range values {
		if index <= v.x.covers {
			v.add(Finding{What: "row", Name: key, Text: "its value is lost"})
		}
	}
	v.report.Ledgers, v.report.Rows = len(v.x.ledgers), len(v.x.rows)
	v.damage()
	return nil
}

func (v *verifier) missing(name string, first, last uint64) {
	if first <= last {
		v.add(Finding{What: "ledger", Name: name, First: first, Last: last, Text: "records are lost"})
	}
}

// damage lists the bad places of the log itself.
func (v *verifier) damage() {
	list := v.s.report.Damage
	if log, ok := v.s.reader.(interface{ Damage() []seglog.Damage }); ok {
		list = nil
		for _, d := range log.Damage() {
			list = append(list, Damage{d.Segment, d.Offset, d.Length, d.FirstIndex, d.LastIndex, d.Reason, ""})
		}
	}
	for _, d := range list {
		v.add(Finding{What: "log", Name: d.File, First: d.First, Last: d.Last, Text: fmt.Sprintf("%d bytes at %d: %s", d.Length, d.Offset, d.Reason)})
	}
}

// blobs reads all blobs.
func (v *verifier) blobs() error {
	b := blobs{v.s}
	for space, err := range b.Spaces(v.ctx, "") {
		if err != nil {
			return err
		}
		for info, err := range b.List(v.ctx, space) {
			if err != nil {
				return err
			}
			if err := v.blob(b, space, info); err != nil {
				return err
			}
		}
	}
	return nil
}

func (v *verifier) blob(b blobs, space string, info storage.BlobInfo) error {
	r, err := b.Get(v.ctx, space, info.Digest)
	if err == nil {
		var n int64
		n, err = io.Copy(io.Discard, r)
		r.Close()
		v.report.Blobs++
		v.read(int(n))
	}
	if over := v.s.over(v.ctx); over != nil {
		return over
	}
	var missing *storage.NotFoundError
	if err != nil && !errors.As(err, &missing) {
		v.add(Finding{What: "blob", Name: space, Text: err.Error()})
	}
	return nil
}
