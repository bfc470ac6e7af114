package storagetest

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"

	"github.com/comity-dev/comity/storage"
)

// testContexts wants every call under a context that has ended to fail with its
// cause and to change nothing.
func testContexts(t *testing.T, h Harness) {
	b := h.open(t)
	mustAppend(t, b.Ledger(), "a", "one")
	tip := mustTip(t, b.Ledger(), "a")
	cause := errors.New("the caller left")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	for call, err := range calls(ctx, b, "a") {
		if !errors.Is(err, cause) {
			t.Errorf("%s under an ended context = %v, want its cause", call, err)
		}
	}
	for call, err := range listings(ctx, b) {
		if !errors.Is(err, cause) {
			t.Errorf("%s under an ended context = %v, want its cause", call, err)
		}
	}
	if _, err := b.Ledger().Append(ctx, "a", tip, []byte("two")); !errors.Is(err, cause) {
		t.Errorf("Append at the tip under an ended context = %v, want its cause", err)
	}
	wantRecords(t, b.Ledger(), "a", "one")
	wantNoRow(t, b.KV(), "a")
	if names := all(t, b.Blobs().Spaces(t.Context(), "")); len(names) != 0 {
		t.Errorf("Spaces = %q", names)
	}
	testReadContext(t, b)
}

func testReadContext(t *testing.T, b storage.Backend) {
	for range 300 {
		mustAppend(t, b.Ledger(), "long", "x", "y", "z")
	}
	d := mustPut(t, b.Blobs(), "s", make([]byte, 4<<20))
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	r, err := b.Blobs().Get(ctx, "s", d)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	n := 0
	var end error
	for _, end = range b.Ledger().Read(ctx, "long", 1) {
		if n++; n == 3 {
			cancel(cause)
		}
	}
	if n >= 900 || !errors.Is(end, cause) {
		t.Errorf("a Read whose context ended went on to record %d, %v", n, end)
	}
	if _, err := io.Copy(io.Discard, r); !errors.Is(err, cause) {
		t.Errorf("reading a blob under an ended context = %v, want its cause", err)
	}
}

func testClose(t *testing.T, h Harness) {
	t.Run("refuses what comes later", func(t *testing.T) { testAfterClose(t, h) })
	t.Run("waits for writes in flight", func(t *testing.T) { testCloseInFlight(t, h) })
}

func testAfterClose(t *testing.T, h Harness) {
	b := h.open(t)
	mustAppend(t, b.Ledger(), "a", "one")
	for range 3 {
		if err := b.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	for call, err := range calls(t.Context(), b, "a") {
		if !errors.Is(err, storage.ErrClosed) {
			t.Errorf("%s of a closed store = %v, want ErrClosed", call, err)
		}
	}
	for call, err := range listings(t.Context(), b) {
		if !errors.Is(err, storage.ErrClosed) {
			t.Errorf("%s of a closed store = %v, want ErrClosed", call, err)
		}
	}
	if tr := b.Traits(); tr.MaxRecordBytes == 0 {
		t.Error("Traits of a closed store are empty")
	}
}

// testCloseInFlight wants each append to be either acknowledged and kept, or
// refused.
func testCloseInFlight(t *testing.T, h Harness) {
	b := h.open(t)
	var acked [8]uint64
	var wg sync.WaitGroup
	begun := make(chan struct{}, len(acked))
	for w := range acked {
		wg.Go(func() {
			var tip storage.Tip
			for {
				next, err := b.Ledger().Append(context.Background(), string(rune('a'+w)), tip, []byte("x"))
				if err != nil {
					if !errors.Is(err, storage.ErrClosed) {
						t.Errorf("Append while the store is closed = %v, want ErrClosed", err)
					}
					return
				}
				if tip = next; tip.Seq == 3 {
					begun <- struct{}{}
				}
				acked[w] = tip.Seq
			}
		})
	}
	for range acked {
		<-begun
	}
	if h.Reopen == nil {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		wg.Wait()
		return
	}
	again := h.reopen(t, b)
	wg.Wait()
	for w, n := range acked {
		if tip := mustTip(t, again.Ledger(), string(rune('a'+w))); tip.Seq != n {
			t.Errorf("ledger %c has %d records, %d were acknowledged, the rest refused", 'a'+w, tip.Seq, n)
		}
	}
}

// testReopen wants a store to be as it was.
func testReopen(t *testing.T, h Harness) {
	if h.Reopen == nil {
		t.Skip("nothing outlives the backend")
	}
	b := h.open(t)
	want := fill(t, b.Ledger(), "a", 20)
	mustAppend(t, b.Ledger(), "gone", "x")
	if err := b.Ledger().Delete(t.Context(), "gone"); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, b.Ledger(), "again", "of the first life", "y")
	if err := b.Ledger().Delete(t.Context(), "again"); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, b.Ledger(), "again", "of the second life")
	rev, err := b.KV().Put(t.Context(), "k", 0, []byte("old"))
	if err != nil {
		t.Fatal(err)
	}
	if rev, err = b.KV().Put(t.Context(), "k", rev, []byte("new")); err != nil {
		t.Fatal(err)
	}
	if _, err := b.KV().Put(t.Context(), "gone", 0, []byte("x")); err != nil {
		t.Fatal(err)
	}
	if err := b.KV().Delete(t.Context(), "gone", 0); err != nil {
		t.Fatal(err)
	}
	mustPut(t, b.Blobs(), "s", []byte("blob"))
	for range 3 {
		tip := mustTip(t, b.Ledger(), "a")
		b = h.reopen(t, b)
		wantRecords(t, b.Ledger(), "a", want...)
		if got := mustTip(t, b.Ledger(), "a"); got != tip {
			t.Errorf("Tip = %v after reopening, want %v", got, tip)
		}
		wantRecords(t, b.Ledger(), "gone")
		wantRecords(t, b.Ledger(), "again", "of the second life")
		wantRow(t, b.KV(), "k", "new", rev)
		wantNoRow(t, b.KV(), "gone")
		wantBlob(t, b.Blobs(), "s", []byte("blob"))
		next, err := b.Ledger().Append(t.Context(), "a", tip, []byte("more"))
		if err != nil {
			t.Fatalf("Append at the tip of before reopening: %v", err)
		}
		want = append(want, "more")
		wantConflict(t, b.Ledger(), "a", tip)
		if got := mustTip(t, b.Ledger(), "a"); got != next {
			t.Errorf("Tip = %v, want %v", got, next)
		}
	}
}
