package journal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

// send begins an Ingest and returns once it has its place in the log.
func (b *bench) send(events ...*event.Event) <-chan event.IngestReport {
	c := make(chan event.IngestReport, 1)
	b.group.Go(func() { c <- b.j.Ingest(b.t.Context(), raws(events...)) })
	<-b.log.queued
	return c
}

func benchPeer(t *testing.T) (*bench, *machine, *ident.Key) {
	b, m, bob := newBench(t), newMachine(t, "ada"), keyOf(t, "bob")
	b.j.cfg.Trust = trust(bob)
	return b, m, bob
}

// What others sent is seen by nobody before it is synced, keeps its place among
// own writes, and decisions go on meanwhile.
func TestIngestIsSeenOnceItIsSyncedInTheOrderOfTheLog(t *testing.T) {
	b, m, bob := benchPeer(t)
	line := m.line(bob, "b", 2)
	own := b.append("a1")
	sent := b.send(line...)
	after := b.append("a2")
	if got := b.page(); len(got) != 0 || b.j.Health().Clock >= line[1].Lamport || len(missing(t, b.j, event.Marks{})) != 0 || len(b.j.Marks()) != 0 {
		t.Errorf("before the sync %v shows", got)
	}
	b.log.sync(3, 2, 1, 0)
	if o := <-own; o.err != nil {
		t.Error(o.err)
	}
	if r := <-sent; r.Accepted != 2 || r.Err != nil {
		t.Errorf("report = %+v", r)
	}
	if o := <-after; o.err != nil {
		t.Error(o.err)
	}
	want := []event.Key{{Stream: b.j.own.stream, Seq: 1}, {Stream: b.j.own.stream, Seq: 2}, line[0].Key(), line[1].Key(), {Stream: b.j.own.stream, Seq: 3}}
	if d := cmp.Diff(want, b.page()); d != "" {
		t.Errorf("pages (-want +got):\n%s", d)
	}
	if d := cmp.Diff(want, b.seen); d != "" {
		t.Errorf("observed (-want +got):\n%s", d)
	}
}

// A full disk takes nothing: the sender hears so, nothing is held, and the same
// batch is taken later. One that had waited is given up.
func TestIngestOnAFullDisk(t *testing.T) {
	b, m, bob := benchPeer(t)
	line := m.line(bob, "b", 3)
	if r := b.j.Ingest(t.Context(), raws(line[2])); r.Pending != 1 {
		t.Fatalf("report = %+v", r)
	}
	sent := b.send(line[:2]...)
	b.log.full()
	r := <-sent
	wantOutcomes(t, r, "not_stored", "not_stored")
	if !errors.Is(r.Err, ErrNoSpace) || r.Dropped != 1 || r.Released != 0 || r.Total() != 2 {
		t.Errorf("report = %+v", r)
	}
	if len(b.j.heads) != 0 || len(b.seen) != 0 || len(b.j.lives.byStream) != 0 {
		t.Error("something is held of what was not stored")
	}
	sent = b.send(line...)
	b.log.sync(1)
	if r := <-sent; r.Accepted != 3 {
		t.Errorf("report = %+v", r)
	}
}

func TestIngestAfterAFailedSync(t *testing.T) {
	b, m, bob := benchPeer(t)
	line := m.line(bob, "b", 2)
	sent := b.send(line[0])
	b.log.fail(errors.New("EIO"))
	r := <-sent
	wantOutcomes(t, r, "not_stored")
	var failed *FailedError
	if !errors.As(r.Err, &failed) || !failed.Unknown {
		t.Errorf("err = %v", r.Err)
	}
	r = b.j.Ingest(t.Context(), append(raws(line...), nil))
	wantOutcomes(t, r, "not_stored", "not_stored", "malformed")
	var readOnly *ReadOnlyError
	if !errors.As(r.Err, &readOnly) {
		t.Errorf("err = %v, want a *ReadOnlyError", r.Err)
	}
}

func TestIngestThatDoesNotGetItsTurn(t *testing.T) {
	b, m, bob := benchPeer(t)
	line := m.line(bob, "b", 2)
	sent := b.send(line[0])
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := b.j.Ingest(ctx, append(raws(line[1]), nil))
	wantOutcomes(t, r, "not_stored", "malformed")
	if !errors.Is(r.Err, context.Canceled) {
		t.Errorf("err = %v", r.Err)
	}
	b.log.sync(1)
	<-sent
	m, j, bob := peered(t)
	if err := j.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	r = j.Ingest(t.Context(), raws(m.line(bob, "b", 1)...))
	wantOutcomes(t, r, "not_stored")
	if !errors.Is(r.Err, ErrClosed) {
		t.Errorf("err = %v, want ErrClosed", r.Err)
	}
}

