package seglog

// WithVersion returns the segment with another version in its headers.
func WithVersion(segment []byte, version uint32) []byte {
	b := append([]byte(nil), segment...)
	for _, off := range []int64{0, secondHeader} {
		h, ok := parseHeader(b[off:], off)
		if !ok {
			panic("no header")
		}
		h.version = version
		copy(b[off:], h.encode(off))
	}
	return b
}
