package journal

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

// invented is a first event of a runtime that the key makes up.
func (m *machine) invented(key *ident.Key, n int) *event.Event {
	s := ident.NewStream(key.Node(), ident.RuntimeID(fmt.Sprintf("%016x", n+1)), ident.NewInstance())
	return m.sealBy(key, s, 1, uint64(10+n), nil, event.SessionClosed{Session: "x", Reason: "done"})
}

// A key that is believed names runtimes without end, in one batch and in many, by
// events and by beats, and waits for the compaction in between. It fills its own
// places; peers that other nodes have are not kept out.
func TestOneNodeNamesFewRuntimes(t *testing.T) {
	m, bob, eve := newMachine(t, "ada"), keyOf(t, "bob"), keyOf(t, "eve")
	m.cfg.Trust = trust(bob, eve)
	m.clock = fake(m.start())
	j := m.start()
	n := 0
	for range 3 {
		var batch []*event.Event
		for range 10 {
			batch = append(batch, m.invented(eve, n))
			n++
		}
		m.ingest(j, batch...)
		m.ingest(j, m.invented(eve, n))
		n++
		o := &origin{m: m, key: eve, last: m.invented(eve, n), clock: m.clock}
		if told(j, o.beat(), 0) {
			t.Error("a beat of one more runtime is taken")
		}
		n++
		if got := len(j.Peers()); got != MaxRuntimes {
			t.Errorf("%d peers, want %d", got, MaxRuntimes)
		}
		m.clock.Advance(pastSilence)
		m.compact(j, force)
		if len(j.heads) > 0 {
			t.Fatalf("%d streams stay", len(j.heads))
		}
	}
	if got, want := j.Health().Crowded, uint64(3*12-MaxRuntimes); got[eve.Node()] != want || len(got) != 1 {
		t.Errorf("crowded = %v, want %d of eve", got, want)
	}
	wantOutcomes(t, m.ingest(j, m.line(bob, "b", 1)...), "accepted")
	j = m.start()
	if got := len(j.Peers()); got != MaxRuntimes+1 {
		t.Errorf("%d peers after a restart, want %d", got, MaxRuntimes+1)
	}
	wantOutcomes(t, m.ingest(j, m.invented(eve, n)), "capacity")
	wantOutcomes(t, m.ingest(j, m.invented(eve, 0)), "accepted") // one that is known
	known := j.Peers()
	if _, err := j.Forget(t.Context(), known[slices.IndexFunc(known, func(r ident.Runtime) bool { return r.Node == eve.Node() })]); err != nil {
		t.Fatal(err)
	}
	wantOutcomes(t, m.ingest(j, m.invented(eve, n)), "accepted") // a person made room
}

// The bounds of a node hold within one batch too. Of the runs of one record the
// latest alone counts there as well: a first exchange brings all of them at once.
func TestBoundsOfANodeHoldWithinABatch(t *testing.T) {
	m, bob := newMachine(t, "ada"), keyOf(t, "bob")
	m.cfg.Trust = trust(bob)
	m.cfg.Limits.NodeStreams, m.cfg.Limits.Streams = 4, 20
	j := m.start()
	var batch []*event.Event
	for range 8 {
		batch = append(batch, m.line(bob, "b", 2)...)
	}
	m.ingest(j, batch...)
	if len(j.heads) != 4 {
		t.Errorf("%d streams are held of one node, want 4", len(j.heads))
	}

	j = newJournal(m.cfg, newMemory(), fake(j))
	record := ident.NewRecord()
	batch = nil
	for run := range 30 {
		batch = append(batch, m.sealBy(bob, m.streamOf(bob), 1, uint64(run+1), nil, event.StreamSucceeded{Record: record, Run: uint64(run + 1)}))
	}
	m.ingest(j, batch...)
	if len(j.heads) != 20 {
		t.Errorf("%d streams are held of a record of 30 runs, want 20: the bound on all", len(j.heads))
	}
}

