package store_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/gate"
	"github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/session/store"
	"github.com/comity-dev/comity/storage"
	"github.com/comity-dev/comity/storage/memstore"
	"github.com/comity-dev/comity/storage/storagetest"
)

func damagedAt(seq uint64) func(storage.Record) (storage.Record, error) {
	return func(rec storage.Record) (storage.Record, error) {
		if rec.Seq == seq {
			return rec, &storage.DamagedError{Name: ledger, Seq: seq}
		}
		return rec, nil
	}
}

func causedBy(e event.Event, by event.Agency) event.Event {
	e.Cause.Agency = by
	return e
}

func TestCatalogFollowsTheSession(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000)
	b := closing(t, memstore.New())
	s := newStore(t, b, &store.Options{Now: func() time.Time { return now }})
	w := open(t, s)
	at := event.Coordinates{Loop: loop, Turn: id(3)}
	do := func(n int, body event.Body) journal.JournalRecord { return journal.NewEventRecord(in(body, n, at)) }
	decision := gate.Decision{Action: gate.Approved, Scope: gate.ScopeOnce, By: gate.Decider{Kind: gate.Person}}
	for _, tt := range []struct {
		rec   journal.JournalRecord
		state store.State
		title string
	}{
		{ev(10), store.Idle, "session 10"},
		{do(11, event.TurnStarted{Index: 1, Input: event.Text("\n  fix the build \nand more")}), store.Running, "fix the build"},
		{journal.NewEventRecord(causedBy(in(event.TurnStarted{Index: 1, Input: event.Text("count the words")}, 31, event.Coordinates{Loop: id(7), Turn: id(8)}), event.Machine)), store.Running, "fix the build"},
		{journal.NewEventRecord(in(event.TurnEnded{Outcome: event.Done}, 32, event.Coordinates{Loop: id(7), Turn: id(8)})), store.Running, "fix the build"},
		{do(12, event.GateOpened{Gate: id(900), Asks: gate.KindPermission}), store.Waiting, "fix the build"},
		{note("1", "x"), store.Waiting, "fix the build"},
		{do(13, event.GateResolved{Gate: id(900), Decision: decision}), store.Running, "fix the build"},
		{journal.NewEventRecord(in(event.StepDone{Index: 1}, 14, event.Coordinates{Loop: loop, Turn: id(3), Step: id(4)})), store.Running, "fix the build"},
		{do(15, event.TurnEnded{Outcome: event.Failed, Usage: event.Usage{Input: 5, Output: 7}}), store.Failed, "fix the build"},
		{do(16, event.TurnStarted{Index: 2, Input: event.Text(strings.Repeat("ü", 100))}), store.Running, strings.Repeat("ü", 80)},
		{do(17, event.TurnEnded{Outcome: event.Interrupted, Usage: event.Usage{Input: 1}}), store.Interrupted, strings.Repeat("ü", 80)},
		{do(18, event.TurnStarted{Index: 3}), store.Running, strings.Repeat("ü", 80)},
		{do(19, event.TurnEnded{Outcome: event.Done}), store.Idle, strings.Repeat("ü", 80)},
		{journal.NewEventRecord(in(event.SessionStopped{}, 20, event.Coordinates{})), store.Stopped, strings.Repeat("ü", 80)},
	} {
		seq := mustAppend(t, w, tt.rec)
		if err := w.SaveCatalog(t.Context()); err != nil {
			t.Fatal(err)
		}
		e, err := s.Entry(t.Context(), session)
		if err != nil || e.State != tt.state || e.Title != tt.title || e.LastSeq != seq || e.Seq != seq || e.Partial || e.Updated != now.UnixMilli() {
			t.Errorf("behind %s: %+v, %v, want %s %q", tt.rec.IdempotencyID(), e, err, tt.state, tt.title)
		}
	}
	e, _ := s.Entry(t.Context(), session)
	if e.Events != 13 || e.Turns != 4 || e.Steps != 1 || e.Usage != (event.Usage{Input: 6, Output: 7}) {
		t.Errorf("counts are %+v", e)
	}
	// It goes on over a restart, and over a crash behind the last row.
	closed(t, w)
	w = open(t, s)
	mustAppend(t, w, do(21, event.TurnStarted{Index: 4}))
	crash(t, w)
	w = open(t, s)
	seq := mustAppend(t, w, ev(22))
	closed(t, w)
	whole, err := s.Entry(t.Context(), session)
	if err != nil || whole.Partial || whole.LastSeq != seq || whole.Events != 15 || whole.Turns != 5 || whole.State != store.Running {
		t.Errorf("behind a crash: %+v, %v", whole, err)
	}
	again, err := s.RepairCatalog(t.Context(), session)
	if err != nil || fmt.Sprint(again) != fmt.Sprint(whole) {
		t.Errorf("RepairCatalog = %+v, %v, want %+v", again, err, whole)
	}
	if err := b.KV().Delete(t.Context(), ledger, 0); err != nil {
		t.Fatal(err)
	}
	if e, err := s.Entry(t.Context(), session); err != nil || !e.Partial || e.Seq != seq {
		t.Errorf("without a row: %+v, %v", e, err)
	}
	w = open(t, s) // what is behind the checkpoint is not all
	closed(t, w)
	if e, err := s.Entry(t.Context(), session); err != nil || !e.Partial || e.LastSeq != seq+1 {
		t.Errorf("a row that began late: %+v, %v", e, err)
	}
	if e, err := s.RepairCatalog(t.Context(), session); err != nil || e.Partial || e.Events != whole.Events {
		t.Errorf("RepairCatalog = %+v, %v", e, err)
	}
	var list []store.Entry
	for e, err := range s.Catalog(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, e)
	}
	if len(list) != 1 || list[0].Session != session {
		t.Errorf("Catalog lists %+v", list)
	}
}

