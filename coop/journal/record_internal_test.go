package journal

import (
	"bytes"
	"encoding/hex"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The form is fixed for ever: another build must read what this one wrote.
func TestRecordForm(t *testing.T) {
	s := newSealer(bytes.Repeat([]byte{1}, 32))
	rec := s.seal(RecordRow, row{"told", "s1", []byte("7")}.encode())
	const want = "0201" + // row, version
		"e67d3cc3bb25d7013e8955cb1f9d5fe68363e45fa5486a3bd90df1345acda734" + // computed apart from this package
		"01" + "04" + "0200" + "746f6c64" + "7331" + "37"
	if got := hex.EncodeToString(rec); got != want {
		t.Errorf("record = %s, want %s", got, want)
	}
}

func TestEveryFlippedBitOfARecordBreaksItsSeal(t *testing.T) {
	s := newSealer([]byte("key"))
	rec := s.seal(RecordEvent, []byte("payload"))
	if r, err := s.open(rec); err != nil || !r.sealed || r.kind != RecordEvent || string(r.payload) != "payload" {
		t.Fatalf("open = %+v, %v", r, err)
	}
	for i := range len(rec) * 8 {
		bad := bytes.Clone(rec)
		bad[i/8] ^= 1 << (i % 8)
		if r, err := s.open(bad); err != nil || r.sealed {
			t.Errorf("bit %d flipped: %+v, %v; want no seal", i, r, err)
		}
	}
	for n := range recordHeader {
		if _, err := s.open(rec[:n]); err == nil {
			t.Errorf("a record of %d bytes is opened", n)
		}
	}
	if r, _ := newSealer([]byte("other")).open(rec); r.sealed {
		t.Error("another key's seal is believed")
	}
}

func FuzzRow(f *testing.F) {
	for _, r := range []row{{"k", "key", []byte("value")}, {"k", "", nil}, {"k", "key", []byte{}}} {
		f.Add(r.encode())
	}
	f.Add([]byte{2, 1, 0, 0, 'k', 'v'})
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := decodeRow(b)
		if err != nil {
			return
		}
		if got := r.encode(); !bytes.Equal(got, b) {
			t.Errorf("row %+v prints %x, was %x", r, got, b)
		}
		again, err := decodeRow(r.encode())
		if d := cmp.Diff(r, again, cmp.AllowUnexported(row{})); d != "" || err != nil {
			t.Errorf("%v\n%s", err, d)
		}
	})
}
