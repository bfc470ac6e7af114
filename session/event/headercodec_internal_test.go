package event

import (
	"reflect"
	"testing"

	"github.com/comity-dev/comity/internal/canon"
)

// A header is written as package canon writes it, whichever of its fields are
// set; a field that is added is missed here until it is written.
func TestHeadersAreWrittenInTheCanonicalForm(t *testing.T) {
	var h Header
	fields := leaves(reflect.ValueOf(&h).Elem())
	if len(fields) < 14 {
		t.Fatalf("%d fields", len(fields))
	}
	for set := range 1 << len(fields) {
		for i, f := range fields {
			f.SetZero()
			if set>>i&1 == 0 {
				continue
			}
			if f.Kind() == reflect.Uint64 {
				f.SetUint(1)
			} else {
				f.SetString(string(rune('a'+i)) + "\"\\\n\x01<\u00e9\u2028\U0001f600")
			}
		}
		want, err := canon.Marshal(h)
		if err != nil {
			t.Fatal(err)
		}
		if got := appendHeader([]byte("{"), &h); string(got) != "{"+string(want) {
			t.Fatalf("header %+v is written as\n%s, want\n%s", h, got[1:], want)
		}
	}
}

// leaves returns the fields of a struct that are no structs, those of its structs
// among them.
func leaves(v reflect.Value) (all []reflect.Value) {
	for _, f := range v.Fields() {
		if f.Kind() == reflect.Struct {
			all = append(all, leaves(f)...)
		} else {
			all = append(all, f)
		}
	}
	return all
}
