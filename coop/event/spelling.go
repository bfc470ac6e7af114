package event

import (
	"github.com/comity-dev/comity/coop/ident"
)

// A spelling is the rest of bytes that are compared with how we write them.
type spelling []byte

// word passes w, if it comes next.
func (s *spelling) word(w string) bool {
	if len(*s) < len(w) || string((*s)[:len(w)]) != w {
		return false
	}
	*s = (*s)[len(w):]
	return true
}

// number passes digits and returns them; nil when none come next.
func (s *spelling) number() []byte {
	n := 0
	for n < len(*s) && (*s)[n]-'0' <= 9 {
		n++
	}
	if n == 0 || n > 1 && (*s)[0] == '0' {
		return nil
	}
	digits := (*s)[:n:n]
	*s = (*s)[n:]
	return digits
}

// hex passes a string of lowercase hex digits and returns it with its quotes; nil
// when it is not what comes next.
func (s *spelling) hex(digits int) []byte {
	b := *s
	if len(b) < digits+2 || b[0] != '"' || b[digits+1] != '"' || !ident.IsHex([]byte(b[1:digits+1]), digits) {
		return nil
	}
	*s = b[digits+2:]
	return b[: digits+2 : digits+2]
}

// stream passes the name of a stream and returns it with its quotes; nil when it is
// not what comes next.
func (s *spelling) stream() []byte {
	rest := *s
	if !rest.word(`"`) || !rest.digits(32) || !rest.word("-") || !rest.digits(16) || !rest.word("-") || !rest.digits(16) || !rest.word(`"`) {
		return nil
	}
	b := *s
	*s = rest
	return b[: streamBytes+2 : streamBytes+2]
}

func (s *spelling) digits(n int) bool {
	if len(*s) < n || !ident.IsHex([]byte((*s)[:n]), n) {
		return false
	}
	*s = (*s)[n:]
	return true
}
