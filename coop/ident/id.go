package ident

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// Digits of each id.
const (
	nodeDigits       = 32
	runtimeDigits    = 16
	instanceDigits   = 16
	repositoryDigits = 32
	checkoutDigits   = 16
	recordDigits     = 32
)

// MaxDeclaredBytes bounds the value from which RepositoryDeclared makes an id.
const MaxDeclaredBytes = 128

// A NodeID names one user on one machine: 32 lowercase hex digits of the
// digest of its public key.
type NodeID string

// A RuntimeID names a node's daemon for one repository: 16 lowercase hex digits.
type RuntimeID string

// An InstanceID names one run of a runtime: 16 lowercase hex digits, random.
type InstanceID string

// A RepositoryID names a repository and all its clones: 32 lowercase hex digits.
type RepositoryID string

// A CheckoutID names a worktree without telling its path: 16 lowercase hex digits.
type CheckoutID string

// Valid reports whether n has the form of a node id.
func (n NodeID) Valid() bool { return IsHex(string(n), nodeDigits) }

// Valid reports whether r has the form of a runtime id.
func (r RuntimeID) Valid() bool { return IsHex(string(r), runtimeDigits) }

// Valid reports whether i has the form of an instance id.
func (i InstanceID) Valid() bool { return IsHex(string(i), instanceDigits) }

// Valid reports whether r has the form of a repository id.
func (r RepositoryID) Valid() bool { return IsHex(string(r), repositoryDigits) }

// Valid reports whether c has the form of a checkout id.
func (c CheckoutID) Valid() bool { return IsHex(string(c), checkoutDigits) }

// IsHex reports whether s is exactly digits lowercase hex digits.
func IsHex[T string | []byte](s T, digits int) bool {
	if len(s) != digits {
		return false
	}
	for len(s) >= 8 {
		if w := load8(s); hexDigits(w) != highs {
			return false
		}
		s = s[8:]
	}
	for i := range len(s) {
		if nibbles[s[i]] > 15 {
			return false
		}
	}
	return true
}

// Unhex decodes the lowercase hex digits that fill dst, and reports whether
// digits are that; if not, dst holds nothing of use.
func Unhex[T string | []byte](dst []byte, digits T) bool {
	if len(digits) != 2*len(dst) {
		return false
	}
	for len(dst) >= 4 {
		w := load8(digits)
		if hexDigits(w) != highs {
			return false
		}
		w = w&(0x0f*ones) + w>>6&ones*9 // the value of each digit
		w = w<<4 | w>>8                 // of each pair, in its first byte
		dst[0], dst[1], dst[2], dst[3] = byte(w), byte(w>>16), byte(w>>32), byte(w>>48)
		dst, digits = dst[4:], digits[8:]
	}
	bad := byte(0)
	for i := range dst {
		hi, lo := nibbles[digits[2*i]], nibbles[digits[2*i+1]]
		dst[i] = hi<<4 | lo
		bad |= hi | lo
	}
	return bad <= 15
}

const ones, highs = 0x0101010101010101, 0x8080808080808080

// load8 is the first eight bytes of s, the first one lowest.
func load8[T string | []byte](s T) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// hexDigits has the high bit of each byte of w that is a lowercase hex digit; no
// sum of a byte runs over into the next.
func hexDigits(w uint64) uint64 {
	low := w &^ highs
	digit := (low + ones*(0x80-'0')) &^ (low + ones*(0x80-'9'-1))
	letter := (low + ones*(0x80-'a')) &^ (low + ones*(0x80-'f'-1))
	return (digit | letter) &^ w & highs
}

// nibbles holds the value of each lowercase hex digit at its byte, and 255 at
// any other.
const nibbles = no16 + no16 + no16 + "\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09" + no4 + "\xff\xff" +
	no16 + no16 + "\xff\x0a\x0b\x0c\x0d\x0e\x0f" + no4 + no4 + "\xff" + no16 +
	no64 + no64

const (
	no4  = "\xff\xff\xff\xff"
	no16 = no4 + no4 + no4 + no4
	no64 = no16 + no16 + no16 + no16
)

// NodeOf returns the node id of a public key.
func NodeOf(pub []byte) NodeID {
	sum := sha256.Sum256(pub)
	return NodeID(hex.EncodeToString(sum[:nodeDigits/2]))
}

// RepositoryFromRoot returns the id of the repository whose root commit is
// oid: 40 or 64 lowercase hex digits.
func RepositoryFromRoot(oid string) (RepositoryID, error) {
	if !IsHex(oid, 40) && !IsHex(oid, 64) {
		return "", fmt.Errorf("root commit %.80q: want 40 or 64 lowercase hex digits", oid)
	}
	return repositoryOf("root", oid), nil
}

// RepositoryDeclared returns the id of a repository that people named
// themselves, by a value of 1 to MaxDeclaredBytes bytes.
func RepositoryDeclared(value string) (RepositoryID, error) {
	if len(value) == 0 || len(value) > MaxDeclaredBytes {
		return "", fmt.Errorf("declared repository: %d bytes, want 1 to %d", len(value), MaxDeclaredBytes)
	}
	return repositoryOf("declared", value), nil
}

func repositoryOf(how, value string) RepositoryID {
	sum := sha256.Sum256([]byte("comity-repository/v1\n" + how + "\n" + value))
	return RepositoryID(hex.EncodeToString(sum[:repositoryDigits/2]))
}

// NewInstance returns a random instance id.
func NewInstance() InstanceID { return InstanceID(randomHex(instanceDigits)) }

// NewRecord returns a random run record: 32 lowercase hex digits.
func NewRecord() string { return randomHex(recordDigits) }

func randomHex(digits int) string {
	b := make([]byte, digits/2)
	rand.Read(b) // never fails: crypto/rand ends the program when the system has no randomness
	return hex.EncodeToString(b)
}
