package event

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"
)

// A string is what was read, whatever was read before it, and what is read again
// while it is held is the same one.
func TestWordsAreWhatWasRead(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	var held words
	var none *words
	for range 20_000 {
		b := make([]byte, r.IntN(maxWord+8))
		for i := range b {
			b[i] = "ab\x00\xff"[r.IntN(4)]
		}
		want := string(b)
		got := held.of(b)
		if got != want || none.of(b) != want {
			t.Fatalf("of(%q) = %q", want, got)
		}
		again := held.of([]byte(want))
		if len(b) > 0 && len(b) <= maxWord && unsafe.StringData(again) != unsafe.StringData(got) {
			t.Fatalf("%q is made twice", want)
		}
		clear(b)
		if got != want {
			t.Fatalf("%q changed with the bytes that it was read from", want)
		}
	}
	long := strings.Repeat("x", maxWord+1)
	held.of([]byte(long))
	for _, w := range held {
		if w == long {
			t.Errorf("%d bytes are held, at most %d may be", len(w), maxWord)
		}
	}
}
