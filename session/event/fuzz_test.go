package event_test

import (
	"bytes"
	"testing"

	"github.com/comity-dev/comity/internal/canon"
	"github.com/comity-dev/comity/session/event"
)

// What is read prints the same bytes, is canonical, has a public form unless it is
// internal, and nothing is read of what is refused.
func FuzzDecode(f *testing.F) {
	var ks *event.Kinds
	for _, e := range append(full(), lean()...) {
		if b, err := ks.Encode(e); err == nil {
			f.Add(b)
		}
	}
	f.Add([]byte(good))
	f.Add([]byte(`{"body":{},"header":{},"kind":"session_stopped","v":1}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := ks.Decode(b)
		if err != nil {
			if e.Body != nil {
				t.Errorf("Decode(%q) = %+v with %v", b, e, err)
			}
			return
		}
		if again, err := ks.Encode(e); err != nil || !bytes.Equal(again, b) {
			t.Errorf("%q prints %q, %v", b, again, err)
		}
		if err := canon.Check(b); err != nil {
			t.Errorf("%q: %v", b, err)
		}
		public, err := ks.Public(e)
		if (err == nil) != (e.Visibility == event.Public) {
			t.Errorf("Public of %q = %q, %v", b, public, err)
		}
		if err != nil {
			return
		}
		if back, err := ks.Decode(public); err != nil || back.ID != e.ID {
			t.Errorf("Decode(%q) = %+v, %v", public, back, err)
		}
	})
}
