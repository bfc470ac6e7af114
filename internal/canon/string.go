package canon

import (
	"encoding/binary"
	"unicode/utf8"
)

// String reads a string and returns it decoded.
func (r *Reader) String() (s []byte, ok bool) {
	start := r.pos
	escaped, ok := r.skipString()
	if !ok {
		return nil, false
	}
	s = r.b[start+1 : r.pos-1 : r.pos-1]
	if escaped {
		s = unescape(s)
	}
	return s, true
}

// skipString passes a string and reports whether it holds escapes.
func (r *Reader) skipString() (escaped, ok bool) {
	if !r.expect('"', "want a string") {
		return false, false
	}
	for {
		r.pos = plainEnd(r.b, r.pos)
		if r.pos < len(r.b) && r.b[r.pos] == '"' {
			r.pos++
			return escaped, true
		}
		switch c := r.Peek(); {
		case c == '\\':
			escaped = true
			n := escapeLen(r.b[r.pos:])
			if n == 0 {
				r.fail("an escape that the form does not use")
				return false, false
			}
			r.pos += n
		case c >= utf8.RuneSelf:
			c, n := utf8.DecodeRune(r.b[r.pos:])
			if c == utf8.RuneError && n <= 1 {
				r.fail("not UTF-8")
				return false, false
			}
			r.pos += n
		case r.pos >= len(r.b):
			r.fail("a string without end")
			return false, false
		default:
			r.fail("a raw control character")
			return false, false
		}
	}
}

// plainEnd returns the first index from i on whose byte is not an ASCII
// character that stands for itself. It looks at eight bytes at a time: most of
// what we hold is long runs of hex digits.
func plainEnd(b []byte, i int) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for i+8 <= len(b) {
		w := binary.LittleEndian.Uint64(b[i:])
		quote, slash := w^(ones*'"'), w^(ones*'\\')
		stop := w | (w - ones*0x20) | (quote - ones) | (slash - ones)
		if stop&highs != 0 {
			break // some byte of these may end the run
		}
		i += 8
	}
	for i < len(b) && b[i] >= 0x20 && b[i] < utf8.RuneSelf && b[i] != '"' && b[i] != '\\' {
		i++
	}
	return i
}

// escapeLen returns the length of the canonical escape that b begins with, 0
// when it begins with none.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', 'b', 't', 'n', 'f', 'r':
		return 2
	case 'u':
		if len(b) < 6 || b[2] != '0' || b[3] != '0' || (b[4] != '0' && b[4] != '1') || !lowerHex(b[5]) {
			return 0
		}
		switch (b[4]-'0')<<4 | hexValue(b[5]) {
		case '\b', '\t', '\n', '\f', '\r':
			return 0 // these have an escape of their own
		}
		return 6
	}
	return 0
}

func lowerHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' }

func hexValue(c byte) byte {
	if c >= 'a' {
		return c - 'a' + 10
	}
	return c - '0'
}

// unescape decodes s, whose escapes were checked.
func unescape(s []byte) []byte {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			out = append(out, s[i])
			continue
		}
		i++
		switch c := s[i]; c {
		case 'b':
			out = append(out, '\b')
		case 't':
			out = append(out, '\t')
		case 'n':
			out = append(out, '\n')
		case 'f':
			out = append(out, '\f')
		case 'r':
			out = append(out, '\r')
		case 'u':
			out = append(out, (s[i+3]-'0')<<4|hexValue(s[i+4]))
			i += 4
		default:
			out = append(out, c)
		}
	}
	return out
}

// AppendString appends the canonical form of s, which must be valid UTF-8: the
// caller has checked it.
func AppendString(dst []byte, s string) []byte {
	const digits = "0123456789abcdef"
	dst = append(dst, '"')
	from := 0
	for i := range len(s) {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		dst = append(append(dst, s[from:i]...), '\\')
		from = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, c)
		case '\b':
			dst = append(dst, 'b')
		case '\t':
			dst = append(dst, 't')
		case '\n':
			dst = append(dst, 'n')
		case '\f':
			dst = append(dst, 'f')
		case '\r':
			dst = append(dst, 'r')
		default:
			dst = append(dst, 'u', '0', '0', digits[c>>4], digits[c&15])
		}
	}
	return append(append(dst, s[from:]...), '"')
}

// Compare orders names as the form does, by UTF-16 code units: -1, 0 or +1.
// Both must be valid UTF-8.
func Compare(a, b []byte) int {
	if len(a) > 0 && len(b) > 0 && a[0] < b[0] && b[0] < utf8.RuneSelf {
		return -1 // the common case of sorted names
	}
	for i := 0; i < len(a) && i < len(b); i++ {
		if a[i] != b[i] {
			if rank(a[i]) < rank(b[i]) {
				return -1
			}
			return +1
		}
	}
	switch {
	case len(a) < len(b):
		return -1
	case len(a) > len(b):
		return +1
	}
	return 0
}

// rank makes the order of UTF-8 bytes that of UTF-16 units: the characters
// from U+E000 to U+FFFF, whose first byte is 0xEE or 0xEF, come after the
// surrogates that stand for the characters above them.
func rank(c byte) byte {
	if c == 0xEE || c == 0xEF {
		return c + 0x10
	}
	return c
}
