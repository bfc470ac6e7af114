package event_test

import (
	"crypto/sha256"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/internal/canon"
)

// benchEvent is a small event of a running stream: about 530 bytes, most of
// them hex.
func benchEvent(b *testing.B) *event.Event {
	k := testKey(b)
	h := testHeader(b, k)
	h.Seq, h.Prev = 7, hash64
	e, err := event.Seal(k, h, event.SessionClosed{Session: "s-0123456789ab", Reason: "owner-gone"})
	if err != nil {
		b.Fatal(err)
	}
	return e
}

func BenchmarkParse(b *testing.B) {
	raw := benchEvent(b).Raw
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := event.Parse(raw); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseClaim(b *testing.B) {
	k := testKey(b)
	e, err := event.Seal(k, testHeader(b, k), bodies(b)[event.KindClaimAcquired])
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(e.Raw)))
	b.ReportAllocs()
	for b.Loop() {
		event.Parse(e.Raw)
	}
}

// BenchmarkCanonicalize is the yardstick: jsontext over the same bytes.
func BenchmarkCanonicalize(b *testing.B) {
	raw := benchEvent(b).Raw
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		v := jsontext.Value(raw)
		if err := v.Canonicalize(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFloor is what no parser can avoid: the check and the hash.
func BenchmarkFloor(b *testing.B) {
	raw := benchEvent(b).Raw
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		if err := canon.Check(raw); err != nil {
			b.Fatal(err)
		}
		sha256.Sum256(raw)
	}
}

func BenchmarkSeal(b *testing.B) {
	k := testKey(b)
	h := testHeader(b, k)
	for b.Loop() {
		if _, err := event.Seal(k, h, event.SessionClosed{Session: "s-0123456789ab", Reason: "owner-gone"}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkVerify(b *testing.B) {
	e := benchEvent(b)
	for b.Loop() {
		if !e.Verify() {
			b.Fatal("a sealed event does not verify")
		}
	}
}
