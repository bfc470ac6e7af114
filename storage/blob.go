package storage

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"
)

// Blobs stores content of any length under its digest, in spaces: a space is
// a named set of blobs, so that what belongs together can be listed and removed
// together. It begins with its first blob. The same content in two spaces is two
// blobs.
type Blobs interface {
	// Put stores what r yields, up to its io.EOF, if it is not there yet. If want
	// is not zero, it is the digest that the content must have, and a blob that is
	// there already is left as it is, without reading r. It returns what is stored
	// then. It streams: memory does not grow with the content.
	//
	// It takes effect at one moment: readers see all of it or nothing, also after
	// a crash. It is durable when it returns nil. An error of r is returned
	// wrapped, and a content that is not want's a *DigestError; nothing is stored
	// in either case.
	Put(ctx context.Context, space string, want Digest, r io.Reader) (BlobInfo, error)

	// Get opens a blob. The error is a *NotFoundError when it is not there. The
	// reader verifies what it reads: instead of io.EOF it ends with a *DigestError
	// when the content is not what was stored. Close may be called during a Read,
	// and any number of times; Read fails behind it. A blob that is deleted while
	// it is read is read to its end or fails; it never ends early without an
	// error. ctx bounds the reading too.
	Get(ctx context.Context, space string, d Digest) (io.ReadCloser, error)

	// Stat returns what List would say of one blob, or a *NotFoundError.
	Stat(ctx context.Context, space string, d Digest) (BlobInfo, error)

	// Delete removes a blob. That it is not there is no error.
	Delete(ctx context.Context, space string, d Digest) error

	// List returns the blobs of a space in the order of their digests. A blob
	// that comes or goes during the iteration may be there or not.
	List(ctx context.Context, space string) iter.Seq2[BlobInfo, error]

	// Spaces returns the spaces that begin with prefix and are not empty, in the
	// order of their bytes.
	Spaces(ctx context.Context, prefix string) iter.Seq2[string, error]
}

// A BlobInfo describes a blob.
type BlobInfo struct {
	Digest Digest
	Size   int64
	// Age is how long ago the blob was first stored, by the clock of the store
	// alone, and never below 0. It says when a blob that nothing refers to yet may
	// be taken for one that nothing will. A Put of what is there already leaves it
	// as it is.
	Age time.Duration
}

// A Digest is the SHA-256 of a content. The zero Digest stands for none.
type Digest [sha256.Size]byte

// DigestOf returns the digest of data.
func DigestOf(data []byte) Digest { return sha256.Sum256(data) }

// String returns "sha256:" and 64 hexadecimal digits, or "" of the zero Digest.
func (d Digest) String() string {
	if d == (Digest{}) {
		return ""
	}
	return "sha256:" + hex.EncodeToString(d[:])
}

// ParseDigest is the inverse of String; it refuses every other spelling.
func ParseDigest(s string) (Digest, error) {
	var d Digest
	digits, ok := strings.CutPrefix(s, "sha256:")
	if !ok || len(digits) != 2*len(d) || strings.ToLower(digits) != digits {
		return d, fmt.Errorf("parse digest %.80q: want sha256: and %d lower-case hexadecimal digits", s, 2*len(d))
	}
	if _, err := hex.Decode(d[:], []byte(digits)); err != nil {
		return Digest{}, fmt.Errorf("parse digest %.80q: %w", s, err)
	}
	if d == (Digest{}) {
		return d, fmt.Errorf("parse digest %.80q: it is the zero digest, which stands for none", s)
	}
	return d, nil
}

// MarshalText and UnmarshalText are String and ParseDigest; "" is the zero
// Digest.
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

func (d *Digest) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*d = Digest{}
		return nil
	}
	v, err := ParseDigest(string(text))
	*d = v
	return err
}
