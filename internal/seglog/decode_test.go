package seglog

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// What the decoders take is what the encoders would have written.
func FuzzDecode(f *testing.F) {
	s := newSeal(7)
	record := appendFrame(nil, flagFirst|flagLast, 0, 0, []byte("body"), crcOf("body"))
	s.place(record, 8192, 3, 2)
	sum := summary{last: 9, kept: 1, records: 9, places: []place{{5, 40000}}, table: []tableRow{{1, 2, 1, 2, 9000}}}
	h := header{version: 1, salt: 7, first: 1}
	f.Add(record)
	f.Add(sum.encode())
	f.Add(h.encode(0))
	f.Fuzz(func(t *testing.T, b []byte) {
		if h, ok := parseHeader(b, 0); ok && h.version == formatVersion && !bytes.Equal(h.encode(0)[:56], b[:56]) {
			t.Errorf("header %+v", h)
		}
		if sum, ok := parseSummary(b); ok && !bytes.Equal(sum.encode(), b) {
			t.Errorf("summary %+v", sum)
		}
		if fr, ok := s.parseFrame(b, 8192); ok {
			again := appendFrame(nil, fr.flags, fr.kind, fr.left, make([]byte, fr.length), fr.crc)
			s.place(again, 8192, fr.index, fr.synced)
			if !bytes.Equal(again[:frameHeader], b[:frameHeader]) {
				t.Errorf("frame %+v", fr)
			}
		}
	})
}

func crcOf(s string) uint32 { return checksums(nil, [][]byte{[]byte(s)})[0] }

// A frame is bound to its place: neither another offset nor another salt takes
// it.
func TestFrameIsBoundToItsPlace(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	for range 10000 {
		salt, off := rnd.Uint64(), int64(rnd.Uint32()&^7)
		s := newSeal(salt)
		b := appendFrame(nil, flagFirst|flagLast, 0, 0, []byte("body"), crcOf("body"))
		s.place(b, off, 1, 0)
		if _, ok := s.parseFrame(b, off); !ok {
			t.Fatal("a frame is not taken in its own place")
		}
		if _, ok := s.parseFrame(b, off^int64(8<<rnd.IntN(25))); ok {
			t.Error("taken at another offset")
		}
		if _, ok := newSeal(salt^1<<rnd.IntN(64)).parseFrame(b, off); ok {
			t.Error("taken under another salt")
		}
	}
}