// What steps have used counts when they are done, whatever becomes of their turn, and
// nothing counts twice.
func TestCatalogCountsUsage(t *testing.T) {
	b := closing(t, memstore.New())
	s := newStore(t, b, nil)
	w := open(t, s)
	n := 100
	do := func(turn int, body event.Body) {
		t.Helper()
		n++
		at := event.Coordinates{Loop: loop, Turn: id(turn)}
		if _, ok := body.(event.StepDone); ok {
			at.Step = id(1000 + n)
		}
		mustAppend(t, w, journal.NewEventRecord(in(body, n, at)))
	}
	total := func(want event.Usage) {
		t.Helper()
		if err := w.SaveCatalog(t.Context()); err != nil {
			t.Fatal(err)
		}
		if e, err := s.Entry(t.Context(), session); err != nil || e.Usage != want {
			t.Errorf("the usage is %+v, %v, want %+v", e.Usage, err, want)
		}
	}
	do(1, event.TurnStarted{Index: 1})
	do(1, event.StepDone{Index: 1, Usage: event.Usage{Input: 10, Output: 1}})
	do(2, event.TurnStarted{Index: 1})
	do(2, event.StepDone{Index: 1, Usage: event.Usage{Input: 100}})
	do(1, event.StepDone{Index: 2, Usage: event.Usage{Input: 10, CacheRead: 3}})
	total(event.Usage{Input: 120, Output: 1, CacheRead: 3})
	do(1, event.TurnEnded{Outcome: event.Done, Usage: event.Usage{Input: 25, Output: 1}}) // 5 beyond its steps
	total(event.Usage{Input: 125, Output: 1, CacheRead: 3})
	crash(t, w)
	w = open(t, s)
	do(2, event.TurnEnded{Outcome: event.Interrupted}) // by an owner that does not know what it used
	total(event.Usage{Input: 125, Output: 1, CacheRead: 3})
	do(3, event.TurnStarted{Index: 3})
	do(3, event.TurnEnded{Outcome: event.Done, Usage: event.Usage{Input: 1}})
	total(event.Usage{Input: 126, Output: 1, CacheRead: 3})
	if e, err := s.Entry(t.Context(), session); err != nil || len(e.OpenUsage) > 0 {
		t.Errorf("the entry is %+v, %v", e, err)
	}
}

