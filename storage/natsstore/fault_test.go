package natsstore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/comity-dev/comity/storage"
	"github.com/comity-dev/comity/storage/natsstore"
)

// A write is one of those that a server may keep and not acknowledge.
type write struct {
	name string
	do   func(ctx context.Context, b storage.Backend) error
	// done reports whether it has happened, once.
	done func(t testing.TB, b storage.Backend) bool
}

// writes returns the writes of names that begin with id.
func writes(id string) []write {
	big := bytes.Repeat([]byte("x"), 700<<10) // three of them are an atomic batch
	return []write{
		{"append", func(ctx context.Context, b storage.Backend) error {
			tip, err := b.Ledger().Append(ctx, id, storage.Tip{}, []byte("one"), []byte("two"))
			if err == nil && tip.Seq != 2 {
				err = fmt.Errorf("the tip is %v", tip)
			}
			return err
		}, holds(id, "one", "two")},
		{"append of an atomic batch", func(ctx context.Context, b storage.Backend) error {
			tip, err := b.Ledger().Append(ctx, id+"/batch", storage.Tip{}, big, big, big)
			if err == nil {
				_, err = b.Ledger().Append(ctx, id+"/batch", tip, []byte("four")) // the tip is the right one
			}
			return err
		}, func(t testing.TB, b storage.Backend) bool {
			n := len(records(t, b, id+"/batch"))
			if n != 0 && n < 3 {
				t.Errorf("%d of 3 records of a batch are there", n)
			}
			return n >= 3
		}},
		{"put of a row", func(ctx context.Context, b storage.Backend) error {
			_, err := b.KV().Put(ctx, id, 0, []byte("v"))
			return err
		}, func(t testing.TB, b storage.Backend) bool {
			v, _, err := b.KV().Get(t.Context(), id)
			return err == nil && string(v) == "v"
		}},
		{"acquire", func(ctx context.Context, b storage.Backend) error {
			_, err := b.Leaser().Acquire(ctx, id)
			return err
		}, func(t testing.TB, b storage.Backend) bool {
			epoch, err := b.Leaser().Holder(t.Context(), id)
			return err == nil && epoch != 0
		}},
		{"put of a blob", func(ctx context.Context, b storage.Backend) error {
			_, err := b.Blobs().Put(ctx, id, storage.Digest{}, strings.NewReader("blob"))
			return err
		}, func(t testing.TB, b storage.Backend) bool {
			r, err := b.Blobs().Get(t.Context(), id, storage.DigestOf([]byte("blob")))
			if err != nil {
				return false
			}
			defer r.Close()
			data, err := io.ReadAll(r)
			return err == nil && string(data) == "blob"
		}},
	}
}

func records(t testing.TB, b storage.Backend, name string) []string {
	t.Helper()
	list := []string{}
	for rec, err := range b.Ledger().Read(t.Context(), name, 1) {
		if err != nil {
			t.Fatalf("Read of %s: %v", name, err)
		}
		list = append(list, string(rec.Data))
	}
	return list
}

func holds(name string, want ...string) func(testing.TB, storage.Backend) bool {
	return func(t testing.TB, b storage.Backend) bool {
		got := records(t, b, name)
		if len(got) > 0 && !slices.Equal(got, want) {
			t.Errorf("the ledger holds %.100q, want %q", got, want)
		}
		return len(got) > 0
	}
}

// A fate is what becomes of the first attempt of a write.
type fate struct {
	name              string
	requests, answers flow
	leave             bool // the caller
}

// each runs all writes at once, each with each fate on a store of its own.
func each(t *testing.T, fates []fate, test func(w write, f fate, s *natsstore.Store, v *valves, other storage.Backend)) {
	srv := startServer(t, serverOptions(t))
	other := open(t, srv, natsstore.Options{})
	var wg sync.WaitGroup
	for i, f := range fates {
		for _, w := range writes(fmt.Sprint("fate", i)) {
			s, v := openValved(t, srv, natsstore.Options{LeaseTTL: time.Minute})
			wg.Go(func() { test(w, f, s, v, other) })
		}
	}
	wg.Wait()
}