// runs are n runs of one record of key, each of which says one thing that stands.
func (m *machine) runs(key *ident.Key, n int) (all [][]*event.Event) {
	m.t.Helper()
	record := ident.NewRecord()
	for run := range n {
		s := m.streamOf(key)
		one := m.sealBy(key, s, 1, uint64(10+run), nil, event.StreamSucceeded{Record: record, Run: uint64(run + 1)})
		body := fmt.Sprint("what run ", run, " leaves")
		two := m.sealBy(key, s, 2, uint64(11+run), one, event.HandoverPublished{Session: "s", Handover: event.Handover{ID: event.HandoverID(body), Body: body, CreatedAt: "2026-01-01T00:00:00Z"}})
		all = append(all, []*event.Event{one, two})
	}
	return all
}

// All runs of a node have a bound, those that a later one succeeded too: else one key
// could fill the table for everybody. Our own have none.
func TestRunsOfOneNodeLeaveRoomForOthers(t *testing.T) {
	for _, atOnce := range []bool{false, true} {
		m, bob, eve := lasting(t, "ada"), keyOf(t, "bob"), keyOf(t, "eve")
		m.cfg.Trust = trust(bob, eve)
		m.cfg.Limits.NodeRuns, m.cfg.Limits.Streams = 4, 10
		j := m.start()
		runs := m.runs(bob, 8)
		if atOnce {
			if r := m.ingest(j, slices.Concat(runs...)...); r.Accepted != 8 || r.Rejected[event.Capacity] != 8 {
				t.Errorf("of 8 runs in a batch %d events were taken, refused %v", r.Accepted, r.Rejected)
			}
		} else {
			for i, run := range runs {
				want := "accepted"
				if i >= 4 {
					want = "capacity"
				}
				wantOutcomes(t, m.ingest(j, run[0]), want)
			}
		}
		for range 2 {
			if n := j.Tallies()[bob.Node()].Streams; n != 4 {
				t.Errorf("at once %v: %d streams are held of one node, want 4", atOnce, n)
			}
			wantOutcomes(t, m.ingest(j, runs[7][0]), "capacity")
			wantOutcomes(t, m.ingest(j, m.line(eve, "e", 1)...), "accepted")
			j = m.start()
		}
		for _, run := range m.runs(m.cfg.Key, 6) {
			wantOutcomes(t, m.ingest(j, run[0]), "accepted")
		}
	}
}

// A stream that was dropped comes back within the bound alone.
func TestDroppedRunComesBackWithinTheBound(t *testing.T) {
	m, bob := lasting(t, "ada"), keyOf(t, "bob")
	m.cfg.Trust = trust(bob)
	m.cfg.Limits.NodeRuns = 4
	j := m.start()
	m.append(j, session("a1"))
	s := m.streamOf(bob)
	one := m.sealBy(bob, s, 1, 1, nil, event.SessionClosed{Session: "s", Reason: "done"})
	two := m.sealBy(bob, s, 2, 2, one, event.SessionClosed{Session: "s", Reason: "done"})
	m.ingest(j, one)
	m.clock.Advance(pastSilence)
	wantDropped(t, m.compact(j, force), s)
	runs := m.runs(bob, 4)
	m.ingest(j, slices.Concat(runs...)...)
	wantOutcomes(t, m.ingest(j, two), "capacity")
	if j.tombs.of(s) == nil {
		t.Error("it is asked for, and there is no room")
	}
	if _, err := j.Forget(t.Context(), runs[0][0].Stream.Runtime()); err != nil {
		t.Fatal(err)
	}
	wantOutcomes(t, m.ingest(j, one, two), "accepted", "accepted")
}

