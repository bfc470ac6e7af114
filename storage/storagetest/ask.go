package storagetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"testing"

	"github.com/comity-dev/comity/storage"
)

// mustAppend appends recs at the tip as it is.
func mustAppend(t testing.TB, l storage.Ledger, name string, recs ...string) storage.Tip {
	t.Helper()
	tip := mustTip(t, l, name)
	next, err := l.Append(t.Context(), name, tip, raw(recs)...)
	if err != nil {
		t.Fatalf("Append(%s, %v) of %d records: %v", name, tip, len(recs), err)
	}
	if want := tip.Seq + uint64(len(recs)); next.Seq != want {
		t.Fatalf("Append(%s, %v) of %d records gave the tip %v, want Seq %d", name, tip, len(recs), next, want)
	}
	return next
}

func mustTip(t testing.TB, l storage.Ledger, name string) storage.Tip {
	t.Helper()
	tip, err := l.Tip(t.Context(), name)
	if err != nil {
		t.Fatalf("Tip(%s): %v", name, err)
	}
	return tip
}

func raw(recs []string) [][]byte {
	var list [][]byte
	for _, r := range recs {
		list = append(list, []byte(r))
	}
	return list
}

// readAll returns the records of a ledger from a number on, and checks that
// they are numbered without a gap.
func readAll(t testing.TB, l storage.Ledger, name string, from uint64) []string {
	t.Helper()
	list, err := read(t.Context(), l, name, from)
	if err != nil {
		t.Fatalf("Read(%s, %d): %v", name, from, err)
	}
	return list
}

func read(ctx context.Context, l storage.Ledger, name string, from uint64) ([]string, error) {
	list := []string{}
	next := max(from, 1)
	for rec, err := range l.Read(ctx, name, from) {
		if err != nil {
			return list, err
		}
		if rec.Seq != next {
			return list, fmt.Errorf("record %d came where %d was next", rec.Seq, next)
		}
		list = append(list, string(rec.Data))
		next++
	}
	return list, nil
}

func wantRecords(t testing.TB, l storage.Ledger, name string, want ...string) {
	t.Helper()
	if got := readAll(t, l, name, 1); !slices.Equal(got, want) {
		t.Errorf("ledger %s holds %.200q, want %.200q", name, got, want)
	}
	if tip := mustTip(t, l, name); tip.Seq != uint64(len(want)) {
		t.Errorf("Tip(%s) = %v, want Seq %d", name, tip, len(want))
	}
}

// wantConflict checks that an append at expected is refused and changes
// nothing.
func wantConflict(t testing.TB, l storage.Ledger, name string, expected storage.Tip) {
	t.Helper()
	tip, before := mustTip(t, l, name), readAll(t, l, name, 1)
	_, err := l.Append(t.Context(), name, expected, []byte("intruder"))
	var conflict *storage.ConflictError
	if !errors.As(err, &conflict) {
		t.Fatalf("Append(%s, %v) at the tip %v = %v, want a *ConflictError", name, expected, tip, err)
	}
	if want := (storage.ConflictError{Name: name, Expected: expected, Tip: tip}); *conflict != want {
		t.Errorf("Append(%s) = %+v, want %+v", name, *conflict, want)
	}
	wantRecords(t, l, name, before...)
}

func all[T any](t testing.TB, seq iter.Seq2[T, error]) []T {
	t.Helper()
	list := []T{}
	for v, err := range seq {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, v)
	}
	return list
}

// last returns the error with which an iteration ends.
func last[T any](seq iter.Seq2[T, error]) error {
	for _, err := range seq {
		if err != nil {
			return err
		}
	}
	return nil
}

func mustAcquire(t testing.TB, l storage.Leaser, name string) storage.Lease {
	t.Helper()
	lease, err := l.Acquire(t.Context(), name)
	if err != nil {
		t.Fatalf("Acquire(%s): %v", name, err)
	}
	if lease.Name() != name || lease.Epoch() == 0 {
		t.Errorf("Acquire(%s) granted %s, epoch %d", name, lease.Name(), lease.Epoch())
	}
	if isLost(lease) {
		t.Errorf("the new lease %s is lost", name)
	}
	return lease
}

func isLost(l storage.Lease) bool {
	select {
	case <-l.Lost():
		return true
	default:
		return false
	}
}

func mustRelease(t testing.TB, l storage.Lease) {
	t.Helper()
	if err := l.Release(t.Context()); err != nil {
		t.Fatalf("Release of %s: %v", l.Name(), err)
	}
}

func wantHeld(t testing.TB, l storage.Leaser, name string, epoch uint64) {
	t.Helper()
	_, err := l.Acquire(t.Context(), name)
	var held *storage.HeldError
	if !errors.As(err, &held) {
		t.Fatalf("Acquire(%s) = %v, want a *HeldError", name, err)
	}
	if held.Name != name || held.Epoch != epoch {
		t.Errorf("Acquire(%s) = %+v, want epoch %d", name, held, epoch)
	}
	if got, err := l.Holder(t.Context(), name); got != epoch || err != nil {
		t.Errorf("Holder(%s) = %d, %v, want %d", name, got, err, epoch)
	}
}

func mustPut(t testing.TB, b storage.Blobs, space string, data []byte) storage.Digest {
	t.Helper()
	info, err := b.Put(t.Context(), space, storage.Digest{}, bytes.NewReader(data))
	if err != nil {
		t.Fatalf("Put of %d bytes into %s: %v", len(data), space, err)
	}
	if want := storage.DigestOf(data); info.Digest != want || info.Size != int64(len(data)) || info.Age < 0 {
		t.Fatalf("Put of %d bytes into %s = %+v, want digest %v", len(data), space, info, want)
	}
	return info.Digest
}

func wantBlob(t testing.TB, b storage.Blobs, space string, data []byte) {
	t.Helper()
	r, err := b.Get(t.Context(), space, storage.DigestOf(data))
	if err != nil {
		t.Fatalf("Get(%s) of %d bytes: %v", space, len(data), err)
	}
	got, err := io.ReadAll(r)
	if err != nil || !bytes.Equal(got, data) {
		t.Errorf("the blob of %d bytes in %s reads as %d bytes, %v", len(data), space, len(got), err)
	}
	if err := r.Close(); err != nil {
		t.Errorf("Close of a blob: %v", err)
	}
}

func wantNoBlob(t testing.TB, b storage.Blobs, space string, d storage.Digest) {
	t.Helper()
	var missing *storage.NotFoundError
	if _, err := b.Get(t.Context(), space, d); !errors.As(err, &missing) {
		t.Errorf("Get(%s) of no blob = %v, want a *NotFoundError", space, err)
	}
	if _, err := b.Stat(t.Context(), space, d); !errors.As(err, &missing) {
		t.Errorf("Stat(%s) of no blob = %v, want a *NotFoundError", space, err)
	}
}
