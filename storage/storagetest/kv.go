package storagetest

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/comity-dev/comity/storage"
)

func testKV(t *testing.T, h Harness) {
	t.Run("compare and set", func(t *testing.T) { testRevisions(t, h.open(t).KV()) })
	t.Run("delete", func(t *testing.T) { testRowDelete(t, h.open(t).KV()) })
	t.Run("sizes", func(t *testing.T) { testRowSizes(t, h.open(t).KV()) })
}

func wantRow(t testing.TB, kv storage.KV, key, value string, revision uint64) {
	t.Helper()
	got, rev, err := kv.Get(t.Context(), key)
	if string(got) != value || rev != revision || err != nil {
		t.Errorf("Get(%s) = %.40q, %d, %v, want %.40q, %d", key, got, rev, err, value, revision)
	}
}

func wantNoRow(t testing.TB, kv storage.KV, key string) {
	t.Helper()
	_, rev, err := kv.Get(t.Context(), key)
	var missing *storage.NotFoundError
	if !errors.As(err, &missing) || missing.Name != key || rev != 0 {
		t.Errorf("Get(%s) = %d, %v, want a *NotFoundError", key, rev, err)
	}
}

func wantRevisionError(t testing.TB, err error, key string, expected, found uint64) {
	t.Helper()
	var lost *storage.RevisionError
	if !errors.As(err, &lost) || *lost != (storage.RevisionError{Key: key, Expected: expected, Revision: found}) {
		t.Errorf("a write of %s at revision %d = %v, want a *RevisionError with %d", key, expected, err, found)
	}
}

func testRevisions(t *testing.T, kv storage.KV) {
	wantNoRow(t, kv, "k")
	_, err := kv.Put(t.Context(), "k", 1, []byte("x"))
	wantRevisionError(t, err, "k", 1, 0)
	wantNoRow(t, kv, "k")
	var before uint64
	for _, value := range []string{"one", "two", "two"} {
		rev, err := kv.Put(t.Context(), "k", before, []byte(value))
		if err != nil || rev <= before {
			t.Fatalf("Put at revision %d = %d, %v", before, rev, err)
		}
		wantRow(t, kv, "k", value, rev)
		for _, wrong := range []uint64{0, before, rev + 1, 1 << 63} {
			if wrong == rev {
				continue
			}
			_, err := kv.Put(t.Context(), "k", wrong, []byte("x"))
			wantRevisionError(t, err, "k", wrong, rev)
		}
		wantRow(t, kv, "k", value, rev)
		before = rev
	}
}

func testRowDelete(t *testing.T, kv storage.KV) {
	if err := kv.Delete(t.Context(), "k", 0); err != nil {
		t.Errorf("Delete of no row: %v", err)
	}
	var before uint64
	for range 3 {
		rev, err := kv.Put(t.Context(), "k", 0, []byte("v"))
		if err != nil || rev <= before {
			t.Fatalf("Put behind revision %d = %d, %v", before, rev, err)
		}
		wantRevisionError(t, kv.Delete(t.Context(), "k", rev+1), "k", rev+1, rev)
		wantRow(t, kv, "k", "v", rev)
		expected := rev
		if before == 0 {
			expected = 0
		}
		if err := kv.Delete(t.Context(), "k", expected); err != nil {
			t.Fatalf("Delete at revision %d: %v", expected, err)
		}
		wantNoRow(t, kv, "k")
		if err := kv.Delete(t.Context(), "k", rev); err != nil {
			t.Errorf("Delete of what is gone: %v", err)
		}
		_, err = kv.Put(t.Context(), "k", rev, []byte("x"))
		wantRevisionError(t, err, "k", rev, 0)
		before = rev
	}
}

func testRowSizes(t *testing.T, kv storage.KV) {
	large := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	for key, value := range map[string][]byte{"empty": {}, "nil": nil, "large": large, "binary": {0, 255, 10}} {
		rev, err := kv.Put(t.Context(), key, 0, value)
		if err != nil {
			t.Fatalf("Put(%s): %v", key, err)
		}
		wantRow(t, kv, key, string(value), rev)
	}
	if keys := all(t, kv.Keys(t.Context(), "")); !slices.Equal(keys, []string{"binary", "empty", "large", "nil"}) {
		t.Errorf("Keys = %q", keys)
	}
}
