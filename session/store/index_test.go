package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/session/store"
	"github.com/comity-dev/comity/storage"
	"github.com/comity-dev/comity/storage/memstore"
)

// A counting backend counts the records that are read.
type counting struct {
	storage.Backend
	reads *atomic.Int64
}

func (c counting) Ledger() storage.Ledger { return countingLedger{c.Backend.Ledger(), c.reads} }

type countingLedger struct {
	storage.Ledger
	reads *atomic.Int64
}

func (l countingLedger) Read(ctx context.Context, name string, from uint64) iter.Seq2[storage.Record, error] {
	return func(yield func(storage.Record, error) bool) {
		for rec, err := range l.Ledger.Read(ctx, name, from) {
			l.reads.Add(1)
			if !yield(rec, err) {
				return
			}
		}
	}
}

// Opening reads the tail behind the last checkpoint, however long the journal
// is, and still knows every id.
func TestOpeningReadsTheTailAlone(t *testing.T) {
	each(t, func(t *testing.T, b storage.Backend) {
		tr := trouble{t: t}
		reads := new(atomic.Int64)
		s := newStore(t, counting{b, reads}, &store.Options{CheckpointRecords: 100, Trouble: tr.never})
		w := open(t, s)
		const batches, size = 40, 125
		for i := range batches {
			recs := make([]journal.JournalRecord, size)
			for j := range recs {
				recs[j] = note(fmt.Sprint(i*size+j), "x")
			}
			if _, err := w.AppendBatch(t.Context(), recs...); err != nil {
				t.Fatal(err)
			}
		}
		check := func(when string, most int64) {
			t.Helper()
			reads.Store(0)
			w = open(t, s)
			if n := reads.Load(); n > most {
				t.Errorf("%s, opening a journal of %d records read %d, want at most %d", when, batches*size, n, most)
			}
			reads.Store(0)
			for i := 0; i < batches*size; i += 97 {
				if res, err := w.AppendIdempotent(t.Context(), note(fmt.Sprint(i), "x")); err != nil || res.Appended || res.Sequence != uint64(i)+2 {
					t.Fatalf("%s, record %d again: %+v, %v", when, i, res, err)
				}
				want[*journal.IdempotencyCollisionError](t, "other content", second(w.Append(t.Context(), note(fmt.Sprint(i), "y"))))
			}
			if n := reads.Load(); n > 0 {
				t.Errorf("%s, looking ids up read %d records", when, n)
			}
		}
		if err := w.Checkpoint(t.Context()); err != nil {
			t.Fatal(err)
		}
		mustAppend(t, w, note("behind", "x"))
		crash(t, w)
		check("after a crash", 4) // the last record, that of the checkpoint, and two behind it
		closed(t, w)
		check("after Close", 3)
		if got := runs(t, b); got > 8 {
			t.Errorf("the checkpoint has %d runs", got)
		}
		for range 2 {
			if err := w.Checkpoint(t.Context()); err != nil {
				t.Errorf("Checkpoint of what is stored: %v", err)
			}
		}
	})
}

// crash ends a writer as the end of its process would: nothing but the lease goes.
func crash(t testing.TB, w *store.Writer) {
	t.Helper()
	if err := w.Lease().Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.Close()
}

// Checkpoints are stored while the session goes on.
func TestCheckpointsComeByThemselves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := memstore.New()
		defer b.Close()
		tr := trouble{t: t}
		reads := new(atomic.Int64)
		s := newStore(t, counting{b, reads}, &store.Options{CheckpointRecords: 10, Trouble: tr.never})
		w, err := s.Open(t.Context(), session, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 1000 {
			mustAppend(t, w, note(fmt.Sprint(i), "x"))
			synctest.Wait() // what is stored in the background has been stored
		}
		crash(t, w)
		reads.Store(0)
		w, err = s.Open(t.Context(), session, nil)
		if err != nil {
			t.Fatal(err)
		}
		if n := reads.Load(); n > 2+10 {
			t.Errorf("opening read %d records", n)
		}
		if got := runs(t, b); got > 9 {
			t.Errorf("the checkpoint has %d runs", got)
		}
		shards := 0
		for range b.Blobs().List(t.Context(), ledger+"/index") {
			shards++
		}
		if shards > 9 {
			t.Errorf("%d shards are stored", shards)
		}
		closed(t, w)
	})
}

func runs(t testing.TB, b storage.Backend) int {
	t.Helper()
	value, _, err := b.KV().Get(t.Context(), ledger+"/index")
	if err != nil {
		t.Fatal(err)
	}
	var p struct{ Runs []any }
	if err := json.Unmarshal(value, &p); err != nil {
		t.Fatal(err)
	}
	return len(p.Runs)
}

