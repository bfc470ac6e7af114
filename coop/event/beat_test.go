package event_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

func testBeat(t testing.TB) *event.Beat {
	t.Helper()
	k := testKey(t)
	h := testHeader(t, k)
	b, err := event.SealBeat(k, event.BeatHeader{
		Repo: h.Repo, Stream: h.Stream, Seq: 12, Head: [32]byte{0xb4, 0x82}, Lamport: 77, Uptime: 86_400_123 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestBeatSaysWhatItWasSealedWith(t *testing.T) {
	k := testKey(t)
	h := testHeader(t, k)
	want := event.BeatHeader{Repo: h.Repo, Stream: h.Stream, Seq: event.MaxInt, Head: [32]byte{1, 31: 9}, Lamport: event.MaxInt, Uptime: event.MaxUptime}
	b, err := event.SealBeat(k, want)
	if err != nil {
		t.Fatal(err)
	}
	read, err := event.ParseBeat(bytes.Clone(b.Raw))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, read.BeatHeader); d != "" || read.PK != k.PublicHex() || len(b.Raw) != event.BeatBytes {
		t.Errorf("key %s, %d bytes, (-sealed +read):\n%s", read.PK, len(b.Raw), d)
	}
	if !read.Verify() {
		t.Error("a sealed beat does not verify")
	}
}

// Every bit is under the signature, or is the signature.
func TestChangedBeatIsRefusedOrDoesNotVerify(t *testing.T) {
	b := testBeat(t)
	for i := range 8 * len(b.Raw) {
		raw := bytes.Clone(b.Raw)
		raw[i/8] ^= 1 << (i % 8)
		if c, err := event.ParseBeat(raw); err == nil && c.Verify() {
			t.Fatalf("with bit %d flipped the beat of %s at seq %d verifies", i, c.Stream, c.Seq)
		}
	}
}

func TestBeatOutOfBoundsIsNeitherSealedNorRead(t *testing.T) {
	k := testKey(t)
	h := testBeat(t).BeatHeader
	for _, tt := range []struct {
		name   string
		change func(*event.BeatHeader)
	}{
		{"a run that wrote nothing", func(h *event.BeatHeader) { h.Seq = 0 }},
		{"a seq over 2^53-1", func(h *event.BeatHeader) { h.Seq, h.Lamport = event.MaxInt+1, event.MaxInt }},
		{"a clock below the seq", func(h *event.BeatHeader) { h.Lamport = h.Seq - 1 }},
		{"a clock over 2^53-1", func(h *event.BeatHeader) { h.Lamport = event.MaxInt + 1 }},
		{"an uptime over the bound", func(h *event.BeatHeader) { h.Uptime = event.MaxUptime + time.Millisecond }},
		{"an uptime below zero", func(h *event.BeatHeader) { h.Uptime = -time.Millisecond }},
		{"no repository", func(h *event.BeatHeader) { h.Repo = "" }},
		{"a stream of another node", func(h *event.BeatHeader) { h.Stream = streamA }},
	} {
		h := h
		tt.change(&h)
		var bad *event.BeatError
		if b, err := event.SealBeat(k, h); !errors.As(err, &bad) {
			t.Errorf("%s: SealBeat = %v, %v, want a *BeatError", tt.name, b, err)
		}
	}
	raw := testBeat(t).Raw
	long, version := append(bytes.Clone(raw), 0), bytes.Clone(raw)
	version[0]++
	for name, raw := range map[string][]byte{"empty": nil, "cut": raw[:len(raw)-1], "longer": long, "of another version": version} {
		var bad *event.BeatError
		if _, err := event.ParseBeat(raw); !errors.As(err, &bad) {
			t.Errorf("ParseBeat of bytes that are %s = %v, want a *BeatError", name, err)
		}
	}
}

func TestBeatIsLaterByUptimeAlone(t *testing.T) {
	one := testBeat(t)
	h := one.BeatHeader
	h.Uptime, h.Seq = h.Uptime+time.Millisecond, h.Seq-1
	two, err := event.SealBeat(testKey(t), h)
	if err != nil {
		t.Fatal(err)
	}
	if !two.Later(one) || one.Later(two) || one.Later(one) || !one.Later(nil) {
		t.Error("Later does not order beats by uptime")
	}
}

// FuzzParseBeat: it never panics, and what it takes it prints again.
func FuzzParseBeat(f *testing.F) {
	raw := testBeat(f).Raw
	f.Add(raw)
	f.Add(raw[:100])
	f.Add([]byte{event.BeatVersion})
	k := testKey(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		b, err := event.ParseBeat(raw)
		if err != nil {
			return
		}
		if !b.Stream.Valid() || !b.Repo.Valid() || b.Seq < 1 || b.Lamport < b.Seq || b.Uptime < 0 || b.Uptime > event.MaxUptime {
			t.Fatalf("ParseBeat(%x) = %+v, out of bounds", raw, b.BeatHeader)
		}
		b.Verify()
		h := b.BeatHeader
		h.Stream = ident.NewStream(k.Node(), h.Stream.RuntimeID(), h.Stream.Instance())
		again, err := event.SealBeat(k, h)
		if err != nil {
			t.Fatalf("%+v is read and not sealed: %v", h, err)
		}
		for _, part := range [][2]int{{0, 17}, {49, event.BeatBytes - ed25519.SignatureSize}} { // all but key and signature
			if !bytes.Equal(again.Raw[part[0]:part[1]], raw[part[0]:part[1]]) {
				t.Fatalf("ParseBeat(%x) prints as %x", raw, again.Raw)
			}
		}
	})
}

type beatVector struct {
	About     string `json:"about"`
	Seed      string `json:"seed"`
	Repo      string `json:"repo"`
	Stream    string `json:"stream"`
	Seq       uint64 `json:"seq"`
	Head      string `json:"head"`
	Lamport   uint64 `json:"lamport"`
	UptimeMS  int64  `json:"uptime_ms"`
	Domain    string `json:"domain"`
	Signature string `json:"signature"`
	Bytes     string `json:"bytes"`
}

func TestBeatVector(t *testing.T) {
	b := testBeat(t)
	golden(t, "../beats/beat.json", beatVector{
		About: "one beat; all values in hex but the integers", Seed: hex.EncodeToString(testSeed()), Repo: string(b.Repo), Stream: string(b.Stream),
		Seq: b.Seq, Head: hex.EncodeToString(b.Head[:]), Lamport: b.Lamport, UptimeMS: b.Uptime.Milliseconds(),
		Domain: string(ident.DomainBeat), Signature: hex.EncodeToString(b.Sig), Bytes: hex.EncodeToString(b.Raw),
	})
	// As another implementation would read it, by the offsets of the format alone.
	var v beatVector
	stored, err := os.ReadFile("../../testdata/vectors/beats/beat.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(stored, &v); err != nil {
		t.Fatal(err)
	}
	raw, err := hex.DecodeString(v.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	if raw[0] != 1 || hex.EncodeToString(raw[1:17]) != v.Repo || binary.BigEndian.Uint64(raw[65:]) != v.Seq ||
		hex.EncodeToString(raw[73:105]) != v.Head || binary.BigEndian.Uint64(raw[105:]) != v.Lamport ||
		int64(binary.BigEndian.Uint64(raw[113:])) != v.UptimeMS || hex.EncodeToString(raw[121:]) != v.Signature {
		t.Errorf("the vector does not read by its offsets: %+v", v)
	}
	if !ed25519.Verify(raw[17:49], append([]byte(v.Domain), raw[:121]...), raw[121:]) {
		t.Error("the vector's signature is not good by crypto/ed25519")
	}
}
