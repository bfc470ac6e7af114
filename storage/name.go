package storage

import (
	"fmt"
	"strings"
)

// MaxNameBytes is the length of the longest name.
const MaxNameBytes = 512

// CheckName returns nil if name may name a ledger, a lease, a key of KV or
// a space of Blobs, and an *InvalidNameError if not. A name is 1 to
// MaxNameBytes bytes long and consists of segments joined by "/". A segment
// begins with one of a-z and 0-9 and goes on with any of a-z, 0-9, "_", "." and
// "-".
//
// Every method of every backend that takes a name refuses a bad one with that
// error, before anything else. Two names that differ are two names everywhere:
// no backend may fold, truncate or nest them, whatever its own names look
// like. "a", "a/b", "a.b" and "a-b" are unrelated.
func CheckName(name string) error {
	switch {
	case name == "":
		return &InvalidNameError{name, "it is empty"}
	case len(name) > MaxNameBytes:
		return &InvalidNameError{name[:32] + "...", fmt.Sprintf("it has %d bytes, at most %d", len(name), MaxNameBytes)}
	}
	begin := true // of a segment
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z' || '0' <= c && c <= '9':
			begin = false
		case c == '/':
			if begin {
				return &InvalidNameError{name, "a segment is empty"}
			}
			begin = true
		case begin:
			return &InvalidNameError{name, "a segment begins with a-z or 0-9"}
		case !strings.ContainsRune("_.-", rune(c)):
			return &InvalidNameError{name, fmt.Sprintf("the byte %q is none of a-z, 0-9, _ . - /", c)}
		}
	}
	if begin {
		return &InvalidNameError{name, "it ends with /"}
	}
	return nil
}
