package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/comity-dev/comity/session/command"
	"github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/session/store"
	"github.com/comity-dev/comity/storage"
	"github.com/comity-dev/comity/storage/memstore"
	"github.com/comity-dev/comity/storage/storagetest"
)

// Each write of a script is lost, kept though reported lost, and late. Whatever
// the writer makes of it, each record is stored once and in order, and what the
// writer said of it is true.
func TestEachWriteLostKeptAndLate(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	script := func(t *testing.T, s *store.Store) {
		w, err := s.Open(t.Context(), session, nil)
		if err != nil {
			t.Fatalf("Open: %v", err)
		}
		for i, recs := range [][]journal.JournalRecord{{note("1", "x")}, {note("2", long)}, {note("3", "x"), note("4", long)}, {phased(5, command.PhaseIntent)}, {note("6", "x")}} {
			res, err := w.AppendBatch(t.Context(), recs...)
			if err != nil {
				t.Fatalf("step %d: %v", i, err)
			}
			for _, r := range res {
				if !r.Appended {
					t.Errorf("step %d: %+v", i, res)
				}
			}
			again, err := w.AppendBatch(t.Context(), recs...)
			if err != nil || again[0].Appended || again[0].Sequence != res[0].Sequence {
				t.Errorf("step %d again: %+v, %v, want %+v", i, again, err, res)
			}
		}
		closed(t, w)
	}
	count := storagetest.NewFaults(closing(t, memstore.New()), func(int, string, string) storagetest.Fate { return storagetest.Pass })
	script(t, newStore(t, count, nil))
	for fate, name := range map[storagetest.Fate]string{storagetest.Lost: "lost", storagetest.Kept: "kept", storagetest.Late: "late"} {
		t.Run(name, func(t *testing.T) {
			for at := range count.Writes() {
				skip := false
				f := storagetest.NewFaults(closing(t, memstore.New()), func(n int, op, _ string) storagetest.Fate {
					if n == at {
						skip = op == "acquire" || op == "put row" // the leaser's, and the books'
						if !skip {
							return fate
						}
					}
					return storagetest.Pass
				})
				s := newStore(t, landing{f}, nil)
				script(t, s)
				wantIDs(t, newStore(t, f.Backend, nil), "1", "2", "3", "4", string(id(5)), "6")
			}
		})
	}
}

// landing lands what is late just before the next append.
type landing struct{ *storagetest.Faults }

func (l landing) Ledger() storage.Ledger { return landingLedger{l.Faults.Ledger(), l.Faults} }

type landingLedger struct {
	storage.Ledger
	f *storagetest.Faults
}

func (l landingLedger) Append(ctx context.Context, name string, expected storage.Tip, recs ...[]byte) (storage.Tip, error) {
	l.f.Land()
	return l.Ledger.Append(ctx, name, expected, recs...)
}

// A backend that does what its fields say.
type unruly struct {
	storage.Backend
	mu     sync.Mutex
	append func(next func() (storage.Tip, error)) (storage.Tip, error)
	read   func() error
	put    func() error
	hang   bool // appends wait for the end of their context
	ops    []string
}

func (u *unruly) set(change func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	change()
}

func (u *unruly) Ledger() storage.Ledger { return unrulyLedger{u.Backend.Ledger(), u} }
func (u *unruly) Blobs() storage.Blobs   { return unrulyBlobs{u.Backend.Blobs(), u} }

type unrulyLedger struct {
	storage.Ledger
	u *unruly
}

func (l unrulyLedger) Append(ctx context.Context, name string, expected storage.Tip, recs ...[]byte) (storage.Tip, error) {
	l.u.mu.Lock()
	l.u.ops = append(l.u.ops, "append")
	do, hang := l.u.append, l.u.hang
	l.u.mu.Unlock()
	if hang {
		<-ctx.Done()
		return storage.Tip{}, &storage.AmbiguousError{Op: "append", Name: name, Cause: context.Cause(ctx)}
	}
	next := func() (storage.Tip, error) {
		return l.Ledger.Append(context.WithoutCancel(ctx), name, expected, recs...)
	}
	if do == nil {
		return next()
	}
	return do(next)
}

