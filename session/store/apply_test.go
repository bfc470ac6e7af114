package store_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/comity-dev/comity/session/command"
	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/session/runtimecommand"
	"github.com/comity-dev/comity/session/store"
	"github.com/comity-dev/comity/storage"
	"github.com/comity-dev/comity/storage/memstore"
)

func attempt(n string) store.Attempt {
	return store.Attempt{CommandID: "req-" + n, AttemptID: "attempt-" + n, Kind: runtimecommand.KindInput, RuntimeID: id(50)}
}

// caused is an event that names a command as its cause.
func caused(n int, by event.ID) journal.EventRecord {
	e := started(n)
	e.Cause.Command = by
	return journal.NewEventRecord(e)
}

func TestApplyOnce(t *testing.T) {
	each(t, func(t *testing.T, b storage.Backend) {
		s := newStore(t, b, nil)
		w := open(t, s)
		ran := 0
		effect := func(context.Context) (store.Effect, error) {
			ran++
			return store.Effect{Result: runtimecommand.Applied, Records: []journal.JournalRecord{caused(10, id(50))}}, nil
		}
		intent := journal.NewCommandRecord(session, loop, command.Command{Header: command.Header{ID: id(50)}, Body: command.UserInput{Content: event.Text("hi")}})
		a := attempt("1")
		a.Intent = &intent
		first, err := w.Apply(t.Context(), a, effect)
		if err != nil || !first.First || first.Result != runtimecommand.Applied || first.Sequence != 3 || first.Disposition != 5 || ran != 1 {
			t.Fatalf("Apply = %+v, %v; ran %d times", first, err, ran)
		}
		check := func(when string, w *store.Writer) {
			t.Helper()
			for _, other := range []string{a.AttemptID, "another attempt"} {
				a := a
				a.AttemptID = other
				got, err := w.Apply(t.Context(), a, effect)
				if err != nil || got.First || got.Abandoned || got.Result != first.Result || got.Sequence != first.Sequence || got.Disposition != first.Disposition || ran != 1 {
					t.Errorf("%s: Apply again = %+v, %v; ran %d times", when, got, err, ran)
				}
			}
			other := a
			other.RuntimeID, other.Intent = id(51), nil
			conflict := want[*store.MappingConflictError](t, when+": another command of its id", second(w.Apply(t.Context(), other, effect)))
			if conflict.Seq != first.Sequence || conflict.CommandID != "req-1" || ran != 1 {
				t.Errorf("%s: it says %+v; ran %d times", when, conflict, ran)
			}
			want[*journal.IdempotencyCollisionError](t, when+": a second disposition", second(w.Append(t.Context(), journal.NewCommandDispositionRecord(runtimecommand.Disposition{
				AttemptEpoch: 1, AttemptID: "third", CommandID: "req-1", CommandKind: runtimecommand.KindInput, LeaseEpoch: w.Epoch(), Result: result(w.Epoch() == 1), RuntimeID: id(50),
			}))))
		}
		check("at once", w)
		closed(t, w)
		w = open(t, s)
		check("by the next owner", w)
		if _, err := w.Append(t.Context(), journal.NewCommandDispositionRecord(runtimecommand.Disposition{
			AttemptEpoch: w.Epoch(), AttemptID: "x", CommandID: "never begun", CommandKind: runtimecommand.KindInput, LeaseEpoch: w.Epoch(), Result: runtimecommand.Applied, RuntimeID: id(50),
		})); err == nil {
			t.Error("a disposition of nothing was taken")
		}
		if r, err := s.Verify(t.Context(), session); err != nil || !r.Good() {
			t.Errorf("Verify = %+v, %v", r, err)
		}
	})
}

func result(own bool) runtimecommand.Result {
	if own {
		return runtimecommand.Applied
	}
	return runtimecommand.NotApplied
}

func TestEffectsThatFail(t *testing.T) {
	s := newStore(t, closing(t, memstore.New()), nil)
	w := open(t, s)
	failed := errors.New("effect failed")
	for name, tt := range map[string]struct {
		e    store.Effect
		err  error
		want runtimecommand.Result
		ok   bool
	}{
		"no result":             {store.Effect{}, nil, runtimecommand.Refused, false},
		"an error":              {store.Effect{}, failed, runtimecommand.Refused, false},
		"a result and an error": {store.Effect{Result: runtimecommand.NoOp}, failed, runtimecommand.NoOp, false},
		"no op":                 {store.Effect{Result: runtimecommand.NoOp}, nil, runtimecommand.NoOp, true},
	} {
		a := attempt(name)
		ans, err := w.Apply(t.Context(), a, func(context.Context) (store.Effect, error) { return tt.e, tt.err })
		if ans.Result != tt.want || !ans.First || (err == nil) != tt.ok || tt.err != nil && !errors.Is(err, failed) {
			t.Errorf("%s: %+v, %v", name, ans, err)
		}
		if again, err := w.Apply(t.Context(), a, nil); again.Result != tt.want || again.First || err != nil {
			t.Errorf("%s again: %+v, %v", name, again, err)
		}
	}
	// What cannot be stored has no disposition either, and no redelivery runs it.
	ans, err := w.Apply(t.Context(), attempt("x"), func(context.Context) (store.Effect, error) {
		return store.Effect{Result: runtimecommand.Applied, Records: []journal.JournalRecord{nil}}, nil
	})
	if err == nil || ans.Sequence == 0 || ans.Result != "" {
		t.Errorf("an effect that cannot be stored: %+v, %v", ans, err)
	}
	if ans, err := w.Apply(t.Context(), attempt("x"), nil); err != nil || ans.First || ans.Result != "" || ans.Abandoned {
		t.Errorf("and again: %+v, %v", ans, err)
	}
	if ans, err := w.Apply(t.Context(), store.Attempt{}, nil); err == nil || ans.Sequence != 0 {
		t.Errorf("an attempt of nothing: %+v, %v", ans, err)
	}
	// The effect of an owner that lost the session is told.
	ended := make(chan error, 1)
	w.Apply(t.Context(), attempt("lost"), func(ctx context.Context) (store.Effect, error) {
		w.Lease().Release(context.Background())
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return store.Effect{Result: runtimecommand.Applied}, nil
	})
	want[*journal.LeaseLostError](t, "the effect's context", <-ended)
}

