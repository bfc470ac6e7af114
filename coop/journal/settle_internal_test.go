package journal

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/fold"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/internal/clock"
	"github.com/comity-dev/comity/internal/seglog"
)

// stepped is a log whose syncs happen when a test says so, and in the way it says.
type stepped struct {
	*memory
	mu     sync.Mutex
	queue  []*step
	queued chan struct{} // one for each Enqueue
	turn   uint64
	refuse error // what Enqueue under an old turn gets
	poison error
}

type step struct {
	recs    [][]byte
	reserve bool
	done    chan struct{}
	first   uint64
	err     error
}

func (s *step) Wait(context.Context) (uint64, error) { <-s.done; return s.first, s.err }
func (s *step) Done() <-chan struct{}                { return s.done }

func (s *stepped) Enqueue(turn uint64, reserve bool, recs ...[]byte) ticket {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := &step{recs: recs, reserve: reserve, done: make(chan struct{})}
	switch {
	case s.poison != nil:
		st.err = s.poison
		close(st.done)
	case turn != s.turn:
		st.err = s.refuse
		close(st.done)
	default:
		s.queue = append(s.queue, st)
	}
	s.queued <- struct{}{}
	return st
}

func (s *stepped) Turn() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.turn
}

func (s *stepped) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.poison
}

// sync makes the first n batches durable, and tells in the order of tell.
func (s *stepped) sync(n int, tell ...int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.queue[:n]
	s.queue = s.queue[n:]
	for _, st := range now {
		first, _ := s.memory.Enqueue(0, false, st.recs...).Wait(context.Background())
		st.first = first
	}
	if tell == nil {
		for i := range now {
			tell = append(tell, i)
		}
	}
	for _, i := range tell {
		close(now[i].done)
	}
}

// full fails all that is queued, cleanly; the first one is told last.
func (s *stepped) full() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turn++
	s.refuse = fmt.Errorf("write: %w", seglog.ErrNoSpace)
	for _, st := range slices.Backward(s.queue) {
		st.err = s.refuse
		close(st.done)
	}
	s.queue = nil
}

// fail fails all that is queued; nobody knows what is on the disk.
func (s *stepped) fail(cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.poison = fmt.Errorf("%w: %w", seglog.ErrPoisoned, cause)
	for _, st := range s.queue {
		st.err = s.poison
		close(st.done)
	}
	s.queue = nil
}

type bench struct {
	t     *testing.T
	log   *stepped
	j     *Journal
	seen  []event.Key
	group sync.WaitGroup
}

func newBench(t *testing.T) *bench {
	seed := sha256.Sum256([]byte("ada"))
	key, err := ident.KeyFromSeed(seed[:])
	if err != nil {
		t.Fatal(err)
	}
	repo, err := ident.RepositoryDeclared("journal-test")
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, log: &stepped{memory: newMemory(), queued: make(chan struct{}, 1000)}}
	cfg := Config{Key: key, Repo: repo, Dir: "disk", Machine: "m", Limits: event.DefaultLimits(),
		Observe: func(_ View, a Arrival, _ fold.Changes) { b.seen = append(b.seen, a.Event.Key()) }}
	b.j = newJournal(cfg, b.log, clock.NewFake(time.Unix(1e9, 0), time.Hour, "boot"))
	if err := b.j.reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		b.group.Wait()
		if err := b.j.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return b
}

func session(sid string) event.Body {
	return event.SessionOpened{Info: event.SessionInfo{Session: sid, Client: "t", Checkout: "0123456789abcdef"}}
}

type outcome struct {
	all []Appended
	err error
}

// start begins a Decide and returns once it has its place in the log.
func (b *bench) start(ctx context.Context, f func(*Tx) error) <-chan outcome {
	c := make(chan outcome, 1)
	b.group.Go(func() {
		all, err := b.j.Decide(ctx, f)
		c <- outcome{all, err}
	})
	<-b.log.queued
	return c
}

func (b *bench) append(sid string) <-chan outcome {
	return b.start(b.t.Context(), func(tx *Tx) error {
		_, err := tx.Append(session(sid))
		return err
	})
}

