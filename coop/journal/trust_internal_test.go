package journal

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/fold"
	"github.com/comity-dev/comity/coop/ident"
)

func (m *machine) setTrust(j *Journal, keys ...*ident.Key) {
	m.t.Helper()
	m.cfg.Trust = trust(keys...)
	if err := j.SetTrust(m.t.Context(), m.cfg.Trust); err != nil {
		m.t.Fatal(err)
	}
}

func wantCursor(t *testing.T, j *Journal, cursor string, want CursorReason) {
	t.Helper()
	_, err := j.Page(cursor, 10)
	var bad *CursorError
	if want == "" && err != nil || want != "" && (!errors.As(err, &bad) || bad.Reason != want) {
		t.Errorf("Page(%s) = %v, want %q", cursor, err, want)
	}
}

// Streams of a withdrawn key are as if they had never come, and come back from our
// own disk.
func TestTrustChangesUnderAFollower(t *testing.T) {
	m, bob, eve := lasting(t, "ada"), keyOf(t, "bob"), keyOf(t, "eve")
	m.cfg.Trust = trust(bob, eve)
	var freed []event.Key
	m.cfg.Left = func(_ View, c fold.Changes) { freed = append(freed, c.Claims...) }
	j := m.start()
	o := m.origin(bob, session("b1"))
	claim := m.acquire(bob, o.stream(), o.last, 20, "b1", "a")
	e := m.line(eve, "e", 2)
	m.ingest(j, o.last, e[0], claim)
	told(j, o.beat(), 0)
	m.append(j, session("a1"))
	ours := m.claim(j, "a1", "a")
	m.ingest(j, e[1], m.forge(m.sealBy(bob, o.stream(), 3, 30, claim, session("b3")))) // waits
	whole, cursor := show(j), j.End()
	follower := j.Grown(cursor)

	m.setTrust(j, eve)
	select {
	case <-follower:
	default:
		t.Error("the follower is not told")
	}
	wantCursor(t, j, cursor, CursorView)
	wantSessions(t, j, "a1", "e1", "e2")
	if !slices.Contains(freed, ours) {
		t.Errorf("told %v, want that %v is free", freed, ours)
	}
	if got, ok := j.Marks()[o.stream()]; ok {
		t.Errorf("mark of a withdrawn key's stream: %+v", got)
	}
	wantLiveness(t, j, o.stream(), Unknown) // nothing is known of it
	if told(j, o.beat(), 0) || j.Health().Waiting != 0 || j.Health().Withheld != 1 {
		t.Errorf("a beat is taken, or events wait: %+v", j.Health())
	}
	wantOutcomes(t, m.ingest(j, o.last, claim), "untrusted", "untrusted")
	narrow := show(j)
	if d := cmp.Diff(narrow, show(m.start("a1"))); d != "" {
		t.Errorf("a restart with that trust gives another state (-at run time +after):\n%s", d)
	}
	p, err := j.Page("", 100)
	if err != nil || slices.ContainsFunc(p.Arrivals, func(a Arrival) bool { return a.Event.Stream == o.stream() }) {
		t.Errorf("page = %+v, %v", p, err)
	}
	inNarrow := p.Next
	m.compact(j, force) // keeps what is not believed

	m.setTrust(j, eve, bob)
	wantCursor(t, j, inNarrow, CursorView)
	wantCursor(t, j, cursor, "") // of the view that is back
	if d := cmp.Diff(whole, show(j)); d != "" {
		t.Errorf("back from our own disk (-before +after):\n%s", d)
	}
	if got := j.Marks()[o.stream()]; got.Seq != 2 || got.Beat == nil {
		t.Errorf("mark = %+v, want 2 and the beat", got)
	}
	if told(j, o.beat(), 0) {
		t.Error("the beat that was heard before is news")
	}
	wantLiveness(t, j, o.stream(), Unknown)
	m.clock.Advance(expiry)
	wantLiveness(t, j, o.stream(), Expired)
	o.clock.Advance(expiry)
	told(j, o.beat(), 0)
	wantLiveness(t, j, o.stream(), Live)
	p, err = j.Page("", 100)
	if err != nil || len(p.Arrivals) != 7 || !slices.IsSortedFunc(p.Arrivals, func(a, b Arrival) int { return int(a.Index) - int(b.Index) }) {
		t.Errorf("page = %+v, %v", p, err)
	}
	if d := cmp.Diff(show(j), show(m.start("a1"))); d != "" {
		t.Errorf("after a restart (-before +after):\n%s", d)
	}
}

