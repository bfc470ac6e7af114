package store_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/comity-dev/comity/session/command"
	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/session/runtimecommand"
	"github.com/comity-dev/comity/session/store"
	"github.com/comity-dev/comity/storage"
	"github.com/comity-dev/comity/storage/memstore"
)

func TestSequencesRiseWithoutGaps(t *testing.T) {
	each(t, func(t *testing.T, b storage.Backend) {
		s := newStore(t, b, nil)
		w := open(t, s)
		const writers, each = 8, 12
		got := make([][]uint64, writers)
		var wg sync.WaitGroup
		for i := range writers {
			wg.Go(func() {
				for j := range each {
					seq, err := w.Append(t.Context(), note(fmt.Sprint(i, "-", j), "x"))
					if err != nil {
						t.Error(err)
					}
					got[i] = append(got[i], seq)
				}
			})
		}
		wg.Wait()
		var seqs []uint64
		for i, list := range got {
			if !slices.IsSorted(list) {
				t.Errorf("writer %d saw %v, which does not rise", i, list)
			}
			seqs = append(seqs, list...)
		}
		slices.Sort(seqs)
		for i, seq := range seqs {
			if seq != uint64(i)+2 {
				t.Fatalf("sequences are %v, want 2 to %d", seqs, writers*each+1)
			}
		}
		if n := len(all(t, s)); n != writers*each+1 {
			t.Errorf("%d records, want %d", n, writers*each+1)
		}
	})
}

func TestNothingPrecedesTheFence(t *testing.T) {
	each(t, func(t *testing.T, b storage.Backend) {
		s := newStore(t, b, nil)
		for round := range 3 {
			w := open(t, s)
			if seq, err := w.Tip(t.Context()); seq != uint64(2*round+1) || err != nil {
				t.Errorf("round %d: behind opening the tip is %d, %v", round, seq, err)
			}
			mustAppend(t, w, note(fmt.Sprint(round), "x"))
			closed(t, w)
		}
		var last uint64
		for i, rec := range all(t, s) {
			fence, ok := rec.(journal.FenceRecord)
			if ok != (i%2 == 0) {
				t.Fatalf("record %d is a %T", i+1, rec)
			}
			if ok && fence.Fence().Epoch <= last {
				t.Errorf("fence %d has epoch %d behind %d", i+1, fence.Fence().Epoch, last)
			}
			if ok {
				last = fence.Fence().Epoch
			}
		}
	})
}

func TestEveryRecordComesBack(t *testing.T) {
	each(t, func(t *testing.T, b storage.Backend) {
		s := newStore(t, b, nil)
		w := open(t, s)
		app := runtimecommand.Application{CommandID: "req", CommandKind: runtimecommand.KindInput, LeaseEpoch: w.Epoch(), RuntimeID: id(50)}
		recs := []journal.JournalRecord{
			ev(10),
			phased(11, command.PhaseIntent),
			prepared(12, 900),
			journal.NewCommandApplicationRecord(app),
			journal.NewCommandDispositionRecord(runtimecommand.Disposition{
				AttemptEpoch: w.Epoch(), AttemptID: "a", CommandID: "req", CommandKind: runtimecommand.KindInput,
				LeaseEpoch: w.Epoch(), Result: runtimecommand.Applied, RuntimeID: id(50),
			}),
			note("1", strings.Repeat("long", 50_000)),
		}
		for i, rec := range recs {
			if seq := mustAppend(t, w, rec); seq != uint64(i)+2 {
				t.Errorf("record %d has sequence %d", i, seq)
			}
		}
		got := all(t, s)[1:]
		for i, rec := range recs {
			if !reflect.DeepEqual(got[i], rec) {
				t.Errorf("record %d came back as\n%.300s, want\n%.300s", i, fmt.Sprintf("%+v", got[i]), fmt.Sprintf("%+v", rec))
			}
		}
		if route := got[1].(journal.CommandRecord).LoopID(); route != loop {
			t.Errorf("the command's route is %q, want %q", route, loop)
		}
	})
}