// What a key named is forgotten with the trust in it, on disk too, whether it is
// withdrawn while the journal runs or before it is opened.
func TestWithdrawnKeyIsNoPeer(t *testing.T) {
	for _, running := range []bool{true, false} {
		t.Run(fmt.Sprintf("running %v", running), func(t *testing.T) {
			m, bob, eve := lasting(t, "ada"), keyOf(t, "bob"), keyOf(t, "eve")
			m.cfg.Trust = trust(bob, eve)
			j := m.start()
			b, e := m.line(bob, "b", 1)[0], m.origin(eve, session("e1"))
			m.ingest(j, m.invented(bob, 0), m.invented(eve, 0), m.invented(eve, 1), b, e.last)
			m.clock.Advance(pastSilence)
			m.compact(j, force)
			if _, err := j.Forget(t.Context(), m.invented(eve, 1).Stream.Runtime()); err != nil {
				t.Fatal(err)
			}
			m.clock.Advance(pastSilence)
			m.compact(j, force)
			for _, kind := range []string{peerRowKind, forgotRowKind, silentRowKind} {
				if len(j.Local(kind)) == 0 {
					t.Fatalf("no row of kind %s before", kind)
				}
			}
			m.cfg.Trust = trust(bob)
			if running {
				m.setTrust(j, bob)
			} else {
				j = m.start()
				m.compact(j, force)
				m.setTrust(j, bob)
			}
			j = m.start()
			for _, kind := range []string{peerRowKind, forgotRowKind, silentRowKind} {
				for name := range j.Local(kind) {
					if name[:32] == string(eve.Node()) {
						t.Errorf("row of kind %s of a key that is not believed: %s", kind, name)
					}
				}
			}
			m.setTrust(j, bob, eve)
			want := []ident.Runtime{b.Stream.Runtime(), e.stream().Runtime(), m.invented(bob, 0).Stream.Runtime()}
			slices.SortFunc(want, ident.Runtime.Compare)
			if got := j.Peers(); !slices.Equal(got, want) {
				t.Errorf("peers of a key that is believed again: %v, want %v: those of what is on disk", got, want)
			}
		})
	}
}

// Who is a peer, and who was taken out, outlives a compaction while nobody is believed:
// the trust may not be read yet.
func TestCompactionWithoutTrustForgetsNoPeer(t *testing.T) {
	m, eve := lasting(t, "ada"), keyOf(t, "eve")
	m.cfg.Trust = trust(eve)
	j := m.start()
	e := m.origin(eve, session("e1"))
	m.ingest(j, m.invented(eve, 0), m.invented(eve, 1), e.last)
	m.clock.Advance(pastSilence)
	m.compact(j, force)
	if _, err := j.Forget(t.Context(), m.invented(eve, 1).Stream.Runtime()); err != nil {
		t.Fatal(err)
	}
	m.clock.Advance(pastSilence)
	m.compact(j, force)
	want := j.Peers()
	m.cfg.Trust = nil
	j = m.start()
	m.compact(j, force)
	if got := j.Peers(); len(got) > 0 {
		t.Errorf("peers while nobody is believed: %v", got)
	}
	m.setTrust(j, eve)
	if got := j.Peers(); !slices.Equal(got, want) || len(got) == 0 {
		t.Errorf("peers afterwards: %v, want %v", got, want)
	}
}

// A trust that the disk does not take to its rows is no less withdrawn.
func TestTrustIsWithdrawnThoughTheDiskFails(t *testing.T) {
	m, eve := lasting(t, "ada"), keyOf(t, "eve")
	m.cfg.Trust = trust(eve)
	j := m.start()
	m.ingest(j, m.invented(eve, 0))
	m.clock.Advance(pastSilence)
	m.compact(j, force)
	j.ended = errOver
	if err := j.SetTrust(t.Context(), nil); err != nil || len(j.Peers()) > 0 {
		t.Errorf("SetTrust = %v, peers %v", err, j.Peers())
	}
	m.clock.Advance(time.Hour)
	if n := len(m.start().Local(peerRowKind)); n != 1 {
		t.Errorf("%d rows are on disk, want the one that could not be taken out", n)
	}
}

// A run that is heard before its first event comes counts once in the batch that
// brings it.
func TestRunThatWasHeardCountsOnce(t *testing.T) {
	for _, change := range []func(*event.Limits){
		func(l *event.Limits) { l.NodeStreams = 2 },
		func(l *event.Limits) { l.Streams = 2 },
	} {
		m, bob := newMachine(t, "ada"), keyOf(t, "bob")
		m.cfg.Trust = trust(bob)
		change(&m.cfg.Limits)
		j := m.start()
		one, two, three := m.line(bob, "b", 1)[0], m.line(bob, "b", 1)[0], m.line(bob, "b", 1)[0]
		if !told(j, (&origin{m: m, key: bob, last: one, clock: fake(j)}).beat(), 0) {
			t.Fatal("a beat is not taken")
		}
		wantOutcomes(t, m.ingest(j, one, two, three), "accepted", "accepted", "capacity")
	}
}