// A trouble collects what is told to Options.Trouble.
type trouble struct {
	t    testing.TB
	mu   sync.Mutex
	told []error
}

func (tr *trouble) tell(err error) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.told = append(tr.told, err)
}

func (tr *trouble) never(err error) { tr.t.Errorf("trouble: %v", err) }

func (tr *trouble) list() []error {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return tr.told
}

// Whatever becomes of a checkpoint, no id is forgotten: it is believed where it
// is right, and the journal is read where it is not.
func TestACheckpointIsNotTrusted(t *testing.T) {
	space := ledger + "/index"
	row := func(t *testing.T, b storage.Backend, change func(value []byte) []byte) {
		value, revision, err := b.KV().Get(t.Context(), space)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.KV().Put(t.Context(), space, revision, change(value)); err != nil {
			t.Fatal(err)
		}
	}
	replaced := func(old, new string) func(t *testing.T, b storage.Backend) {
		return func(t *testing.T, b storage.Backend) {
			row(t, b, func(v []byte) []byte {
				if !strings.Contains(string(v), old) {
					t.Fatalf("the row has no %q: %s", old, v)
				}
				return []byte(strings.Replace(string(v), old, new, 1))
			})
		}
	}
	for name, spoil := range map[string]func(t *testing.T, b storage.Backend){
		"no row":        func(t *testing.T, b storage.Backend) { b.KV().Delete(t.Context(), space, 0) },
		"garbage":       func(t *testing.T, b storage.Backend) { row(t, b, func([]byte) []byte { return []byte("garbage") }) },
		"empty":         func(t *testing.T, b storage.Backend) { row(t, b, func([]byte) []byte { return nil }) },
		"other version": replaced(`"v":1`, `"v":2`),
		"other life":    replaced(`"gen":`, `"gen":1`),
		"too far":       replaced(`"seq":`, `"seq":9`),
		"not as far":    replaced(`"seq":21`, `"seq":20`),
		"other frame":   replaced(`"frame":"sha256:`, `"frame":"sha256:0000`),
		"other shape":   replaced(`"bits":0`, `"bits":3`),
		"no shards": func(t *testing.T, b storage.Backend) {
			for info, err := range b.Blobs().List(t.Context(), space) {
				if err != nil {
					t.Fatal(err)
				}
				if err := b.Blobs().Delete(t.Context(), space, info.Digest); err != nil {
					t.Fatal(err)
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := closing(t, memstore.New())
			tr := &trouble{t: t}
			s := newStore(t, b, &store.Options{CheckpointRecords: 5, Trouble: tr.tell})
			w := open(t, s)
			for i := range 20 {
				mustAppend(t, w, note(fmt.Sprint(i), "x"))
			}
			mustAppend(t, w, phased(500, "intent"))
			closed(t, w)
			if name == "not as far" { // the row says 22
				replaced(`"seq":22`, `"seq":21`)(t, b)
			}
			spoil(t, b)
			w = open(t, s)
			for i := range 20 {
				if res, err := w.AppendIdempotent(t.Context(), note(fmt.Sprint(i), "x")); err != nil || res.Appended || res.Sequence != uint64(i)+2 {
					t.Errorf("record %d again: %+v, %v", i, res, err)
				}
			}
			want[*journal.IdempotencyCollisionError](t, "other content", second(w.Append(t.Context(), note("7", "y"))))
			mustAppend(t, w, phased(500, "fallback_queued"))
			if len(tr.list()) == 0 && name != "no row" {
				t.Error("nobody was told")
			}
			// The next checkpoint is good again.
			before := len(tr.list())
			closed(t, w)
			w = open(t, s)
			if res, err := w.AppendIdempotent(t.Context(), note("3", "x")); err != nil || res.Appended {
				t.Errorf("after another restart: %+v, %v", res, err)
			}
			closed(t, w)
			if after := tr.list(); len(after) > before+1 {
				t.Errorf("trouble that does not end: %v", after[before:])
			}
		})
	}
}

// A checkpoint that cannot be stored costs nothing but the next opening's time.
func TestCheckpointsThatFail(t *testing.T) {
	u := &unruly{Backend: closing(t, memstore.New())}
	tr := &trouble{t: t}
	s := newStore(t, u, &store.Options{CheckpointRecords: 3, Trouble: tr.tell})
	w := open(t, s)
	u.set(func() { u.put = func() error { return storage.ErrNoSpace } })
	for i := range 20 {
		mustAppend(t, w, note(fmt.Sprint(i), "x"))
	}
	closed(t, w)
	if len(tr.list()) == 0 || !errors.Is(tr.list()[0], storage.ErrNoSpace) {
		t.Errorf("told %v", tr.list())
	}
	w = open(t, s)
	for i := range 20 {
		if res, err := w.AppendIdempotent(t.Context(), note(fmt.Sprint(i), "x")); err != nil || res.Appended {
			t.Errorf("record %d again: %+v, %v", i, res, err)
		}
	}
}

// Against a map: any appends, repetitions, collisions and restarts, clean or not.
func TestIndexAgreesWithAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := memstore.New()
		defer b.Close()
		s, err := store.New(b, &store.Options{
			CheckpointRecords: rapid.IntRange(1, 6).Draw(t, "checkpoint"), IndexCacheBytes: 1, Trouble: func(err error) { t.Fatalf("trouble: %v", err) },
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx := context.Background()
		reopen := func() *store.Writer {
			w, err := s.Open(ctx, session, nil)
			if err != nil {
				t.Fatal(err)
			}
			return w
		}
		w := reopen()
		defer func() { w.Close() }()
		type place struct {
			body string
			seq  uint64
		}
		known := make(map[string]place)
		t.Repeat(map[string]func(*rapid.T){
			"append": func(t *rapid.T) {
				key, body := fmt.Sprint(rapid.IntRange(0, 60).Draw(t, "id")), rapid.SampledFrom([]string{"a", "b"}).Draw(t, "body")
				res, err := w.AppendIdempotent(ctx, note(key, body))
				was, ok := known[key]
				collision, collided := as[*journal.IdempotencyCollisionError](err)
				switch {
				case !ok && (err != nil || !res.Appended), ok && was.body == body && (err != nil || res.Appended || res.Sequence != was.seq),
					ok && was.body != body && (!collided || collision.Seq != was.seq):
					t.Fatalf("%s %s: %+v, %v; known: %v %+v", key, body, res, err, ok, was)
				case !ok:
					known[key] = place{body, res.Sequence}
				}
			},
			"restart": func(t *rapid.T) {
				if err := w.Close(); err != nil {
					t.Fatal(err)
				}
				w = reopen()
			},
			"crash": func(t *rapid.T) {
				if err := w.Lease().Release(ctx); err != nil {
					t.Fatal(err)
				}
				w.Close()
				w = reopen()
			},
		})
	})
}

