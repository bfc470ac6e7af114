package journal

import (
	"crypto/sha256"
	"encoding/binary"
)

// A Digest is a SHA-256. The zero Digest stands for none.
type Digest [sha256.Size]byte

// DigestOf returns the digest of data.
func DigestOf(data []byte) Digest { return sha256.Sum256(data) }

// A Fingerprint is the content of a record, to be compared with ==. Two records
// of one journal have the same one if and only if the same frame would be stored
// for them, but for what tells one append from another: epoch, token, place.
// Where a caller gave a semantic digest, that stands for the content.
//
// It can be told from a stored frame without the content of what was offloaded.
type Fingerprint struct {
	kind string
	sum  Digest
}

// FingerprintOf returns the fingerprint of a body of a kind.
func FingerprintOf(kind string, body []byte) Fingerprint {
	return Fingerprint{kind, DigestOf(body)}
}

// appendFingerprintKind appends the kind of f's fingerprint.
func appendFingerprintKind(b []byte, f *Frame) []byte {
	b = append(b, f.Family.String()...)
	if f.Kind != "" {
		b = append(append(b, '/'), f.Kind...)
	}
	if f.Semantic != (Digest{}) {
		b = append(b, "?semantic"...)
	}
	return b
}

// fingerprintSum is the sum of f's fingerprint. Every part is framed by its
// length or is of fixed length, so that no two records are written alike.
func fingerprintSum(f *Frame) Digest {
	if f.Semantic != (Digest{}) {
		return f.Semantic
	}
	var few [128]byte
	b := binary.LittleEndian.AppendUint16(few[:0], f.Schema)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(f.Route)))
	b = append(append(b, 0, 0, 0, 0), f.Route...)
	body := f.Body.digest()
	b = append(b, body[:]...)
	if f.Family == FamilyOpaque && f.HasPublic { // the others' is derived from the body
		public := f.Public.digest()
		b = append(b, public[:]...)
	}
	return DigestOf(b)
}

// Parts returns what a Fingerprint consists of, for those who store one.
func (f Fingerprint) Parts() (kind string, sum Digest) { return f.kind, f.sum }

// FingerprintOfParts is the inverse of Parts.
func FingerprintOfParts(kind string, sum Digest) Fingerprint { return Fingerprint{kind, sum} }