func (l unrulyLedger) Read(ctx context.Context, name string, from uint64) iter.Seq2[storage.Record, error] {
	l.u.mu.Lock()
	read := l.u.read
	l.u.mu.Unlock()
	if read != nil {
		if err := read(); err != nil {
			return func(yield func(storage.Record, error) bool) { yield(storage.Record{}, err) }
		}
	}
	return l.Ledger.Read(ctx, name, from)
}

type unrulyBlobs struct {
	storage.Blobs
	u *unruly
}

func (b unrulyBlobs) Put(ctx context.Context, space string, want storage.Digest, r io.Reader) (storage.BlobInfo, error) {
	b.u.mu.Lock()
	b.u.ops = append(b.u.ops, "put")
	put := b.u.put
	b.u.mu.Unlock()
	if put != nil {
		if err := put(); err != nil {
			return storage.BlobInfo{}, err
		}
	}
	return b.Blobs.Put(ctx, space, want, r)
}

func unknown() error {
	return &storage.AmbiguousError{Op: "append", Name: ledger, Cause: errors.New("no answer")}
}

// A failed append changes neither the tip nor the index: the same record, and
// another one, can be appended behind it, with the next number.
func TestAFailedAppendChangesNothing(t *testing.T) {
	for name, cause := range map[string]error{"no space": storage.ErrNoSpace, "not reached": storage.ErrUnavailable, "anything": errors.New("whatever")} {
		t.Run(name, func(t *testing.T) {
			u := &unruly{Backend: closing(t, memstore.New())}
			s := newStore(t, u, nil)
			w := open(t, s)
			mustAppend(t, w, note("1", "x"))
			u.set(func() {
				u.append = func(func() (storage.Tip, error)) (storage.Tip, error) { return storage.Tip{}, cause }
			})
			for _, rec := range []journal.JournalRecord{note("2", "x"), phased(5, command.PhaseIntent), note("long", strings.Repeat("x", 100_000))} {
				res, err := w.AppendCommitted(t.Context(), rec)
				e := want[*journal.AppendError](t, "append", err)
				if !errors.Is(err, cause) || e.Subject != ledger || e.MsgID != rec.IdempotencyID() || e.Expected != 2 || res.Sequence != 0 {
					t.Errorf("it says %+v, result %+v", e, res)
				}
			}
			if w.Context().Err() != nil {
				t.Error("a definite failure ended the writer")
			}
			u.set(func() { u.append = nil })
			want[*journal.DeliveryTransitionError](t, "fallback behind an intent that failed", second(w.Append(t.Context(), phased(5, command.PhaseFallbackQueued))))
			for i, rec := range []journal.JournalRecord{note("3", "x"), note("2", "other content"), phased(5, command.PhaseIntent)} {
				if res, err := w.AppendIdempotent(t.Context(), rec); err != nil || !res.Appended || res.Sequence != uint64(i)+3 {
					t.Errorf("%s: %+v, %v", rec.IdempotencyID(), res, err)
				}
			}
			wantIDs(t, s, "1", "3", "2", string(id(5)))
		})
	}
}