// A writer whose session was taken over is refused at its next append, and
// leaves no trace, whether its lease tells it or not.
func TestStaleWriterIsRefused(t *testing.T) {
	for name, hidden := range map[string]bool{"told by its lease": false, "not told": true} {
		t.Run(name, func(t *testing.T) {
			b := closing(t, memstore.New())
			s := newStore(t, b, nil)
			lease, err := s.Acquire(t.Context(), session)
			if err != nil {
				t.Fatal(err)
			}
			var given journal.Lease = lease
			if hidden {
				given = deafLease{lease}
			}
			old, err := s.OpenUnder(t.Context(), given, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer old.Close()
			mustAppend(t, old, note("1", "old"))

			held := want[*journal.LeaseHeldError](t, "Open of a held session", second(s.Open(t.Context(), session, nil)))
			if held.Epoch != old.Epoch() || held.SessionID != session {
				t.Errorf("held by %+v, want epoch %d", held, old.Epoch())
			}
			successor, err := s.Takeover(t.Context(), session, storage.Proof{Epoch: held.Epoch, Reason: "it hangs"})
			if err != nil {
				t.Fatal(err)
			}
			now, err := s.OpenUnder(t.Context(), successor, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer now.Close()
			mustAppend(t, now, note("2", "new"))
			before := tip(t, b)

			_, err = old.Append(t.Context(), note("3", "stale"))
			if hidden {
				refused := want[*journal.AppendError](t, "stale append", err)
				want[*journal.FencedError](t, "stale append", err)
				if refused.Subject != ledger || refused.Expected != 2 || refused.MsgID != "3" {
					t.Errorf("it says %+v", refused)
				}
			} else {
				want[*journal.JournalLeaseLostError](t, "stale append", err)
				want[*journal.LeaseLostError](t, "stale append", err)
			}
			if _, err := old.AppendBatch(t.Context(), note("4", "stale"), note("5", "stale")); err == nil {
				t.Error("a stale batch was taken")
			}
			<-old.Context().Done()
			cause := context.Cause(old.Context())
			if _, fenced := as[*journal.FencedError](cause); fenced != hidden {
				t.Errorf("its context ended with %v", cause)
			}
			if _, lost := as[*journal.LeaseLostError](cause); lost == hidden {
				t.Errorf("its context ended with %v", cause)
			}
			if got := tip(t, b); got != before {
				t.Errorf("the tip moved from %v to %v", before, got)
			}
			wantIDs(t, s, "1", "2")
			mustAppend(t, now, note("6", "new"))
		})
	}
}

func second[T any](_ T, err error) error { return err }

// A deafLease never hears that it has ended.
type deafLease struct{ journal.Lease }

func (deafLease) Valid() bool           { return true }
func (deafLease) Lost() <-chan struct{} { return nil }

func TestRetries(t *testing.T) {
	each(t, func(t *testing.T, b storage.Backend) {
		s := newStore(t, b, nil)
		w := open(t, s)
		long := note("long", strings.Repeat("x", 100_000))
		seqs := map[string]uint64{}
		recs := []journal.JournalRecord{ev(10), long, phased(11, command.PhaseIntent), phased(11, command.PhaseFallbackQueued), prepared(12, 900)}
		for _, rec := range recs {
			res, err := w.AppendIdempotent(t.Context(), rec)
			if err != nil || !res.Appended {
				t.Fatalf("%T: %+v, %v", rec, res, err)
			}
			seqs[rec.IdempotencyID()] = res.Sequence
		}
		check := func(when string, w *store.Writer) {
			t.Helper()
			before := tip(t, b)
			for _, rec := range recs {
				res, err := w.AppendCommitted(t.Context(), rec)
				if err != nil || res.Appended || res.Sequence != seqs[rec.IdempotencyID()] || res.Public.Body != nil || res.Public.EventID != "" {
					t.Errorf("%s: %T again: %+v, %v, want sequence %d and nothing else", when, rec, res, err, seqs[rec.IdempotencyID()])
				}
			}
			other := started(10)
			other.CreatedAt++
			for _, rec := range []journal.JournalRecord{journal.NewEventRecord(other), note("long", "other"), note("long", "")} {
				c := want[*journal.IdempotencyCollisionError](t, when+": other content", second(w.AppendIdempotent(t.Context(), rec)))
				if c.ID != rec.IdempotencyID() || c.Seq != seqs[c.ID] || c.Subject != ledger {
					t.Errorf("%s: the collision says %+v, want sequence %d", when, c, seqs[c.ID])
				}
			}
			if got := tip(t, b); got != before {
				t.Errorf("%s: the tip moved from %v to %v", when, before, got)
			}
		}
		check("at once", w)
		closed(t, w)
		check("after a restart", open(t, newStore(t, b, nil)))
	})
}

// The same id in two families is two ids.
func TestFamiliesDoNotShareIds(t *testing.T) {
	s := newStore(t, closing(t, memstore.New()), nil)
	w := open(t, s)
	cmd := journal.NewCommandRecord(session, "", command.Command{Header: command.Header{ID: id(10)}, Body: command.Shutdown{}})
	recs := []journal.JournalRecord{
		ev(10), cmd, prepared(10, 900), note(string(id(10)), "x"),
		journal.OpaqueRecord{Kind: "other", ID: string(id(10))}, note(fmt.Sprint(w.Epoch()), "like the fence"),
	}
	for _, rec := range recs {
		if res, err := w.AppendIdempotent(t.Context(), rec); err != nil || !res.Appended {
			t.Errorf("%T: %+v, %v", rec, res, err)
		}
	}
}

// With a digest of the caller's, an event made anew is the same one.
func TestSemanticDigest(t *testing.T) {
	s := newStore(t, closing(t, memstore.New()), nil)
	w := open(t, s)
	digest := journal.DigestOf([]byte("what it means"))
	later := started(10)
	later.CreatedAt++
	seq := mustAppend(t, w, ev(10).WithDigest(digest))
	for range 2 {
		if res, err := w.AppendIdempotent(t.Context(), journal.NewEventRecord(later).WithDigest(digest)); err != nil || res.Appended || res.Sequence != seq {
			t.Errorf("the event made anew: %+v, %v", res, err)
		}
		want[*journal.IdempotencyCollisionError](t, "another meaning", second(w.Append(t.Context(), ev(10).WithDigest(journal.Digest{1}))))
		want[*journal.IdempotencyCollisionError](t, "no meaning", second(w.Append(t.Context(), ev(10))))
		closed(t, w)
		w = open(t, s)
	}
}

func TestBatches(t *testing.T) {
	each(t, func(t *testing.T, b storage.Backend) {
		s := newStore(t, b, nil)
		w := open(t, s)
		mustAppend(t, w, note("1", "x"))
		res, err := w.AppendBatch(t.Context(), ev(10), note("1", "x"), note("2", "x"), ev(10))
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []journal.AppendResult{{Sequence: 3, Appended: true}, {Sequence: 2}, {Sequence: 4, Appended: true}, {Sequence: 3}} {
			if res[i].AppendResult != want {
				t.Errorf("result %d is %+v, want %+v", i, res[i].AppendResult, want)
			}
		}
		if res[0].Public.EventID != string(id(10)) || len(res[0].Public.Body) == 0 || res[3].Public.Body != nil {
			t.Errorf("public forms are %+v and %+v", res[0].Public, res[3].Public)
		}
		before := tip(t, b)
		for name, bad := range map[string]journal.JournalRecord{
			"collision": note("2", "other"), "collision within": note("3", "other"), "no record": nil, "fence": journal.NewFenceRecord(session, journal.LeaseFence{Epoch: 9}),
		} {
			if res, err := w.AppendBatch(t.Context(), note("3", "x"), bad); err == nil || res != nil {
				t.Errorf("%s: %v, %v, want an error", name, res, err)
			}
		}
		if got := tip(t, b); got != before {
			t.Errorf("a batch that failed moved the tip from %v to %v", before, got)
		}
		if res, err := w.AppendBatch(t.Context()); len(res) != 0 || err != nil {
			t.Errorf("no records: %v, %v", res, err)
		}
		if res, err := w.AppendBatch(t.Context(), note("1", "x")); err != nil || res[0].Appended {
			t.Errorf("a batch of what is there: %v, %v", res, err)
		}
		mustAppend(t, w, note("3", "fresh"))
		wantIDs(t, s, "1", string(id(10)), "2", "3")
		var tokens []journal.Token
		for i, raw := range frames(t, b) {
			f, err := journal.ParseFrame([]byte(raw))
			if err != nil {
				t.Fatal(err)
			}
			place := [2]uint16{1, 1}
			if i == 2 || i == 3 { // those of the batch
				place = [2]uint16{uint16(i - 1), 2}
			}
			if f.Epoch != w.Epoch() || [2]uint16{f.Batch, f.Of} != place || slices.Contains(tokens, f.Token) != (i == 3) {
				t.Errorf("record %d has epoch %d, place %d of %d, token %x", i+1, f.Epoch, f.Batch, f.Of, f.Token)
			}
			tokens = append(tokens, f.Token)
		}
	})
}

func TestDeliveryPhasesOverRestarts(t *testing.T) {
	s := newStore(t, closing(t, memstore.New()), nil)
	w := open(t, s)
	refused := func(what string, rec journal.JournalRecord) {
		t.Helper()
		if e := want[*journal.DeliveryTransitionError](t, what, second(w.Append(t.Context(), rec))); e.Subject != ledger {
			t.Errorf("%s: it says %+v", what, e)
		}
	}
	refused("fallback first", phased(5, command.PhaseFallbackQueued))
	if _, err := w.AppendBatch(t.Context(), phased(5, command.PhaseFallbackQueued), phased(5, command.PhaseIntent)); err == nil {
		t.Error("a batch in the wrong order was taken")
	}
	mustAppend(t, w, phased(5, command.PhaseIntent))
	closed(t, w)
	w = open(t, s)
	other := phased(5, command.PhaseFallbackQueued)
	cmd := other.Command()
	cmd.CreatedAt = 7
	refused("fallback with other content", journal.NewCommandRecord(session, loop, cmd))
	mustAppend(t, w, phased(5, command.PhaseFallbackQueued))
	want[*journal.IdempotencyCollisionError](t, "another fallback", second(w.Append(t.Context(), journal.NewCommandRecord(session, loop, cmd))))
	if res, err := w.AppendBatch(t.Context(), phased(6, command.PhaseIntent), phased(6, command.PhaseFallbackQueued)); err != nil || !res[1].Appended {
		t.Errorf("both phases in one batch: %v, %v", res, err)
	}
	want[*journal.CommandRouteMismatchError](t, "another route", second(w.Append(t.Context(), journal.NewCommandRecord(session, id(9), phased(7, command.PhaseIntent).Command()))))
	wantIDs(t, s, string(id(5)), string(id(5))+"/fallback_queued", string(id(6)), string(id(6))+"/fallback_queued")
}

func TestEpochsOfOthersAreRefused(t *testing.T) {
	s := newStore(t, closing(t, memstore.New()), nil)
	w := open(t, s)
	for _, epoch := range []uint64{w.Epoch() - 1, w.Epoch() + 1} {
		if epoch == 0 {
			continue
		}
		app := runtimecommand.Application{CommandID: "req", CommandKind: runtimecommand.KindInput, LeaseEpoch: epoch, RuntimeID: id(50)}
		e := want[*store.StaleEpochError](t, "application of another epoch", second(w.Append(t.Context(), journal.NewCommandApplicationRecord(app))))
		if e.Epoch != epoch || e.Newest != w.Epoch() || e.Subject != ledger {
			t.Errorf("it says %+v", e)
		}
	}
	wantIDs(t, s)
}

func TestOpening(t *testing.T) {
	b := closing(t, memstore.New())
	s := newStore(t, b, nil)
	want[*store.NilLeaseError](t, "no lease", second(s.OpenUnder(t.Context(), nil, nil)))
	want[*store.NilLeaseError](t, "a nil lease", second(s.OpenUnder(t.Context(), (*store.Lease)(nil), nil)))
	for _, hostile := range []event.ID{"", "a", "../../etc/passwd", "SESSIONS", id(1) + "x", "00000000-0000-0000-0000-000000000000", event.ID(strings.ToUpper("abcdefab") + string(id(1))[8:])} {
		want[*store.InvalidSessionError](t, "Open of "+string(hostile), second(s.Open(t.Context(), hostile, nil)))
		_, err := s.Records().Open(t.Context(), journal.ReplayRequest{SessionID: hostile})
		want[*store.InvalidSessionError](t, "replay of "+string(hostile), err)
	}
	lease, err := s.Acquire(t.Context(), session)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(lease.Release(t.Context()), lease.Release(t.Context())); err != nil {
		t.Errorf("Release twice: %v", err)
	}
	lost := want[*journal.JournalLeaseLostError](t, "OpenUnder a lease that has ended", second(s.OpenUnder(t.Context(), lease, nil)))
	if lost.Epoch != lease.Epoch() || tip(t, b).Seq != 0 {
		t.Errorf("it says %+v, and the tip is %v", lost, tip(t, b))
	}
	// Epochs that went back are refused: somebody lost the leases of this journal.
	w := open(t, s)
	closed(t, w)
	stale := want[*store.StaleEpochError](t, "OpenUnder a lease of the past", second(s.OpenUnder(t.Context(), pastLease{lease}, nil)))
	if stale.Newest != w.Epoch() || stale.Seq != 1 || tip(t, b).Seq != 1 {
		t.Errorf("it says %+v, and the tip is %v", stale, tip(t, b))
	}
	// A closed writer takes nothing.
	want[*journal.JournalNotReadyError](t, "append to a closed writer", second(w.Append(t.Context(), note("1", "x"))))
	want[*journal.JournalNotReadyError](t, "Resolve of a closed writer", second(w.Resolve(t.Context())))
	if w.Context().Err() == nil || w.Close() != nil {
		t.Error("a closed writer lives on")
	}
}

type pastLease struct{ journal.Lease }

func (pastLease) Valid() bool           { return true }
func (pastLease) Lost() <-chan struct{} { return nil }

func TestOpeningMiddleware(t *testing.T) {
	b := closing(t, memstore.New())
	s := newStore(t, b, nil)
	fences := uint64(0)
	for name, tt := range map[string]struct {
		calls  int
		middle journal.AppendMiddleware
	}{
		"no call": {0, func(journal.AppendFunc) journal.AppendFunc {
			return func(context.Context, journal.JournalRecord) (uint64, error) { return 1, nil }
		}},
		"two calls": {2, func(next journal.AppendFunc) journal.AppendFunc {
			return func(ctx context.Context, rec journal.JournalRecord) (uint64, error) {
				next(ctx, rec)
				return next(ctx, rec)
			}
		}},
	} {
		_, err := s.Open(t.Context(), session, &store.OpenOptions{Opening: tt.middle})
		before := fences
		if fences = tip(t, b).Seq; fences > before+1 || tt.calls == 0 && fences != before {
			t.Errorf("%s: %d fences were written", name, fences-before)
		}
		if e := want[*journal.DecoratorError](t, name, err); e.Calls != tt.calls {
			t.Errorf("%s: it says %+v", name, e)
		}
	}
	var seen []journal.JournalRecord
	w, err := s.Open(t.Context(), session, &store.OpenOptions{Opening: func(next journal.AppendFunc) journal.AppendFunc {
		return func(ctx context.Context, rec journal.JournalRecord) (uint64, error) {
			seen = append(seen, rec)
			next(ctx, note("forged", "x"))
			return 0, errors.New("nobody looks at this")
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, ok := seen[0].(journal.FenceRecord); len(seen) != 1 || !ok {
		t.Errorf("it saw %v", seen)
	}
	mustAppend(t, w, note("1", "x"))
	wantIDs(t, s, "1")
}
