package event_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/comity-dev/comity/internal/canon"
	"github.com/comity-dev/comity/session/event"
)

var update = flag.Bool("update", false, "write the vectors anew; a changed vector is a broken format")

const vectorFile = "../../testdata/vectors/session/events.json"

// A vector is the two byte forms of one event.
type vector struct {
	Kind   string `json:"kind"`
	Stored string `json:"stored"`
	Public string `json:"public,omitempty"` // none of an internal event
}

func vectors(t *testing.T) []vector {
	t.Helper()
	var all []vector
	for _, e := range append(full(), lean()...) {
		if ephemeral(e) {
			continue
		}
		v := vector{Kind: e.Body.Kind(), Stored: string(encode(t, e))}
		if e.Visibility == event.Public {
			b, err := (*event.Kinds)(nil).Public(e)
			if err != nil {
				t.Fatal(err)
			}
			v.Public = string(b)
		}
		all = append(all, v)
	}
	return all
}

func encode(t *testing.T, e event.Event) []byte {
	t.Helper()
	b, err := (*event.Kinds)(nil).Encode(e)
	if err != nil {
		t.Fatalf("encode %s: %v", e.Body.Kind(), err)
	}
	return b
}

func TestVectors(t *testing.T) {
	got := vectors(t)
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(got); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.MkdirAll(filepath.Dir(vectorFile), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(vectorFile, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file, err := os.ReadFile(vectorFile)
	if err != nil {
		t.Fatal(err)
	}
	var want []vector
	if err := json.Unmarshal(file, &want); err != nil {
		t.Fatal(err)
	}
	if len(want) != len(got) {
		t.Fatalf("%d vectors, want %d", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%s moved: the format is fixed\ngot  %+v\nwant %+v", want[i].Kind, got[i], want[i])
		}
	}
}

// What is stored is canonical, reads as it was written, and prints the same bytes;
// so does its public form, which is its own.
func TestRoundTrip(t *testing.T) {
	for _, e := range append(full(), lean()...) {
		if ephemeral(e) {
			continue
		}
		b := encode(t, e)
		if err := canon.Check(b); err != nil {
			t.Errorf("%s: %v", e.Body.Kind(), err)
		}
		back, err := (*event.Kinds)(nil).Decode(b)
		if err != nil || !reflect.DeepEqual(back, e) {
			t.Errorf("Decode(%s) = %+v, %v, want %+v", b, back, err, e)
			continue
		}
		if again := encode(t, back); !bytes.Equal(again, b) {
			t.Errorf("%s prints %s", b, again)
		}
	}
}
