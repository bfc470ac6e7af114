package event_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/internal/canon"
)

// FuzzParse feeds any bytes to Parse: it never panics, and what it takes it
// holds to the byte.
func FuzzParse(f *testing.F) {
	k := testKey(f)
	for _, body := range bodies(f) {
		e, err := event.Seal(k, testHeader(f, k), body)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(e.Raw)
	}
	f.Add(sealJSON(f, map[string]any{"kind": "new", "a": 1}))
	f.Add(sealJSON(f, map[string]any{"kind": "session_closed", "a": 1}))
	f.Add(bytes.Replace(sealJSON(f, map[string]any{"kind": "new", "a": map[string]any{"kind": "session_closed"}}), []byte(`"seq":1`), []byte(`"seq":0`), 1))
	f.Add(sealJSON(f, map[string]any{"kind": "session_closed", "a": map[string]any{"kind": "claim_acquired"}, "reason": "r", "session": "s"}))
	f.Add(sealJSON(f, map[string]any{"kind": "new", "a": map[string]any{"kind": "session_closed"}, "reason": "r", "session": "s"}))
	f.Fuzz(func(t *testing.T, raw []byte) {
		given := bytes.Clone(raw)
		e, err := event.Parse(raw)
		asAnyParserReads(t, raw, e, err)
		if !bytes.Equal(raw, given) {
			t.Fatal("Parse changed its input")
		}
		if err != nil {
			return
		}
		if !bytes.Equal(e.Raw, given) || e.Hash != sha256.Sum256(given) || canon.Check(given) != nil {
			t.Fatalf("Parse(%q) holds other bytes, or not canonical ones", given)
		}
		if k, err := event.ParseKey(e.Key().String()); err != nil || k != e.Key() {
			t.Fatalf("key %s: %v", e.Key(), err)
		}
		sig := []byte(`"sig":"` + hex.EncodeToString(e.Sig) + `",`)
		if !bytes.Contains(given, sig) || len(event.SignedBytes(given)) != len(given)-len(sig) {
			t.Fatalf("signed bytes of %q are not all but the signature", given)
		}
		if before, after := event.SignedParts(given); string(before)+string(after) != string(event.SignedBytes(given)) {
			t.Fatalf("what is signed of %q is not %q and %q", given, before, after)
		}
		e.Verify()
		e.Session()
		printsTheSame(t, e.Body, nil)
	})
}

// asAnyParserReads checks that the shorter ways of Parse, and what a Parser holds of
// a stream from the event before, change nothing.
func asAnyParserReads(t *testing.T, raw []byte, e *event.Event, err error) {
	t.Helper()
	if len(raw) > event.MaxEventBytes {
		return
	}
	var twice event.Parser
	first, firstErr := twice.Parse(raw)
	second, secondErr := twice.Parse(raw)
	general, generalErr := event.ParseGeneral(raw)
	if !reflect.DeepEqual(e, general) || !reflect.DeepEqual(e, first) || !reflect.DeepEqual(e, second) {
		t.Fatalf("%q is read as\n%+v\n%+v\n%+v\n%+v", raw, e, general, first, second)
	}
	for _, other := range []error{firstErr, secondErr, generalErr} {
		if reasonOf(err) != reasonOf(other) {
			t.Fatalf("%q is refused with\n%v\n%v", raw, err, other)
		}
	}
}

func reasonOf(err error) event.Reason {
	var f *event.FormError
	errors.As(err, &f)
	if f == nil {
		return ""
	}
	return f.Reason
}

// FuzzBody feeds any canonical object to the reader of every kind.
func FuzzBody(f *testing.F) {
	for _, body := range bodies(f) {
		b, _, err := event.WriteBody(nil, body)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body.Kind(), b)
	}
	f.Add("stream_checkpoint", []byte(`{"covers":[],"digest":"","kept":{"x":[[1]]},"kind":"stream_checkpoint"}`))
	f.Fuzz(func(t *testing.T, kind string, raw []byte) {
		if len(raw) == 0 || raw[0] != '{' || canon.Check(raw) != nil {
			return
		}
		body := event.ReadBody(kind, raw)
		if body.Kind() != kind {
			t.Fatalf("kind %q read as %q", kind, body.Kind())
		}
		printsTheSame(t, body, raw)
	})
}

// printsTheSame checks that a body that was read is written, that what is
// written reads back equal, and that it says nothing that raw did not.
func printsTheSame(t *testing.T, body event.Body, raw []byte) {
	t.Helper()
	switch body.(type) {
	case event.Opaque, event.Unreadable:
		return
	}
	b, said, err := event.WriteBody(nil, body)
	if err != nil {
		t.Fatalf("%+v was read, but is not written: %v", body, err)
	}
	if !reflect.DeepEqual(said, body) {
		t.Fatalf("%+v was said to be written as %+v", body, said)
	}
	if err := canon.Check(b); err != nil {
		t.Fatalf("written body %q: %v", b, err)
	}
	if d := diff(body, event.ReadBody(body.Kind(), b)); d != "" {
		t.Fatalf("written and read again:\n%s", d)
	}
	if raw == nil || bytes.Equal(raw, b) {
		return
	}
	var was, is map[string]any
	if json.Unmarshal(raw, &was) != nil || json.Unmarshal(b, &is) != nil {
		t.Fatalf("%q or %q is no object", raw, b)
	}
	delete(is, "kind") // the envelope reads it; here raw may lack it
	if delete(was, "kind"); !within(is, was) {
		t.Fatalf("%q was read as %q", raw, b)
	}
}

// within reports whether every member of a is in b, with the same value.
func within(a, b map[string]any) bool {
	for name, v := range a {
		inner, nested := v.(map[string]any)
		other, both := b[name].(map[string]any)
		if nested && both && name != "kept" {
			if !within(inner, other) {
				return false
			}
		} else if !reflect.DeepEqual(v, b[name]) {
			return false
		}
	}
	return true
}
