package seglog

import (
	"io"

	"github.com/comity-dev/comity/internal/vfs"
)

// A copier writes records of other segments to the file of a new one, under
// its seal and in their old indexes.
type copier struct {
	to     vfs.File
	seg    *segment
	synced uint64
	buf    []byte
	body   []byte
	last   int64
}

// copy appends the record whose frame is f in from.
func (c *copier) copy(from io.ReaderAt, f frame, flags uint16, left uint32) error {
	if cap(c.body) < int(f.length) {
		c.body = make([]byte, f.length)
	}
	body := c.body[:f.length]
	if n, err := from.ReadAt(body, f.off+frameHeader); n < len(body) {
		return err
	}
	if !f.bodyOK(body) {
		return ErrDamaged // unreachable unless the file changes under us: it was good a moment ago
	}
	return c.add(f.index, body, f.crc, flags, left)
}

func (c *copier) add(index uint64, body []byte, crc uint32, flags uint16, left uint32) error {
	g := c.seg
	off := g.limit + int64(len(c.buf))
	at := len(c.buf)
	c.buf = appendFrame(c.buf, flags, 0, left, body, crc)
	g.seal.place(c.buf[at:], off, index, min(c.synced, index-1))
	if off-max(c.last, dataStart) >= placeStride {
		g.places = append(g.places, place{index, off})
		c.last = off
	}
	if g.kept == 0 {
		g.kept = index
	}
	g.records++
	g.last = index
	if len(c.buf) >= 1<<20 {
		return c.flush()
	}
	return nil
}

func (c *copier) flush() error {
	if len(c.buf) == 0 {
		return nil
	}
	if _, err := c.to.WriteAt(c.buf, c.seg.limit); err != nil {
		return err
	}
	c.seg.limit += int64(len(c.buf))
	c.buf = c.buf[:0]
	return nil
}
