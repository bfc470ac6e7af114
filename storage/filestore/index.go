package filestore

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io/fs"

	"github.com/comity-dev/comity/internal/vfs"
	"github.com/comity-dev/comity/storage"
)

const (
	indexName     = "index"
	indexMagic    = "cmtyidx\n"
	indexVersion  = 1
	indexHeader   = 48
	maxIndexBytes = 1 << 30
)

// An index is the content of the file of that name.
type index struct {
	incarnation [16]byte
	covers      uint64
	counter     uint64
	ledgers     []ledger // what addLocked and its like set, no more
	rows        map[string]row
}

// indexLocked returns what is known.
func (s *Store) indexLocked() *index {
	x := &index{incarnation: s.reader.Incarnation(), covers: s.reader.End(), counter: s.counter}
	for sl := range s.slots {
		x.covers = min(x.covers, sl.from)
	}
	for _, l := range s.ledgers {
		if l.gen != 0 {
			x.ledgers = append(x.ledgers, ledger{tag: l.tag, name: l.name, gen: l.gen, tip: l.tip, index: l.index, marks: l.marks})
		}
	}
	x.rows = make(map[string]row, len(s.rows))
	for key, r := range s.rows {
		if r.revision != 0 {
			x.rows[key] = row{revision: r.revision, index: r.index}
		}
	}
	return x
}

// saveIndex writes the index, durably before it returns nil. While damage is in
// doubt it does not, unless told to: it would attest what nobody has looked at.
func (s *Store) saveIndex(attest bool) error {
	s.saving.Lock()
	defer s.saving.Unlock()
	_, err := s.saveIndexLocked(attest)
	return err
}

// saveIndexLocked is saveIndex for whoever holds s.saving. It returns what was
// written, nil if nothing was.
func (s *Store) saveIndexLocked(attest bool) (*index, error) {
	s.mu.Lock()
	if s.doubt != 0 && !attest {
		s.mu.Unlock()
		return nil, nil
	}
	x := s.indexLocked()
	s.since = backlog{}
	s.mu.Unlock()
	err := vfs.WriteFile(s.fsys, s.path(indexName), x.encode())
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		return nil, err // it is due again after as much as ever
	}
	for i := range x.ledgers {
		s.since.marks += len(x.ledgers[i].marks.b)
	}
	return x, nil
}

// last returns the last index of the log that was durable for certain when the
// index was written.
func (x *index) last() uint64 {
	last := x.covers
	for i := range x.ledgers {
		last = max(last, x.ledgers[i].index)
	}
	for _, r := range x.rows {
		last = max(last, r.index)
	}
	return last
}

func (x *index) encode() []byte {
	size := indexHeader + 20
	for i := range x.ledgers {
		size += 64 + len(x.ledgers[i].name) + len(x.ledgers[i].marks.b)
	}
	for key := range x.rows {
		size += 24 + len(key)
	}
	b := make([]byte, 0, size)
	b = append(b, indexMagic...)
	b = binary.LittleEndian.AppendUint32(b, indexVersion)
	b = binary.LittleEndian.AppendUint32(b, 0)
	b = append(b, x.incarnation[:]...)
	b = binary.LittleEndian.AppendUint64(b, x.covers)
	b = binary.LittleEndian.AppendUint64(b, x.counter)
	b = binary.AppendUvarint(b, uint64(len(x.ledgers)))
	for i := range x.ledgers {
		b = x.ledgers[i].encode(b)
	}
	b = binary.AppendUvarint(b, uint64(len(x.rows)))
	for key, r := range x.rows {
		b = appendString(b, key)
		b = binary.AppendUvarint(b, r.revision)
		b = binary.AppendUvarint(b, r.index)
	}
	binary.LittleEndian.PutUint32(b[12:], crc32.Checksum(b[16:], castagnoli))
	return b
}

func (l *ledger) encode(b []byte) []byte {
	b = append(b, l.tag[:]...)
	b = appendString(b, l.name)
	for _, n := range []uint64{l.gen, l.tip, l.index, uint64(len(l.marks.b))} {
		b = binary.AppendUvarint(b, n)
	}
	return append(b, l.marks.b...)
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// loadIndex returns the index on disk, or nil if there is no good one: the log
// tells all that it would.
func (s *Store) loadIndex() (*index, error) {
	b, err := vfs.ReadFile(s.fsys, s.path(indexName), maxIndexBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	x, err := decodeIndex(b)
	if errors.Is(err, storage.ErrNewerFormat) {
		return nil, err
	}
	if err != nil || x.incarnation != s.reader.Incarnation() {
		return nil, nil
	}
	return x, nil
}

var errBadIndex = errors.New("not a good index")

func decodeIndex(b []byte) (*index, error) {
	if len(b) < indexHeader || string(b[:8]) != indexMagic || binary.LittleEndian.Uint32(b[12:]) != crc32.Checksum(b[16:], castagnoli) {
		return nil, errBadIndex
	}
	if binary.LittleEndian.Uint32(b[8:]) != indexVersion {
		return nil, storage.ErrNewerFormat
	}
	x := &index{
		incarnation: [16]byte(b[16:32]),
		covers:      binary.LittleEndian.Uint64(b[32:]),
		counter:     binary.LittleEndian.Uint64(b[40:]),
	}
	d := decoder{b: b[indexHeader:]}
	n := d.count(20)
	x.ledgers = make([]ledger, 0, n)
	for range n {
		x.ledgers = append(x.ledgers, d.ledger())
	}
	n = d.count(3)
	x.rows = make(map[string]row, n)
	for range n {
		key := d.string()
		x.rows[key] = row{revision: d.uvarint(), index: d.uvarint()}
	}
	if d.bad || len(d.b) != 0 {
		return nil, errBadIndex
	}
	return x, nil
}

// A decoder takes values off the front of b. Once one is not there, all are zero.
type decoder struct {
	b   []byte
	bad bool
}

func (d *decoder) fail() {
	d.b, d.bad = nil, true
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[n:]
	return v
}

// count returns a number of things of at least so many bytes each, which must
// fit into what is left.
func (d *decoder) count(bytes int) int {
	n := d.uvarint()
	if n > uint64(len(d.b)/bytes) {
		d.fail()
		return 0
	}
	return int(n)
}

func (d *decoder) bytes(n int) []byte {
	if n > len(d.b) {
		d.fail()
		return make([]byte, n)
	}
	b := d.b[:n]
	d.b = d.b[n:]
	return b
}

func (d *decoder) string() string { return string(d.bytes(d.count(1))) }

func (d *decoder) ledger() ledger {
	l := ledger{tag: tag(d.bytes(16)), name: d.string(), gen: d.uvarint(), tip: d.uvarint(), index: d.uvarint()}
	var ok bool
	if l.marks, ok = parseMarks(d.bytes(d.count(1))); !ok {
		d.fail()
	}
	return l
}
