package event

import (
	"crypto/ed25519"

	"github.com/comity-dev/comity/coop/ident"
)

// Version is the version of the envelope.
const Version = 1

// An Event is one signed statement in a stream. It is immutable: whoever holds
// one may share it and must not change it.
type Event struct {
	Repo    ident.RepositoryID
	Stream  ident.Stream
	Seq     uint64 // dense from 1 in its stream
	Lamport uint64 // rises strictly in its stream
	At      int64  // the author's wall clock, Unix seconds: informs, decides nothing
	PK      string // the author's public key, 64 hex digits
	Prev    string // hash of the stream's previous event, 64 hex digits; "" at seq 1
	Body    Body
	Sig     []byte   // Ed25519 signature, 64 bytes
	Raw     []byte   // the stored, relayed and hashed bytes: canonical JSON of the whole
	Hash    [32]byte // SHA-256 of Raw
}

// Key names e.
func (e *Event) Key() Key { return Key{e.Stream, e.Seq} }

// Session returns the session that e names, in e's runtime; false when e names
// none, as the stream kinds, opaque and unreadable events do.
func (e *Event) Session() (ident.SessionID, bool) {
	sid := sessionOf(e.Body)
	if sid == "" {
		return ident.SessionID{}, false
	}
	return ident.SessionID{Runtime: e.Stream.Runtime(), SID: sid}, true
}

func sessionOf(b Body) string {
	switch b := b.(type) {
	case SessionOpened:
		return b.Info.Session
	case SessionClosed:
		return b.Session
	case ClaimAcquired:
		return b.Session
	case ClaimReleased:
		return b.Session
	case HandoverPublished:
		return b.Session
	case HandoverConsumed:
		return b.Session
	case HandoverDeclined:
		return b.Session
	case HandoverWithdrawn:
		return b.Session
	case ReviewRequested:
		return b.Session
	case ReviewAnswered:
		return b.Session
	case ReviewClosed:
		return b.Session
	}
	return ""
}

// Verify reports whether e's own signature is good, by the one rule of the
// protocol: crypto/ed25519, one signature at a time.
func (e *Event) Verify() bool {
	var pub [ed25519.PublicKeySize]byte
	before, after := signedParts(e.Raw)
	return ident.Unhex(pub[:], e.PK) && ident.VerifyParts(pub[:], ident.DomainEvent, before, after, e.Sig)
}

// Header is what the writer of a stream sets on an event beside its body.
type Header struct {
	Repo    ident.RepositoryID
	Stream  ident.Stream
	Seq     uint64
	Lamport uint64
	At      int64
	Prev    string // "" at seq 1, else 64 hex digits
}
