package event

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/internal/canon"
)

// Seal makes and signs the event that h and b describe. It holds us to what
// peers can read: a field out of bounds is a *BoundError that names the field,
// the limit and by how much, and an event over MaxEventBytes a *TooLargeError.
// Lists are brought into order, without repeats; b itself is not changed. The
// event is what Parse makes of its bytes and shares no memory with b but strings.
func Seal(k *ident.Key, h Header, b Body) (*Event, error) {
	kind := ""
	if b != nil {
		kind = b.Kind()
	}
	if err := h.check(k, kind); err != nil {
		return nil, err
	}
	msg := append(strconv.AppendInt(append(make([]byte, 0, 1024), `{"at":`...), h.At, 10), `,"body":`...)
	msg, said, err := writeBody(msg, b)
	if err != nil {
		return nil, err
	}
	pk := k.PublicHex()
	msg, cut := h.append(msg, pk)
	p := &parsed{Event: Event{
		Repo: h.Repo, Stream: h.Stream, Seq: h.Seq, Lamport: h.Lamport, At: h.At, PK: pk, Prev: h.Prev, Body: said,
	}}
	p.Sig = p.sig[:]
	copy(p.sig[:], k.Sign(ident.DomainEvent, msg))
	p.Raw = insertSignature(msg, cut, p.Sig)
	if len(p.Raw) > MaxEventBytes {
		return nil, &TooLargeError{Kind: kind, Limit: MaxEventBytes, Got: len(p.Raw)}
	}
	p.Hash = sha256.Sum256(p.Raw)
	return &p.Event, nil
}

// append ends the signed object that msg begins, and returns the place where
// the signature goes.
func (h Header) append(msg []byte, pk string) (all []byte, cut int) {
	msg = strconv.AppendUint(append(msg, `,"lamport":`...), h.Lamport, 10)
	msg = append(append(msg, `,"pk":"`...), pk...)
	msg = append(append(msg, `","prev":"`...), h.Prev...)
	msg = append(append(msg, `","repo":"`...), h.Repo...)
	msg = strconv.AppendUint(append(msg, `","seq":`...), h.Seq, 10)
	cut = len(msg)
	msg = append(append(msg, `,"stream":"`...), h.Stream...)
	return append(msg, `","v":1}`...), cut
}

func insertSignature(msg []byte, cut int, sig []byte) []byte {
	raw := make([]byte, 0, len(msg)+len(`,"sig":""`)+signatureDigits)
	raw = append(append(raw, msg[:cut]...), `,"sig":"`...)
	raw = append(hex.AppendEncode(raw, sig), '"')
	return append(raw, msg[cut:]...)
}

func (h Header) check(k *ident.Key, kind string) error {
	wrong := func(field, detail string) error {
		return &BoundError{Kind: kind, Field: field, Detail: detail}
	}
	switch {
	case h.At < -MaxInt || h.At > MaxInt:
		return wrong("at", "want an integer within ±(2^53-1)")
	case h.Lamport < 1 || h.Lamport > MaxInt:
		return wrong("lamport", "want an integer from 1 to 2^53-1")
	case h.Seq < 1 || h.Seq > MaxInt:
		return wrong("seq", "want an integer from 1 to 2^53-1")
	case prevForm(h.Seq, h.Prev) != "":
		return wrong("prev", prevForm(h.Seq, h.Prev))
	case !h.Repo.Valid():
		return wrong("repo", "want 32 lowercase hex digits")
	case !h.Stream.Valid():
		return wrong("stream", "want <node>-<runtime>-<instance>")
	case h.Stream.Node() != k.Node():
		return wrong("stream", "not of the node of the key")
	}
	return nil
}

// SignedBytes returns the message that the signature of an event signs, after
// its domain: raw without the member sig. It returns nil when raw is not the
// canonical form of an object.
func SignedBytes(raw []byte) []byte {
	r := canon.NewReader(raw)
	obj, ok := r.OpenObject()
	from, to := 0, 0
	for ok {
		start := r.Offset() // of the comma before the member, but for the first
		var name []byte
		if name, ok = r.Next(&obj); !ok {
			break
		}
		r.Skip()
		if string(name) == "sig" {
			from, to = start, r.Offset()
		}
	}
	if r.End() != nil {
		return nil
	}
	out := make([]byte, 0, len(raw))
	return append(append(out, raw[:from]...), raw[to:]...)
}

const streamBytes = 32 + 1 + 16 + 1 + 16 // of a stream: a node, a runtime and an instance

// signedParts returns the two pieces of raw, the bytes of an event, around its
// member sig.
func signedParts(raw []byte) (before, after []byte) {
	const v, stream, sig = `","v":1}`, `,"stream":"`, `,"sig":"`
	// Behind sig there are stream and v and, but for the members of a newer
	// version, nothing else. Nothing but these two members of the whole object
	// can end it so: within a string each of the quotes would be escaped.
	to := len(raw) - len(v) - streamBytes - len(stream)
	from := to - len(sig) - signatureDigits - len(`"`)
	if from > 0 && string(raw[from:from+len(sig)]) == sig && string(raw[to:to+len(stream)]) == stream && string(raw[len(raw)-len(v):]) == v {
		return raw[:from], raw[to:]
	}
	return SignedBytes(raw), nil
}
