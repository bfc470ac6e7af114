package filestore

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/comity-dev/comity/storage"
)

type kind uint8

const (
	kindRecord kind = 1 + iota
	kindEnd
	kindGrant
	kindRow
	kindRowEnd
	kindMark
)

const headerBytes = 48

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A tag stands for a name in one family.
type tag [16]byte

const (
	familyLedger = 'l'
	familyGrant  = 'g'
	familyRow    = 'r'
	familySpace  = 's'
)

func tagOf(family byte, name string) tag {
	var few [1 + storage.MaxNameBytes]byte
	sum := sha256.Sum256(append(append(few[:0], family), name...))
	return tag(sum[:16])
}

// A header is what stands in front of the data of a record.
type header struct {
	kind    kind
	tag     tag
	life    uint64
	seq     uint64
	counter uint64
	name    string
}

// append adds the header to b.
func (h *header) append(b []byte, seed uint32) []byte {
	at := len(b)
	b = append(b, byte(h.kind), 0)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(h.name)))
	b = binary.LittleEndian.AppendUint32(b, 0)
	b = append(b, h.tag[:]...)
	b = binary.LittleEndian.AppendUint64(b, h.life)
	b = binary.LittleEndian.AppendUint64(b, h.seq)
	b = binary.LittleEndian.AppendUint64(b, h.counter)
	b = append(b, h.name...)
	binary.LittleEndian.PutUint32(b[at+4:], headerSum(b[at:], seed))
	return b
}

// headerSum returns the checksum of a header with its name. seed is that of the
// incarnation.
func headerSum(b []byte, seed uint32) uint32 {
	return crc32.Update(crc32.Update(seed, castagnoli, b[:4]), castagnoli, b[8:])
}

func seedOf(incarnation [16]byte) uint32 { return crc32.Checksum(incarnation[:], castagnoli) }

// parse splits a record of the log, which has verified its bytes. A kind that
// is not known was written by a newer version. The name is not copied unless
// it is asked for.
func parse(b []byte, names bool) (h header, data []byte, err error) {
	if len(b) < headerBytes {
		return h, nil, fmt.Errorf("a record of %d bytes: %w", len(b), storage.ErrNewerFormat)
	}
	h.kind = kind(b[0])
	n := int(binary.LittleEndian.Uint16(b[2:]))
	if h.kind < kindRecord || h.kind > kindMark || b[1] != 0 || headerBytes+n > len(b) {
		return h, nil, fmt.Errorf("a record of kind %d: %w", b[0], storage.ErrNewerFormat)
	}
	h.tag = tag(b[8:24])
	h.life = binary.LittleEndian.Uint64(b[24:])
	h.seq = binary.LittleEndian.Uint64(b[32:])
	h.counter = binary.LittleEndian.Uint64(b[40:])
	if names && n > 0 {
		h.name = string(b[headerBytes : headerBytes+n])
	}
	return h, b[headerBytes+n:], nil
}

// salvage returns the header at the beginning of a record whose bytes are not to
// be trusted, if its own checksum says that it is one of this log.
func salvage(b []byte, seed uint32) (header, bool) {
	h, data, err := parse(b, true)
	if err != nil {
		return h, false
	}
	b = b[:len(b)-len(data)]
	return h, binary.LittleEndian.Uint32(b[4:]) == headerSum(b, seed)
}
