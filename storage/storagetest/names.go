package storagetest

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/comity-dev/comity/storage"
)

// hostile are names that must be refused everywhere.
var hostile = []string{
	"", "/", "/a", "a/", "a//b", ".", "..", "../a", "a/../../b", ".a", "a/.b", "-a", "_a", "A", "a/B", "a b", "a\x00b",
	"a\nb", "a\\b", "a*", "a>", "a:b", "ä", "a\xff", "a%2fb", "~", strings.Repeat("a", 513),
}

// neighbours are names that a store which maps them to its own names may take
// for each other.
var neighbours = []string{
	"a", "a.", "a..", "a.b", "a.b.c", "a-", "a-b", "a_", "a_b", "a_d", "a_s", "a/b", "a/b.", "a/b/c", "a/b-c", "aa", "a0",
	"a.2e", "a_u", "a.tmp", "con", "nul/aux.x", "lock", "blobs", "0", "a" + strings.Repeat("/a", 255),
	strings.Repeat("b", 255), strings.Repeat("b", 256), strings.Repeat("c", 511), strings.Repeat("c", 512),
}

func testNames(t *testing.T, h Harness) {
	t.Run("bad ones are refused everywhere", func(t *testing.T) { testHostileNames(t, h.open(t)) })
	t.Run("similar ones are unrelated", func(t *testing.T) { testNeighbours(t, h.open(t)) })
	t.Run("by prefix", func(t *testing.T) { testPrefixes(t, h.open(t)) })
}

func testHostileNames(t *testing.T, b storage.Backend) {
	for _, name := range hostile {
		for call, err := range calls(t.Context(), b, name) {
			var invalid *storage.InvalidNameError
			if !errors.As(err, &invalid) {
				t.Errorf("%s(%.40q) = %v, want an *InvalidNameError", call, name, err)
			}
		}
	}
	if names := all(t, b.Ledger().Names(t.Context(), "")); len(names) > 0 {
		t.Errorf("Names = %q after nothing but refusals", names)
	}
}

// calls makes every call that takes a name and returns their errors.
func calls(ctx context.Context, b storage.Backend, name string) map[string]error {
	d := storage.DigestOf(nil)
	errs := map[string]error{}
	_, errs["Ledger.Append"] = b.Ledger().Append(ctx, name, storage.Tip{}, []byte("x"))
	_, errs["Ledger.Tip"] = b.Ledger().Tip(ctx, name)
	errs["Ledger.Read"] = last(b.Ledger().Read(ctx, name, 1))
	errs["Ledger.Follow"] = last(b.Ledger().Follow(ctx, name, 1))
	errs["Ledger.Delete"] = b.Ledger().Delete(ctx, name)
	_, errs["Leaser.Acquire"] = b.Leaser().Acquire(ctx, name)
	_, errs["Leaser.Takeover"] = b.Leaser().Takeover(ctx, name, storage.Proof{Epoch: 1, Reason: "test"})
	_, errs["Leaser.Holder"] = b.Leaser().Holder(ctx, name)
	_, _, errs["KV.Get"] = b.KV().Get(ctx, name)
	_, errs["KV.Put"] = b.KV().Put(ctx, name, 0, nil)
	errs["KV.Delete"] = b.KV().Delete(ctx, name, 0)
	_, errs["Blobs.Put"] = b.Blobs().Put(ctx, name, storage.Digest{}, strings.NewReader("x"))
	_, errs["Blobs.Get"] = b.Blobs().Get(ctx, name, d)
	_, errs["Blobs.Stat"] = b.Blobs().Stat(ctx, name, d)
	errs["Blobs.Delete"] = b.Blobs().Delete(ctx, name, d)
	errs["Blobs.List"] = last(b.Blobs().List(ctx, name))
	return errs
}

// listings makes every call that takes a prefix.
func listings(ctx context.Context, b storage.Backend) map[string]error {
	return map[string]error{
		"Ledger.Names": last(b.Ledger().Names(ctx, "")),
		"KV.Keys":      last(b.KV().Keys(ctx, "")),
		"Blobs.Spaces": last(b.Blobs().Spaces(ctx, "")),
	}
}

func testNeighbours(t *testing.T, b storage.Backend) {
	for _, name := range neighbours {
		mustAppend(t, b.Ledger(), name, name)
		mustAcquire(t, b.Leaser(), name)
		if _, err := b.KV().Put(t.Context(), name, 0, []byte(name)); err != nil {
			t.Errorf("Put(%.40s): %v", name, err)
		}
		mustPut(t, b.Blobs(), name, []byte(name))
	}
	gone := neighbours[0]
	if err := b.Ledger().Delete(t.Context(), gone); err != nil {
		t.Error(err)
	}
	if err := b.KV().Delete(t.Context(), gone, 0); err != nil {
		t.Error(err)
	}
	if err := b.Blobs().Delete(t.Context(), gone, storage.DigestOf([]byte(gone))); err != nil {
		t.Error(err)
	}
	for _, name := range neighbours[1:] {
		wantRecords(t, b.Ledger(), name, name)
		if got, _, err := b.KV().Get(t.Context(), name); string(got) != name || err != nil {
			t.Errorf("Get(%.40s) = %.40q, %v", name, got, err)
		}
		wantBlob(t, b.Blobs(), name, []byte(name))
	}
	want := slices.Sorted(slices.Values(neighbours[1:]))
	for what, got := range map[string][]string{
		"Names":  all(t, b.Ledger().Names(t.Context(), "")),
		"Keys":   all(t, b.KV().Keys(t.Context(), "")),
		"Spaces": all(t, b.Blobs().Spaces(t.Context(), "")),
	} {
		if !slices.Equal(got, want) {
			t.Errorf("%s = %.20q, want %.20q", what, got, want)
		}
	}
}

func testPrefixes(t *testing.T, b storage.Backend) {
	for _, name := range []string{"s/b", "s/a", "s.x", "t", "s/a/c", "s"} {
		mustAppend(t, b.Ledger(), name, "x")
		if _, err := b.KV().Put(t.Context(), name, 0, nil); err != nil {
			t.Fatal(err)
		}
		mustPut(t, b.Blobs(), name, nil)
	}
	for prefix, want := range map[string][]string{
		"":       {"s", "s.x", "s/a", "s/a/c", "s/b", "t"},
		"s":      {"s", "s.x", "s/a", "s/a/c", "s/b"},
		"s/":     {"s/a", "s/a/c", "s/b"},
		"s/a":    {"s/a", "s/a/c"},
		"t":      {"t"},
		"u":      {},
		"S \xff": {},
	} {
		for what, got := range map[string][]string{
			"Names":  all(t, b.Ledger().Names(t.Context(), prefix)),
			"Keys":   all(t, b.KV().Keys(t.Context(), prefix)),
			"Spaces": all(t, b.Blobs().Spaces(t.Context(), prefix)),
		} {
			if !slices.Equal(got, want) {
				t.Errorf("%s(%q) = %q, want %q", what, prefix, got, want)
			}
		}
	}
	for name := range b.Ledger().Names(t.Context(), "") { // stopping early is fine
		if !bytes.HasPrefix([]byte(name), []byte("s")) {
			t.Errorf("the first name is %q", name)
		}
		break
	}
}
