package event

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
)

// An ID names a session, loop, turn, step, event, command, tool call, gate or
// checkpoint: a UUID of RFC 9562 in its text form with lower-case digits, 36 bytes,
// of any version and variant, not all zero:
//
//	6f1b3c1e-9a54-4c0e-8d3e-2f7a1d0b5c11
//
// The zero ID stands for none.
type ID string

// NewID returns a random ID (version 4). It panics when the system has no
// randomness to give.
func NewID() ID {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: package rand ends the program instead
	return IDFrom(b)
}

// IDFrom returns an ID of version 4 over b, such as the first bytes of a digest:
// the bits of version and variant are overwritten. Equal bytes give equal IDs.
func IDFrom(b [16]byte) ID {
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	var s [36]byte
	hex.Encode(s[0:8], b[0:4])
	hex.Encode(s[9:13], b[4:6])
	hex.Encode(s[14:18], b[6:8])
	hex.Encode(s[19:23], b[8:10])
	hex.Encode(s[24:36], b[10:16])
	s[8], s[13], s[18], s[23] = '-', '-', '-', '-'
	return ID(s[:])
}

// ParseID returns s as an ID; it refuses every other spelling, and none.
func ParseID(s string) (ID, error) {
	if !ID(s).Valid() {
		return "", fmt.Errorf("parse id %.64q: want a UUID with lower-case digits, not all zero", s)
	}
	return ID(s), nil
}

// Valid reports whether id has the form of an ID; the zero ID has not.
func (id ID) Valid() bool {
	if len(id) != 36 {
		return false
	}
	zero := true
	for i := range len(id) {
		c := id[i]
		switch i {
		case 8, 13, 18, 23:
			if c != '-' {
				return false
			}
		default:
			if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
				return false
			}
			zero = zero && c == '0'
		}
	}
	return !zero
}

// String returns the text form, "" of none.
func (id ID) String() string { return string(id) }