func (b *bench) pending() (seqs []uint64) {
	b.j.View(func(v View) {
		for _, e := range v.Pending() {
			seqs = append(seqs, e.Seq)
		}
	})
	return seqs
}

func (b *bench) page() []event.Key {
	b.t.Helper()
	p, err := b.j.Page("", 1000)
	if err != nil {
		b.t.Fatal(err)
	}
	var ks []event.Key
	for _, a := range p.Arrivals {
		ks = append(ks, a.Event.Key())
	}
	return ks
}

func wantSeqs(t *testing.T, what string, got []uint64, want ...uint64) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

func seqsOf(ks []event.Key) (seqs []uint64) {
	for _, k := range ks {
		seqs = append(seqs, k.Seq)
	}
	return seqs
}

func TestPendingIsSeenByDecisionsAndByNobodyElse(t *testing.T) {
	b := newBench(t)
	grown := b.j.Grown("")
	one := b.append("s1")
	wantSeqs(t, "pending", b.pending(), 1, 2)
	wantSeqs(t, "pages before the sync", seqsOf(b.page()))
	if b.j.End() != b.j.cursor(0) || b.j.Health().Events != 0 {
		t.Error("what is pending shows at the end of the log")
	}
	b.j.View(func(v View) {
		if v.State().Head(b.j.own.stream) != 0 {
			t.Error("the fold has an event that is not synced")
		}
	})
	select {
	case <-grown:
		t.Error("a follower was woken for what is not synced")
	default:
	}

	b.log.sync(1)
	if o := <-one; o.err != nil || o.all[0].Durability != Synced || o.all[0].Index != 2 {
		t.Errorf("after the sync: %+v", o)
	}
	<-grown
	wantSeqs(t, "pending", b.pending())
	wantSeqs(t, "pages", seqsOf(b.page()), 1, 2)
}

// The log may tell a later caller first: its event still waits for those before it.
func TestLaterOneToldFirstIsAppliedInOrder(t *testing.T) {
	b := newBench(t)
	one, two, three := b.append("s1"), b.append("s2"), b.append("s3")
	b.log.sync(3, 2, 1, 0)
	for i, c := range []<-chan outcome{one, two, three} {
		if o := <-c; o.err != nil || o.all[0].Event.Seq != uint64(i+2) {
			t.Errorf("append %d: %+v", i, o)
		}
	}
	b.j.View(func(View) { wantSeqs(t, "observed", seqsOf(b.seen), 1, 2, 3, 4) })
}

// A caller that is told first has not ended before those ahead of it have.
func TestLaterOneToldAloneWaitsForTheEarlier(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		one, two := b.append("s1"), b.append("s2")
		b.log.mu.Lock()
		earlier := b.log.queue[0]
		b.log.mu.Unlock()
		b.log.sync(2, 1)
		synctest.Wait()
		select {
		case o := <-two:
			t.Errorf("the later one ended with %+v while the earlier is open", o)
		default:
		}
		wantSeqs(t, "pages", seqsOf(b.page()))
		close(earlier.done)
		for _, c := range []<-chan outcome{one, two} {
			if o := <-c; o.err != nil || len(o.all) != 1 {
				t.Errorf("append: %+v", o)
			}
		}
		wantSeqs(t, "pages", seqsOf(b.page()), 1, 2, 3)
	})
}

func TestFullDiskGivesNumbersBack(t *testing.T) {
	b := newBench(t)
	one := b.append("s1")
	b.log.sync(1)
	<-one
	two, three := b.append("s2"), b.append("s3")
	wantSeqs(t, "pending", b.pending(), 3, 4)
	b.log.full()
	for _, c := range []<-chan outcome{two, three} {
		o := <-c
		var failed *FailedError
		if !errors.As(o.err, &failed) || failed.Unknown || !errors.Is(o.err, ErrNoSpace) {
			t.Errorf("error = %v, want a clean failure for lack of space", o.err)
		}
		if len(o.all) != 1 || o.all[0].Durability != Failed || o.all[0].Cause == nil {
			t.Errorf("appended = %+v, want it Failed", o.all)
		}
	}
	wantSeqs(t, "pending", b.pending())
	wantSeqs(t, "pages", seqsOf(b.page()), 1, 2)

	var before uint64
	b.j.View(func(v View) { before = v.Clock() })
	four := b.append("s4")
	b.log.sync(1)
	o := <-four
	if o.err != nil || o.all[0].Event.Seq != 3 || o.all[0].Event.Lamport <= before {
		t.Errorf("next append = %+v, %v; want seq 3 stamped above %d", o.all, o.err, before)
	}
	if e := o.all[0].Event; e.Prev != fmt.Sprintf("%x", b.j.heads[e.Stream].hash) && b.j.heads[e.Stream].seq != 3 {
		t.Errorf("prev %s does not name event 2", e.Prev)
	}
	b.j.View(func(View) { wantSeqs(t, "observed", seqsOf(b.seen), 1, 2, 3) })
}

