package event

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/internal/canon"
)

const (
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
	var env envelope
	if err := env.read(raw); err != nil {
		return nil, err
	}
	p := new(parsed)
	if err := env.fill(p); err != nil {
		return nil, err
	}
	p.Raw = raw
	p.Hash = sha256.Sum256(raw)
	return &p.Event, nil
}

// A parsed event lies in memory together with its signature.
type parsed struct {
	Event
	sig [ed25519.SignatureSize]byte
}

// An envelope holds the raw values of an event's members, nil where one is
// missing, and the decoded kind of its body.
type envelope struct {
	at, body, lamport, pk, prev, repo, seq, sig, stream, v []byte

	kind []byte
}

func (env *envelope) read(raw []byte) error {
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
		return &FormError{Reason: Malformed, Detail: "bytes", Err: err}
	}
	return nil
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

// fill checks the envelope's members and makes an event of them.
func (env *envelope) fill(p *parsed) error {
	if v, ok := integer(env.v); !ok {
		return malformed("v", "want an integer")
	} else if v != Version {
		return &FormError{Reason: Versioned, Detail: strconv.FormatInt(v, 10) + ", this build reads " + strconv.Itoa(Version)}
	}
	if err := env.numbers(&p.Event); err != nil {
		return err
	}
	if err := env.names(&p.Event); err != nil {
		return err
	}
	if err := env.proof(p); err != nil {
		return err
	}
	return env.content(&p.Event)
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
	repo, stream, prev, pk := quoted(env.repo), quoted(env.stream), quoted(env.prev), quoted(env.pk)
	all := joined(repo, stream, prev, pk)
	take := func(n int) (s string) {
		s, all = all[:n], all[n:]
		return s
	}
	e.Repo, e.Stream = ident.RepositoryID(take(len(repo))), ident.Stream(take(len(stream)))
	e.Prev, e.PK = take(len(prev)), all
	if !e.Repo.Valid() {
		return malformed("repo", "want 32 lowercase hex digits")
	}
	if !e.Stream.Valid() {
		return malformed("stream", "want <node>-<runtime>-<instance>")
	}
	if prev == nil {
		return malformed("prev", "want a string")
	}
	if wrong := prevForm(e.Seq, e.Prev); wrong != "" {
		return malformed("prev", wrong)
	}
	return nil
}

// joined makes one string of four that live and die together.
func joined(a, b, c, d []byte) string {
	var all strings.Builder
	all.Grow(len(a) + len(b) + len(c) + len(d))
	all.Write(a)
	all.Write(b)
	all.Write(c)
	all.Write(d)
	return all.String()
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

func (env *envelope) proof(p *parsed) error {
	pub, ok := publicKey(p.PK)
	if !ok {
		return malformed("pk", "want 64 lowercase hex digits")
	}
	if !ident.Unhex(p.sig[:], quoted(env.sig)) {
		return malformed("sig", "want 128 lowercase hex digits")
	}
	p.Sig = p.sig[:]
	sum := sha256.Sum256(pub[:])
	var node [32]byte
	hex.Encode(node[:], sum[:len(node)/2])
	if string(node[:]) != string(p.Stream[:len(node)]) {
		return &FormError{Reason: Identity, Detail: "the key is not that of the stream's node"}
	}
	return nil
}

func (env *envelope) content(e *Event) error {
	if len(env.body) == 0 || env.body[0] != '{' {
		return malformed("body", "want an object")
	}
	if len(env.kind) > ident.MaxSIDBytes || identForm(string(env.kind)) != "" {
		return malformed("body.kind", "want 1 to 64 letters, digits and . _ : # -")
	}
	e.Body = readBody(string(env.kind), env.body)
	return nil
}

// publicKey decodes the hex digits of a public key.
func publicKey(digits string) (pub [ed25519.PublicKeySize]byte, ok bool) {
	ok = ident.Unhex(pub[:], digits)
	return pub, ok
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