// A row that somebody else wrote is not overwritten unseen, and the next
// checkpoint is stored all the same.
func TestCheckpointBesideAnother(t *testing.T) {
	b := closing(t, memstore.New())
	tr := &trouble{t: t}
	s := newStore(t, b, &store.Options{Trouble: tr.tell})
	w := open(t, s)
	mustAppend(t, w, note("1", "x"))
	if err := w.Checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, revision, err := b.KV().Get(t.Context(), ledger+"/index")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.KV().Put(t.Context(), ledger+"/index", revision, []byte("another's")); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, w, note("2", "x"))
	want[*storage.RevisionError](t, "Checkpoint", w.Checkpoint(t.Context()))
	if len(tr.list()) != 1 {
		t.Errorf("told %v", tr.list())
	}
	if err := w.Checkpoint(t.Context()); err != nil {
		t.Errorf("the next Checkpoint = %v", err)
	}
	crash(t, w)
	reads := new(atomic.Int64)
	w = open(t, newStore(t, counting{b, reads}, &store.Options{Trouble: (&trouble{t: t}).never}))
	if n := reads.Load(); n > 3 {
		t.Errorf("opening read %d records", n)
	}
	for _, name := range []string{"1", "2"} {
		if res, err := w.AppendIdempotent(t.Context(), note(name, "x")); err != nil || res.Appended {
			t.Errorf("record %s again: %+v, %v", name, res, err)
		}
	}
}

// A store that takes no blobs is not asked with each append.
func TestFailingCheckpointsAreSpread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := memstore.New()
		defer b.Close()
		u := &unruly{Backend: b, put: func() error { return storage.ErrNoSpace }}
		s := newStore(t, u, &store.Options{CheckpointRecords: 10, Trouble: func(error) {}})
		w, err := s.Open(t.Context(), session, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		for i := range 500 {
			mustAppend(t, w, note(fmt.Sprint(i), "x"))
			synctest.Wait()
		}
		puts := 0
		u.set(func() {
			for _, op := range u.ops {
				if op == "put" {
					puts++
				}
			}
			u.put = nil
		})
		if puts < 40 || puts > 50 {
			t.Errorf("a checkpoint of every 10 records was tried %d times in 500", puts)
		}
		if err := w.Checkpoint(t.Context()); err != nil {
			t.Errorf("Checkpoint, when there is room again: %v", err)
		}
	})
}