func TestDoubtIsResolved(t *testing.T) {
	for _, kept := range []bool{true, false} {
		for _, how := range []string{"Resolve", "the same record", "another record", "a restart"} {
			t.Run(fmt.Sprint(how, ", kept ", kept), func(t *testing.T) {
				u := &unruly{Backend: closing(t, memstore.New())}
				s := newStore(t, u, nil)
				w := open(t, s)
				u.set(func() {
					u.append = func(next func() (storage.Tip, error)) (storage.Tip, error) {
						if kept {
							next()
						}
						return storage.Tip{}, unknown()
					}
					u.read = func() error { return storage.ErrUnavailable }
				})
				res, err := w.AppendBatch(t.Context(), ev(10), note("1", "x"))
				e := want[*journal.AmbiguousAckError](t, "append", err)
				if res != nil || e.Subject != ledger || e.MsgID != string(id(10)) || e.Expected != 1 {
					t.Errorf("it says %+v, results %v", e, res)
				}
				for range 2 { // still in the dark
					want[*journal.AmbiguousAckError](t, "Resolve", second(w.Resolve(t.Context())))
					want[*journal.AmbiguousAckError](t, "another append", second(w.Append(t.Context(), note("2", "x"))))
				}
				u.set(func() { u.append, u.read = nil, nil })
				switch how {
				case "Resolve":
					res, err := w.Resolve(t.Context())
					if err != nil || len(res) != 2 || !res[0].Appended || res[0].Sequence != 2 || res[1].Sequence != 3 || len(res[0].Public.Body) == 0 {
						t.Errorf("Resolve = %+v, %v", res, err)
					}
					if res, err := w.Resolve(t.Context()); res != nil || err != nil {
						t.Errorf("Resolve again = %+v, %v", res, err)
					}
				case "the same record":
					if res, err := w.AppendBatch(t.Context(), ev(10), note("1", "x")); err != nil || res[0].Appended || res[0].Sequence != 2 {
						t.Errorf("append again = %+v, %v", res, err)
					}
				case "another record":
					if seq := mustAppend(t, w, note("2", "x")); seq != 4 {
						t.Errorf("sequence %d", seq)
					}
					wantIDs(t, s, string(id(10)), "1", "2")
					return
				case "a restart":
					closed(t, w)
					w = open(t, s)
					if res, err := w.AppendBatch(t.Context(), ev(10), note("1", "x")); err != nil || res[0].Appended == kept {
						t.Errorf("append again = %+v, %v", res, err)
					}
				}
				wantIDs(t, s, string(id(10)), "1")
			})
		}
	}
}

