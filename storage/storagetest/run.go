// Package storagetest is the suite that every storage.Backend passes, and
// a wrapper that loses its writes. It stands on package storage alone. A backend
// calls Run from a test of its own:
//
//	storagetest.Run(t, storagetest.Harness{
//		Open: func(t testing.TB) storage.Backend { return memstore.New() },
//	})
package storagetest

import (
	"testing"

	"github.com/comity-dev/comity/storage"
)

// A Harness makes stores for the suite, which closes them.
type Harness struct {
	// Open returns a backend on a new, empty store.
	Open func(t testing.TB) storage.Backend

	// Reopen returns another backend on the store of b, which was closed. Nil:
	// a store ends with its backend.
	Reopen func(t testing.TB, b storage.Backend) storage.Backend

	// View returns another backend on the store of b, as another process would
	// have it, while b is open. Nil: one process holds the store.
	View func(t testing.TB, b storage.Backend) storage.Backend

	// Expire keeps the holder of l from renewing it, and returns once it has
	// expired. Nil if Traits.Expiry is 0.
	Expire func(t testing.TB, b storage.Backend, l storage.Lease)

	// Bubble says that Open works inside a bubble of testing/synctest: nothing
	// in it waits for a network or another process.
	Bubble bool
}

// Run runs the whole suite.
func Run(t *testing.T, h Harness) {
	for _, part := range []struct {
		name string
		test func(*testing.T, Harness)
	}{
		{"Traits", testTraits},
		{"Names", testNames},
		{"Ledger", testLedger},
		{"Writers", testWriters},
		{"Follow", testFollow},
		{"Ambiguity", testAmbiguity},
		{"Leaser", testLeaser},
		{"KV", testKV},
		{"Blobs", testBlobs},
		{"Contexts", testContexts},
		{"Close", testClose},
		{"Reopen", testReopen},
	} {
		t.Run(part.name, func(t *testing.T) { part.test(t, h) })
	}
}

func (h Harness) open(t testing.TB) storage.Backend {
	t.Helper()
	b := h.Open(t)
	closeAtEnd(t, b)
	return b
}

func (h Harness) reopen(t testing.TB, b storage.Backend) storage.Backend {
	t.Helper()
	if err := b.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
	again := h.Reopen(t, b)
	closeAtEnd(t, again)
	return again
}

// views returns n backends on one store, which are all the same one where one
// process holds the store.
func (h Harness) views(t testing.TB, n int) []storage.Backend {
	t.Helper()
	list := []storage.Backend{h.open(t)}
	for len(list) < n {
		b := list[0]
		if h.View != nil {
			b = h.View(t, b)
			closeAtEnd(t, b)
		}
		list = append(list, b)
	}
	return list
}

func closeAtEnd(t testing.TB, b storage.Backend) {
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
}

func testTraits(t *testing.T, h Harness) {
	tr := h.open(t).Traits()
	if tr.MaxRecordBytes < 1<<20 || tr.MaxValueBytes < 1<<20 || tr.MaxBatchRecords < 100 || tr.MaxBatchBytes < tr.MaxRecordBytes {
		t.Errorf("Traits = %+v, below what the contract promises", tr)
	}
	if (tr.Expiry != 0) != (h.Expire != nil) {
		t.Errorf("Traits.Expiry = %v and Harness.Expire nil = %v: want both or neither", tr.Expiry, h.Expire == nil)
	}
	if (tr.Durable == storage.Memory) != (h.Reopen == nil) {
		t.Errorf("Traits.Durable = %v and Harness.Reopen nil = %v: what is kept can be reopened", tr.Durable, h.Reopen == nil)
	}
}