// An owner dies between the application and the disposition. The next one closes
// the attempt if it had no effect, and not if it had one.
func TestAbandonedAttempts(t *testing.T) {
	for _, effect := range []bool{false, true} {
		t.Run(fmt.Sprint("effect ", effect), func(t *testing.T) {
			s := newStore(t, closing(t, memstore.New()), nil)
			w := open(t, s)
			app := runtimecommand.Application{CommandID: "req-1", CommandKind: runtimecommand.KindInput, LeaseEpoch: w.Epoch(), RuntimeID: id(50)}
			seq := mustAppend(t, w, journal.NewCommandApplicationRecord(app))
			if effect {
				mustAppend(t, w, caused(10, id(50)))
			}
			stale := want[*store.StaleEpochError](t, "CloseAbandoned of one's own", second(w.CloseAbandoned(t.Context(), app, "attempt-1")))
			if stale.Epoch != w.Epoch() {
				t.Errorf("it says %+v", stale)
			}
			crash(t, w)
			w = open(t, s)
			ans, err := w.Apply(t.Context(), attempt("1"), nil)
			if err != nil || ans.First || !ans.Abandoned || ans.Sequence != seq || ans.Result != "" || ans.Application != app {
				t.Fatalf("Apply = %+v, %v", ans, err)
			}
			r, err := s.Recover(t.Context(), session)
			if err != nil || len(r.Attempts) != 1 || r.Attempts[0].Application != app || (r.Attempts[0].Effect != 0) != effect {
				t.Fatalf("Recover = %+v, %v", r, err)
			}
			closedAns, err := w.CloseAbandoned(t.Context(), app, "attempt-1")
			if effect {
				e := want[*store.EnduringEffectError](t, "CloseAbandoned", err)
				if e.Seq != seq+1 || e.CommandID != "req-1" {
					t.Errorf("it says %+v", e)
				}
				return
			}
			if err != nil || closedAns.Result != runtimecommand.NotApplied || closedAns.Disposition == 0 {
				t.Fatalf("CloseAbandoned = %+v, %v", closedAns, err)
			}
			if again, err := w.CloseAbandoned(t.Context(), app, "attempt-1"); err != nil || again.Disposition != closedAns.Disposition {
				t.Errorf("CloseAbandoned again = %+v, %v", again, err)
			}
			if ans, err := w.Apply(t.Context(), attempt("1"), nil); err != nil || ans.First || ans.Abandoned || ans.Result != runtimecommand.NotApplied {
				t.Errorf("Apply = %+v, %v", ans, err)
			}
			if r, err := s.Verify(t.Context(), session); err != nil || !r.Good() {
				t.Errorf("Verify = %+v, %v", r, err)
			}
			other := app
			other.CommandID = "unknown"
			want[*store.MappingConflictError](t, "CloseAbandoned of what nobody began", second(w.CloseAbandoned(t.Context(), other, "x")))
		})
	}
}

