package event_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/internal/canon"
)

var closed = map[string]any{"kind": "session_closed", "reason": "done", "session": "s-1"}

func TestParseReadsTheEnvelope(t *testing.T) {
	k := testKey(t)
	h := testHeader(t, k)
	raw := sealJSON(t, closed, func(env map[string]any) { env["seq"], env["prev"], env["at"] = 7, hash64, -5 })
	e, err := event.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	want := &event.Event{
		Repo: h.Repo, Stream: h.Stream, Seq: 7, Lamport: 42, At: -5, PK: k.PublicHex(), Prev: hash64,
		Body: event.SessionClosed{Session: "s-1", Reason: "done"}, Sig: e.Sig, Raw: raw, Hash: sha256.Sum256(raw),
	}
	if d := cmp.Diff(want, e); d != "" {
		t.Errorf("Parse:\n%s", d)
	}
	if !strings.Contains(string(raw), `"sig":"`+hex.EncodeToString(e.Sig)+`"`) {
		t.Error("Sig is not that of the bytes")
	}
	if got := e.Key(); got.String() != string(h.Stream)+"/7" {
		t.Errorf("Key = %s", got)
	}
	if s, ok := e.Session(); !ok || s.String() != h.Stream.Runtime().String()+"/s-1" {
		t.Errorf("Session = %s, %v", s, ok)
	}
}

func TestOnlySessionKindsNameASession(t *testing.T) {
	k := testKey(t)
	for kind, body := range bodies(t) {
		e, err := event.Seal(k, testHeader(t, k), body)
		if err != nil {
			t.Fatal(err)
		}
		s, ok := e.Session()
		if want := !strings.HasPrefix(kind, "stream_"); ok != want || ok && s.SID != "s-0123456789ab" {
			t.Errorf("%s: Session = %v, %v", kind, s, ok)
		}
	}
	for _, body := range []map[string]any{{"kind": "new", "session": "s-1"}, {"kind": "session_closed", "session": "s-1"}} {
		e, err := event.Parse(sealJSON(t, body))
		if err != nil {
			t.Fatal(err)
		}
		if s, ok := e.Session(); ok || s != (ident.SessionID{}) {
			t.Errorf("%v: Session = %v, %v", body, s, ok)
		}
	}
}

func TestEnvelopeIsRefusedByReason(t *testing.T) {
	k := testKey(t)
	stranger, err := ident.Generate()
	if err != nil {
		t.Fatal(err)
	}
	sig := strings.Repeat("0f", 64)
	for _, tt := range []struct {
		field  string
		value  any
		reason event.Reason
		detail string
	}{
		{"v", 2, event.Versioned, "2, this build reads 1"},
		{"v", 0, event.Versioned, "0"},
		{"v", missing{}, event.Malformed, "v: "},
		{"v", "1", event.Malformed, "v: "},
		{"v", nil, event.Malformed, "v: "},
		{"at", missing{}, event.Malformed, "at: "},
		{"at", "1", event.Malformed, "at: "},
		{"lamport", missing{}, event.Malformed, "lamport: "},
		{"lamport", 0, event.Malformed, "lamport: "},
		{"lamport", -1, event.Malformed, "lamport: "},
		{"lamport", true, event.Malformed, "lamport: "},
		{"seq", missing{}, event.Malformed, "seq: "},
		{"seq", "1", event.Malformed, "seq: "},
		{"seq", 0, event.Identity, "seq"},
		{"seq", -1, event.Identity, "seq"},
		{"prev", missing{}, event.Malformed, "prev: "},
		{"prev", nil, event.Malformed, "prev: "},
		{"prev", hash64, event.Malformed, "prev: want none"},
		{"repo", missing{}, event.Malformed, "repo: "},
		{"repo", strings.Repeat("0F", 16), event.Malformed, "repo: "},
		{"repo", strings.Repeat("f", 31), event.Malformed, "repo: "},
		{"repo", strings.Repeat("f", 1000), event.Malformed, "repo: "},
		{"repo", 1, event.Malformed, "repo: "},
		{"stream", missing{}, event.Malformed, "stream: "},
		{"stream", strings.ToUpper(streamA), event.Malformed, "stream: "},
		{"stream", streamA + "0", event.Malformed, "stream: "},
		{"stream", "", event.Malformed, "stream: "},
		{"stream", streamA, event.Identity, "node"},
		{"pk", missing{}, event.Malformed, "pk: "},
		{"pk", strings.ToUpper(k.PublicHex()), event.Malformed, "pk: "},
		{"pk", k.PublicHex()[2:], event.Malformed, "pk: "},
		{"pk", "+" + k.PublicHex()[1:], event.Malformed, "pk: "},
		{"pk", stranger.PublicHex(), event.Identity, "node"},
		{"sig", "", event.Malformed, "sig: "},
		{"sig", strings.ToUpper(sig), event.Malformed, "sig: "},
		{"sig", sig + "0f", event.Malformed, "sig: "},
		{"sig", sig[1:], event.Malformed, "sig: "},
		{"sig", nil, event.Malformed, "sig: "},
		{"body", missing{}, event.Malformed, "body: "},
	} {
		raw := sealJSON(t, closed, func(env map[string]any) { set(env, tt.field, tt.value) })
		_, err := event.Parse(raw)
		wantForm(t, tt.field, err, tt.reason, tt.detail)
	}
	for _, prev := range []string{"", hash64[1:], hash64 + "0", strings.ToUpper(hash64), "\n" + hash64[1:]} {
		_, err := event.Parse(sealJSON(t, closed, func(env map[string]any) { env["seq"], env["prev"] = 2, prev }))
		wantForm(t, "prev at seq 2", err, event.Malformed, "prev: want 64")
	}
	// The version is told before any trouble of the shape.
	_, err = event.Parse(sealJSON(t, nil, func(env map[string]any) { env["v"], env["seq"], env["pk"] = 2, "x", 1 }))
	wantForm(t, "an event of another version", err, event.Versioned, "")
}

