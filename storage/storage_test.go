package storage_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/comity-dev/comity/storage"
)

func TestCheckName(t *testing.T) {
	for _, name := range []string{
		"a", "0", "a/b", "a.b", "a-b_c.d", "sessions/0195f2c1-7e34-7000-8000-000000000001",
		"a..b", "a.", "nul", "con/aux", strings.Repeat("a", 512),
	} {
		if err := storage.CheckName(name); err != nil {
			t.Errorf("CheckName(%q) = %v, want nil", name, err)
		}
	}
	for _, name := range Hostile {
		var invalid *storage.InvalidNameError
		if err := storage.CheckName(name); !errors.As(err, &invalid) {
			t.Errorf("CheckName(%q) = %v, want an *InvalidNameError", name, err)
		}
	}
}

var Hostile = []string{
	"", "/", "/a", "a/", "a//b", ".", "..", "../a", "a/..", "a/../b", ".a", "a/.b", "-a", "_a",
	"A", "a/B", "a b", "a\x00b", "a\nb", "a\\b", "a*", "a>", "a:b", "ä", "a\xff", "a%2fb", "~", strings.Repeat("a", 513),
}

func TestDigestHasOneSpelling(t *testing.T) {
	d := storage.DigestOf([]byte("hello"))
	const want = "sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
	if d.String() != want {
		t.Errorf("String = %q, want %q", d, want)
	}
	if got, err := storage.ParseDigest(want); err != nil || got != d {
		t.Errorf("ParseDigest(%q) = %v, %v", want, got, err)
	}
	for _, s := range []string{
		"", "sha256:", want[7:], want[:70], want + "0", "sha256:" + strings.ToUpper(want[7:]),
		"sha512:" + want[7:], "sha256:" + strings.Repeat("0", 64), "sha256:" + strings.Repeat("g", 64),
	} {
		if got, err := storage.ParseDigest(s); err == nil {
			t.Errorf("ParseDigest(%q) = %v, want an error", s, got)
		}
	}
}

func TestDigestInJSON(t *testing.T) {
	for _, d := range []storage.Digest{{}, storage.DigestOf(nil)} {
		text, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		var back storage.Digest
		if err := json.Unmarshal(text, &back); err != nil || back != d {
			t.Errorf("%s came back as %v, %v", text, back, err)
		}
	}
}

func TestAmbiguousErrorShowsItsCause(t *testing.T) {
	cause := errors.New("no answer")
	err := error(&storage.AmbiguousError{Op: "append", Name: "a", Cause: cause})
	if !errors.Is(err, cause) {
		t.Error("the cause is not reachable")
	}
}
