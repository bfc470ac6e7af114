package journal

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

type compacted struct {
	report CompactReport
	err    error
}

// startCompact begins a compaction and returns once it has its place in the log.
func (b *bench) startCompact() <-chan compacted {
	c := make(chan compacted, 1)
	b.group.Go(func() {
		r, err := b.j.Compact(b.t.Context(), force)
		c <- compacted{r, err}
	})
	<-b.log.queued
	return c
}

// silentPeer is a journal that holds a run of bob's which ended and was heard.
func silentPeer(t *testing.T) (*bench, *origin) {
	b, m, bob := benchPeer(t)
	o := m.origin(bob, event.SessionClosed{Session: "b1", Reason: "done"})
	sent := b.send(o.last)
	b.log.sync(1, 0)
	<-sent
	told(b.j, o.beat(), 0)
	fake(b.j).Advance(pastSilence)
	o.clock.Advance(pastSilence)
	return b, o
}

func TestNothingIsDroppedBeforeThatIsOnDisk(t *testing.T) {
	b, o := silentPeer(t)
	done := b.startCompact()
	own := b.append("a1") // own writes go on
	if b.j.Marks()[o.stream()].Beat == nil || len(b.page()) != 1 {
		t.Error("the stream is gone before the sync")
	}
	b.log.sync(2, 1, 0)
	if o := <-own; o.err != nil {
		t.Error(o.err)
	}
	c := <-done
	if c.err != nil {
		t.Fatal(c.err)
	}
	wantDropped(t, c.report, o.stream())
	if len(b.page()) != 2 {
		t.Errorf("pages = %v, want the own events", b.page())
	}
}

func TestCompactionOnAFullDiskDropsNothing(t *testing.T) {
	b, o := silentPeer(t)
	done := b.startCompact()
	b.log.full()
	if c := <-done; !errors.Is(c.err, ErrNoSpace) || c.report.Rewritten || len(c.report.Streams)+c.report.Events > 0 {
		t.Errorf("Compact = %+v, %v", c.report, c.err)
	}
	if b.j.Marks()[o.stream()].Beat == nil || len(b.j.dead) != 0 || b.j.tombs.dropped() != 0 {
		t.Error("the stream is gone")
	}
	done = b.startCompact() // there is room again
	b.log.sync(1, 0)
	wantDropped(t, (<-done).report, o.stream())
}

// A stream that did not come back is closed again once that is on disk, and not when it
// was heard meanwhile.
func TestNothingIsClosedBeforeThatIsOnDisk(t *testing.T) {
	b, o := silentPeer(t)
	done := b.startCompact()
	b.log.sync(1, 0)
	<-done
	told(b.j, o.beat(), 0)
	fake(b.j).Advance(pastSilence)
	o.clock.Advance(pastSilence)
	wanted := func(what string, want uint64) {
		t.Helper()
		if got := b.j.Marks()[o.stream()].Seq; got != want {
			t.Errorf("%s: the mark is %d, want %d", what, got, want)
		}
	}
	done = b.startCompact()
	wanted("before the sync", 0)
	b.log.full()
	<-done
	wanted("on a full disk", 0)
	done = b.startCompact()
	told(b.j, o.beat(), 0)
	b.log.sync(1, 0)
	<-done
	wanted("heard meanwhile", 0)
	fake(b.j).Advance(pastSilence)
	done = b.startCompact()
	b.log.sync(1, 0)
	<-done
	wanted("after the sync", 1)
}

// The run is heard after it was decided that it goes, and before that is on disk.
func TestRunThatIsHeardWhileItIsDropped(t *testing.T) {
	b, o := silentPeer(t)
	done := b.startCompact()
	if !told(b.j, o.beat(), 0) {
		t.Fatal("the beat is not taken")
	}
	b.log.sync(1, 0)
	<-done
	got, ok := b.j.Marks()[o.stream()]
	if !ok || got.Seq != 0 || got.Beat == nil {
		t.Errorf("mark = %+v, want 0 and the beat: it is wanted whole", got)
	}
	wantLiveness(t, b.j, o.stream(), Unknown) // it beats, and its first event is not here
	sent := b.send(o.last)
	b.log.sync(1, 0)
	if r := <-sent; r.Accepted != 1 {
		t.Errorf("report = %+v", r)
	}
	wantLiveness(t, b.j, o.stream(), Live)
}

// What a peer has to say is on its way: nothing of it goes meanwhile.
func TestFirstExchangeKeepsStreams(t *testing.T) {
	m, bob := lasting(t, "ada"), keyOf(t, "bob")
	m.cfg.Trust = trust(bob)
	j := m.start()
	o := m.origin(bob, event.SessionClosed{Session: "b1", Reason: "done"})
	m.ingest(j, o.last)
	m.clock.Advance(pastSilence)
	done := j.Joining(o.stream().Runtime())
	wantDropped(t, m.compact(j, force))
	done()
	wantDropped(t, m.compact(j, force), o.stream())
}

// This run gave its stream up while an event of it was on its way to the disk.
func TestStreamWithAnEventUnderWayStays(t *testing.T) {
	b := newBench(t)
	s := b.j.own.stream
	closed := func() <-chan outcome {
		return b.start(t.Context(), func(tx *Tx) error {
			_, err := tx.Append(event.SessionClosed{Session: "a1", Reason: "done"})
			return err
		})
	}
	own := closed()
	b.log.sync(1, 0)
	<-own
	end := closed()
	b.j.lock()
	b.j.forsake()
	b.j.unlock()
	fake(b.j).Advance(pastSilence)
	done := b.startCompact()
	b.log.sync(2, 1, 0)
	<-end
	wantDropped(t, (<-done).report)
	if got := b.j.heads.of(s).seq; got != 3 {
		t.Errorf("the stream is held up to %d, want 3", got)
	}
}

func TestWaitingEventsOfAWithdrawnKeyAreGivenUp(t *testing.T) {
	m, bob := lasting(t, "ada"), keyOf(t, "bob")
	m.cfg.Trust = trust(bob)
	j := m.start()
	b := m.line(bob, "b", 3)
	wantOutcomes(t, m.ingest(j, b[2]), "pending")
	m.setTrust(j)
	if h := j.Health(); h.Waiting != 0 || len(h.Blocked) != 0 {
		t.Errorf("%d events wait: %v", h.Waiting, h.Blocked)
	}
	m.setTrust(j, bob)
	if d := cmp.Diff(map[ident.NodeID]Tally{}, j.Tallies()); d != "" {
		t.Errorf("tallies (-want +got):\n%s", d)
	}
	wantOutcomes(t, m.ingest(j, b...), "accepted", "accepted", "accepted")
}