func TestBytesAreRefusedUnlessCanonical(t *testing.T) {
	raw := string(sealJSON(t, closed))
	if _, err := event.Parse([]byte(raw)); err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string]string{
		"empty":              "",
		"null":               "null",
		"array":              "[]",
		"cut":                raw[:len(raw)-1],
		"newline":            raw + "\n",
		"twice":              raw + raw,
		"space":              strings.Replace(raw, `"v":1`, `"v": 1`, 1),
		"float":              strings.Replace(raw, `"lamport":42`, `"lamport":42.0`, 1),
		"exponent":           strings.Replace(raw, `"lamport":42`, `"lamport":4e1`, 1),
		"large integer":      strings.Replace(raw, `"lamport":42`, `"lamport":9007199254740992`, 1),
		"float in the body":  strings.Replace(raw, `"reason":"done"`, `"reason":1.5`, 1),
		"duplicate":          strings.Replace(raw, `"lamport":42`, `"lamport":42,"lamport":42`, 1),
		"duplicate in body":  strings.Replace(raw, `"kind":"session_closed"`, `"kind":"session_closed","kind":"session_closed"`, 1),
		"unsorted":           strings.Replace(raw, `{"at":`, `{"v":1,"at":`, 1),
		"unsorted in body":   strings.Replace(raw, `"reason":"done"`, `"a":1,"reason":"done"`, 1),
		"another escape":     strings.Replace(raw, `"done"`, `"d\u006fne"`, 1),
		"not UTF-8":          strings.Replace(raw, `"done"`, "\"\xff\"", 1),
		"an escaped name":    strings.Replace(raw, `"reason"`, `"\u0072eason"`, 1),
		"unknown, not valid": strings.Replace(raw, `"v":1`, `"v":1,"w":tru`, 1),
	} {
		if bad == raw {
			t.Fatalf("%s changes nothing", name)
		}
		_, err := event.Parse([]byte(bad))
		wantForm(t, name, err, event.Malformed, "")
	}
}

func TestSizeIsCheckedFirst(t *testing.T) {
	pad := func(n int) []byte {
		raw := sealJSON(t, map[string]any{"kind": "x", "pad": ""})
		return sealJSON(t, map[string]any{"kind": "x", "pad": strings.Repeat("p", n-len(raw))})
	}
	if raw := pad(49152); len(raw) != 49152 {
		t.Fatalf("padded to %d", len(raw))
	} else if _, err := event.Parse(raw); err != nil {
		t.Errorf("49152 bytes: %v", err)
	}
	_, err := event.Parse(pad(49153))
	wantForm(t, "49153 bytes", err, event.Oversized, "49153 bytes, limit 49152")
	_, err = event.Parse(bytes.Repeat([]byte("x"), 49153))
	wantForm(t, "49153 bytes of nothing", err, event.Oversized, "")
}