// Own events that are numbered and not synced yet are ours: no event of our
// stream that comes meanwhile goes in their place.
func TestAlienEventWhileOwnOnesArePending(t *testing.T) {
	b, m, _ := benchPeer(t)
	one := b.append("a1")
	b.log.sync(1)
	a1 := (<-one).all[0].Event
	two := b.append("a2")
	var pending *event.Event
	b.j.View(func(v View) { pending = v.Pending()[0] })
	if r := b.j.Ingest(t.Context(), raws(pending)); r.Duplicate != 1 || b.j.Stream() != a1.Stream {
		t.Errorf("a pending event that comes back: %+v", r)
	}
	alien := m.sealBy(b.j.cfg.Key, a1.Stream, 3, pending.Lamport, a1, session("x"))
	sent := b.send(alien) // the proof
	next := b.append("a3")
	b.log.sync(3)
	wantOutcomes(t, <-sent, "forked")
	if o := <-two; o.err != nil || o.all[0].Event.Stream != a1.Stream {
		t.Errorf("the event that was numbered: %+v", o)
	}
	if o := <-next; o.err != nil || o.all[0].Event.Stream == a1.Stream || o.all[0].Event.Seq != 2 {
		t.Errorf("the event after: %+v", o)
	}
}

// An authentic event waits, and then its predecessor turns out to be another one
// than it names.
func TestWaitingEventOfAnotherPastIsAFork(t *testing.T) {
	m, j, bob := peered(t)
	b := m.line(bob, "b", 3)
	other := m.sealBy(bob, b[0].Stream, 2, 11, b[0], session("x"))
	astray := m.sealBy(bob, b[0].Stream, 3, 12, other, session("y"))
	m.ingest(j, b[0])
	wantOutcomes(t, m.ingest(j, astray), "pending")
	r := m.ingest(j, b[1])
	wantOutcomes(t, r, "accepted")
	if r.Dropped != 1 || j.Health().Forked[b[0].Stream] != 3 {
		t.Errorf("dropped %d, forked %v; want 1, at 3", r.Dropped, j.Health().Forked)
	}
	wantOutcomes(t, m.ingest(j, b[2]), "accepted")
	wantSessions(t, j, "b1", "b2", "b3")
}

// A newer peer's event that this build cannot read is stored and passed on, and
// what follows it is read.
func TestUnreadableEventBlocksNothing(t *testing.T) {
	m, j, bob := peered(t)
	b := m.line(bob, "b", 2)
	m.ingest(j, b[0])
	raw := opaque(t, bob, b[0])
	r := j.Ingest(t.Context(), [][]byte{raw})
	wantOutcomes(t, r, "accepted")
	e, err := event.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := e.Body.(event.Opaque); !ok {
		t.Fatalf("body is %T", e.Body)
	}
	wantOutcomes(t, m.ingest(j, m.sealBy(bob, e.Stream, 3, 12, e, session("b3"))), "accepted")
	wantSessions(t, j, "b1", "b3")
	var kept bool
	for _, s := range missing(t, j, event.Marks{}) {
		kept = kept || string(s.Raw) == string(raw)
	}
	if !kept {
		t.Error("the event is not passed on as it came")
	}
}

// opaque is the event after prev, of a kind of another build.
func opaque(t *testing.T, key *ident.Key, prev *event.Event) []byte {
	t.Helper()
	msg := fmt.Sprintf(`{"at":1,"body":{"kind":"vote_cast"},"lamport":%d,"pk":"%s","prev":"%x","repo":"%s","seq":%d,`,
		prev.Lamport+1, key.PublicHex(), prev.Hash, prev.Repo, prev.Seq+1)
	rest := fmt.Sprintf(`"stream":"%s","v":1}`, prev.Stream)
	sig := key.Sign(ident.DomainEvent, []byte(msg+rest))
	return []byte(fmt.Sprintf(`%s"sig":"%x",%s`, msg, sig, rest))
}

// Batches of several peers and own writes at once: each event is taken once, no
// signature is looked at twice, and who follows the log sees all.
func TestManyPeersAtOnce(t *testing.T) {
	m, bob, eve := newMachine(t, "ada"), keyOf(t, "bob"), keyOf(t, "eve")
	m.cfg.Trust = trust(bob, eve)
	j := m.start()
	lines := [][]*event.Event{m.line(bob, "b", 40), m.line(eve, "e", 40), m.line(bob, "c", 40)}
	var group sync.WaitGroup
	for peer := range 4 {
		group.Go(func() {
			for at := 0; at < 40; at += 5 + peer {
				for _, line := range lines {
					to := min(40, at+5+peer)
					if r := j.Ingest(t.Context(), raws(line[at:to]...)); r.Total() != to-at || r.Accepted+r.Duplicate+r.Pending != to-at {
						t.Errorf("report = %+v", r)
					}
				}
				if _, err := j.Append(t.Context(), session(fmt.Sprintf("a%d-%d", peer, at))); err != nil {
					t.Error(err)
				}
				j.Beat()
				j.Marks()
			}
		})
	}
	group.Wait()
	h := j.Health()
	if h.Received != 120 || h.Waiting != 0 || h.Verified > 120 {
		t.Errorf("%d received, %d wait, %d signatures checked", h.Received, h.Waiting, h.Verified)
	}
	p, err := j.Page("", 1000)
	if err != nil || len(p.Arrivals) != h.Events || !slices.IsSortedFunc(p.Arrivals, func(a, b Arrival) int { return int(a.Index) - int(b.Index) }) {
		t.Errorf("a walk has %d of %d events, %v", len(p.Arrivals), h.Events, err)
	}
}