// An entry that is behind is brought up to the end of the journal by reading, within a
// bound, and nothing is written.
func TestCatchUp(t *testing.T) {
	b := closing(t, memstore.New())
	s := newStore(t, b, nil)
	w := open(t, s)
	mustAppend(t, w, ev(10))
	if err := w.SaveCatalog(t.Context()); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, w, journal.NewEventRecord(in(event.TurnStarted{Index: 1, Input: event.Text("fix it")}, 11, event.Coordinates{Loop: loop, Turn: id(3)})), note("1", "x"))
	crash(t, w)
	behind, err := s.Entry(t.Context(), session)
	if err != nil || behind.LastSeq != 2 || behind.Seq != 4 {
		t.Fatalf("the entry is %+v, %v", behind, err)
	}
	e, err := s.CatchUp(t.Context(), behind, 2)
	if err != nil || e.LastSeq != 4 || e.Seq != 4 || e.State != store.Running || e.Title != "fix it" || e.Events != 2 || e.Partial {
		t.Errorf("CatchUp = %+v, %v", e, err)
	}
	if e, err := s.CatchUp(t.Context(), behind, 1); err != nil || e.LastSeq != 2 {
		t.Errorf("CatchUp over its bound = %+v, %v", e, err)
	}
	if again, _ := s.Entry(t.Context(), session); again.LastSeq != 2 {
		t.Errorf("CatchUp has written %+v", again)
	}
	bad := newStore(t, spoilt{Backend: b, change: damagedAt(4)}, nil)
	if e, err := bad.CatchUp(t.Context(), behind, 9); err != nil || e.LastSeq != 2 {
		t.Errorf("CatchUp over damage = %+v, %v", e, err)
	}
	if err := b.KV().Delete(t.Context(), ledger, 0); err != nil {
		t.Fatal(err)
	}
	none, err := s.Entry(t.Context(), session)
	if err != nil || !none.Partial {
		t.Fatalf("without a row: %+v, %v", none, err)
	}
	if e, err := s.CatchUp(t.Context(), none, 9); err != nil || e.LastSeq != 4 || e.Partial || e.Title != "fix it" {
		t.Errorf("CatchUp without a row = %+v, %v", e, err)
	}
}

// Whatever becomes of the catalog, appends do not notice; and it is told.
func TestCatalogIsBestEffort(t *testing.T) {
	b := closing(t, memstore.New())
	f := storagetest.NewFaults(b, func(_ int, op, name string) storagetest.Fate {
		if op == "put row" {
			return storagetest.Lost
		}
		return storagetest.Pass
	})
	tr := &trouble{t: t}
	s := newStore(t, f, &store.Options{Trouble: tr.tell, CheckpointRecords: 2})
	told := &notes{err: errors.New("the caller's catalog")}
	w, err := s.Open(t.Context(), session, &store.OpenOptions{Catalog: told})
	if err != nil {
		t.Fatal(err)
	}
	mustAppend(t, w, ev(10), ev(11), ev(10), note("1", "x"), ev(12))
	if err := w.SaveCatalog(t.Context()); !errors.Is(err, storagetest.ErrFault) {
		t.Errorf("SaveCatalog = %v", err)
	}
	closed(t, w)
	if len(tr.list()) < 5 {
		t.Errorf("trouble told: %v", tr.list())
	}
	if fmt.Sprint(told.seqs) != "[2 3 5]" {
		t.Errorf("the caller's catalog was told of %v", told.seqs)
	}
	// A row of another session, or of nothing, is not believed.
	good := newStore(t, b, nil)
	for _, value := range []string{"garbage", `{"session":"` + string(id(2)) + `"}`, `{"session":"` + string(session) + `","last_seq":99,"epoch":1}`} {
		_, revision, _ := b.KV().Get(t.Context(), ledger)
		if _, err := b.KV().Put(t.Context(), ledger, revision, []byte(value)); err != nil {
			t.Fatal(err)
		}
		if e, err := good.Entry(t.Context(), session); err != nil || !e.Partial || e.Session != session || e.LastSeq != 0 {
			t.Errorf("row %s: %+v, %v", value, e, err)
		}
		if r, err := good.Verify(t.Context(), session); err != nil || len(r.Problems) > 0 || len(r.Books) == 0 {
			t.Errorf("row %s: Verify = %+v, %v", value, r, err)
		}
		w := open(t, good)
		closed(t, w)
		if e, err := good.RepairCatalog(t.Context(), session); err != nil || e.Partial || e.Events != 3 {
			t.Errorf("row %s: RepairCatalog = %+v, %v", value, e, err)
		}
		if e, err := good.Entry(t.Context(), session); err != nil || e.Partial || e.Events != 3 {
			t.Errorf("row %s, repaired: %+v, %v", value, e, err)
		}
	}
}

type notes struct {
	seqs []uint64
	err  error
}

