package link

import (
	"encoding/binary"
	"encoding/hex"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

// streamBytes is a stream: node (16), runtime (8), instance (8).
const streamBytes = 32

// appendStream appends the bytes of s, which is valid.
func appendStream(b []byte, s ident.Stream) []byte {
	var raw [streamBytes]byte
	ident.Unhex(raw[:16], string(s.Node()))
	ident.Unhex(raw[16:24], string(s.RuntimeID()))
	ident.Unhex(raw[24:], string(s.Instance()))
	return append(b, raw[:]...)
}

// A body is read from front to back. After the first error everything is zero.
type body struct {
	what string // of the frame
	rest []byte
	err  error
}

func (b *body) fail(detail string) {
	if b.err == nil {
		b.err, b.rest = malformed(b.what, detail), nil
	}
}

// more reports whether there is something left, and no error.
func (b *body) more() bool { return b.err == nil && len(b.rest) > 0 }

func (b *body) end() error {
	if len(b.rest) > 0 {
		b.fail("bytes after the end")
	}
	return b.err
}

// take returns the next n bytes, nil when there are fewer.
func (b *body) take(n int) []byte {
	if b.err != nil || len(b.rest) < n {
		b.fail("cut short")
		return nil
	}
	out := b.rest[:n:n]
	b.rest = b.rest[n:]
	return out
}

func (b *body) byte() byte {
	if raw := b.take(1); raw != nil {
		return raw[0]
	}
	return 0
}

func (b *body) uint16() int {
	if raw := b.take(2); raw != nil {
		return int(binary.BigEndian.Uint16(raw))
	}
	return 0
}

func (b *body) uint32() int {
	if raw := b.take(4); raw != nil {
		return int(binary.BigEndian.Uint32(raw))
	}
	return 0
}

// number is an integer from least to 2^53-1.
func (b *body) number(least uint64) uint64 {
	raw := b.take(8)
	if raw == nil {
		return 0
	}
	n := binary.BigEndian.Uint64(raw)
	if n < least || n > event.MaxInt {
		b.fail("a number out of its bounds")
		return 0
	}
	return n
}

func (b *body) stream() ident.Stream {
	raw := b.take(streamBytes)
	if raw == nil {
		return ""
	}
	return ident.NewStream(ident.NodeID(hex.EncodeToString(raw[:16])),
		ident.RuntimeID(hex.EncodeToString(raw[16:24])), ident.InstanceID(hex.EncodeToString(raw[24:])))
}

// word is a length (1) and that many bytes, 1 to 64 of [A-Za-z0-9._:#-].
func (b *body) word() string {
	raw := b.take(int(b.byte()))
	if b.err == nil && !isWord(string(raw)) {
		b.fail("want 1 to 64 letters, digits and . _ : # -")
	}
	return string(raw)
}

func appendWord(b []byte, s string) []byte { return append(append(b, byte(len(s))), s...) }

func isWord(s string) bool {
	if len(s) < 1 || len(s) > ident.MaxSIDBytes {
		return false
	}
	for i := range len(s) {
		c := s[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && c != '.' && c != '_' && c != ':' && c != '#' && c != '-' {
			return false
		}
	}
	return true
}
