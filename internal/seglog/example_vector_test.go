package seglog

import (
	"encoding/hex"
	"strings"
	"testing"
)

// The worked example of the package comment and of docs/format-log.md.
func TestWorkedExample(t *testing.T) {
	h := header{version: 1, salt: 0x0807060504030201, first: 1}
	for i := range h.incarnation {
		h.incarnation[i] = byte(0xa0 + i)
	}
	s := newSeal(h.salt)
	record := appendFrame(nil, flagFirst|flagLast, 0, 0, []byte("hello"), crcOf("hello"))
	s.place(record, 8192, 1, 0)
	idle := s.markFrame(kindIdle, 8240, 1, 1, nil)
	for _, tt := range []struct {
		name string
		got  []byte
		want string
	}{
		{"header at 0", h.encode(0), wantHeader},
		{"header at 4096", h.encode(4096)[76:], wantSecond},
		{"record at 8192", record, wantRecord},
		{"idle mark at 8240", idle, wantIdle},
	} {
		if got := hex.EncodeToString(tt.got); got != strings.Join(strings.Fields(tt.want), "") {
			t.Errorf("%s = %s", tt.name, got)
		}
	}
}

const wantHeader = `
89 53 45 47 4c 0d 0a 1a  01 00 00 00 00 00 00 00
a0 a1 a2 a3 a4 a5 a6 a7  a8 a9 aa ab ac ad ae af
01 02 03 04 05 06 07 08  01 00 00 00 00 00 00 00
00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00
00 00 00 00 00 00 00 00  00 00 00 00 16 86 af a5`

const wantSecond = `34 6e 83 e2`

const wantRecord = `
a3 f5 67 6c 03 00 00 00  01 00 00 00 00 00 00 00
00 00 00 00 00 00 00 00  05 00 00 00 00 00 00 00
cd a4 f8 dc b8 9d 70 69  68 65 6c 6c 6f 00 00 00`

const wantIdle = `
a3 f5 67 6c 04 00 02 00  01 00 00 00 00 00 00 00
01 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00
81 1f 89 46 aa 5a c1 a1`
