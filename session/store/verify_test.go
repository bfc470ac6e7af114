package store_test

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/comity-dev/comity/session/store"
	"github.com/comity-dev/comity/storage"
	"github.com/comity-dev/comity/storage/filestore"
	"github.com/comity-dev/comity/storage/memstore"
)

// A keyed backend tells of what is done with its rows.
type keyed struct {
	storage.Backend
	mu  sync.Mutex
	put func(key string) // before one is written
	got func(key string) // behind one that was read
}

func (k *keyed) KV() storage.KV { return keyedKV{k.Backend.KV(), k} }

func (k *keyed) tell(f *func(string), key string) {
	k.mu.Lock()
	tell := *f
	k.mu.Unlock()
	if tell != nil {
		tell(key)
	}
}

type keyedKV struct {
	storage.KV
	k *keyed
}

func (v keyedKV) Put(ctx context.Context, key string, expected uint64, value []byte) (uint64, error) {
	v.k.tell(&v.k.put, key)
	return v.KV.Put(ctx, key, expected, value)
}

func (v keyedKV) Get(ctx context.Context, key string) ([]byte, uint64, error) {
	value, revision, err := v.KV.Get(ctx, key)
	v.k.tell(&v.k.got, key)
	return value, revision, err
}

// wantGoodCopy wants nothing wrong with what kill -9 would leave of a folder now.
func wantGoodCopy(t *testing.T, dir, when string) {
	t.Helper()
	dead := t.TempDir()
	if err := os.CopyFS(dead, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	b, err := filestore.OpenReadOnly(dead)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if r, err := newStore(t, b, nil).Verify(t.Context(), session); err != nil || !r.Good() {
		t.Errorf("killed %s: %+v, %v", when, r, err)
	}
}

// Whenever a writer is killed that stores its books, they are good.
func TestBooksAreGoodBehindAKill(t *testing.T) {
	dir := t.TempDir()
	b, err := filestore.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	k := &keyed{Backend: closing(t, b)}
	s := newStore(t, k, nil)
	watch := func(what string, do func()) {
		t.Helper()
		k.put = func(key string) { wantGoodCopy(t, dir, "in "+what+", before "+key+" is written") }
		do()
		k.put = nil
		wantGoodCopy(t, dir, "behind "+what)
	}
	for round := range 3 {
		w := open(t, s)
		for n := range 30 {
			mustAppend(t, w, note(fmt.Sprint(round, "/", n), "x"))
		}
		watch("Close", func() { closed(t, w) })
		watch("RepairBooks", func() {
			if _, err := s.RepairBooks(t.Context(), session); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// A writer that stores checkpoints while Verify looks removes parts of those that
// were there: that is no damage, however often it happens.
func TestVerifyBesideAWriterThatMerges(t *testing.T) {
	for _, times := range []int{1, 1000} {
		t.Run(fmt.Sprint(times, " times"), func(t *testing.T) {
			b := closing(t, memstore.New())
			w := open(t, newStore(t, b, nil))
			n := 0
			checkpoint := func() {
				for range 20 {
					n++
					mustAppend(t, w, note(fmt.Sprint(n), "x"))
				}
				if err := w.Checkpoint(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			checkpoint()
			checkpoint()
			k := &keyed{Backend: b}
			k.got = func(key string) {
				if key != ledger+"/index" || times == 0 {
					return
				}
				times--
				for range 4 {
					checkpoint()
				}
			}
			was := times
			if r, err := newStore(t, k, &store.Options{}).Verify(t.Context(), session); err != nil || !r.Good() {
				t.Errorf("Verify = %+v, %v", r, err)
			}
			if times == was {
				t.Error("the checkpoint was not read")
			}
		})
	}
}
