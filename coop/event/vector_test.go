package event_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

var update = flag.Bool("update", false, "write the vectors anew; a changed vector is a broken format")

const vectorDir = "../../testdata/vectors/events"

// A vector is one event with all that another implementation must arrive at.
type vector struct {
	About     string `json:"about"`
	Seed      string `json:"seed"` // public: bytes 0 to 31
	Kind      string `json:"kind"`
	Key       string `json:"key"`
	Domain    string `json:"domain"`
	Signed    string `json:"signed"`    // what follows the domain under the signature
	Signature string `json:"signature"` // 128 hex digits
	Canonical string `json:"canonical"` // stored bytes
	Hash      string `json:"hash"`      // SHA-256 of them
}

// chain seals the fixture's bodies in the order of their kinds as one stream.
func chain(t *testing.T) []*event.Event {
	t.Helper()
	k := testKey(t)
	h := testHeader(t, k)
	all := bodies(t)
	var events []*event.Event
	for _, kind := range []string{
		event.KindStreamSucceeded, event.KindSessionOpened, event.KindClaimAcquired, event.KindClaimReleased, event.KindHandoverPublished,
		event.KindHandoverConsumed, event.KindHandoverDeclined, event.KindHandoverWithdrawn, event.KindReviewRequested, event.KindReviewAnswered,
		event.KindReviewClosed, event.KindSessionClosed, event.KindStreamCheckpoint,
	} {
		e, err := event.Seal(k, h, all[kind])
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
		h.Seq, h.Lamport, h.At, h.Prev = h.Seq+1, h.Lamport+3, h.At+60, hex.EncodeToString(e.Hash[:])
	}
	return events
}

func TestVectors(t *testing.T) {
	for _, e := range chain(t) {
		kind := e.Body.Kind()
		golden(t, kind+".json", vector{
			About: "one event of a stream that holds one of each kind", Seed: hex.EncodeToString(testSeed()), Kind: kind, Key: e.Key().String(),
			Domain: string(ident.DomainEvent), Signed: string(event.SignedBytes(e.Raw)), Signature: hex.EncodeToString(e.Sig),
			Canonical: string(e.Raw), Hash: hex.EncodeToString(e.Hash[:]),
		})
	}
}

// The stored vectors are read as a stranger's bytes would be, without Seal.
func TestVectorsAreAuthenticAndChained(t *testing.T) {
	prev := ""
	for _, own := range chain(t) {
		var v vector
		load(t, own.Body.Kind()+".json", &v)
		e, err := event.Parse([]byte(v.Canonical))
		if err != nil {
			t.Fatalf("%s: %v", v.Kind, err)
		}
		pub, err := hex.DecodeString(e.PK)
		if err != nil {
			t.Fatal(err)
		}
		sig, err := hex.DecodeString(v.Signature)
		if err != nil {
			t.Fatal(err)
		}
		if !ed25519.Verify(pub, []byte(v.Domain+v.Signed), sig) || !e.Verify() || !bytes.Equal(sig, e.Sig) {
			t.Errorf("%s: signature", v.Kind)
		}
		if e.Prev != prev || e.Key().String() != v.Key || hex.EncodeToString(e.Hash[:]) != v.Hash {
			t.Errorf("%s: prev, key or hash", v.Kind)
		}
		if d := diff(own, e); d != "" {
			t.Errorf("%s reads other than it was sealed:\n%s", v.Kind, d)
		}
		prev = v.Hash
	}
}

// A refusal is bytes and what a reader must make of them.
type refusal struct {
	About string `json:"about"`
	Want  string `json:"want"` // a reason of refusal, "opaque", "unreadable" or "read"
	Bytes string `json:"bytes,omitempty"`
	Fill  *fill  `json:"fill,omitempty"` // the bytes, where they are many
}

// A fill is prefix, count times repeat, suffix.
type fill struct {
	Prefix string `json:"prefix"`
	Repeat string `json:"repeat"`
	Count  int    `json:"count"`
	Suffix string `json:"suffix"`
}