func TestRetain(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000)
	b := closing(t, memstore.New())
	s := newStore(t, b, &store.Options{Now: func() time.Time { return now }, InlineBytes: 100})
	var last *store.Writer
	begin := func(n int) {
		t.Helper()
		w, err := s.Open(t.Context(), id(n), nil)
		if err != nil {
			t.Fatal(err)
		}
		mustAppend(t, w, note("1", strings.Repeat("x", 200)))
		last = w
	}
	for n := 1; n <= 4; n++ {
		begin(n)
		closed(t, last)
		now = now.Add(time.Hour)
	}
	begin(5) // held
	if err := last.SaveCatalog(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer last.Close()
	begin(6) // a crash: its entry does not say all
	crash(t, last)
	now = now.Add(24 * time.Hour)
	// What a Delete that died left.
	if _, err := b.Blobs().Put(t.Context(), "sessions/"+string(id(9))+"/content", storage.Digest{}, strings.NewReader("x")); err != nil {
		t.Fatal(err)
	}
	r, err := s.Retain(t.Context(), store.Policy{MaxAge: 24*time.Hour + 90*time.Minute, KeepNewest: 1})
	if err != nil || fmt.Sprint(r.Deleted) != fmt.Sprint([]any{id(1), id(2), id(3)}) && fmt.Sprint(r.Deleted) != fmt.Sprint([]any{id(3), id(2), id(1)}) {
		t.Errorf("Retain = %+v, %v", r, err)
	}
	if r.Kept != 3 || fmt.Sprint(r.Repaired) != fmt.Sprint([]any{id(6)}) || fmt.Sprint(r.Leftovers) != fmt.Sprint([]any{id(9)}) {
		t.Errorf("Retain = %+v", r)
	}
	now = now.Add(48 * time.Hour)
	r, err = s.Retain(t.Context(), store.Policy{MaxAge: time.Hour})
	if err != nil || len(r.Deleted) != 2 || r.Held != 1 || r.Kept != 1 {
		t.Errorf("Retain again = %+v, %v", r, err)
	}
	var ids []event.ID
	for id, err := range s.Sessions(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	if fmt.Sprint(ids) != fmt.Sprint([]any{id(5)}) {
		t.Errorf("left are %v", ids)
	}
	for _, p := range []store.Policy{{}, {MaxAge: -1}, {MaxAge: 1, KeepNewest: -1}} {
		if _, err := s.Retain(t.Context(), p); err == nil {
			t.Errorf("Retain(%+v): no error", p)
		}
	}
}

func (n *notes) NoteEvent(_ context.Context, _ event.Event, seq uint64) error {
	n.seqs = append(n.seqs, seq)
	return n.err
}

// A meanwhile backend has something happen before the first lease is granted.
type meanwhile struct {
	storage.Backend
	do func()
}

func (m *meanwhile) Leaser() storage.Leaser { return meanwhileLeaser{m.Backend.Leaser(), m} }

type meanwhileLeaser struct {
	storage.Leaser
	m *meanwhile
}

func (l meanwhileLeaser) Acquire(ctx context.Context, name string) (storage.Lease, error) {
	if do := l.m.do; do != nil {
		l.m.do = nil
		do()
	}
	return l.Leaser.Acquire(ctx, name)
}

// A session that somebody goes on with between the look at the catalog and the
// lease is not deleted; nor is one that begins where a leftover was seen.
func TestRetainSeesWhatCameMeanwhile(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000)
	b := closing(t, memstore.New())
	m := &meanwhile{Backend: b}
	s := newStore(t, m, &store.Options{Now: func() time.Time { return now }})
	goOn := func() {
		w := open(t, newStore(t, b, nil))
		mustAppend(t, w, note(fmt.Sprint("at ", w.Epoch()), "x"))
		closed(t, w)
	}
	goOn()
	now = time.Now().Add(24 * time.Hour)
	m.do = goOn
	if r, err := s.Retain(t.Context(), store.Policy{MaxAge: time.Minute}); err != nil || len(r.Deleted) > 0 || r.Kept != 1 {
		t.Errorf("Retain = %+v, %v", r, err)
	}
	wantIDs(t, s, "at 1", fmt.Sprint("at ", owned(t, s)))
	if r, err := s.Retain(t.Context(), store.Policy{MaxAge: time.Minute}); err != nil || len(r.Deleted) != 1 {
		t.Errorf("Retain of what rests = %+v, %v", r, err)
	}
	if _, err := b.Blobs().Put(t.Context(), ledger+"/content", storage.Digest{}, strings.NewReader("left over")); err != nil {
		t.Fatal(err)
	}
	m.do = goOn
	if r, err := s.Retain(t.Context(), store.Policy{MaxAge: time.Minute}); err != nil || len(r.Leftovers) > 0 {
		t.Errorf("Retain = %+v, %v", r, err)
	}
	if n := len(all(t, s)); n != 2 {
		t.Errorf("the session that began has %d records", n)
	}
}

// owned returns the epoch of the last owner.
func owned(t testing.TB, s *store.Store) uint64 {
	t.Helper()
	r, err := s.Recover(t.Context(), session)
	if err != nil {
		t.Fatal(err)
	}
	return r.Epoch
}