func TestCollect(t *testing.T) {
	each(t, func(t *testing.T, b storage.Backend) {
		s := newStore(t, b, &store.Options{InlineBytes: 100, Grace: 1})
		w := open(t, s)
		used := strings.Repeat("used", 100)
		mustAppend(t, w, note("1", used), journal.OpaqueRecord{Kind: "note", ID: "2", Public: []byte(strings.Repeat("public", 100))})
		space := ledger + "/content"
		orphan := func(content string) storage.Digest {
			info, err := b.Blobs().Put(t.Context(), space, storage.Digest{}, strings.NewReader(content))
			if err != nil {
				t.Fatal(err)
			}
			return info.Digest
		}
		there := func(d storage.Digest) bool {
			_, err := b.Blobs().Stat(t.Context(), space, d)
			return err == nil
		}
		old := orphan("orphan")
		part, err := b.Blobs().Put(t.Context(), ledger+"/index", storage.Digest{}, strings.NewReader("orphan"))
		if err != nil {
			t.Fatal(err)
		}
		again := orphan(strings.Repeat("again", 100))
		pastMillisecond(t)
		// A record that comes meanwhile refers to what was an orphan until then.
		mustAppend(t, w, note("3", strings.Repeat("again", 100)))
		if err := w.Checkpoint(t.Context()); err != nil {
			t.Fatal(err)
		}
		done, err := w.Collect(t.Context())
		if err != nil || done.Deleted != 2 || done.Bytes != int64(2*len("orphan")) || there(old) || !there(again) {
			t.Errorf("Collect = %+v, %v; orphan there %v, used there %v", done, err, there(old), there(again))
		}
		if _, err := b.Blobs().Stat(t.Context(), ledger+"/index", part.Digest); err == nil {
			t.Error("an unfinished part of a checkpoint is still there")
		}
		if r, err := s.Verify(t.Context(), session); err != nil || !r.Good() {
			t.Errorf("Verify = %+v, %v", r, err)
		}
		closed(t, w)

		// Nobody has it open; a young orphan stays.
		young := newStore(t, b, nil)
		fresh := orphan("fresh")
		before := tip(t, b)
		if done, err := young.Collect(t.Context(), session); err != nil || done.Deleted != 0 || !there(fresh) || tip(t, b) != before {
			t.Errorf("Collect = %+v, %v", done, err)
		}
		w = open(t, young)
		if done, err := w.Collect(t.Context()); err != nil || done.Deleted != 0 || done.Young != 1 || !there(fresh) {
			t.Errorf("Collect of a writer = %+v, %v", done, err)
		}
		closed(t, w)
		pastMillisecond(t)
		if done, err := s.Collect(t.Context(), session); err != nil || done.Deleted != 1 || there(fresh) {
			t.Errorf("Collect = %+v, %v", done, err)
		}
		if done, err := s.Collect(t.Context(), id(77)); err != nil || done != (store.Collected{}) {
			t.Errorf("Collect of a session that is not there = %+v, %v", done, err)
		}
		wantIDs(t, s, "1", "2", "3")
	})
}

// pastMillisecond returns when a blob that is there is older than the finest
// age that a store keeps.
func pastMillisecond(t testing.TB) {
	t.Helper()
	b := memstore.New()
	defer b.Close()
	if _, err := b.Blobs().Put(t.Context(), "a", storage.Digest{}, strings.NewReader("x")); err != nil {
		t.Fatal(err)
	}
	for {
		info, err := b.Blobs().Stat(t.Context(), "a", storage.DigestOf([]byte("x")))
		if err != nil || info.Age > 3e6 {
			return
		}
	}
}

// A journal that cannot be read keeps all its blobs, and so does an owner that is
// none any more.
func TestCollectDeletesNothingInDoubt(t *testing.T) {
	b := closing(t, memstore.New())
	broken := false
	s := newStore(t, spoilt{Backend: b, change: func(rec storage.Record) (storage.Record, error) {
		if broken && rec.Seq == 2 {
			return rec, &storage.DamagedError{Name: ledger, Seq: 2}
		}
		return rec, nil
	}}, &store.Options{InlineBytes: 100, Grace: 1})
	w := open(t, s)
	mustAppend(t, w, note("1", strings.Repeat("used", 100)))
	b.Blobs().Put(t.Context(), ledger+"/content", storage.Digest{}, strings.NewReader("orphan"))
	pastMillisecond(t)
	count := func() (n int) {
		for range b.Blobs().List(t.Context(), ledger+"/content") {
			n++
		}
		return n
	}
	broken = true
	e := want[*store.CollectError](t, "Collect", second(w.Collect(t.Context())))
	if e.Step != "scan" || count() != 2 {
		t.Errorf("it says %+v; %d blobs are left", e, count())
	}
	want[*storage.DamagedError](t, "Collect", e)
	broken = false
	w.Lease().Release(t.Context())
	want[*journal.JournalLeaseLostError](t, "Collect without the lease", second(w.Collect(t.Context())))
	if count() != 2 {
		t.Errorf("%d blobs are left", count())
	}
}

// What an append in doubt refers to is kept.
func TestCollectKeepsWhatMayBeReferredTo(t *testing.T) {
	u := &unruly{Backend: closing(t, memstore.New())}
	s := newStore(t, u, &store.Options{InlineBytes: 100, Grace: 1})
	w := open(t, s)
	long := strings.Repeat("doubt", 100)
	u.set(func() {
		u.append = func(func() (storage.Tip, error)) (storage.Tip, error) { return storage.Tip{}, unknown() }
	})
	want[*journal.AmbiguousAckError](t, "append", second(w.Append(t.Context(), note("1", long))))
	pastMillisecond(t)
	if done, err := w.Collect(t.Context()); err != nil || done.Deleted != 0 {
		t.Errorf("Collect = %+v, %v", done, err)
	}
	u.set(func() { u.append = nil })
	if res, err := w.Resolve(t.Context()); err != nil || len(res) != 1 {
		t.Errorf("Resolve = %v, %v", res, err)
	}
	if got := all(t, s)[1].(journal.OpaqueRecord); string(got.Body) != long {
		t.Error("the record has lost its content")
	}
}
