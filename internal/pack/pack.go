// Package pack writes values down and reads them back by one description of
// both, so that the two cannot come apart.
//
// A description calls the same functions in the same order whichever way it
// goes: each takes a pointer, and either writes what is there or puts there what
// it reads. What is read is not believed: whoever reads finds out by
// [Coder.Err], once at the end, whether it was what was written.
//
// Numbers are unsigned, in as few bytes as they need (the varint of
// encoding/binary), signed ones in zigzag; texts and lists follow their length.
package pack

import (
	"encoding/binary"
	"errors"
	"strings"
)

// ErrMalformed is what reading ends with that meets anything but what was written.
var ErrMalformed = errors.New("packed bytes are cut short or malformed")

// A Coder goes through a value one way. It is not safe for concurrent use.
type Coder struct {
	b       []byte // what is written, or what is left to read
	reading bool
	err     error
	texts   strings.Builder // short ones that were read, until it is full
}

// Short texts that are read lie together in blocks: one of them keeps at most a
// block in memory.
const (
	textBlock = 2048
	shortText = 256
)

// NewWriter returns a coder that writes behind what b has.
func NewWriter(b []byte) *Coder { return &Coder{b: b} }

// NewReader returns a coder that reads b, which must not change meanwhile.
// Nothing that it reads shares memory with b.
func NewReader(b []byte) *Coder { return &Coder{b: b, reading: true} }

// Reading reports which way c goes.
func (c *Coder) Reading() bool { return c.reading }

// Written is what was written.
func (c *Coder) Written() []byte { return c.b }

// Err is nil, or why what was read is nothing that was written; of a writer, that
// its description failed what it wrote, which is then not to be used. From then on
// all that is read is zero.
func (c *Coder) Err() error { return c.err }

// End is Err once all should have been read.
func (c *Coder) End() error {
	if c.reading && len(c.b) > 0 {
		c.Fail()
	}
	return c.err
}

// Fail notes that what was read, or is written, cannot be.
func (c *Coder) Fail() {
	c.b = nil
	if c.err == nil {
		c.err = ErrMalformed
	}
}

// An Unsigned is a number that is not below 0.
type Unsigned interface {
	~uint8 | ~uint16 | ~uint32 | ~uint64
}

// Uint is a number.
func Uint[N Unsigned](c *Coder, n *N) {
	if !c.reading {
		c.b = binary.AppendUvarint(c.b, uint64(*n))
		return
	}
	v := c.uvarint()
	if *n = N(v); uint64(*n) != v {
		*n = 0
		c.Fail()
	}
}

func (c *Coder) uvarint() uint64 {
	if len(c.b) > 0 && c.b[0] < 0x80 { // most are
		v := c.b[0]
		c.b = c.b[1:]
		return uint64(v)
	}
	v, size := binary.Uvarint(c.b)
	if size <= 0 {
		c.Fail()
		return 0
	}
	c.b = c.b[size:]
	return v
}

// A Signed is a number that may be below 0.
type Signed interface {
	~int | ~int32 | ~int64
}

// Int is a number that may be below 0.
func Int[N Signed](c *Coder, n *N) {
	v := int64(*n)
	u := uint64(v)<<1 ^ uint64(v>>63)
	Uint(c, &u)
	if !c.reading {
		return
	}
	v = int64(u>>1) ^ -int64(u&1)
	if *n = N(v); int64(*n) != v {
		*n = 0
		c.Fail()
	}
}

// Bool is one byte, 0 or 1.
func (c *Coder) Bool(v *bool) {
	var n uint8
	if *v {
		n = 1
	}
	Uint(c, &n)
	if n > 1 {
		c.Fail()
	}
	*v = n == 1
}

// Fixed is as many bytes as b has, which are put into b.
func (c *Coder) Fixed(b []byte) {
	switch {
	case !c.reading:
		c.b = append(c.b, b...)
	case len(b) > len(c.b):
		c.Fail()
		clear(b)
	default:
		copy(b, c.b)
		c.b = c.b[len(b):]
	}
}

// Len is how many of something follow, each of which takes at least a byte.
func (c *Coder) Len(n int) int {
	u := uint64(n)
	if Uint(c, &u); u > uint64(len(c.b)) && c.reading {
		c.Fail()
		return 0
	}
	return int(u)
}

// String is a text.
func String[S ~string](c *Coder, s *S) {
	n := c.Len(len(*s))
	if !c.reading {
		c.b = append(c.b, *s...)
		return
	}
	*s = S(c.text(c.b[:n]))
	c.b = c.b[n:]
}

func (c *Coder) text(b []byte) string {
	if len(b) > shortText {
		return string(b)
	}
	if len(b) > c.texts.Cap()-c.texts.Len() {
		c.texts = strings.Builder{}
		c.texts.Grow(textBlock)
	}
	at := c.texts.Len()
	c.texts.Write(b)
	return c.texts.String()[at:]
}

// Bytes are some bytes; none are read as nil.
func (c *Coder) Bytes(b *[]byte) {
	n := c.Len(len(*b))
	if !c.reading {
		c.b = append(c.b, *b...)
		return
	}
	*b = append([]byte(nil), c.b[:n]...)
	c.b = c.b[n:]
}

// Part is a piece that is described by itself: when writing, what write writes;
// when reading, the bytes of it, which share memory with all that is read.
func (c *Coder) Part(write func(*Coder)) []byte {
	if !c.reading {
		part := NewWriter(nil)
		write(part)
		c.Len(len(part.b))
		c.b = append(c.b, part.b...)
		return nil
	}
	n := c.Len(0)
	part := c.b[:n:n]
	c.b = c.b[n:]
	return part
}

// List is a list, each element by one; an empty one is read as nil.
func List[X any](c *Coder, list *[]X, one func(*X)) {
	n := c.Len(len(*list))
	if c.reading {
		*list = nil
		if n > 0 {
			*list = make([]X, 0, min(n, firstRoom))
		}
		for range n {
			var x X
			if one(&x); c.err != nil {
				return
			}
			*list = append(*list, x)
		}
		return
	}
	for i := range *list {
		one(&(*list)[i])
	}
}

// firstRoom bounds what a length that is not true makes room for.
const firstRoom = 4096