// An append in doubt whose place another owner took never happened.
func TestDoubtThatWasOvertaken(t *testing.T) {
	u := &unruly{Backend: closing(t, memstore.New())}
	s := newStore(t, u, nil)
	lease, err := s.Acquire(t.Context(), session)
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.OpenUnder(t.Context(), deafLease{lease}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	u.set(func() {
		u.append = func(func() (storage.Tip, error)) (storage.Tip, error) { return storage.Tip{}, unknown() }
	})
	want[*journal.AmbiguousAckError](t, "append", second(w.Append(t.Context(), note("1", "x"))))
	u.set(func() { u.append = nil })
	if err := lease.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	next := open(t, s)
	want[*journal.AppendError](t, "Resolve", second(w.Resolve(t.Context())))
	want[*journal.FencedError](t, "append behind it", second(w.Append(t.Context(), note("1", "x"))))
	if res, err := w.Resolve(t.Context()); res != nil || err != nil {
		t.Errorf("Resolve again = %v, %v: nothing is pending", res, err)
	}
	u.set(func() {
		u.append = func(func() (storage.Tip, error)) (storage.Tip, error) {
			t.Error("a writer that is over appends")
			return storage.Tip{}, unknown()
		}
	})
	want[*journal.FencedError](t, "append of a writer that is over", second(w.Append(t.Context(), note("1", "x"))))
	u.set(func() { u.append = nil })
	if res, err := next.AppendIdempotent(t.Context(), note("1", "x")); err != nil || !res.Appended {
		t.Errorf("the next owner: %+v, %v", res, err)
	}
}

// The opening fence in doubt: no journal, and a later opening finds its way.
func TestFenceInDoubt(t *testing.T) {
	for _, kept := range []bool{true, false} {
		u := &unruly{Backend: closing(t, memstore.New())}
		s := newStore(t, u, nil)
		u.append = func(next func() (storage.Tip, error)) (storage.Tip, error) {
			if kept {
				next()
			}
			return storage.Tip{}, unknown()
		}
		u.read = func() error { return storage.ErrUnavailable }
		want[*journal.AmbiguousAckError](t, "Open", second(s.Open(t.Context(), session, nil)))
		u.set(func() { u.append, u.read = nil, nil })
		w := open(t, s)
		mustAppend(t, w, note("1", "x"))
		wantIDs(t, s, "1")
	}
}

// Another's record at the fence's place: nothing is written, the lease is let go.
func TestFenceConflict(t *testing.T) {
	b := closing(t, memstore.New())
	u := &unruly{Backend: b}
	s := newStore(t, u, nil)
	u.append = func(next func() (storage.Tip, error)) (storage.Tip, error) {
		if _, err := b.Ledger().Append(t.Context(), ledger, storage.Tip{}, []byte("another's")); err != nil {
			t.Error(err)
		}
		return next()
	}
	lease, err := s.Acquire(t.Context(), session)
	if err != nil {
		t.Fatal(err)
	}
	e := want[*store.OpeningFenceConflictError](t, "Open", second(s.OpenUnder(t.Context(), lease, nil)))
	if e.SessionID != session || e.Epoch != lease.Epoch() || lease.Valid() || tip(t, b).Seq != 1 {
		t.Errorf("it says %+v; lease valid %v; tip %v", e, lease.Valid(), tip(t, b))
	}
}

// A blob is durable before the frame that names it, and a blob that cannot be
// stored keeps the frame out.
func TestObjectBeforeFrame(t *testing.T) {
	u := &unruly{Backend: closing(t, memstore.New())}
	s := newStore(t, u, &store.Options{InlineBytes: 100})
	w := open(t, s)
	u.set(func() { u.ops = nil })
	public := journal.OpaqueRecord{Kind: "note", ID: "1", Body: bytes.Repeat([]byte("b"), 101), Public: bytes.Repeat([]byte("p"), 101)}
	mustAppend(t, w, public)
	mustAppend(t, w, note("2", strings.Repeat("x", 100)))
	u.set(func() {
		if got := strings.Join(u.ops, " "); got != "put put append append" {
			t.Errorf("done in the order %s", got)
		}
		u.put = func() error { return storage.ErrNoSpace }
	})
	before := tip(t, u)
	e := want[*journal.RecordTooLargeError](t, "append", second(w.Append(t.Context(), note("3", strings.Repeat("x", 101)))))
	if !errors.Is(e, storage.ErrNoSpace) || e.MsgID != "3" || e.Length != 101 || e.Subject != ledger || tip(t, u) != before {
		t.Errorf("it says %+v", e)
	}
	mustAppend(t, w, note("3", "short enough"))
	recs := all(t, s)
	if got := recs[1].(journal.OpaqueRecord); !bytes.Equal(got.Body, public.Body) {
		t.Errorf("the body came back as %.50q", got.Body)
	}
}

func TestLimits(t *testing.T) {
	b := closing(t, memstore.New())
	s := newStore(t, b, &store.Options{InlineBytes: 100, MaxBodyBytes: 1000})
	w := open(t, s)
	mustAppend(t, w, note("most", strings.Repeat("x", 1000)))
	for _, rec := range []journal.OpaqueRecord{
		{Kind: "note", ID: "body", Body: make([]byte, 1001)},
		{Kind: "note", ID: "public", Public: make([]byte, 1001)},
	} {
		e := want[*journal.RecordTooLargeError](t, rec.ID, second(w.Append(t.Context(), rec)))
		if e.MsgID != rec.ID || e.Length != 1001 || e.Subject != ledger {
			t.Errorf("it says %+v", e)
		}
	}
	many := make([]journal.JournalRecord, 1<<16)
	for i := range many {
		many[i] = note(fmt.Sprint(i), "")
	}
	e := want[*journal.RecordTooLargeError](t, "a batch of too many", second(w.AppendBatch(t.Context(), many...)))
	if e.Length != len(many) {
		t.Errorf("it says %+v", e)
	}
	want[*journal.RecordKindError](t, "no record", second(w.Append(t.Context(), nil)))
	e2 := want[*journal.MarshalRecordError](t, "a bad record", second(w.Append(t.Context(), journal.OpaqueRecord{})))
	if e2.Subject != ledger {
		t.Errorf("it says %+v", e2)
	}
	wantIDs(t, s, "most")
	for name, o := range map[string]store.Options{
		"prefix": {Prefix: "../x"}, "long prefix": {Prefix: strings.Repeat("x", 500)}, "inline": {InlineBytes: 1 << 30}, "negative": {Attempts: -1},
	} {
		if _, err := store.New(b, &o); err == nil {
			t.Errorf("%s: options are taken", name)
		}
	}
}

// The wait of an append ends with the caller's context, and its own deadline ends
// one that hangs.
func TestAppendsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := memstore.New()
		defer b.Close()
		u := &unruly{Backend: b}
		s := newStore(t, u, nil)
		w, err := s.Open(t.Context(), session, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		u.set(func() { u.hang = true })
		began := time.Now()
		_, err = w.Append(t.Context(), note("1", "x"))
		want[*journal.AmbiguousAckError](t, "Append to a store that hangs", err)
		if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took != 10*time.Second {
			t.Errorf("it ended after %v with %v", took, err)
		}
		u.set(func() { u.hang = false })
		if seq := mustAppend(t, w, note("2", "x")); seq != 3 {
			t.Errorf("the append behind it has sequence %d", seq)
		}
		wantIDs(t, s, "1", "2")
	})

	u := &unruly{Backend: closing(t, memstore.New())}
	s := newStore(t, u, nil)
	w := open(t, s)
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("the caller's")
	cancel(why)
	if _, err := w.Append(ctx, note("1", "x")); !errors.Is(err, why) {
		t.Errorf("Append with an ended context = %v", err)
	}
	entered, goOn := make(chan bool), make(chan bool)
	u.set(func() {
		u.append = func(next func() (storage.Tip, error)) (storage.Tip, error) {
			entered <- true
			<-goOn
			return next()
		}
	})
	first := make(chan error, 1)
	go func() { first <- second(w.Append(t.Context(), note("1", "x"))) }()
	select {
	case <-entered:
	case err := <-first:
		t.Fatalf("Append = %v before it was let go on", err)
	}
	waiting, cancelWaiting := context.WithCancelCause(t.Context())
	cancelWaiting(why)
	if _, err := w.Append(waiting, note("2", "x")); !errors.Is(err, why) {
		t.Errorf("Append behind one that hangs = %v", err)
	}
	goOn <- true
	if err := <-first; err != nil {
		t.Errorf("the one that hung = %v", err)
	}
	wantIDs(t, s, "1")
}