// What a reload passed over, as its key was not believed, comes back too.
func TestTrustGivenAfterTheReload(t *testing.T) {
	m, bob := lasting(t, "ada"), keyOf(t, "bob")
	m.cfg.Trust = trust(bob)
	j := m.start()
	o := m.origin(bob, session("b1"))
	m.ingest(j, o.last)
	told(j, o.beat(), 0)
	m.clock.Advance(2 * time.Minute)
	if err := j.SaveBeats(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := show(j)
	m.cfg.Trust = nil
	j = m.start()
	wantRefused(t, j, map[Refusal]uint64{RefusedUntrusted: 1})
	m.clock.Advance(time.Minute)
	m.compact(j, force)
	j = m.start() // all that is known of the beat is what the compaction left
	m.setTrust(j, bob)
	if d := cmp.Diff(want, show(j)); d != "" {
		t.Errorf("(-before +after):\n%s", d)
	}
	if told(j, o.beat(), 0) {
		t.Error("a beat that was saved is news: it did not outlive the compaction")
	}
	if n := j.Health().Refused[RefusedUntrusted]; n != 0 {
		t.Errorf("%d events are still counted as refused", n)
	}
}

// A stream that was dropped and came back is no dropped one for a start that does not
// believe its key: what came stays on disk.
func TestAReturnedStreamOutlivesAStartWithoutTrust(t *testing.T) {
	m, bob := lasting(t, "ada"), keyOf(t, "bob")
	m.cfg.Trust = trust(bob)
	j := m.start()
	b := m.line(bob, "b", 4)
	m.ingest(j, b[:3]...)
	if _, err := j.Forget(t.Context(), b[0].Stream.Runtime()); err != nil {
		t.Fatal(err)
	}
	wantOutcomes(t, m.ingest(j, b[3]), "pending")
	wantOutcomes(t, m.ingest(j, b[:3]...), "accepted", "accepted", "accepted")
	want := show(j)
	m.cfg.Trust = nil
	j = m.start()
	m.compact(j, force)
	j = m.start()
	m.compact(j, force)
	m.setTrust(j, bob)
	if d := cmp.Diff(want, show(j)); d != "" {
		t.Errorf("(-before +after):\n%s", d)
	}
}

func TestWithdrawnKeyKeepsItsTombstones(t *testing.T) {
	m, j, o, all := droppedOrigin(t)
	m.setTrust(j)
	if _, ok := j.Marks()[o.stream()]; ok {
		t.Error("a dropped stream of a withdrawn key has a mark")
	}
	m.setTrust(j, o.key)
	if got := j.Marks()[o.stream()]; got.Seq != 2 {
		t.Errorf("mark = %+v, want 2", got)
	}
	wantOutcomes(t, m.ingest(j, all...), "duplicate", "duplicate")
}

// What a rewrite that did not get to its end has left is no more there for a key that
// was withdrawn over a restart: it does not come back with the key.
func TestDroppedStreamDoesNotComeBackWithItsKey(t *testing.T) {
	m, j, o, all := droppedOrigin(t)
	three := m.sealBy(o.key, o.stream(), 3, 30, all[1], session("b2"))
	four := m.sealBy(o.key, o.stream(), 4, 31, three, event.SessionClosed{Session: "b2", Reason: "done"})
	wantOutcomes(t, m.ingest(j, append(all, three, four)...), "accepted", "accepted", "accepted", "accepted")
	m.clock.Advance(pastSilence)
	j.log = unrewritable{m.log}
	if r, err := j.Compact(t.Context(), force); err == nil || len(r.Streams) != 1 {
		t.Fatalf("Compact = %+v, %v", r, err)
	}
	m.cfg.Trust = nil
	j = m.start()
	m.setTrust(j, o.key)
	if p, err := j.Page("", 10); err != nil || len(p.Arrivals) > 0 || j.Marks()[o.stream()].Seq != 4 {
		t.Errorf("%d events are back, %v, mark %+v", len(p.Arrivals), err, j.Marks()[o.stream()])
	}
	m.setTrust(j)
	m.compact(j, force)
	for i, rec := range m.log.recs {
		if len(rec) > 0 && RecordType(rec[0]) == RecordEvent {
			t.Errorf("record %d is left", i+1)
		}
	}
}

func TestForgettingAWithdrawnKeyTakesItsRecordsFromTheDisk(t *testing.T) {
	m, bob := lasting(t, "ada"), keyOf(t, "bob")
	m.cfg.Trust = trust(bob)
	j := m.start()
	e := m.line(bob, "b", 2)
	m.ingest(j, append(e, m.sealBy(bob, e[0].Stream, 1, 12, nil, session("other")))...)
	whole := j.view
	m.setTrust(j)
	cursor := j.End()
	if _, err := j.Forget(t.Context(), e[0].Stream.Runtime()); err != nil {
		t.Fatal(err)
	}
	if left := len(m.log.recs[0]) + len(m.log.recs[1]) + len(m.log.recs[2]); left != 0 || j.view != whole {
		t.Errorf("records of %d bytes are left, view %s", left, j.view)
	}
	wantCursor(t, j, cursor, CursorView)
	m.setTrust(j, bob)
	wantSessions(t, j)
	if f := j.Health().Forked; len(f) > 0 {
		t.Errorf("forked: %v", f)
	}
	wantOutcomes(t, m.ingest(j, e...), "accepted", "accepted")
}

// Nothing is changed while a batch is on its way.
func TestTrustWaitsForTheBatchUnderWay(t *testing.T) {
	b, m, bob := benchPeer(t)
	line := m.line(bob, "b", 2)
	sent := b.send(line...)
	done := make(chan error, 1)
	b.group.Go(func() { done <- b.j.SetTrust(t.Context(), nil) })
	b.log.sync(1, 0)
	if r := <-sent; r.Accepted != 2 {
		t.Errorf("report = %+v", r)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	wantSessions(t, b.j)
	if n := len(b.j.withheld[line[0].Stream]); n != 2 {
		t.Errorf("%d events are withheld, want 2", n)
	}
}

func TestOwnKeyIsNeverWithdrawn(t *testing.T) {
	m := lasting(t, "ada")
	j := m.start()
	m.append(j, session("a1"))
	view := j.view
	m.setTrust(j)
	wantSessions(t, j, "a1")
	if j.view != view {
		t.Error("the view changed though nothing left")
	}
}

// A stream that was let back is still asked for when its key was withdrawn meanwhile:
// what had been told of it was told to peers whose marks follow anew.
func TestStreamThatWasLetBackIsAskedForWhenItsKeyIsGivenBack(t *testing.T) {
	m, j, o, all := droppedOrigin(t)
	three := m.sealBy(o.key, o.stream(), 3, 30, all[1], session("b2"))
	wantOutcomes(t, m.ingest(j, m.sealBy(o.key, o.stream(), 4, 31, three, session("b3"))), "pending")
	m.setTrust(j)
	if got, ok := j.Marks()[o.stream()]; ok {
		t.Errorf("withdrawn, it is told of as %+v", got)
	}
	m.setTrust(j, o.key)
	if got, ok := j.Marks()[o.stream()]; !ok || got.Seq != 0 {
		t.Errorf("mark = %+v, %v; want 0, told", got, ok)
	}
	wantOutcomes(t, m.ingest(j, append(all, three)...), "accepted", "accepted", "accepted")
}