// What is numbered between the log's failure and the moment when the journal
// notices must be taken back with the rest.
func TestNumbersGivenOutAfterTheFailureAreTakenBack(t *testing.T) {
	b := newBench(t)
	one := b.append("s1")
	b.j.lock() // the failed caller cannot clean up yet
	b.log.full()
	tx := b.j.begin()
	if _, err := tx.Append(session("s2")); err != nil {
		t.Fatal(err)
	}
	recs, err := tx.records()
	if err != nil {
		t.Fatal(err)
	}
	late := b.j.enqueue(tx, recs)
	<-b.log.queued
	b.j.unlock()
	if o := <-one; !errors.Is(o.err, ErrNoSpace) {
		t.Errorf("first append = %v, want no space", o.err)
	}
	b.j.settle(late)
	if !errors.Is(late.err, ErrNoSpace) {
		t.Errorf("late append = %v, want no space", late.err)
	}
	three := b.append("s3")
	b.log.sync(1)
	if o := <-three; o.err != nil || o.all[0].Event.Seq != 2 {
		t.Errorf("next append = %+v, %v; want seq 2 behind the run's first", o.all, o.err)
	}
	if first, ok := b.j.heads[b.j.own.stream]; !ok || first.seq != 2 {
		t.Errorf("head = %+v, want 2", first)
	}
}

func TestReserveIsTriedAgainBehindAnothersFailure(t *testing.T) {
	b := newBench(t)
	one := b.append("s1")
	runs := 0
	two := b.start(t.Context(), func(tx *Tx) error {
		runs++
		tx.Reserve()
		_, err := tx.Append(session("s2"))
		return err
	})
	b.log.full()
	if o := <-one; !errors.Is(o.err, ErrNoSpace) {
		t.Errorf("the one without reserve = %v, want no space", o.err)
	}
	<-b.log.queued // the second try
	if st := b.log.queue[0]; !st.reserve {
		t.Error("the second try does not use the reserve")
	}
	b.log.sync(1)
	if o := <-two; o.err != nil || runs != 2 || o.all[0].Event.Seq != 2 {
		t.Errorf("the one with reserve = %+v, %v after %d runs; want it done at the second", o.all, o.err, runs)
	}
}

func TestReserveThatFailsForItsOwnSakeFails(t *testing.T) {
	b := newBench(t)
	one := b.start(t.Context(), func(tx *Tx) error {
		tx.Reserve()
		_, err := tx.Append(session("s1"))
		return err
	})
	b.log.full()
	if o := <-one; !errors.Is(o.err, ErrNoSpace) {
		t.Errorf("Decide = %v, want no space", o.err)
	}
}

func TestUnknownFailureEndsTheStream(t *testing.T) {
	b := newBench(t)
	one := b.append("s1")
	b.log.sync(1)
	<-one
	two, three := b.append("s2"), b.append("s3")
	cause := errors.New("input/output error")
	b.log.fail(cause)
	for _, c := range []<-chan outcome{two, three} {
		o := <-c
		var failed *FailedError
		if !errors.As(o.err, &failed) || !failed.Unknown || !errors.Is(o.err, cause) {
			t.Errorf("error = %v, want an unknown failure with its cause", o.err)
		}
		if len(o.all) != 1 || o.all[0].Durability != Failed {
			t.Errorf("appended = %+v, want it Failed", o.all)
		}
	}
	var readOnly *ReadOnlyError
	ran := false
	if _, err := b.j.Decide(t.Context(), func(*Tx) error { ran = true; return nil }); !errors.As(err, &readOnly) || ran {
		t.Errorf("next Decide = %v (ran: %v), want read-only", err, ran)
	}
	if h := b.j.Health(); h.ReadOnly == nil || h.Failed != 2 || h.Pending != 0 {
		t.Errorf("health = %+v", h)
	}
	wantSeqs(t, "pages", seqsOf(b.page()), 1, 2)
}

