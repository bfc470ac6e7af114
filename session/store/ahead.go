package store

import (
	"iter"

	"github.com/comity-dev/comity/storage"
)

// A part is records of a ledger that were read at one go, and the error that came
// behind them.
type part struct {
	recs []storage.Record
	err  error
}

// A replay takes records from the reading of a ledger in parts, since going there
// and back costs more than a small record does. The first part is one record,
// and each later one twice as many as that before it, within these bounds.
const (
	aheadRecords = 64
	aheadBytes   = 64 << 10
)

// parts cuts a reading into parts of at most so many records. A part is valid
// until the next.
func parts(recs iter.Seq2[storage.Record, error], most int) iter.Seq[part] {
	return func(yield func(part) bool) {
		var p part
		size, limit := 0, 1
		for rec, err := range recs {
			if err != nil {
				p.err = err
				break
			}
			p.recs = append(p.recs, rec)
			if size += len(rec.Data); len(p.recs) < limit && size < aheadBytes {
				continue
			}
			if !yield(p) {
				return
			}
			p.recs, size, limit = p.recs[:0], 0, min(2*limit, most)
		}
		if len(p.recs) > 0 || p.err != nil {
			yield(p)
		}
	}
}
