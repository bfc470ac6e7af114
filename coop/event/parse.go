package event

import (
	"bytes"
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
	repoDigits      = 32
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
func Parse(raw []byte) (*Event, error) { return (*Parser)(nil).Parse(raw) }

// A Parser parses events as Parse does. What the events of a stream share it holds
// once and checks once, for as many streams as it has room for. The zero Parser is
// ready; it is not safe for concurrent use.
type Parser struct {
	origins [128]origin // each near its slot
	words   words
}

// originReach is how far from its slot an origin may be.
const originReach = 4

// An origin is what all events of a stream say of it.
type origin struct {
	repo   ident.RepositoryID
	stream ident.Stream
	pk     string
}

// Parse is the function Parse.
func (of *Parser) Parse(raw []byte) (*Event, error) {
	if len(raw) > MaxEventBytes {
		return nil, &FormError{Reason: Oversized, Detail: strconv.Itoa(len(raw)) + " bytes, limit " + strconv.Itoa(MaxEventBytes)}
	}
	var env envelope
	return of.parse(&env, raw)
}

func (of *Parser) parse(env *envelope, raw []byte) (*Event, error) {
	if of != nil {
		env.words = &of.words
	}
	if err := env.read(raw); err != nil {
		return nil, err
	}
	p := new(parsed)
	known := of.known(env)
	if err := env.fill(p, known); err != nil {
		return nil, err
	}
	if known == nil && of != nil {
		of.keep(&p.Event)
	}
	p.Raw = raw
	p.Hash = sha256.Sum256(raw)
	return &p.Event, nil
}

// known is the origin of an event of a stream that had an event before, nil for any
// other.
func (of *Parser) known(env *envelope) *origin {
	s := quoted(env.stream)
	if of == nil || len(s) != streamBytes {
		return nil
	}
	at := slot(s[0], s[1], s[streamBytes-1])
	for i := range originReach {
		o := of.origin(at + i)
		if string(s) == string(o.stream) {
			if string(quoted(env.repo)) != string(o.repo) || string(quoted(env.pk)) != o.pk {
				return nil
			}
			return o
		}
	}
	return nil
}

// keep holds the origin of an event: in place of its stream's, in a free place, or
// in that of another.
func (of *Parser) keep(e *Event) {
	at := slot(e.Stream[0], e.Stream[1], e.Stream[streamBytes-1])
	free := of.origin(at)
	for i := range originReach {
		o := of.origin(at + i)
		if o.stream == e.Stream {
			free = o
			break
		}
		if o.stream == "" && free.stream != "" {
			free = o
		}
	}
	*free = origin{e.Repo, e.Stream, e.PK}
}

// slot is where the origin of a stream is looked for, by digits of its node and its run.
func slot(a, b, c byte) int { return int(a) + int(b)*5 + int(c)*29 }

func (of *Parser) origin(at int) *origin { return &of.origins[at%len(of.origins)] }

// A parsed event lies in memory together with its signature.
type parsed struct {
	Event
	sig [ed25519.SignatureSize]byte
}

// An envelope holds the raw values of an event's members, nil where one is
// missing, and of its body either what it says or its decoded kind.
type envelope struct {
	at, body, lamport, pk, prev, repo, seq, sig, stream, v []byte

	said  Body
	kind  []byte
	words *words

	testingGeneral bool // nothing is taken for what it looks like
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
			if !env.testingGeneral {
				env.said = readKnownBody(&r, raw, env.words)
			}
			if env.said == nil {
				env.body, env.kind = readRawBody(&r, raw)
			} else if env.usual(raw[r.Offset():]) {
				return nil
			}
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

// usual reads what follows the body when it is spelled as every event of this
// version is that Seal made, which is nearly all; else nothing was read. Hex digits
// need no look at their escapes.
func (env *envelope) usual(rest []byte) bool {
	c := spelling(rest)
	e := *env
	if c.word(`,"lamport":`) {
		e.lamport = c.number()
	}
	if c.word(`,"pk":`) {
		e.pk = c.hex(2 * ed25519.PublicKeySize)
	}
	if c.word(`,"prev":`) {
		if e.prev = c.hex(hashDigits); e.prev == nil {
			e.prev = c.hex(0)
		}
	}
	if c.word(`,"repo":`) {
		e.repo = c.hex(repoDigits)
	}
	if c.word(`,"seq":`) {
		e.seq = c.number()
	}
	if c.word(`,"sig":`) {
		e.sig = c.hex(signatureDigits)
	}
	if c.word(`,"stream":`) {
		e.stream = c.stream()
	}
	if e.stream == nil || string(c) != `,"v":1}` {
		return false
	}
	e.v = c[len(`,"v":`) : len(c)-1]
	if e.lamport == nil || e.pk == nil || e.prev == nil || e.repo == nil || e.seq == nil || e.sig == nil {
		return false
	}
	*env = e
	return true
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

// readKnownBody reads a body of a kind that this build knows, at once for what it
// says and for its form. The kind comes late in canonical order, so it is looked
// for ahead, where it may be that of something within the body, or the end of another
// name; when that was wrong, or when anything is wrong with the body, nil is returned and r is left
// where it was.
func readKnownBody(r *canon.Reader, raw []byte, w *words) Body {
	// Without the quote in front, which is everywhere, it is found much faster.
	_, named, found := bytes.Cut(raw[r.Offset():], []byte(`kind":"`))
	if !found {
		return nil
	}
	kind, _, _ := bytes.Cut(named, []byte{'"'})
	c := codec{kind: known(kind), reading: true, r: *r, words: w}
	body := c.body()
	c.close()
	if body == nil || !c.named || c.err != nil || c.r.Err() != nil {
		return nil
	}
	*r = c.r
	return body
}

// readRawBody passes the body and returns its bytes and its kind, nil where it
// has none.
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
func (env *envelope) fill(p *parsed, known *origin) error {
	if v, ok := integer(env.v); !ok {
		return malformed("v", "want an integer")
	} else if v != Version {
		return &FormError{Reason: Versioned, Detail: strconv.FormatInt(v, 10) + ", this build reads " + strconv.Itoa(Version)}
	}
	if err := env.numbers(&p.Event); err != nil {
		return err
	}
	if err := env.names(&p.Event, known); err != nil {
		return err
	}
	if err := env.proof(p, known != nil); err != nil {
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

func (env *envelope) names(e *Event, known *origin) error {
	if known != nil {
		e.Repo, e.Stream, e.PK = known.repo, known.stream, known.pk
		e.Prev = string(quoted(env.prev))
		return env.prevForm(e)
	}
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
	return env.prevForm(e)
}

func (env *envelope) prevForm(e *Event) error {
	if quoted(env.prev) == nil {
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

// proof takes the signature, and checks that the key is that of the stream's node,
// unless that is known.
func (env *envelope) proof(p *parsed, known bool) error {
	var pub [ed25519.PublicKeySize]byte
	if !known && !ident.Unhex(pub[:], p.PK) {
		return malformed("pk", "want 64 lowercase hex digits")
	}
	if !ident.Unhex(p.sig[:], quoted(env.sig)) {
		return malformed("sig", "want 128 lowercase hex digits")
	}
	if p.Sig = p.sig[:]; known {
		return nil
	}
	sum := sha256.Sum256(pub[:])
	var node [32]byte
	hex.Encode(node[:], sum[:len(node)/2])
	if string(node[:]) != string(p.Stream[:len(node)]) {
		return &FormError{Reason: Identity, Detail: "the key is not that of the stream's node"}
	}
	return nil
}

func (env *envelope) content(e *Event) error {
	if env.said != nil {
		e.Body = env.said
		return nil
	}
	if len(env.body) == 0 || env.body[0] != '{' {
		return malformed("body", "want an object")
	}
	if len(env.kind) > ident.MaxSIDBytes || identForm(string(env.kind)) != "" {
		return malformed("body.kind", "want 1 to 64 letters, digits and . _ : # -")
	}
	e.Body = readBody(string(env.kind), env.body)
	return nil
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
