package journal

import (
	"fmt"
	"unicode/utf8"
)

// FrameVersion is the version of the frames that this build writes, and the
// highest that it reads.
const FrameVersion = 1

// Bounds of a frame, in bytes. They are part of the format.
const (
	MaxIDBytes    = 512
	MaxKindBytes  = 64
	MaxRouteBytes = 255
	// MaxFrameOverhead is the most that a frame is longer than its two bodies.
	MaxFrameOverhead = frameHeader + MaxKindBytes + MaxIDBytes + MaxRouteBytes + 2*32
	// MaxBatch is the most records of one batch.
	MaxBatch = 1<<16 - 1
)

// A Frame is one record as it is stored: docs/session-journal.md has it byte for
// byte. There is one spelling of each: what ParseFrame takes, AppendTo writes.
type Frame struct {
	Family Family
	// Epoch is that of the owner who wrote it, which is the epoch of the last
	// fence before it. At least 1.
	Epoch uint64
	// Token is drawn at random for each append: it tells whose record it is.
	Token Token
	// Batch and Of are the place of the record among the Of records that were
	// appended as one; both are 1 for a record alone.
	Batch, Of uint16
	// Schema is the version of the body's form, at least 1.
	Schema uint16
	// Projection is the version of what made the public form, 0 without one.
	Projection uint16
	Kind       string // of opaque records
	ID         string // the record's IdempotencyID
	Route      string // of commands: the loop, "" if none
	// Semantic stands for the content in comparisons if it is not zero.
	Semantic Digest
	// Prev is the digest of the whole frame before this one, or zero.
	Prev      Digest
	Body      Field
	HasPublic bool
	Public    Field
}

// A Token is 16 random bytes, never all zero.
type Token [16]byte

// A Field is content within a frame, or a reference to it.
type Field struct {
	Bytes []byte
	Ref   Ref // zero when Bytes hold the content
}

// A Ref names content that is stored outside of the journal.
type Ref struct {
	Digest Digest
	Size   uint64 // at least 1
}

func (f Field) digest() Digest {
	if f.Ref != (Ref{}) {
		return f.Ref.Digest
	}
	return DigestOf(f.Bytes)
}

// Size is the length of the content.
func (f Field) Size() uint64 {
	if f.Ref != (Ref{}) {
		return f.Ref.Size
	}
	return uint64(len(f.Bytes))
}

// Fingerprint returns the fingerprint of the record that f holds.
func (f *Frame) Fingerprint() Fingerprint {
	return Fingerprint{string(appendFingerprintKind(nil, f)), fingerprintSum(f)}
}

// AppendFingerprint appends the parts of Fingerprint to b, with a zero byte
// between kind and sum: for those who make a digest of them.
func (f *Frame) AppendFingerprint(b []byte) []byte {
	sum := fingerprintSum(f)
	return append(append(appendFingerprintKind(b, f), 0), sum[:]...)
}

// IndexKey returns what the record is remembered by.
func (f *Frame) IndexKey() string { return IndexKey(f.Family, f.Kind, f.ID) }

// AppendIndexKey appends IndexKey to b.
func (f *Frame) AppendIndexKey(b []byte) []byte {
	return appendIndexKey(b, f.Family, f.Kind, f.ID)
}

// A FrameError reports bytes that are not a frame, or a frame that breaks
// a rule of the format: something was damaged or wrongly written.
type FrameError struct{ Detail string }

func (e *FrameError) Error() string { return "damaged frame: " + e.Detail }

// A NewerFrameError reports a whole and undamaged frame of a later version of
// the format.
type NewerFrameError struct{ Version, Newest uint8 }

func (e *NewerFrameError) Error() string {
	return fmt.Sprintf("frame has version %d; this build reads up to %d: use a newer one", e.Version, e.Newest)
}

// An UnknownFamilyError reports a whole and undamaged frame of a family that
// this build does not know.
type UnknownFamilyError struct{ Family Family }

func (e *UnknownFamilyError) Error() string {
	return fmt.Sprintf("frame has the unknown %v: it was written by a newer build", e.Family)
}

// check returns which rule of the format f breaks.
func (f *Frame) check() error {
	switch {
	case !f.Family.known():
		return &UnknownFamilyError{f.Family}
	case f.Epoch == 0:
		return &FrameError{"epoch 0"}
	case f.Token == (Token{}):
		return &FrameError{"no token"}
	case f.Batch == 0 || f.Batch > f.Of:
		return &FrameError{fmt.Sprintf("record %d of a batch of %d", f.Batch, f.Of)}
	case f.Schema == 0:
		return &FrameError{"schema 0"}
	case f.HasPublic != (f.Projection != 0):
		return &FrameError{"a public form has a version, and only a public form"}
	case f.HasPublic && f.Family != FamilyEvent && f.Family != FamilyOpaque:
		return &FrameError{fmt.Sprintf("a public form of a private %v", f.Family)}
	case f.Family == FamilyFence && f.Body.Ref != (Ref{}):
		return &FrameError{"a fence without its body"}
	case (f.Family == FamilyOpaque) != (f.Kind != ""):
		return &FrameError{"an opaque record has a kind, and only an opaque record"}
	case f.Route != "" && f.Family != FamilyCommand:
		return &FrameError{"only a command has a route"}
	case f.Semantic != (Digest{}) && f.Family != FamilyEvent && f.Family != FamilyCommand && f.Family != FamilyOpaque:
		return &FrameError{fmt.Sprintf("a semantic digest of %v", f.Family)}
	}
	for _, err := range []error{
		checkText("id", f.ID, 1, MaxIDBytes),
		checkText("route", f.Route, 0, MaxRouteBytes),
		checkKind(f.Kind),
		f.Body.check("body"),
		f.Public.check("public form"),
	} {
		if err != nil {
			return err
		}
	}
	if !f.HasPublic && (f.Public.Ref != (Ref{}) || len(f.Public.Bytes) > 0) {
		return &FrameError{"a public form that is said not to be there"}
	}
	return nil
}

func (f Field) check(what string) error {
	if f.Ref == (Ref{}) {
		return nil
	}
	if f.Ref.Digest == (Digest{}) || f.Ref.Size == 0 || len(f.Bytes) > 0 {
		return &FrameError{"a reference to nothing in place of the " + what}
	}
	return nil
}

func checkText(what, s string, least, most int) error {
	if len(s) < least || len(s) > most {
		return &FrameError{fmt.Sprintf("%s of %d bytes, %d to %d", what, len(s), least, most)}
	}
	if !utf8.ValidString(s) {
		return &FrameError{what + " is not UTF-8"}
	}
	return nil
}

// checkKind returns why s cannot be the kind of an opaque record; "" passes.
func checkKind(s string) error {
	if len(s) > MaxKindBytes {
		return &FrameError{fmt.Sprintf("kind of %d bytes, at most %d", len(s), MaxKindBytes)}
	}
	for i := range len(s) {
		c := s[i]
		word := 'a' <= c && c <= 'z' || '0' <= c && c <= '9'
		if !word && (i == 0 || c != '.' && c != '-' && c != '_' && c != '/') {
			return &FrameError{"kind is not of a-z, 0-9, and behind the first of . - _ /"}
		}
	}
	return nil
}
