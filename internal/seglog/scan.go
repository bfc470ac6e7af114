package seglog

import (
	"bytes"
	"encoding/binary"
	"io"
)

// A found is what a scanner came to.
type found int

const (
	foundEnd   found = iota
	foundFrame       // scanner.frame and scanner.body
	foundGap         // scanner.gap
)

// A gap is a place that holds no valid frame and lies before one, or holds
// something else than zeros at the end.
type gap struct {
	off, n int64
	header bool // the header is good and only the body is not: see frame
	frame  frame
	tail   bool // nothing valid follows
}

// A scanner walks the frames of one segment in the order of the file, over
// places that it cannot read.
type scanner struct {
	r     io.ReaderAt
	seal  seal
	pos   int64 // where the next frame is expected
	limit int64 // reads end here
	last  uint64
	hi    uint64 // no index behind this one belongs here
	skip  uint64 // bodies of records before this index are not wanted
	chunk int
	fresh bool // bodies stay valid after the next call

	frame frame
	body  []byte
	gap   gap

	buf []byte // holds the file from at
	at  int64
}

var magicBytes = binary.LittleEndian.AppendUint32(nil, frameMagic)

// next moves to the next frame or gap. An error is one of reading the file.
func (s *scanner) next() (found, error) {
	if s.limit-s.pos >= frameHeader {
		b, err := s.window(s.pos, frameHeader)
		if err != nil {
			return foundEnd, err
		}
		if f, ok := s.seal.parseFrame(b, s.pos); ok && s.fits(&f) {
			return s.take(f)
		}
	}
	return s.search()
}

// fits wants the index of a frame between its neighbours.
func (s *scanner) fits(f *frame) bool {
	if f.mark() {
		return f.index >= s.last && f.index <= s.hi
	}
	return f.index > s.last && f.index <= s.hi
}

// take checks the body of f, whose header is good.
func (s *scanner) take(f frame) (found, error) {
	s.frame, s.body = f, nil
	end := f.end()
	if end > s.limit {
		s.gap = gap{off: f.off, n: s.limit - f.off, header: true, frame: f, tail: true}
		s.pos = s.limit
		return foundGap, nil
	}
	if f.index < s.skip && !f.mark() {
		s.pos, s.last = end, f.index
		return foundFrame, nil
	}
	b, err := s.window(f.off, int(end-f.off))
	if err != nil {
		return foundEnd, err
	}
	s.pos = end
	if !f.mark() {
		s.last = f.index
	}
	body := b[frameHeader : frameHeader+int(f.length) : frameHeader+int(f.length)]
	if !f.bodyOK(body) && !plantSkipBodyCRC {
		s.gap = gap{off: f.off, n: end - f.off, header: true, frame: f}
		return foundGap, nil
	}
	s.body = body
	return foundFrame, nil
}

// search looks for the next valid header behind a bad place.
func (s *scanner) search() (found, error) {
	from, p, dirty := s.pos, s.pos, s.pos // dirty: behind the last byte that is not zero
	for p < s.limit {
		w, err := s.window(p, min(int(s.limit-p), s.chunk))
		if err != nil {
			return foundEnd, err
		}
		if n := nonZero(w); n > 0 {
			dirty = p + int64(n)
		} else {
			p += int64(len(w))
			continue
		}
		at, err := s.candidate(w, p, from)
		if err != nil {
			return foundEnd, err
		}
		if at >= 0 && !plantCutAtBadCRC {
			s.pos = at
			s.gap = gap{off: from, n: at - from}
			return foundGap, nil
		}
		p += int64(len(w))
		if p < s.limit {
			p = max(from, p-frameHeader) &^ 7 // a header may lie across two windows
		}
	}
	s.pos = s.limit
	if dirty == from {
		return foundEnd, nil
	}
	s.gap = gap{off: from, n: dirty - from, tail: true}
	return foundGap, nil
}

// candidate returns the offset of the first valid header in w, which begins at
// offset p, or -1.
func (s *scanner) candidate(w []byte, p, from int64) (int64, error) {
	for i := 0; ; i++ {
		j := bytes.Index(w[i:], magicBytes)
		if j < 0 {
			return -1, nil
		}
		i += j
		off := p + int64(i)
		if off&7 != 0 || off == from || s.limit-off < frameHeader || len(w)-i < frameHeader {
			continue
		}
		if f, ok := s.seal.parseFrame(w[i:], off); ok && s.fits(&f) {
			return off, nil
		}
	}
}

// window returns n bytes of the file from off, and more where it has them.
func (s *scanner) window(off int64, n int) ([]byte, error) {
	if i := off - s.at; i >= 0 && i+int64(n) <= int64(len(s.buf)) {
		return s.buf[i:], nil
	}
	size := int(min(s.limit-off, int64(max(n, s.chunk))))
	if s.fresh || cap(s.buf) < size {
		s.buf = make([]byte, size)
	}
	s.buf, s.at = s.buf[:size], off
	if m, err := s.r.ReadAt(s.buf, off); err != nil && (err != io.EOF || m < n) {
		s.buf = nil
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	} else {
		s.buf = s.buf[:m]
	}
	return s.buf, nil
}

// nonZero returns the length of b without its last zeros, rounded up to words.
func nonZero(b []byte) int {
	n := len(b)
	for ; n&7 != 0; n-- {
		if b[n-1] != 0 {
			return n
		}
	}
	for ; n > 0; n -= 8 {
		if binary.LittleEndian.Uint64(b[n-8:]) != 0 {
			return n
		}
	}
	return 0
}
