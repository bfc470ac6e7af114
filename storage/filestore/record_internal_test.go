package filestore

import (
	"bytes"
	"testing"
	"time"

	"github.com/comity-dev/comity/storage"
)

func FuzzRecord(f *testing.F) {
	for _, h := range []header{
		{kind: kindRecord, tag: tagOf(familyLedger, "a"), life: 1, seq: 1, counter: 2, name: "a"},
		{kind: kindRecord, tag: tagOf(familyLedger, "a"), life: 1, seq: 2, counter: 1 << 63},
		{kind: kindMark},
	} {
		f.Add(append(h.append(nil, 7), "data"...))
	}
	f.Add([]byte{})
	f.Add(bytes.Repeat([]byte{1}, headerBytes))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, data, err := parse(b, true)
		if err == nil && len(data) > len(b)-headerBytes {
			t.Fatalf("parse of %x gave %d bytes of data", b, len(data))
		}
		whole, ok := salvage(b, 7)
		if !ok {
			return
		}
		if err != nil || whole != h {
			t.Fatalf("salvage gave %+v, parse %+v, %v", whole, h, err)
		}
		if again := append(h.append(nil, 7), data...); !bytes.Equal(again, b) {
			t.Errorf("%x was taken for %x", b, again)
		}
	})
}

// The header of a record is taken only in its own store, whole and unchanged.
func TestSalvage(t *testing.T) {
	h := header{kind: kindRecord, tag: tagOf(familyLedger, "name"), life: 3, seq: 1, counter: 4, name: "name"}
	b := append(h.append(nil, 7), "data"...)
	if got, ok := salvage(b, 7); !ok || got != h {
		t.Fatalf("salvage = %+v, %v", got, ok)
	}
	if _, ok := salvage(b, 8); ok {
		t.Error("a record of another store was taken")
	}
	for bit := range (len(b) - len("data")) * 8 {
		c := bytes.Clone(b)
		c[bit/8] ^= 1 << (bit % 8)
		if got, ok := salvage(c, 7); ok {
			t.Errorf("with bit %d flipped: %+v", bit, got)
		}
	}
	c := append(b[:len(b)-4:len(b)-4], "else"...)
	if _, ok := salvage(c, 7); !ok {
		t.Error("damage to the data hides the owner")
	}
}

func TestBlobHeader(t *testing.T) {
	d := storage.DigestOf([]byte("x"))
	b := encodeBlobHeader(time.Now().Add(time.Hour), 77, d)
	info, ok := parseBlobHeader(b, d)
	if !ok || len(b) != blobHeader || info.Size != 77 || info.Digest != d || info.Age != 0 {
		t.Errorf("header %+v, %v: a blob of the future has the age 0", info, ok)
	}
	for bit := range len(b) * 8 {
		c := bytes.Clone(b)
		c[bit/8] ^= 1 << (bit % 8)
		if info, ok := parseBlobHeader(c, d); ok {
			t.Errorf("with bit %d flipped: %+v", bit, info)
		}
	}
	if _, ok := parseBlobHeader(b, storage.DigestOf(nil)); ok {
		t.Error("the header of another blob was taken")
	}
}
