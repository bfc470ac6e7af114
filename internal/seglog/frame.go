package seglog

import (
	"encoding/binary"
	"hash/crc32"
)

const (
	// MaxRecordBytes is the size of the largest record.
	MaxRecordBytes = 16 << 20
	// MaxBatchBytes bounds the frames (headers, bodies and padding) of one
	// append: 32 MiB of records and some room for their headers.
	MaxBatchBytes = 32<<20 + 4096

	frameHeader  = 40
	frameMagic   = 0x6c67f5a3 // the bytes a3 f5 67 6c
	maxMarkBytes = 16 << 20
)

// Flags of a frame.
const (
	flagFirst uint16 = 1 << iota // first record of a batch
	flagLast                     // last record of a batch
	flagMark                     // no record: its body has a layout of its own
)

// Kinds of a mark; records have kind 0.
const (
	kindClose  uint16 = 1 // clean close
	kindIdle   uint16 = 2 // everything up to synced is synced
	kindFooter uint16 = 3 // end of a sealed segment
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A seal is what the salt of a segment puts into each of its checksums.
type seal struct {
	header uint32 // CRC-32C of the salt, continued over offset and header
	body   uint32 // the same value, combined with the plain CRC-32C of a body
}

func newSeal(salt uint64) seal {
	crc := crc32.Checksum(binary.LittleEndian.AppendUint64(nil, salt), castagnoli)
	return seal{crc, crc}
}

// headerCRC covers the salt, the offset of the frame in its file and the
// header before the checksum.
func (s seal) headerCRC(off int64, header []byte) uint32 {
	c := ^s.header // byte by byte: a slice of the offset would go to the heap for each frame
	for i := 0; i < 64; i += 8 {
		c = castagnoli[byte(c)^byte(off>>i)] ^ c>>8
	}
	return crc32.Update(^c, castagnoli, header[:36])
}

// A frame is the header of a record or a mark.
type frame struct {
	off    int64 // in the file
	flags  uint16
	kind   uint16
	left   uint32 // records of the same batch behind this one
	length uint32 // of the body
	index  uint64 // of the record; of a mark, the last index before it
	synced uint64 // highest index known to be synced when this was written
	crc    uint32 // plain CRC-32C of the body
}

func (f *frame) mark() bool  { return f.flags&flagMark != 0 }
func (f *frame) size() int64 { return frameSize(int(f.length)) }
func (f *frame) end() int64  { return f.off + f.size() }

// frameSize returns the bytes that a body of n bytes takes in a file.
func frameSize(n int) int64 { return frameHeader + int64(n+7)&^7 }

// appendFrame appends a frame whose place in the log is not known yet: index,
// synced and the header's checksum are put in by place.
func appendFrame(buf []byte, flags, kind uint16, left uint32, body []byte, bodyCRC uint32) []byte {
	buf = binary.LittleEndian.AppendUint32(buf, frameMagic)
	buf = binary.LittleEndian.AppendUint16(buf, flags)
	buf = binary.LittleEndian.AppendUint16(buf, kind)
	buf = append(buf, zeros[:16]...)
	buf = binary.LittleEndian.AppendUint32(buf, uint32(len(body)))
	buf = binary.LittleEndian.AppendUint32(buf, left)
	buf = binary.LittleEndian.AppendUint32(buf, bodyCRC)
	buf = append(buf, zeros[:4]...)
	buf = append(buf, body...)
	return append(buf, zeros[:-len(body)&7]...)
}

var zeros [16]byte

// place completes the header in b, which appendFrame made, for offset off.
func (s seal) place(b []byte, off int64, index, synced uint64) {
	binary.LittleEndian.PutUint64(b[8:], index)
	binary.LittleEndian.PutUint64(b[16:], synced)
	plain := binary.LittleEndian.Uint32(b[32:])
	binary.LittleEndian.PutUint32(b[32:], plain^s.body)
	binary.LittleEndian.PutUint32(b[36:], s.headerCRC(off, b))
}

// lengthAt returns the length of the body behind the header in b.
func lengthAt(b []byte) int { return int(binary.LittleEndian.Uint32(b[24:])) }

// parseFrame reads the header in b, found at offset off. It reports false for
// anything that this package would not write there.
func (s seal) parseFrame(b []byte, off int64) (f frame, ok bool) {
	if len(b) < frameHeader || binary.LittleEndian.Uint32(b) != frameMagic ||
		binary.LittleEndian.Uint32(b[36:]) != s.headerCRC(off, b) {
		return frame{}, false
	}
	f = frame{
		off:    off,
		flags:  binary.LittleEndian.Uint16(b[4:]),
		kind:   binary.LittleEndian.Uint16(b[6:]),
		index:  binary.LittleEndian.Uint64(b[8:]),
		synced: binary.LittleEndian.Uint64(b[16:]),
		length: binary.LittleEndian.Uint32(b[24:]),
		left:   binary.LittleEndian.Uint32(b[28:]),
		crc:    binary.LittleEndian.Uint32(b[32:]) ^ s.body,
	}
	return f, f.sane()
}

func (f *frame) sane() bool {
	if f.mark() {
		return f.flags == flagMark && f.kind >= kindClose && f.kind <= kindFooter &&
			f.left == 0 && f.length <= maxMarkBytes && f.synced <= f.index
	}
	return f.flags&^(flagFirst|flagLast) == 0 && f.kind == 0 && f.length <= MaxRecordBytes &&
		(f.flags&flagLast != 0) == (f.left == 0) && f.synced < f.index
}

func (f *frame) bodyOK(body []byte) bool { return crc32.Checksum(body, castagnoli) == f.crc }
