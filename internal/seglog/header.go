package seglog

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/comity-dev/comity/internal/vfs"
)

const (
	formatVersion = 1
	headerSize    = 80
	secondHeader  = 4096
	dataStart     = 8192 // frames begin here
)

var segmentMagic = [8]byte{0x89, 'S', 'E', 'G', 'L', '\r', '\n', 0x1a}

// Flags of a segment.
const (
	segRewritten uint32 = 1 << iota // written by Rewrite: indexes may be missing
	segRecovered                    // begins with what recovery kept of the tail before
)

// A header is the identity of a segment, written when it is made and never
// changed.
type header struct {
	version     uint32
	flags       uint32
	incarnation [16]byte
	salt        uint64
	first       uint64 // first index that the segment stands for
	last        uint64 // last one, when it was known: 0 in a segment made for appending
}

// encode returns the copy of h for offset off (0 or 4096).
func (h *header) encode(off int64) []byte {
	b := make([]byte, headerSize)
	copy(b, segmentMagic[:])
	binary.LittleEndian.PutUint32(b[8:], h.version)
	binary.LittleEndian.PutUint32(b[12:], h.flags)
	copy(b[16:], h.incarnation[:])
	binary.LittleEndian.PutUint64(b[32:], h.salt)
	binary.LittleEndian.PutUint64(b[40:], h.first)
	binary.LittleEndian.PutUint64(b[48:], h.last)
	binary.LittleEndian.PutUint32(b[76:], headerCRC(b, off))
	return b
}

func headerCRC(b []byte, off int64) uint32 {
	var at [8]byte
	binary.LittleEndian.PutUint64(at[:], uint64(off))
	return crc32.Update(crc32.Checksum(at[:], castagnoli), castagnoli, b[:76])
}

// parseHeader reads the copy found at offset off. Magic, version and checksum
// keep their places in every version of the format.
func parseHeader(b []byte, off int64) (h header, ok bool) {
	if len(b) < headerSize || [8]byte(b) != segmentMagic || binary.LittleEndian.Uint32(b[76:]) != headerCRC(b, off) {
		return header{}, false
	}
	h = header{
		version:     binary.LittleEndian.Uint32(b[8:]),
		flags:       binary.LittleEndian.Uint32(b[12:]),
		incarnation: [16]byte(b[16:32]),
		salt:        binary.LittleEndian.Uint64(b[32:]),
		first:       binary.LittleEndian.Uint64(b[40:]),
		last:        binary.LittleEndian.Uint64(b[48:]),
	}
	if h.version > formatVersion {
		return h, true
	}
	return h, h.version == formatVersion && h.first >= 1 && (h.last == 0 || h.last >= h.first-1)
}

// writeHeaders writes both copies.
func writeHeaders(f vfs.File, h *header) error {
	for _, off := range []int64{0, secondHeader} {
		if _, err := f.WriteAt(h.encode(off), off); err != nil {
			return err
		}
	}
	return nil
}

// readHeaders returns the header by its first good copy, and the offsets of bad
// copies; both are bad when ok is false.
func readHeaders(f io.ReaderAt) (h header, ok bool, bad []int64, err error) {
	for _, off := range []int64{0, secondHeader} {
		var b [headerSize]byte
		if _, err := f.ReadAt(b[:], off); err != nil && err != io.EOF {
			return header{}, false, nil, err
		}
		got, good := parseHeader(b[:], off)
		switch {
		case !good:
			bad = append(bad, off)
		case !ok:
			h, ok = got, true
		}
	}
	return h, ok, bad, nil
}

func segmentName(first uint64) string { return fmt.Sprintf("%020d.seg", first) }

// parseName returns the first index in the name of a segment file.
func parseName(name string) (first uint64, ok bool) {
	if len(name) != 24 || name[20:] != ".seg" {
		return 0, false
	}
	for _, c := range []byte(name[:20]) {
		if c < '0' || c > '9' || first > (1<<64-10)/10 {
			return 0, false
		}
		first = first*10 + uint64(c-'0')
	}
	return first, first > 0
}