func TestVerifyWantsEveryByte(t *testing.T) {
	raw := sealJSON(t, closed)
	e, err := event.Parse(raw)
	if err != nil || !e.Verify() {
		t.Fatalf("a good event: %v", err)
	}
	verified := 0
	for i := range raw {
		for _, flip := range []byte{0x01, 0x04} {
			bad := bytes.Clone(raw)
			bad[i] ^= flip
			e, err := event.Parse(bad)
			if err != nil {
				continue
			}
			if verified++; e.Verify() {
				t.Errorf("verifies with byte %d (%q) changed to %q", i, raw[i], bad[i])
			}
		}
	}
	if verified < 100 {
		t.Errorf("only %d changed events were parsed: the test shows little", verified)
	}
}

func TestVerifyIsSafeOnAnyEvent(t *testing.T) {
	good, err := event.Parse(sealJSON(t, closed))
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*event.Event){
		"zero":      func(e *event.Event) { *e = event.Event{} },
		"no key":    func(e *event.Event) { e.PK = "" },
		"bad key":   func(e *event.Event) { e.PK = strings.ToUpper(e.PK) },
		"no sig":    func(e *event.Event) { e.Sig = nil },
		"short sig": func(e *event.Event) { e.Sig = e.Sig[:10] },
		"no bytes":  func(e *event.Event) { e.Raw = nil },
		"bad bytes": func(e *event.Event) { e.Raw = []byte(`{"a"`) },
	} {
		e := *good
		change(&e)
		if e.Verify() {
			t.Errorf("%s: verifies", name)
		}
	}
}

func TestSignedBytesAreAllButTheSignature(t *testing.T) {
	raw := sealJSON(t, closed, func(env map[string]any) { env["zz"] = map[string]any{"sig": "mine"} })
	var all map[string]any
	if err := canon.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	delete(all, "sig")
	want, err := canon.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	if got := event.SignedBytes(raw); !bytes.Equal(got, want) {
		t.Errorf("SignedBytes = %s, want %s", got, want)
	}
	for _, bad := range []string{"", "x", `{"a":1`, `[]`, `{"b":1,"a":2}`} {
		if got := event.SignedBytes([]byte(bad)); got != nil {
			t.Errorf("SignedBytes(%q) = %q, want nil", bad, got)
		}
	}
}

func TestKeyHasOneSpelling(t *testing.T) {
	for _, s := range []string{streamA + "/1", streamA + "/10", streamA + "/9007199254740991"} {
		k, err := event.ParseKey(s)
		if err != nil || k.String() != s || !k.Valid() {
			t.Errorf("ParseKey(%q) = %v, %v", s, k, err)
		}
	}
	for _, v := range keyForm().bad {
		if k, err := event.ParseKey(v.(string)); err == nil {
			t.Errorf("ParseKey(%q) = %v", v, k)
		}
	}
	if (event.Key{Stream: streamA}).Valid() || (event.Key{Stream: streamA, Seq: math.MaxUint64}).Valid() || (event.Key{Stream: "x", Seq: 1}).Valid() {
		t.Error("a key out of bounds is valid")
	}
	a, b, c := event.Key{Stream: streamA, Seq: 9}, event.Key{Stream: streamA, Seq: 10}, event.Key{Stream: streamB, Seq: 1}
	if a.Compare(b) != -1 || b.Compare(a) != 1 || b.Compare(c) != -1 || c.Compare(a) != 1 || a.Compare(a) != 0 {
		t.Error("keys are not ordered by stream, then number")
	}
}

// What a Parser knows of a stream lets nothing pass that Parse refuses, and gives no
// event the names of another.
func TestAParserHoldsEachEventToItsOwnNames(t *testing.T) {
	var p event.Parser
	good := sealJSON(t, closed)
	if _, err := p.Parse(good); err != nil {
		t.Fatal(err)
	}
	otherKey, otherRepo := strings.Repeat("0f", 32), strings.Repeat("ab", 16)
	var form *event.FormError
	bad := sealJSON(t, closed, func(env map[string]any) { env["pk"] = otherKey })
	if _, err := p.Parse(bad); !errors.As(err, &form) || form.Reason != event.Identity {
		t.Errorf("with another key under the same stream: %v, want %s", err, event.Identity)
	}
	e, err := p.Parse(sealJSON(t, closed, func(env map[string]any) { env["repo"] = otherRepo }))
	if err != nil || string(e.Repo) != otherRepo {
		t.Errorf("of another repository: %+v, %v", e, err)
	}
	if e, err := p.Parse(good); err != nil || !e.Verify() || e.Hash != sha256.Sum256(good) {
		t.Errorf("the first again: %+v, %v", e, err)
	}
}
