package seglog

import (
	"encoding/binary"
	"hash/crc32"
)

// A place is an entry of the sparse index of a segment: the frame of the
// record index begins at off.
type place struct {
	index uint64
	off   int64
}

// placeStride is the least distance between two places: a look-up reads about
// this much.
const placeStride = 32 << 10

// A summary is the body of a footer and of the mark of a clean close.
type summary struct {
	last    uint64 // last index that the segment stands for
	kept    uint64 // first index that is there; 0 when none is
	records uint64
	places  []place
	table   []tableRow // of a clean close: the segments before this one
}

// A tableRow lets a clean open know a sealed segment without reading it.
type tableRow struct{ first, last, kept, records, size uint64 }

const (
	summaryFixed = 40
	trailerMagic = 0x7265746f6f666c67 // "glfooter"
	trailerSize  = 16
)

// encode returns the body; its last 16 bytes are the size of the whole frame
// and a magic number, so that a mark at the end of a file is found from there.
func (s *summary) encode() []byte {
	n := s.encodedSize()
	b := make([]byte, 0, n)
	b = binary.LittleEndian.AppendUint64(b, s.last)
	b = binary.LittleEndian.AppendUint64(b, s.kept)
	b = binary.LittleEndian.AppendUint64(b, s.records)
	b = binary.LittleEndian.AppendUint64(b, uint64(len(s.places)))
	b = binary.LittleEndian.AppendUint64(b, uint64(len(s.table)))
	for _, p := range s.places {
		b = binary.LittleEndian.AppendUint64(b, p.index)
		b = binary.LittleEndian.AppendUint64(b, uint64(p.off))
	}
	for _, r := range s.table {
		for _, v := range [...]uint64{r.first, r.last, r.kept, r.records, r.size} {
			b = binary.LittleEndian.AppendUint64(b, v)
		}
	}
	b = binary.LittleEndian.AppendUint64(b, uint64(frameSize(n)))
	return binary.LittleEndian.AppendUint64(b, trailerMagic)
}

func (s *summary) encodedSize() int { return summarySize(len(s.places), len(s.table)) }

func summarySize(places, rows int) int { return summaryFixed + 16*places + 40*rows + trailerSize }

func parseSummary(b []byte) (s summary, ok bool) {
	if len(b) < summaryFixed+trailerSize {
		return summary{}, false
	}
	u := func(i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
	places, rows := u(3), u(4)
	if places > maxMarkBytes || rows > maxMarkBytes || len(b) != summarySize(int(places), int(rows)) {
		return summary{}, false
	}
	s = summary{last: u(0), kept: u(1), records: u(2)}
	at := 5
	for range places {
		s.places = append(s.places, place{u(at), int64(u(at + 1))})
		at += 2
	}
	for range rows {
		s.table = append(s.table, tableRow{u(at), u(at + 1), u(at + 2), u(at + 3), u(at + 4)})
		at += 5
	}
	return s, u(at) == uint64(frameSize(len(b))) && u(at+1) == trailerMagic
}

// trailerAt returns the size of the frame that ends with the bytes b.
func trailerAt(b []byte) (size int64, ok bool) {
	b = b[len(b)-trailerSize:]
	n := binary.LittleEndian.Uint64(b)
	if binary.LittleEndian.Uint64(b[8:]) != trailerMagic || n < frameHeader || n > maxMarkBytes {
		return 0, false
	}
	return int64(n), true
}

// markFrame returns the bytes of a mark for offset off.
func (s seal) markFrame(kind uint16, off int64, index, synced uint64, body []byte) []byte {
	b := appendFrame(nil, flagMark, kind, 0, body, crc32.Checksum(body, castagnoli))
	s.place(b, off, index, synced)
	return b
}
