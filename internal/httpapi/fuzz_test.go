package httpapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"unicode/utf8"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/internal/httpapi"
)

// What an operation gets is whole and says the same when it is sent again; all
// else is a typed refusal.
func FuzzRequest(f *testing.F) {
	f.Add([]byte(`{"dir":"/a","scope":["a/","@port/1"],"wait_ms":5}`))
	f.Add([]byte(`{"dir":"/a","dir":"/b"}`))
	f.Add([]byte(`{"scope":null,"break":true} `))
	f.Add([]byte(`[[[[`))
	f.Add([]byte("{\"dir\":\"\xc3\"}"))
	f.Fuzz(func(t *testing.T, body []byte) {
		var got *api.ClaimRequest
		call := httpapi.Handle(func(_ context.Context, _ httpapi.Caller, req api.ClaimRequest) (api.Empty, error) {
			got = &req
			return api.Empty{}, nil
		})
		_, err := call(t.Context(), httpapi.Caller{}, body)
		if err != nil {
			if got != nil {
				t.Fatalf("refused with %v and called all the same", err)
			}
			if !errors.Is(err, api.ErrUsage) && !errors.Is(err, api.ErrBound) {
				t.Fatalf("untyped refusal %v", err)
			}
			return
		}
		for _, s := range append([]string{got.Dir, got.Session, got.Intent}, got.Scope...) {
			if !utf8.ValidString(s) {
				t.Fatalf("broken UTF-8 %q reached the operation", s)
			}
		}
		first := *got
		again, err := json.Marshal(first)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := call(t.Context(), httpapi.Caller{}, again); err != nil {
			t.Fatalf("%s: %v", again, err)
		}
		if first.Scope == nil {
			first.Scope = got.Scope // null and no list are one
		}
		if !reflect.DeepEqual(first, *got) {
			t.Fatalf("%+v became %+v", first, *got)
		}
	})
}
