package room_test

import (
	"fmt"
	"testing"

	"github.com/comity-dev/comity/api"
)

// More claims than one write can release end all the same, and each once.
func TestReleaseOfMany(t *testing.T) {
	f := newFixture(t)
	ada := f.join("ada")
	const all = 1100
	for i := range all {
		f.claim(ada, fmt.Sprint("f", i))
	}
	got, err := f.Release(t.Context(), ada, api.ReleaseRequest{All: true})
	if err != nil || len(got.Released) != all || len(got.Events) != all || len(got.Already) != 0 {
		t.Errorf("%d released, %d events, %d already, %v; want %d", len(got.Released), len(got.Events), len(got.Already), err, all)
	}
	if n := len(f.status(ada).Claims); n != 0 {
		t.Errorf("%d claims are left", n)
	}
	if again, err := f.Release(t.Context(), ada, api.ReleaseRequest{All: true}); err != nil || len(again.Released) != 0 {
		t.Errorf("again: %+v, %v", again, err)
	}
}

func TestReleaseByScope(t *testing.T) {
	f := newFixture(t)
	ada := f.join("ada")
	f.claim(ada, "src/")
	f.claim(ada, "docs/", "@port/3000")
	for words, code := range map[string]api.Code{"docs/": api.CodeUsage, "elsewhere": api.CodeUnknownClaim} {
		_, err := f.Release(t.Context(), ada, api.ReleaseRequest{Claims: []string{words}})
		wantCode(t, words, err, code)
	}
	f.release(ada, "src/")
	if s := f.status(ada).Claims; len(s) != 1 || s[0].Scope[0] != "dir:docs" {
		t.Errorf("left %+v; want the claim on docs/ and the port", s)
	}
	_, err := f.Release(t.Context(), ada, api.ReleaseRequest{})
	wantCode(t, "nothing named", err, api.CodeUsage)
}
