package event

import (
	"crypto/ed25519"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/comity-dev/comity/coop/ident"
)

// BeatVersion is the version of the form of a beat.
const BeatVersion = 1

// BeatBytes is the length of every beat of this version.
const BeatBytes = beatSigned + ed25519.SignatureSize

// Where the parts of a beat begin.
const (
	beatRepo     = 1
	beatKey      = beatRepo + 16
	beatRuntime  = beatKey + ed25519.PublicKeySize
	beatInstance = beatRuntime + 8
	beatSeq      = beatInstance + 8
	beatHead     = beatSeq + 8
	beatLamport  = beatHead + 32
	beatUptime   = beatLamport + 8
	beatSigned   = beatUptime + 8 // what the signature covers ends here
)

// A Beat is the signed word of a run that it lives: how far its stream is, and
// how long its machine had been up when it said so. It is immutable.
//
// Its bytes are, integers in big endian:
//
//	version (1 byte) | repository (16) | public key (32) | runtime (8) | instance (8) |
//	head seq (8) | head hash (32) | Lamport clock (8) | uptime in milliseconds (8) | signature (64)
//
// The node of the stream is the digest of the key. The signature is over
// "comity-beat/v1\n" and all that is before it. A run that has written nothing
// has no beat: seq is at least 1, and lamport at least seq. Both are at most
// MaxInt, the uptime at most 2^42-1.
type Beat struct {
	BeatHeader
	PK  string // 64 hex digits
	Sig []byte
	Raw []byte // the whole
}

// BeatHeader is what a beat says.
type BeatHeader struct {
	Repo    ident.RepositoryID
	Stream  ident.Stream
	Seq     uint64   // the last event of the stream that is durable
	Head    [32]byte // its hash
	Lamport uint64   // the highest stamp that the runtime has seen
	// Uptime is the time since the origin's machine booted, suspension and known
	// pauses included, in whole milliseconds. Of two beats of a stream the one with
	// the higher uptime is the later.
	Uptime time.Duration
}

// A BeatError says why bytes are no beat.
type BeatError struct{ Detail string }

func (e *BeatError) Error() string { return "beat: " + e.Detail }

// MaxUptime is the highest uptime of a beat, about 139 years.
const MaxUptime = (1<<42 - 1) * time.Millisecond

// SealBeat makes and signs a beat; uptime is cut to whole milliseconds. Values
// that no reader takes are a *BeatError.
func SealBeat(k *ident.Key, h BeatHeader) (*Beat, error) {
	raw := make([]byte, beatSigned, BeatBytes)
	raw[0] = BeatVersion
	if !ident.Unhex(raw[beatRepo:beatKey], []byte(h.Repo)) {
		return nil, &BeatError{"repository: want 32 hex digits"}
	}
	if !h.Stream.Valid() || h.Stream.Node() != k.Node() {
		return nil, &BeatError{"stream: not of the node of the key"}
	}
	copy(raw[beatKey:], k.Public())
	ident.Unhex(raw[beatRuntime:beatInstance], []byte(h.Stream.RuntimeID()))
	ident.Unhex(raw[beatInstance:beatSeq], []byte(h.Stream.Instance()))
	binary.BigEndian.PutUint64(raw[beatSeq:], h.Seq)
	copy(raw[beatHead:], h.Head[:])
	binary.BigEndian.PutUint64(raw[beatLamport:], h.Lamport)
	binary.BigEndian.PutUint64(raw[beatUptime:], uint64(h.Uptime.Milliseconds()))
	raw = append(raw, k.Sign(ident.DomainBeat, raw)...)
	return ParseBeat(raw)
}

// ParseBeat reads a beat from its bytes: whole, of this version, with every
// number within its bounds; a failure is a *BeatError. It checks neither the
// signature nor whose repository it is. It keeps raw; the caller must not
// change it.
func ParseBeat(raw []byte) (*Beat, error) {
	switch {
	case len(raw) == 0:
		return nil, &BeatError{"empty"}
	case raw[0] != BeatVersion:
		return nil, &BeatError{fmt.Sprintf("version %d, this build reads %d", raw[0], BeatVersion)}
	case len(raw) != BeatBytes:
		return nil, &BeatError{fmt.Sprintf("%d bytes, want %d", len(raw), BeatBytes)}
	}
	b := &Beat{
		BeatHeader: BeatHeader{
			Repo:    ident.RepositoryID(hex.EncodeToString(raw[beatRepo:beatKey])),
			Seq:     binary.BigEndian.Uint64(raw[beatSeq:]),
			Head:    [32]byte(raw[beatHead:beatLamport]),
			Lamport: binary.BigEndian.Uint64(raw[beatLamport:]),
		},
		PK:  hex.EncodeToString(raw[beatKey:beatRuntime]),
		Sig: raw[beatSigned:],
		Raw: raw,
	}
	b.Stream = ident.NewStream(ident.NodeOf(raw[beatKey:beatRuntime]),
		ident.RuntimeID(hex.EncodeToString(raw[beatRuntime:beatInstance])),
		ident.InstanceID(hex.EncodeToString(raw[beatInstance:beatSeq])))
	uptime := binary.BigEndian.Uint64(raw[beatUptime:])
	switch {
	case b.Seq < 1 || b.Seq > MaxInt:
		return nil, &BeatError{"seq: want an integer from 1 to 2^53-1"}
	case b.Lamport < b.Seq || b.Lamport > MaxInt:
		return nil, &BeatError{"lamport: want an integer from seq to 2^53-1"}
	case uptime > uint64(MaxUptime.Milliseconds()):
		return nil, &BeatError{"uptime: want at most 2^42-1 milliseconds"}
	}
	b.Uptime = time.Duration(uptime) * time.Millisecond
	return b, nil
}

// Verify reports whether b's signature is good, by the one rule of the protocol.
func (b *Beat) Verify() bool {
	return ident.Verify(ed25519.PublicKey(b.Raw[beatKey:beatRuntime]), ident.DomainBeat, b.Raw[:beatSigned], b.Sig)
}

// Later reports whether b was made after c, another beat of its stream or nil.
func (b *Beat) Later(c *Beat) bool { return c == nil || b.Uptime > c.Uptime }