// An append in doubt whose session was deleted never happened.
func TestDoubtOfADeletedSession(t *testing.T) {
	u := &unruly{Backend: closing(t, memstore.New())}
	s := newStore(t, u, nil)
	w := open(t, s)
	u.set(func() {
		u.append = func(func() (storage.Tip, error)) (storage.Tip, error) { return storage.Tip{}, unknown() }
	})
	want[*journal.AmbiguousAckError](t, "append", second(w.Append(t.Context(), note("1", "x"))))
	u.set(func() { u.append = nil })
	if err := u.Backend.Ledger().Delete(t.Context(), ledger); err != nil {
		t.Fatal(err)
	}
	want[*journal.AppendError](t, "Resolve", second(w.Resolve(t.Context())))
	want[*journal.FencedError](t, "append behind it", second(w.Append(t.Context(), note("2", "x"))))
	if tip(t, u).Seq != 0 {
		t.Error("it was written into the next life")
	}
}

// The session is taken over while a batch is on its way: none of it is there.
func TestLeaseLostInABatch(t *testing.T) {
	for _, deaf := range []bool{false, true} {
		u := &unruly{Backend: closing(t, memstore.New())}
		s := newStore(t, u, nil)
		lease, err := s.Acquire(t.Context(), session)
		if err != nil {
			t.Fatal(err)
		}
		var given journal.Lease = lease
		if deaf {
			given = deafLease{lease}
		}
		w, err := s.OpenUnder(t.Context(), given, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		var successor *store.Writer
		u.set(func() {
			u.append = func(next func() (storage.Tip, error)) (storage.Tip, error) {
				u.set(func() { u.append = nil })
				if err := lease.Release(t.Context()); err != nil {
					t.Error(err)
				}
				successor = open(t, s)
				return next()
			}
		})
		res, err := w.AppendBatch(t.Context(), note("1", "x"), note("2", strings.Repeat("x", 100_000)), ev(10))
		if res != nil {
			t.Errorf("results %v", res)
		}
		want[*journal.FencedError](t, "the batch", err)
		if successor.Epoch() <= w.Epoch() {
			t.Errorf("epoch %d behind %d", successor.Epoch(), w.Epoch())
		}
		mustAppend(t, successor, note("1", "other"))
		wantIDs(t, s, "1")
	}
}

// What does not begin with a fence is no journal, and nothing is written to it
// that could be taken for one.
func TestJournalWithoutAFence(t *testing.T) {
	b := closing(t, memstore.New())
	raw, err := (&journal.Frame{Family: journal.FamilyOpaque, Kind: "k", ID: "1", Epoch: 1, Token: journal.Token{1}, Batch: 1, Of: 1, Schema: 1}).AppendTo(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Ledger().Append(t.Context(), ledger, storage.Tip{}, raw); err != nil {
		t.Fatal(err)
	}
	s := newStore(t, b, nil)
	_, _, err = replayed(t, s, journal.ReplayRequest{})
	want[*journal.OrderError](t, "replay", err)
	want[*journal.OrderError](t, "Open", second(s.Open(t.Context(), session, nil)))
}

// An owner that lost its lease finds out what became of an append in doubt, and
// does not make it happen.
func TestDoubtWithoutTheLease(t *testing.T) {
	for _, kept := range []bool{true, false} {
		u := &unruly{Backend: closing(t, memstore.New())}
		s := newStore(t, u, nil)
		w := open(t, s)
		u.set(func() {
			u.append = func(next func() (storage.Tip, error)) (storage.Tip, error) {
				if kept {
					next()
				}
				return storage.Tip{}, unknown()
			}
			u.read = func() error { return storage.ErrUnavailable }
		})
		want[*journal.AmbiguousAckError](t, "append", second(w.Append(t.Context(), note("1", "x"))))
		u.set(func() { u.append, u.read = nil, nil })
		if err := w.Lease().Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		res, err := w.Resolve(t.Context())
		if kept {
			if err != nil || len(res) != 1 || res[0].Sequence != 2 {
				t.Errorf("Resolve of what is there = %+v, %v", res, err)
			}
		} else {
			want[*journal.AmbiguousAckError](t, "Resolve of what is not there", err)
			want[*journal.JournalLeaseLostError](t, "Resolve of what is not there", err)
		}
		if got := tip(t, u).Seq; (got == 2) != kept {
			t.Errorf("kept %v: the tip is %d", kept, got)
		}
		want[*journal.JournalLeaseLostError](t, "append", second(w.Append(t.Context(), note("2", "x"))))
	}
}

// What Resolve returns is what was stored, however often it could not be found
// out, and whatever the caller has made of its memory meanwhile.
func TestADoubtIsPublishedOnce(t *testing.T) {
	u := &unruly{Backend: closing(t, memstore.New())}
	s := newStore(t, u, nil)
	w := open(t, s)
	u.set(func() {
		u.append = func(next func() (storage.Tip, error)) (storage.Tip, error) { next(); return storage.Tip{}, unknown() }
		u.read = func() error { return storage.ErrUnavailable }
	})
	public := []byte("original")
	_, err := w.AppendCommitted(t.Context(), journal.OpaqueRecord{Kind: "acme.x", ID: "1", Body: []byte("b"), Public: public})
	want[*journal.AmbiguousAckError](t, "append", err)
	copy(public, "changed!") // it is the caller's again
	want[*journal.AmbiguousAckError](t, "Resolve", second(w.Resolve(t.Context())))
	u.set(func() { u.append, u.read = nil, nil })
	resolved, err := w.Resolve(t.Context())
	if err != nil || len(resolved) != 1 {
		t.Fatal(resolved, err)
	}
	page, err := s.Page(t.Context(), store.PageRequest{SessionID: session})
	if err != nil || len(page.Items) != 1 {
		t.Fatal(page, err)
	}
	if got := resolved[0].Public.Body; string(got) != "original" || string(page.Items[0].Body) != "original" {
		t.Errorf("resolved %q, stored %q", got, page.Items[0].Body)
	}
}
