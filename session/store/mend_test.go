package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/session/store"
	"github.com/comity-dev/comity/storage"
	"github.com/comity-dev/comity/storage/filestore"
	"github.com/comity-dev/comity/storage/memstore"
)

// A shelf is a store in a folder whose files a test changes.
type shelf struct {
	storage.Backend
	dir string
}

func newShelf(t *testing.T) shelf {
	t.Helper()
	dir := t.TempDir()
	b, err := filestore.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	return shelf{closing(t, b), dir}
}

// shards are the files of the index.
func (s shelf) shards(t *testing.T) (names []string) {
	t.Helper()
	spaces, err := filepath.Glob(filepath.Join(s.dir, "blobs", "*", "space"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range spaces {
		if b, err := os.ReadFile(name); err != nil || string(b) != ledger+"/index" {
			continue
		}
		all, err := filepath.Glob(filepath.Join(filepath.Dir(name), "????????*"))
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, all...)
	}
	return names
}

var harms = map[string]func(t *testing.T, name string){
	"missing": func(t *testing.T, name string) {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	},
	"content changed": func(t *testing.T, name string) { flipAt(t, name, -1) },
	"header changed":  func(t *testing.T, name string) { flipAt(t, name, 20) },
}

// flipAt flips a bit of a file; an offset below 0 counts from its end.
func flipAt(t *testing.T, name string, at int) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if at < 0 {
		at += len(b)
	}
	b[at] ^= 1
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// harm damages every shard of the index.
func (s shelf) harm(t *testing.T, how string) {
	t.Helper()
	list := s.shards(t)
	if len(list) == 0 {
		t.Fatal("the index has no shards")
	}
	for _, name := range list {
		harms[how](t, name)
	}
}

// good wants the session to be so in every respect, and no shard to be there
// that the checkpoint does not name.
func (s shelf) good(t *testing.T, sessions *store.Store, ids int) {
	t.Helper()
	r, err := sessions.Verify(t.Context(), session)
	if err != nil || !r.Good() {
		t.Errorf("Verify = %+v, %v", r, err)
	}
	value, _, err := s.KV().Get(t.Context(), ledger+"/index")
	if err != nil {
		t.Fatal(err)
	}
	var p struct {
		Runs []struct {
			Records int
			Shards  []storage.Digest
		}
	}
	if err := json.Unmarshal(value, &p); err != nil {
		t.Fatal(err)
	}
	records, shards := 0, 0
	for _, r := range p.Runs {
		records += r.Records
		for _, d := range r.Shards {
			if d != (storage.Digest{}) {
				shards++
			}
		}
	}
	if records != ids || shards != len(s.shards(t)) {
		t.Errorf("%d ids in %d shards, %d of them on disk, want %d ids", records, shards, len(s.shards(t)), ids)
	}
}

// A shard that is lost is made anew: by the next owner who comes upon it, and by
// RepairBooks, also where the new one has the name of the damaged one.
func TestLostShardsAreMadeAnew(t *testing.T) {
	for how := range harms {
		for name, mend := range map[string]func(t *testing.T, s *store.Store) (ids int){
			"by an append": func(t *testing.T, s *store.Store) int {
				w := open(t, s)
				mustAppend(t, w, note("new", "x"))
				if res, err := w.AppendIdempotent(t.Context(), note("7", "x")); err != nil || res.Appended || res.Sequence != 9 {
					t.Errorf("record 9 again: %+v, %v", res, err)
				}
				want[*journal.IdempotencyCollisionError](t, "other content", second(w.Append(t.Context(), note("7", "y"))))
				closed(t, w)
				return 23
			},
			"by RepairBooks": func(t *testing.T, s *store.Store) int {
				r, err := s.RepairBooks(t.Context(), session)
				if err != nil || len(r.Problems) > 0 || len(r.Books) == 0 {
					t.Errorf("RepairBooks = %+v, %v", r, err)
				}
				return 21
			},
		} {
			t.Run(how+" "+name, func(t *testing.T) {
				b := newShelf(t)
				s := newStore(t, b, nil)
				w := open(t, s)
				for i := range 20 {
					mustAppend(t, w, note(fmt.Sprint(i), "x"))
				}
				closed(t, w)
				b.good(t, s, 21)
				b.harm(t, how)
				r, err := s.Verify(t.Context(), session)
				if err != nil || len(r.Problems) > 0 || len(r.Books) != 1 || !strings.Contains(r.Books[0].Error(), "checkpoint of session") {
					t.Fatalf("Verify of the damage = %+v, %v", r, err)
				}
				b.good(t, s, mend(t, s))
			})
		}
	}
}

// A shard that is lost while its writer has it in memory stands in the way of
// nothing but the merge that reads it, and that makes the index anew.
func TestAMergeThatFindsALostShard(t *testing.T) {
	for _, close := range []bool{true, false} {
		t.Run(fmt.Sprint("close ", close), func(t *testing.T) {
			b := newShelf(t)
			tr := &trouble{t: t}
			s := newStore(t, b, &store.Options{Trouble: tr.tell})
			w := open(t, s)
			mustAppend(t, w, note("0", "x"), note("1", "x"))
			if err := w.Checkpoint(t.Context()); err != nil {
				t.Fatal(err)
			}
			mustAppend(t, w, note("2", "x")) // reads the shard
			b.harm(t, "content changed")
			mustAppend(t, w, note("3", "x"), note("4", "x"), note("5", "x"))
			if len(tr.list()) > 0 {
				t.Fatalf("told too early: %v", tr.list())
			}
			if !close {
				if err := w.Checkpoint(t.Context()); err != nil {
					t.Errorf("Checkpoint = %v", err)
				}
			}
			closed(t, w)
			if len(tr.list()) != 1 {
				t.Errorf("told %v", tr.list())
			}
			b.good(t, s, 7)
		})
	}
}

// RepairBooks is an owner, and touches nothing beside bad records.
func TestRepairBooksRefuses(t *testing.T) {
	b := newShelf(t)
	s := newStore(t, b, nil)
	w := open(t, s)
	mustAppend(t, w, note("1", "x"))
	want[*journal.LeaseHeldError](t, "beside a writer", second(s.RepairBooks(t.Context(), session)))
	closed(t, w)
	b.harm(t, "missing")
	bad := newStore(t, spoilt{Backend: b, change: func(rec storage.Record) (storage.Record, error) {
		if rec.Seq == 2 {
			return storage.Record{}, &storage.DamagedError{Name: ledger, Seq: 2}
		}
		return rec, nil
	}}, nil)
	r, err := bad.RepairBooks(t.Context(), session)
	want[*journal.ReplayReadError](t, "of a damaged journal", err)
	if len(r.Problems) != 1 || len(b.shards(t)) != 0 {
		t.Errorf("it returned %+v and left %d shards", r, len(b.shards(t)))
	}
	if r, err := s.RepairBooks(t.Context(), id(77)); err != nil || r.Tip != 0 {
		t.Errorf("of a session that is not there: %+v, %v", r, err)
	}
}

// A row of the catalog that is another journal's goes.
func TestRepairBooksOfTheCatalog(t *testing.T) {
	b := newShelf(t)
	s := newStore(t, b, nil)
	w := open(t, s)
	mustAppend(t, w, ev(10))
	closed(t, w)
	ctx := context.Background()
	_, revision, err := b.KV().Get(ctx, ledger)
	if err != nil {
		t.Fatal(err)
	}
	row := fmt.Sprintf(`{"session":%q,"state":"idle","last_seq":99,"epoch":99,"title":"another"}`, session)
	if _, err := b.KV().Put(ctx, ledger, revision, []byte(row)); err != nil {
		t.Fatal(err)
	}
	if r, err := s.RepairBooks(ctx, session); err != nil || len(r.Books) != 1 {
		t.Errorf("RepairBooks = %+v, %v", r, err)
	}
	if e, err := s.Entry(ctx, session); err != nil || e.Title != "session 10" || e.LastSeq != 2 || e.Partial {
		t.Errorf("the entry is %+v, %v", e, err)
	}
	b.good(t, s, 2)
}

// A shy backend does not say once what its row of the index is.
type shy struct {
	shelf
	asked *bool
}

func (s shy) KV() storage.KV { return shyKV{s.shelf.KV(), s.asked} }

type shyKV struct {
	storage.KV
	asked *bool
}

var errShy = errors.New("not now")

func (kv shyKV) Get(ctx context.Context, key string) ([]byte, uint64, error) {
	if key == ledger+"/index" && !*kv.asked {
		*kv.asked = true
		return nil, 0, errShy
	}
	return kv.KV.Get(ctx, key)
}

// A checkpoint that could not be read when the session was opened keeps its shards
// until another one is stored.
func TestACheckpointThatWasNotReadKeepsItsShards(t *testing.T) {
	b := newShelf(t)
	w := open(t, newStore(t, b, nil))
	mustAppend(t, w, note("0", "x"), note("1", "x"))
	closed(t, w)
	tr := &trouble{t: t}
	s := newStore(t, shy{b, new(bool)}, &store.Options{Trouble: tr.tell})
	w = open(t, s)
	mustAppend(t, w, note("2", "x"))
	var moved *storage.RevisionError
	if err := w.Checkpoint(t.Context()); !errors.As(err, &moved) {
		t.Errorf("Checkpoint = %v, want that it is of another revision", err)
	}
	if r, err := s.Verify(t.Context(), session); err != nil || !r.Good() {
		t.Errorf("Verify = %+v, %v", r, err)
	}
	closed(t, w)
	if r, err := s.Verify(t.Context(), session); err != nil || !r.Good() {
		t.Errorf("Verify = %+v, %v", r, err)
	}
}

// Both books are made anew, whether Verify finds something or not: it does not hold
// all of the row to the journal.
func TestRepairBooksTrustsNoBook(t *testing.T) {
	b := closing(t, memstore.New())
	s := newStore(t, b, nil)
	w := open(t, s)
	mustAppend(t, w, note("1", "x"))
	closed(t, w)
	_, revision, err := b.KV().Get(t.Context(), ledger)
	if err != nil {
		t.Fatal(err)
	}
	row, err := json.Marshal(store.Entry{Session: session, State: store.Running, LastSeq: 2, Epoch: 1, Turns: 99, Title: "another"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.KV().Put(t.Context(), ledger, revision, row); err != nil {
		t.Fatal(err)
	}
	if r, err := s.RepairBooks(t.Context(), session); err != nil || !r.Good() {
		t.Fatal(r, err)
	}
	if e, err := s.Entry(t.Context(), session); err != nil || e.Turns != 0 || e.Title != "" {
		t.Errorf("the entry is %+v, %v", e, err)
	}
}