// Whether a request is lost or its answer, a write that is sent again is done
// once, and says so.
func TestWriteIsSentAgain(t *testing.T) {
	t.Parallel()
	each(t, []fate{
		{"request lost", lost, through, false},
		{"answer lost", through, lost, false},
		{"answer late", through, held, false},
	}, func(w write, f fate, s *natsstore.Store, v *valves, other storage.Backend) {
		natsstore.BeforeSend(s, func() {
			v.set(f.requests, f.answers)
			natsstore.SetTimeout(s, time.Second) // of an attempt, a fourth
		}, func() {
			v.set(through, through)
			natsstore.SetTimeout(s, 10*time.Second)
		})
		if err := w.do(t.Context(), s); err != nil {
			t.Errorf("%s, %s = %v, want nil", w.name, f.name, err)
		}
		if !w.done(t, other) {
			t.Errorf("%s, %s: it was acknowledged and is not there", w.name, f.name)
		}
	})
}

// A write whose answer does not come, or comes too late, is ambiguous, whatever
// became of it; and so is one whose caller leaves.
func TestWriteWithoutAnswerIsAmbiguous(t *testing.T) {
	t.Parallel()
	gone := errors.New("the caller left")
	each(t, []fate{
		{"request lost", lost, through, false},
		{"answer lost", through, lost, false},
		{"answer late", through, held, false},
		{"caller leaves", through, lost, true},
	}, func(w write, f fate, s *natsstore.Store, v *valves, other storage.Backend) {
		natsstore.SetTimeout(s, 3*time.Second)
		ctx, leave := context.WithCancelCause(t.Context())
		defer leave(nil)
		sends := 0
		natsstore.BeforeSend(s, func() {
			// The commit of a blob is its second message; its chunks go through.
			if sends++; w.name == "put of a blob" && sends == 1 {
				return
			}
			v.set(f.requests, f.answers)
			if f.leave {
				time.AfterFunc(50*time.Millisecond, func() { leave(gone) })
			}
		}, func() {})
		err := w.do(ctx, s)
		var unknown *storage.AmbiguousError
		if !errors.As(err, &unknown) || errors.Is(err, gone) != f.leave || errors.Is(err, storage.ErrUnavailable) {
			t.Errorf("%s, %s = %v, want an *AmbiguousError that says nothing definite", w.name, f.name, err)
		}
		v.set(through, through)
		if f.leave { // the request may be on its way
			eventually(t, 10*time.Second, func() bool { return w.done(t, other) })
		}
		if done := w.done(t, other); done != (f.requests == through) {
			t.Errorf("%s, %s: it is there: %v", w.name, f.name, done)
		}
	})
}

// A late append, whose caller was told that nothing is known, must not take
// effect behind a successor, and its caller finds out by the contract.
func TestLateAppendIsFenced(t *testing.T) {
	t.Parallel()
	srv := startServer(t, serverOptions(t))
	s, v := openValved(t, srv, natsstore.Options{})
	other := open(t, srv, natsstore.Options{})
	tip, err := s.Ledger().Append(t.Context(), "a", storage.Tip{}, []byte("one"))
	if err != nil {
		t.Fatal(err)
	}
	v.set(lost, through)
	natsstore.SetTimeout(s, 400*time.Millisecond)
	var unknown *storage.AmbiguousError
	if _, err := s.Ledger().Append(t.Context(), "a", tip, []byte("mine")); !errors.As(err, &unknown) {
		t.Fatalf("Append = %v, want an *AmbiguousError", err)
	}
	if _, err := other.Ledger().Append(t.Context(), "a", tip, []byte("successor")); err != nil {
		t.Fatal(err)
	}
	v.set(through, through)
	natsstore.SetTimeout(s, 10*time.Second)
	var conflict *storage.ConflictError
	_, err = s.Ledger().Append(t.Context(), "a", tip, []byte("mine"))
	if !errors.As(err, &conflict) || conflict.Tip.Seq != 2 || conflict.Expected != tip {
		t.Errorf("Append again = %v, want a *ConflictError at 2", err)
	}
	if got := records(t, s, "a"); !slices.Equal(got, []string{"one", "successor"}) {
		t.Errorf("the ledger holds %q", got)
	}
}