func (r refusal) raw() string {
	if r.Fill != nil {
		return r.Fill.Prefix + strings.Repeat(r.Fill.Repeat, r.Fill.Count) + r.Fill.Suffix
	}
	return r.Bytes
}

func refusals(t *testing.T) []refusal {
	good := string(sealJSON(t, closed))
	claim := whole(t, event.KindClaimAcquired)
	bad := func(about string, want string, bytes string) refusal {
		return refusal{About: about, Want: want, Bytes: bytes}
	}
	env := func(field string, v any) string {
		return string(sealJSON(t, closed, func(e map[string]any) { set(e, field, v) }))
	}
	body := func(field string, v any) string {
		_, undo := set(claim, field, v)
		defer undo()
		return string(sealJSON(t, claim))
	}
	all := []refusal{
		bad("whitespace", "malformed", good+" "),
		bad("names not sorted", "malformed", strings.Replace(good, `{"at":`, `{"v":1,"at":`, 1)),
		bad("a name twice", "malformed", strings.Replace(good, `"v":1`, `"v":1,"v":1`, 1)),
		bad("an escape that is not needed", "malformed", strings.Replace(good, `"done"`, `"d\u006fne"`, 1)),
		bad("a float", "malformed", strings.Replace(good, `"lamport":42`, `"lamport":42.0`, 1)),
		bad("an integer over 2^53-1", "malformed", strings.Replace(good, `"lamport":42`, `"lamport":9007199254740992`, 1)),
		bad("uppercase hex", "malformed", env("prev", strings.ToUpper(hash64))),
		bad("no kind", "malformed", string(sealJSON(t, map[string]any{"session": "s-1"}))),
		bad("another version", "version", env("v", 2)),
		bad("a stream of another node", "identity", env("stream", streamA)),
		bad("seq 0", "identity", env("seq", 0)),
		bad("a kind of another build", "opaque", string(sealJSON(t, map[string]any{"kind": "vote_cast", "n": 1}))),
		bad("an unknown mode", "unreadable", body("mode", "shared")),
		bad("an optional field that is empty", "unreadable", body("intent", "")),
		bad("an optional field that is null", "unreadable", body("intent", nil)),
		bad("a list that is not sorted", "unreadable", body("fences", []any{streamB + "/1", streamA + "/1"})),
		bad("a list with repeats", "unreadable", body("scope", []any{"path:a", "path:a"})),
		bad("a required field that is missing", "unreadable", body("session", missing{})),
		bad("an intent of 513 bytes", "unreadable", body("intent", strings.Repeat("x", 513))),
	}
	return slices.Concat(all, spellings(t), envelopes(t), twoFaults(t), sizes(t), bodyVectors(t))
}

func TestRefusalVectors(t *testing.T) {
	golden(t, "refused.json", refusals(t))
	var all []refusal
	load(t, "refused.json", &all)
	for _, r := range all {
		raw := r.raw()
		if got := verdictOf(raw); got != r.Want {
			t.Errorf("%s: %s, want %s", r.About, got, r.Want)
		}
		e, err := event.Parse([]byte(raw))
		if err == nil && !e.Verify() {
			t.Errorf("%s: what is not refused is not authentic", r.About)
		}
		asAnyParserReads(t, []byte(raw), e, err)
	}
}

func verdictOf(raw string) string {
	e, err := event.Parse([]byte(raw))
	var f *event.FormError
	if errors.As(err, &f) {
		return string(f.Reason)
	}
	switch e.Body.(type) {
	case event.Opaque:
		return "opaque"
	case event.Unreadable:
		return "unreadable"
	}
	return "read"
}

// golden compares v with the stored vector, to the byte.
func golden(t *testing.T, name string, v any) {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(vectorDir, name)
	if *update {
		if err := os.MkdirAll(vectorDir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n")), b.Bytes()) {
		t.Errorf("%s moved: the format is fixed\ngot  %s\nwant %s", path, b.Bytes(), want)
	}
}

func load(t *testing.T, name string, v any) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(vectorDir, name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatal(err)
	}
}
