package journal

import (
	"encoding/binary"
	"fmt"
	"maps"
)

// Bounds of one local row.
const (
	MaxRowKind  = 64        // bytes
	MaxRowKey   = 1024      // bytes
	MaxRowValue = 256 << 10 // bytes
)

const (
	rowPut    = 1
	rowDelete = 2
	rowHeader = 1 + 1 + 2
)

// A row is one local fact of this machine, never replicated: the latest of its
// kind and key holds.
type row struct {
	kind, key string
	value     []byte // nil deletes
}

func (r row) check() error {
	switch {
	case r.kind == "" || len(r.kind) > MaxRowKind:
		return &BatchError{"bytes of a row's kind (at least 1)", MaxRowKind, len(r.kind)}
	case len(r.key) > MaxRowKey:
		return &BatchError{"bytes of a row's key", MaxRowKey, len(r.key)}
	case len(r.value) > MaxRowValue:
		return &BatchError{"bytes of a row's value", MaxRowValue, len(r.value)}
	}
	return nil
}

func (r row) encode() []byte {
	op := byte(rowPut)
	if r.value == nil {
		op = rowDelete
	}
	b := make([]byte, 0, rowHeader+len(r.kind)+len(r.key)+len(r.value))
	b = append(b, op, byte(len(r.kind)))
	b = binary.LittleEndian.AppendUint16(b, uint16(len(r.key)))
	b = append(b, r.kind...)
	b = append(b, r.key...)
	return append(b, r.value...)
}

// decodeRow reads what encode prints, and nothing else. The row does not share
// memory with b.
func decodeRow(b []byte) (row, error) {
	if len(b) < rowHeader {
		return row{}, fmt.Errorf("local row: %d bytes, want at least %d", len(b), rowHeader)
	}
	kind, key := int(b[1]), int(binary.LittleEndian.Uint16(b[2:]))
	rest := b[rowHeader:]
	if len(rest) < kind+key {
		return row{}, fmt.Errorf("local row: kind and key of %d bytes in %d", kind+key, len(rest))
	}
	r := row{kind: string(rest[:kind]), key: string(rest[kind : kind+key])}
	switch value := rest[kind+key:]; {
	case b[0] == rowPut:
		r.value = append([]byte{}, value...)
	case b[0] != rowDelete || len(value) > 0:
		return row{}, fmt.Errorf("local row: operation %d with %d bytes of value", b[0], len(value))
	}
	return r, r.check()
}

// rows are the local rows in force, by kind and key, and where the log has them.
type rows struct {
	values map[string]map[string][]byte
	at     map[rowName]uint64
}

type rowName struct{ kind, key string }

func newRows() rows { return rows{map[string]map[string][]byte{}, map[rowName]uint64{}} }

// of is the value of a row; nil when there is none.
func (rs rows) of(kind, key string) []byte { return rs.values[kind][key] }

// apply takes a row from the log. It reports whether the record of one before it
// says nothing any more.
func (rs rows) apply(r row, index uint64) (superseded bool) {
	name := rowName{r.kind, r.key}
	_, superseded = rs.at[name]
	if r.value == nil {
		delete(rs.values[r.kind], r.key)
		delete(rs.at, name)
		return true
	}
	if rs.values[r.kind] == nil {
		rs.values[r.kind] = map[string][]byte{}
	}
	rs.values[r.kind][r.key] = r.value
	rs.at[name] = index
	return superseded
}

// row takes one from the log.
func (j *Journal) row(r row, index uint64) {
	if j.rows.apply(r, index) {
		j.waste += recordHeader + rowHeader + len(r.kind) + len(r.key) + len(r.value)
	}
}

// Local returns the synced local rows of a kind by key. The map is the
// caller's; the values are shared and must not be changed.
func (j *Journal) Local(kind string) map[string][]byte {
	j.lock()
	defer j.unlock()
	rs := maps.Clone(j.rows.values[kind])
	if rs == nil {
		rs = map[string][]byte{}
	}
	return rs
}

// sealRows are the records of local rows; the caller holds the lock.
func (j *Journal) sealRows(rows []row) (recs [][]byte) {
	for _, r := range rows {
		recs = append(recs, j.seal.seal(RecordRow, r.encode()))
	}
	return recs
}