// Once it has its place a write runs to its end, whatever becomes of its caller.
func TestCancelAfterThePlaceChangesNothing(t *testing.T) {
	for _, fails := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t)
			ctx, cancel := context.WithCancel(t.Context())
			c := b.start(ctx, func(tx *Tx) error {
				_, err := tx.Append(session("s1"))
				return err
			})
			cancel()
			synctest.Wait()
			select {
			case o := <-c:
				t.Fatalf("Decide returned %+v while its record was landing", o)
			default:
			}
			if fails {
				b.log.fail(errors.New("gone"))
				if o := <-c; o.err == nil || o.all[0].Durability != Failed {
					t.Errorf("Decide = %+v, %v; want Failed", o.all, o.err)
				}
				return
			}
			b.log.sync(1)
			if o := <-c; o.err != nil || o.all[0].Durability != Synced {
				t.Errorf("Decide = %+v, %v; want it acknowledged", o.all, o.err)
			}
		})
	}
}

func TestCancelBeforeThePlaceMeansNothingHappened(t *testing.T) {
	b := newBench(t)
	ctx, cancel := context.WithCancel(t.Context())
	b.j.lock()
	c := make(chan error, 1)
	go func() {
		_, err := b.j.Append(ctx, session("s1"))
		c <- err
	}()
	cancel()
	if err := <-c; !errors.Is(err, context.Canceled) {
		t.Errorf("Append = %v, want the cancellation", err)
	}
	b.j.unlock()
	if p := b.pending(); len(p) != 0 || len(b.log.queue) != 0 {
		t.Errorf("pending = %v", p)
	}
}

// One of many takes what all want, because the decision sees what is pending.
func TestDecisionOnPendingHasOneWinner(t *testing.T) {
	b := newBench(t)
	taken := errors.New("taken")
	var outcomes []<-chan outcome
	claim := func(tx *Tx) error {
		for _, e := range tx.Pending() {
			if e.Body.Kind() == event.KindSessionOpened {
				return taken
			}
		}
		for range tx.State().Sessions() {
			return taken
		}
		_, err := tx.Append(session("winner"))
		return err
	}
	for range 20 {
		c := make(chan outcome, 1)
		outcomes = append(outcomes, c)
		b.group.Go(func() {
			all, err := b.j.Decide(b.t.Context(), claim)
			c <- outcome{all, err}
		})
	}
	<-b.log.queued // one came through, and the others find it pending, or in the state
	b.log.sync(1)
	b.group.Wait()
	won, lost := 0, 0
	for _, c := range outcomes {
		switch o := <-c; {
		case o.err == nil:
			won++
		case errors.Is(o.err, taken):
			lost++
		}
	}
	if won != 1 || lost != 19 {
		t.Errorf("%d won and %d lost, want 1 and 19", won, lost)
	}
}

func TestCloseWaitsForWritesUnderWay(t *testing.T) {
	b := newBench(t)
	one := b.append("s1")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.j.Close(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Close with a write under way = %v, want it to wait", err)
	}
	if _, err := b.j.Append(t.Context(), session("s2")); !errors.Is(err, ErrClosed) {
		t.Errorf("Append after Close began = %v, want ErrClosed", err)
	}
	grown := b.j.Grown(b.j.cursor(0))
	b.log.sync(1)
	if o := <-one; o.err != nil {
		t.Errorf("write under way = %v, want it done", o.err)
	}
	if err := b.j.Close(t.Context()); err != nil {
		t.Errorf("Close: %v", err)
	}
	<-grown
	<-b.j.Grown(b.j.End())
	if _, err := b.j.Page("", 1); !errors.Is(err, ErrClosed) {
		t.Errorf("Page after Close = %v, want ErrClosed", err)
	}
}
