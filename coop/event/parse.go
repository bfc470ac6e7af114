package event

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/internal/canon"
)

const (
	publicDigits    = 2 * ed25519.PublicKeySize
	signatureDigits = 2 * ed25519.SignatureSize
	hashDigits      = 2 * sha256.Size
)

// Parse reads an event from its stored bytes. It checks, in this order, their
// size, that they are canonical, the version, the shape of the envelope, and
// that the stream's node is the digest of the key and seq at least 1; a failure
// is a *FormError. It checks neither the signature nor whose repository it is.
//
// A body of an unknown kind becomes Opaque, and one of a known kind that breaks
// its bounds Unreadable. Unknown members are ignored, and kept in Raw.
//
// Parse keeps raw as the event's Raw; the caller must not change it.
func Parse(raw []byte) (*Event, error) {
	if len(raw) > MaxEventBytes {
		return nil, &FormError{Reason: Oversized, Detail: strconv.Itoa(len(raw)) + " bytes, limit " + strconv.Itoa(MaxEventBytes)}
	}
	env, err := readEnvelope(raw)
	if err != nil {
		return nil, err
	}
	e, err := env.event()
	if err != nil {
		return nil, err
	}
	e.Raw = raw
	e.Hash = sha256.Sum256(raw)
	return e, nil
}

// An envelope holds the raw values of an event's members, nil where one is
// missing, and the decoded kind of its body.
type envelope struct {
	at, body, lamport, pk, prev, repo, seq, sig, stream, v []byte

	kind []byte
}

func readEnvelope(raw []byte) (*envelope, error) {
	var env envelope
	r := canon.NewReader(raw)
	obj, ok := r.OpenObject()
	for ok {
		var name []byte
		if name, ok = r.Next(&obj); !ok {
			break
		}
		if string(name) == "body" {
			env.body, env.kind = readRawBody(&r, raw)
			continue
		}
		value := r.Raw()
		if p := env.member(name); p != nil {
			*p = value
		}
	}
	if err := r.End(); err != nil {
		return nil, &FormError{Reason: Malformed, Detail: "bytes", Err: err}
	}
	return &env, nil
}

func (env *envelope) member(name []byte) *[]byte {
	switch string(name) {
	case "at":
		return &env.at
	case "lamport":
		return &env.lamport
	case "pk":
		return &env.pk
	case "prev":
		return &env.prev
	case "repo":
		return &env.repo
	case "seq":
		return &env.seq
	case "sig":
		return &env.sig
	case "stream":
		return &env.stream
	case "v":
		return &env.v
	}
	return nil
}

// readRawBody passes the body and returns its bytes and its kind, nil where it
// has none. The kind comes late in canonical order, so the body is read for
// good only when the kind is known.
func readRawBody(r *canon.Reader, raw []byte) (body, kind []byte) {
	start := r.Offset()
	if r.Peek() != '{' {
		return r.Raw(), nil
	}
	obj, ok := r.OpenObject()
	for ok {
		var name []byte
		if name, ok = r.Next(&obj); !ok {
			break
		}
		if string(name) == "kind" && r.Peek() == '"' {
			kind, _ = r.String()
		} else {
			r.Skip()
		}
	}
	end := r.Offset()
	return raw[start:end:end], kind
}

// event checks the envelope's members and makes the event of them.
func (env *envelope) event() (*Event, error) {
	if v, ok := integer(env.v); !ok {
		return nil, malformed("v", "want an integer")
	} else if v != Version {
		return nil, &FormError{Reason: Versioned, Detail: strconv.FormatInt(v, 10) + ", this build reads " + strconv.Itoa(Version)}
	}
	e := new(Event)
	for _, step := range [...]func(*Event) error{env.numbers, env.names, env.proof, env.content} {
		if err := step(e); err != nil {
			return nil, err
		}
	}
	return e, nil
}

func malformed(field, detail string) error {
	return &FormError{Reason: Malformed, Detail: field + ": " + detail}
}

func (env *envelope) numbers(e *Event) error {
	at, ok := integer(env.at)
	if !ok {
		return malformed("at", "want an integer")
	}
	lamport, ok := integer(env.lamport)
	if !ok || lamport < 1 {
		return malformed("lamport", "want an integer from 1")
	}
	seq, ok := integer(env.seq)
	if !ok {
		return malformed("seq", "want an integer")
	}
	if seq < 1 {
		return &FormError{Reason: Identity, Detail: "seq: want an integer from 1"}
	}
	e.At, e.Lamport, e.Seq = at, uint64(lamport), uint64(seq)
	return nil
}

func (env *envelope) names(e *Event) error {
	e.Repo = ident.RepositoryID(quoted(env.repo))
	if !e.Repo.Valid() {
		return malformed("repo", "want 32 lowercase hex digits")
	}
	e.Stream = ident.Stream(quoted(env.stream))
	if !e.Stream.Valid() {
		return malformed("stream", "want <node>-<runtime>-<instance>")
	}
	e.Prev = string(quoted(env.prev))
	if wrong := prevForm(e.Seq, e.Prev); env.prev == nil || wrong != "" {
		return malformed("prev", wrong)
	}
	return nil
}

// prevForm says what is wrong with the hash of the event before seq.
func prevForm(seq uint64, prev string) string {
	switch {
	case seq == 1 && prev != "":
		return "want none at seq 1"
	case seq > 1 && !ident.IsHex(prev, hashDigits):
		return "want 64 lowercase hex digits"
	}
	return ""
}

func (env *envelope) proof(e *Event) error {
	e.PK = string(quoted(env.pk))
	pub, ok := publicKey(e.PK)
	if !ok {
		return malformed("pk", "want 64 lowercase hex digits")
	}
	sig := string(quoted(env.sig))
	if !ident.IsHex(sig, signatureDigits) {
		return malformed("sig", "want 128 lowercase hex digits")
	}
	e.Sig, _ = hex.DecodeString(sig)
	if ident.NodeOf(pub[:]) != e.Stream.Node() {
		return &FormError{Reason: Identity, Detail: "the key is not that of the stream's node"}
	}
	return nil
}

func (env *envelope) content(e *Event) error {
	kind := string(env.kind)
	if len(env.body) == 0 || env.body[0] != '{' {
		return malformed("body", "want an object")
	}
	if identForm(kind) != "" {
		return malformed("body.kind", "want 1 to 64 letters, digits and . _ : # -")
	}
	e.Body = readBody(kind, env.body)
	return nil
}

// publicKey decodes the hex digits of a public key.
func publicKey(digits string) (pub [ed25519.PublicKeySize]byte, ok bool) {
	if !ident.IsHex(digits, publicDigits) {
		return pub, false
	}
	_, err := hex.Decode(pub[:], []byte(digits))
	return pub, err == nil
}

// integer decodes a canonical integer.
func integer(raw []byte) (int64, bool) {
	r := canon.NewReader(raw)
	return r.Int()
}

// quoted returns what is between the quotes of a string; nil when raw is no
// string. Escapes stay: no name of ours holds a character that has one.
func quoted(raw []byte) []byte {
	if len(raw) < 2 || raw[0] != '"' {
		return nil
	}
	return raw[1 : len(raw)-1]
}
