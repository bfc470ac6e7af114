package journal

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/fold"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/scope"
	"github.com/comity-dev/comity/internal/clock"
	"github.com/comity-dev/comity/internal/seglog"
)

// pastSilence is longer than a stream must be silent before it may go.
const pastSilence = 16 * time.Minute

// lasting is a machine whose clock goes on over its restarts.
func lasting(t *testing.T, name string) *machine {
	m := newMachine(t, name)
	m.clock = clock.NewFake(time.Unix(1e9, 0), time.Hour, "boot")
	return m
}

func (m *machine) compact(j *Journal, p Policy) CompactReport {
	m.t.Helper()
	r, err := j.Compact(m.t.Context(), p)
	if err != nil {
		m.t.Fatalf("compact: %v", err)
	}
	return r
}

var force = Policy{Force: true}

// wantDropped compares which streams a compaction dropped.
func wantDropped(t *testing.T, r CompactReport, want ...ident.Stream) {
	t.Helper()
	if d := cmp.Diff(sorted(want...), r.Streams); d != "" && len(want)+len(r.Streams) > 0 {
		t.Errorf("dropped (-want +got):\n%s", d)
	}
}

// exchange hands each of two journals what it lacks of the other, until neither
// lacks anything.
func exchange(t *testing.T, a, b *Journal) {
	t.Helper()
	for round := 0; ; round++ {
		ab, ba := missing(t, a, b.Marks()), missing(t, b, a.Marks())
		if len(ab)+len(ba) == 0 {
			return
		}
		if round > 20 {
			t.Fatalf("after %d rounds they lack %d and %d events of each other", round, len(ab), len(ba))
		}
		for to, all := range map[*Journal][]event.Stored{b: ab, a: ba} {
			var batch [][]byte
			for _, s := range all {
				batch = append(batch, s.Raw)
			}
			to.Ingest(t.Context(), batch)
		}
	}
}

// standings are the live claims and what they are worth, by key.
func standings(j *Journal) (all []string) {
	j.View(func(v View) {
		for c := range v.State().Claims() {
			all = append(all, fmt.Sprintf("%.6s/%d %s", c.Key.Stream.Instance(), c.Key.Seq, v.State().Standing(c.Key, nil).State))
		}
	})
	return all
}

func (m *machine) acquire(k *ident.Key, s ident.Stream, prev *event.Event, stamp uint64, sid, path string, fences ...event.Key) *event.Event {
	m.t.Helper()
	return m.sealBy(k, s, prev.Seq+1, stamp, prev, event.ClaimAcquired{Session: sid, Scope: m.scope(path), Mode: event.ModeExclusive, Fences: fences})
}

// letters begin a pattern of many states.
const letters = "{a,b,c,d,e,f,g,h}{a,b,c,d,e,f}"

// glob seals a claim of a pattern behind an event.
func (m *machine) glob(k *ident.Key, prev *event.Event, pattern string) *event.Event {
	m.t.Helper()
	set, err := scope.ParseSet([]string{"glob:" + pattern})
	if err != nil {
		m.t.Fatal(err)
	}
	return m.sealBy(k, prev.Stream, prev.Seq+1, prev.Lamport+1, prev, event.ClaimAcquired{Session: "s", Scope: set, Mode: event.ModeExclusive})
}

// A machine that restarts every hour keeps its log: runs that a later one
// succeeded do not fill its share, and it is no reason to compact.
func TestSucceededRunsAreNoReasonToCompact(t *testing.T) {
	m, bob := lasting(t, "ada"), keyOf(t, "bob")
	m.cfg.Trust = trust(bob)
	m.cfg.Limits.NodeTrigger = 4
	j := m.start()
	record := ident.NewRecord()
	for run := range 10 {
		e := m.sealBy(bob, m.streamOf(bob), 1, uint64(run+1), nil, event.StreamSucceeded{Record: record, Run: uint64(run + 1)})
		wantOutcomes(t, m.ingest(j, e), "accepted")
	}
	m.append(j, session("a1"))
	m.clock.Advance(pastSilence)
	wantDropped(t, m.compact(j, Policy{}))

	var ended []ident.Stream // each of a record of its own
	for run := range 3 {
		s := m.streamOf(bob)
		wantOutcomes(t, m.ingest(j, m.sealBy(bob, s, 1, uint64(run+20), nil, event.StreamSucceeded{Record: ident.NewRecord(), Run: 1})), "accepted")
		ended = append(ended, s)
	}
	m.clock.Advance(pastSilence)
	if got := m.compact(j, Policy{}).Streams; !slices.Contains(got, ended[0]) {
		t.Errorf("dropped %v, want %v among them", got, ended[0])
	}
}

// Nor may one node's streams or bytes come near what is held of it at most: what ended
// is dropped before, of that node alone.
func TestNodeThatHoldsMuchIsCompacted(t *testing.T) {
	for name, tight := range map[string]func(*event.Limits){
		"runs":   func(l *event.Limits) { l.NodeRunsTrigger = 2 },
		"bytes":  func(l *event.Limits) { l.NodeSizeTrigger = 5 * 512 },
		"states": func(l *event.Limits) { l.StatesTrigger = 2 * (48*21 - narrow) },
	} {
		t.Run(name, func(t *testing.T) {
			m, bob, eve := lasting(t, "ada"), keyOf(t, "bob"), keyOf(t, "eve")
			m.cfg.Trust = trust(bob, eve)
			tight(&m.cfg.Limits)
			j := m.start()
			m.append(j, session("a1"))
			record := ident.NewRecord()
			bobs := func(run uint64) *event.Event {
				first := m.sealBy(bob, m.streamOf(bob), 1, run, nil, event.StreamSucceeded{Record: record, Run: run})
				m.ingest(j, first, m.glob(bob, first, letters+"*a????????????????")) // of no session that is open
				return first
			}
			one, two := bobs(1), bobs(2)
			m.ingest(j, m.sealBy(eve, m.streamOf(eve), 1, 1, nil, event.SessionClosed{Session: "s", Reason: "done"}))
			m.clock.Advance(pastSilence)
			wantDropped(t, m.compact(j, Policy{}))
			for run := range uint64(2) {
				bobs(3 + run)
			}
			wantDropped(t, m.compact(j, Policy{}), one.Stream, two.Stream)
		})
	}
}

func TestStreamInWhichNothingStandsIsDropped(t *testing.T) {
	m, bob := lasting(t, "ada"), keyOf(t, "bob")
	m.cfg.Trust = trust(bob)
	j := m.start()
	s := m.streamOf(bob)
	one := m.sealBy(bob, s, 1, 10, nil, session("b1"))
	two := m.sealBy(bob, s, 2, 11, one, event.SessionClosed{Session: "b1", Reason: "done"})
	m.ingest(j, one, two)
	m.append(j, session("a1"))
	wantDropped(t, m.compact(j, force)) // not silent for long enough
	m.clock.Advance(pastSilence)
	wantDropped(t, m.compact(j, Policy{})) // nothing is over its trigger
	r := m.compact(j, force)
	wantDropped(t, r, s)
	if r.Events != 2 || r.GivenUp != 0 || !r.Rewritten {
		t.Errorf("report = %+v", r)
	}
	wantSessions(t, j, "a1")
	for _, at := range j.arrivals.slice(0, j.arrivals.len()) {
		if _, err := j.log.Read(at); err != nil {
			t.Errorf("index %d: %v", at, err)
		}
	}
	for i, rec := range m.log.recs {
		if len(rec) > 0 && RecordType(rec[0]) == RecordEvent && slices.Contains([]string{string(one.Raw), string(two.Raw)}, string(rec[recordHeader:])) {
			t.Errorf("record %d has an event that was dropped", i+1)
		}
	}
	if m := j.Marks()[s]; m.Seq != 2 || m.Beat != nil {
		t.Errorf("mark of a dropped stream = %+v, want 2 without a beat", m)
	}
	wantOutcomes(t, m.ingest(j, one, two), "duplicate", "duplicate")
	h := j.Health()
	if h.Compacted != 2 || h.Dropped != 1 || h.Streams != 1 {
		t.Errorf("health = %+v", h)
	}
	before := show(j)
	j = m.start("a1")
	if d := cmp.Diff(before, show(j)); d != "" {
		t.Errorf("after a restart (-before +after):\n%s", d)
	}
	wantOutcomes(t, m.ingest(j, one, two), "duplicate", "duplicate")
	if v, err := j.Verify(t.Context()); err != nil || !v.OK() {
		t.Errorf("Verify = %+v, %v", v, err)
	}
}

// Each of these holds something that stands by events.
func TestStreamStaysWhileSomethingInItStands(t *testing.T) {
	text := event.Handover{ID: event.HandoverID("text"), Body: "text"}
	for _, tt := range []struct {
		name string
		body event.Body
	}{
		{"open session", session("b2")},
		{"unreleased claim", nil},
		{"open review", event.ReviewRequested{Session: "b1", Subject: "look"}},
		{"open handover", event.HandoverPublished{Session: "b1", Handover: text}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, bob := lasting(t, "ada"), keyOf(t, "bob")
			m.cfg.Trust = trust(bob)
			j := m.start()
			s := m.streamOf(bob)
			one := m.sealBy(bob, s, 1, 10, nil, session("b1"))
			two := m.acquire(bob, s, one, 11, "b1", "a")
			if tt.body != nil {
				two = m.sealBy(bob, s, 2, 11, one, tt.body)
			}
			m.ingest(j, one, two)
			m.clock.Advance(pastSilence)
			r := m.compact(j, force)
			wantDropped(t, r)
			if r.Kept != 1 {
				t.Errorf("%d silent streams stay, want 1", r.Kept)
			}
			m.clock.Advance(31 * 24 * time.Hour) // the machine never returned
			if r = m.compact(j, Policy{}); r.GivenUp != 1 {
				t.Errorf("report = %+v, want the stream given up", r)
			}
			wantDropped(t, r, s)
		})
	}
}

// bob slept while eve's claim fenced his; eve released hers and went. When he
// returns, his claim must still be fenced, whoever compacted meanwhile.
func TestCompactedFencerWhenTheSleeperReturns(t *testing.T) {
	m, bob, eve := lasting(t, "ada"), keyOf(t, "bob"), keyOf(t, "eve")
	m.cfg.Trust = trust(bob, eve)
	j := m.start()
	b, e := m.streamOf(bob), m.streamOf(eve)
	b1 := m.sealBy(bob, b, 1, 10, nil, session("b1"))
	b2 := m.acquire(bob, b, b1, 11, "b1", "a")
	e1 := m.sealBy(eve, e, 1, 20, nil, session("e1"))
	e2 := m.acquire(eve, e, e1, 21, "e1", "a", b2.Key())
	e3 := m.sealBy(eve, e, 3, 22, e2, event.SessionClosed{Session: "e1", Reason: "done"})
	m.ingest(j, b1, b2, e1, e2, e3)
	before := standings(j)
	m.clock.Advance(pastSilence)
	wantDropped(t, m.compact(j, force)) // eve's fences what stays
	j = m.start()
	if got := standings(j); !slices.Equal(got, before) || len(got) != 1 {
		t.Errorf("standings %v, want %v", got, before)
	}
	b3 := m.sealBy(bob, b, 3, 30, b2, session("b2")) // he returns
	m.ingest(j, b3)
	if got := standings(j); !slices.Equal(got, before) {
		t.Errorf("standings %v, want %v: the fence lapsed", got, before)
	}
	b4 := m.sealBy(bob, b, 4, 31, b3, event.ClaimReleased{Claim: b2.Key(), Session: "b1", Reason: "fenced"})
	m.ingest(j, b4)
	m.clock.Advance(pastSilence)
	wantDropped(t, m.compact(j, force)) // the sessions of bob are open: his stream stays, and so does what fenced it
}

// A session lives on over the runs of its daemon. The run that opened it, and
// those that say more of it, stay though they are long over.
func TestLivingSessionWhoseEarlierRunWasCompacted(t *testing.T) {
	m := lasting(t, "ada")
	j := m.start()
	m.append(j, session("a1"))
	k := m.claim(j, "a1", "a")
	j = m.start("a1")
	idle := m.append(j, session("other")).Stream
	m.append(j, event.SessionClosed{Session: "other", Reason: "done"})
	j = m.start("a1")
	m.claim(j, "a1", "b")
	last := j.Stream()
	j = m.start("a1")
	m.append(j, session("a2"))
	m.clock.Advance(pastSilence)
	before := show(j)
	wantDropped(t, m.compact(j, force), idle)
	after := show(j)
	if before.Digest != after.Digest || !slices.Equal(before.Claims, after.Claims) {
		t.Errorf("compaction changed what stands (-before +after):\n%s", cmp.Diff(before, after))
	}
	j = m.start("a1", "a2")
	m.append(j, session("a3"))
	if got := first(t, j, j.Stream()).Streams; !slices.Contains(got, k.Stream) || !slices.Contains(got, last) || slices.Contains(got, idle) {
		t.Errorf("the next run names %v, want the runs that stay", got)
	}
	j.View(func(v View) {
		if c, ok := v.State().Claim(k); !ok || !c.Live() {
			t.Errorf("the claim of the first run is %+v", c)
		}
	})
}

// bob released his claim in a run that he compacted before anyone heard of it. That
// his next run does not carry the claim ends it all the same.
func TestReleaseInARunCompactedBeforeAnyoneHeardIt(t *testing.T) {
	ma, mb := lasting(t, "ada"), lasting(t, "bob")
	ma.cfg.Trust, mb.cfg.Trust = trust(mb.cfg.Key), trust(ma.cfg.Key)
	a, b := ma.start(), mb.start()
	mb.append(b, session("b1"))
	k := mb.claim(b, "b1", "a")
	exchange(t, a, b)
	if got := standings(a); len(got) != 1 {
		t.Fatalf("standings = %v", got)
	}
	first := b.Stream()
	b = mb.start("b1")
	mb.release(b, "b1", k)
	second := b.Stream()
	b = mb.start()
	mb.append(b, session("b2"))
	mb.clock.Advance(pastSilence)
	wantDropped(t, mb.compact(b, force), first, second)
	exchange(t, a, b)
	if got := standings(a); len(got) != 0 {
		t.Errorf("standings = %v: the released claim stands", got)
	}
	if a.state.Digest([]ident.Stream{b.Stream()}) != b.state.Digest([]ident.Stream{b.Stream()}) {
		t.Error("over the stream that both hold the digests differ")
	}
}

// The disk lost an event in the middle of a stream: it may have been what ended
// something. The stream stays until it is whole.
func TestLostRecordInTheMiddleOfAStreamKeepsIt(t *testing.T) {
	m, bob := lasting(t, "ada"), keyOf(t, "bob")
	m.cfg.Trust = trust(bob)
	j := m.start()
	s := m.streamOf(bob)
	one := m.sealBy(bob, s, 1, 10, nil, session("b1"))
	two := m.acquire(bob, s, one, 11, "b1", "a")
	three := m.sealBy(bob, s, 3, 12, two, event.SessionClosed{Session: "b1", Reason: "done"})
	m.ingest(j, one, two, three)
	m.lose(2)
	j = m.start()
	m.clock.Advance(pastSilence)
	wantDropped(t, m.compact(j, force))
	wantOutcomes(t, m.ingest(j, two), "accepted")
	wantDropped(t, m.compact(j, force), s)
}

// A newer peer wrote what this build cannot read: nobody knows what stands in it.
func TestUnreadableEventKeepsItsStreamUntilItIsGivenUp(t *testing.T) {
	m, bob := lasting(t, "ada"), keyOf(t, "bob")
	m.cfg.Trust = trust(bob)
	j := m.start()
	one := m.sealBy(bob, m.streamOf(bob), 1, 10, nil, event.SessionClosed{Session: "b1", Reason: "done"})
	r := j.Ingest(t.Context(), [][]byte{one.Raw, opaque(t, bob, one)})
	wantOutcomes(t, r, "accepted", "accepted")
	m.clock.Advance(pastSilence)
	wantDropped(t, m.compact(j, force))
	m.clock.Advance(31 * 24 * time.Hour)
	wantDropped(t, m.compact(j, force), one.Stream)
}

// droppedOrigin is a journal that dropped a stream of an origin that beats.
func droppedOrigin(t *testing.T) (*machine, *Journal, *origin, []*event.Event) {
	m, bob := lasting(t, "ada"), keyOf(t, "bob")
	m.cfg.Trust = trust(bob)
	j := m.start()
	o := m.origin(bob, session("b1"))
	all := []*event.Event{o.last}
	o.last = m.sealBy(bob, o.stream(), 2, 11, o.last, event.SessionClosed{Session: "b1", Reason: "done"})
	all = append(all, o.last)
	m.ingest(j, all...)
	told(j, o.beat(), 0)
	m.clock.Advance(pastSilence)
	o.clock.Advance(pastSilence)
	wantDropped(t, m.compact(j, force), o.stream())
	return m, j, o, all
}

func TestReplayedBeatBringsNothingBack(t *testing.T) {
	m, j, o, _ := droppedOrigin(t)
	old := clock.NewFake(time.Unix(5, 0), 99*time.Hour, "origin")
	o.clock = old
	replay := o.beat()
	old.Advance(time.Minute)
	hoarded := o.beat() // never heard, and old
	for range 2 {
		if told(j, replay, 0) || told(j, hoarded, 0) {
			t.Error("an old beat is taken for news")
		}
		if got := j.Marks()[o.stream()]; got.Seq != 2 {
			t.Errorf("mark = %+v, want 2", got)
		}
		j = m.start()
	}
}

func TestFreshBeatBringsTheStreamBackWhole(t *testing.T) {
	for _, restart := range []bool{false, true} {
		m, j, o, all := droppedOrigin(t)
		if restart {
			j = m.start()
		}
		_, version := j.MarksSince(0)
		if !told(j, o.beat(), 0) {
			t.Fatal("a fresh beat is not taken")
		}
		marks, _ := j.MarksSince(version)
		if got, ok := marks[o.stream()]; !ok || got.Seq != 0 || got.Beat == nil {
			t.Fatalf("mark = %+v, want 0 and the beat: the stream is wanted whole", got)
		}
		three := m.sealBy(o.key, o.stream(), 3, 30, all[1], session("b2"))
		wantOutcomes(t, m.ingest(j, append(slices.Clone(all), three)...), "accepted", "accepted", "accepted")
		p, err := j.Page("", 100)
		if err != nil {
			t.Fatal(err)
		}
		var again []uint64
		for _, a := range p.Arrivals {
			if a.Again {
				again = append(again, a.Event.Seq)
			}
		}
		if !slices.Equal(again, []uint64{1, 2}) {
			t.Errorf("marked as coming again: %v, want 1 and 2", again)
		}
		before := show(j)
		if d := cmp.Diff(before, show(m.start())); d != "" {
			t.Errorf("after a restart (-before +after):\n%s", d)
		}
	}
}

func TestEventAboveTheHeadBringsTheStreamBackWhole(t *testing.T) {
	m, j, o, all := droppedOrigin(t)
	three := m.sealBy(o.key, o.stream(), 3, 30, all[1], session("b2"))
	four := m.sealBy(o.key, o.stream(), 4, 31, three, session("b3"))
	wantOutcomes(t, m.ingest(j, m.forge(four)), "signature")
	if got := j.Marks()[o.stream()]; got.Seq != 2 {
		t.Errorf("a forged event changed the mark to %+v", got)
	}
	_, version := j.MarksSince(0)
	r := m.ingest(j, four)
	wantOutcomes(t, r, "pending")
	if d := cmp.Diff([]event.Blocked{{Stream: o.stream(), Seq: 1, Why: event.Waiting}}, r.Blocked); d != "" {
		t.Errorf("blocked (-want +got):\n%s", d)
	}
	if marks, _ := j.MarksSince(version); len(marks) != 1 || marks[o.stream()].Seq != 0 {
		t.Errorf("marks = %+v, want the stream asked for from its first event", marks)
	}
	now := o.clock
	o.clock = clock.NewFake(time.Unix(5, 0), 99*time.Hour, "origin")
	if told(j, o.beat(), 0) {
		t.Error("the beat that was heard before the stream was dropped is news")
	}
	o.clock = now
	wantOutcomes(t, m.ingest(j, all[0], all[1], three), "accepted", "accepted", "accepted")
	if got := j.Marks()[o.stream()]; got.Seq != 4 {
		t.Errorf("mark = %+v, want 4", got)
	}

	m, j, o, all = droppedOrigin(t) // too far ahead to wait: what comes before it is wanted all the same
	far := m.sealBy(o.key, o.stream(), 400, 500, all[1], session("b2"))
	r = m.ingest(j, far)
	wantOutcomes(t, r, "capacity")
	if d := cmp.Diff([]event.Blocked{{Stream: o.stream(), Seq: 1, Why: event.Waiting}}, r.Blocked); d != "" || j.Marks()[o.stream()].Seq != 0 {
		t.Errorf("blocked (-want +got):\n%s", d)
	}

	m, j, o, all = droppedOrigin(t) // in one batch with what had been held
	three = m.sealBy(o.key, o.stream(), 3, 30, all[1], session("b2"))
	wantOutcomes(t, m.ingest(j, three, all[0], all[1]), "accepted", "accepted", "accepted")
}

// Who is back by what it wrote is no longer heard by beats of before it was dropped:
// not after a compaction and a restart, nor when its key was withdrawn meanwhile.
func TestReplayedBeatIsOldForWhoIsBack(t *testing.T) {
	m, j, o, all := droppedOrigin(t)
	three := m.sealBy(o.key, o.stream(), 3, 30, all[1], session("b2"))
	wantOutcomes(t, m.ingest(j, append(all, three)...), "accepted", "accepted", "accepted")
	m.clock.Advance(time.Minute)
	o.clock.Advance(time.Minute)
	now := o.clock
	check := func(what string) {
		t.Helper()
		o.clock = clock.NewFake(time.Unix(5, 0), 99*time.Hour, "origin")
		if told(j, o.beat(), 0) {
			t.Errorf("%s: an old beat is taken for news", what)
		}
	}
	check("back")
	m.compact(j, force)
	check("after a compaction")
	j = m.start()
	check("after a restart")
	m.setTrust(j)
	m.setTrust(j, o.key)
	check("believed again")
	m.ingest(j, m.sealBy(o.key, o.stream(), 4, 31, three, event.SessionClosed{Session: "b2", Reason: "done"}))
	m.clock.Advance(pastSilence)
	now.Advance(pastSilence)
	wantDropped(t, m.compact(j, force), o.stream())
	check("dropped again")
	o.clock = now
	if !told(j, o.beat(), 0) {
		t.Error("a fresh beat is not taken")
	}
}

func TestFirstEventThatNamesItBringsAStreamBack(t *testing.T) {
	m, j, o, all := droppedOrigin(t)
	stranger := m.sealBy(o.key, ident.NewStream(o.key.Node(), "00000000000000ff", ident.NewInstance()), 1, 40, nil,
		event.StreamSucceeded{Record: ident.NewRecord(), Run: 1, Streams: []ident.Stream{o.stream()}})
	m.ingest(j, stranger)
	if got := j.Marks()[o.stream()]; got.Seq != 2 {
		t.Errorf("another runtime's first event changed the mark to %+v", got)
	}
	next := m.sealBy(o.key, m.streamOf(o.key), 1, 41, nil,
		event.StreamSucceeded{Record: ident.NewRecord(), Run: 2, Streams: []ident.Stream{o.stream()}})
	m.ingest(j, next)
	if got, ok := j.Marks()[o.stream()]; !ok || got.Seq != 0 {
		t.Errorf("mark = %+v, %v, want 0", got, ok)
	}
	j = m.start() // the event is held, and names the stream again
	if got, ok := j.Marks()[o.stream()]; !ok || got.Seq != 0 {
		t.Errorf("after a restart the mark is %+v, %v, want 0", got, ok)
	}
	wantOutcomes(t, m.ingest(j, all...), "accepted", "accepted")
}

func TestWhatOutlivesACompaction(t *testing.T) {
	m, bob, eve := lasting(t, "ada"), keyOf(t, "bob"), keyOf(t, "eve")
	m.cfg.Trust = trust(bob, eve)
	j := m.start()
	o := m.origin(bob, session("b1"))
	m.ingest(j, o.last)
	told(j, o.beat(), 0)
	s := m.streamOf(eve)
	e := m.sealBy(eve, s, 1, 9000, nil, event.SessionClosed{Session: "e1", Reason: "done"})
	m.ingest(j, e)
	for i := range 5 {
		_, err := j.Decide(t.Context(), func(tx *Tx) error {
			tx.PutLocal("k", "key", fmt.Append(nil, i))
			tx.PutLocal("gone", "key", []byte("x"))
			if i == 4 {
				tx.PutLocal("gone", "key", nil)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	own := m.append(j, session("a1"))
	record := j.Health().Record
	m.clock.Advance(pastSilence)
	r := m.compact(j, force)
	wantDropped(t, r, s)
	count := map[RecordType]int{}
	for _, rec := range m.log.recs {
		if len(rec) > 0 {
			count[RecordType(rec[0])]++
		}
	}
	// bob's opening, our first event and ours; the run record, "k", bob's and eve's silence, eve's runtime
	if d := cmp.Diff(map[RecordType]int{RecordEvent: 3, RecordRow: 5, RecordTombs: 1, RecordBeats: 1}, count); d != "" {
		t.Errorf("records left (-want +got):\n%s", d)
	}
	j = m.start("a1")
	if got := string(j.Local("k")["key"]); got != "4" || len(j.Local("gone")) != 0 {
		t.Errorf("rows: %q, %v", got, j.Local("gone"))
	}
	if h := j.Health(); h.Record != record || h.Run != 2 || h.Clock < 9000 {
		t.Errorf("run %d of record %s, clock %d; want run 2 of %s, the highest stamp", h.Run, h.Record, h.Clock, record)
	}
	if told(j, o.beat(), 0) {
		t.Error("a beat that was heard before is news")
	}
	if next := m.append(j, session("a2")); next.Lamport <= own.Lamport {
		t.Errorf("stamp %d, want above %d", next.Lamport, own.Lamport)
	}
	want := []ident.Runtime{o.stream().Runtime(), s.Runtime()}
	slices.SortFunc(want, ident.Runtime.Compare)
	if d := cmp.Diff(want, j.Peers()); d != "" {
		t.Errorf("peers (-want +got):\n%s", d)
	}
}

// The highest stamp was that of an event which is gone.
// The proof of a fork goes with its stream: from memory, from the disk, and what a
// stop left there counts for nothing.
func TestProofsOfDroppedStreamsGoToo(t *testing.T) {
	m, bob := lasting(t, "ada"), keyOf(t, "bob")
	m.cfg.Trust = trust(bob)
	j := m.start()
	ended := event.SessionClosed{Session: "b1", Reason: "done"}
	gone, stays := m.origin(bob, ended), m.origin(bob, session("b2"))
	for _, o := range []*origin{gone, stays} {
		m.ingest(j, o.last, m.sealBy(bob, o.stream(), 1, 12, nil, session("other")))
	}
	proofs := func() (n int) {
		for _, rec := range m.log.recs {
			if len(rec) > 0 && RecordType(rec[0]) == RecordFork {
				n++
			}
		}
		return n
	}
	check := func(what string, onDisk int) {
		t.Helper()
		if d := cmp.Diff(map[ident.Stream]uint64{stays.stream(): 1}, j.Health().Forked); d != "" {
			t.Errorf("%s: forked (-want +got):\n%s", what, d)
		}
		if n := proofs(); n != onDisk {
			t.Errorf("%s: %d proofs on disk, want %d", what, n, onDisk)
		}
	}
	m.clock.Advance(pastSilence)
	j.log = unrewritable{m.log}
	if r, err := j.Compact(t.Context(), force); err == nil || len(r.Streams) != 1 {
		t.Fatalf("Compact = %+v, %v", r, err)
	}
	check("before the rewrite", 2)
	j = m.start()
	check("after a restart", 2)
	m.compact(j, force)
	check("after the rewrite", 1)
	j = m.start()
	check("after a restart", 1)
}

func TestHighestStampOutlivesItsEvent(t *testing.T) {
	m, bob := lasting(t, "ada"), keyOf(t, "bob")
	m.cfg.Trust = trust(bob)
	j := m.start()
	m.ingest(j, m.sealBy(bob, m.streamOf(bob), 1, 9000, nil, event.SessionClosed{Session: "b1", Reason: "done"}))
	m.clock.Advance(pastSilence)
	m.compact(j, force)
	j = m.start()
	if got := m.append(j, session("a1")); got.Lamport <= 9000 {
		t.Errorf("stamp %d, want above 9000", got.Lamport)
	}
}

// The machine stops between any two steps of a compaction; what it dropped stays
// dropped, and the next one takes the rest from the disk.
func TestRewriteThatDoesNotGetToItsEnd(t *testing.T) {
	m, bob := lasting(t, "ada"), keyOf(t, "bob")
	m.cfg.Trust = trust(bob)
	j := m.start()
	s := m.streamOf(bob)
	one := m.sealBy(bob, s, 1, 10, nil, session("b1"))
	two := m.sealBy(bob, s, 2, 11, one, session("b2"))
	three := m.sealBy(bob, s, 3, 12, two, event.SessionClosed{Session: "b1", Reason: "done"})
	four := m.sealBy(bob, s, 4, 13, three, event.SessionClosed{Session: "b2", Reason: "done"})
	m.ingest(j, one, two, three, four)
	m.append(j, session("a1"))
	m.clock.Advance(pastSilence)
	whole := slices.Clone(m.log.recs)
	m.compact(j, force)
	want := show(j)
	for gone := range 5 { // events that the rewrite took out before it stopped
		recs := slices.Clone(whole)
		for i := range gone {
			recs[i] = []byte{}
		}
		recs = append(recs, m.log.recs[len(whole):]...)
		n := lasting(t, "ada")
		n.cfg, n.run = m.cfg, m.run
		n.log.recs = recs
		j := n.start("a1")
		if d := cmp.Diff(want, show(j)); d != "" {
			t.Errorf("%d events gone (-want +got):\n%s", gone, d)
		}
		if h := j.Health(); len(h.Damaged) != 0 {
			t.Errorf("damaged: %v", h.Damaged)
		}
		n.append(j, session("a1"))
		n.compact(j, Policy{})
		for i := range 4 {
			if len(n.log.recs[i]) != 0 {
				t.Errorf("%d events gone: record %d is left after the next compaction", gone, i+1)
			}
		}
	}
}

// unrewritable is a log that cannot be rewritten.
type unrewritable struct{ *damaged }

func (unrewritable) Rewrite(func(seglog.Record) bool) error { return seglog.ErrNoSpace }

func TestRewriteThatFailsIsTriedAgain(t *testing.T) {
	m, bob := lasting(t, "ada"), keyOf(t, "bob")
	m.cfg.Trust = trust(bob)
	j := m.start()
	one := m.sealBy(bob, m.streamOf(bob), 1, 10, nil, event.SessionClosed{Session: "b1", Reason: "done"})
	m.ingest(j, one)
	m.clock.Advance(pastSilence)
	j.log = unrewritable{m.log}
	r, err := j.Compact(t.Context(), force)
	if !errors.Is(err, ErrNoSpace) || r.Rewritten {
		t.Errorf("Compact = %+v, %v", r, err)
	}
	wantDropped(t, r, one.Stream)
	j.log = m.log
	if r := m.compact(j, Policy{}); !r.Rewritten || len(m.log.recs[0]) != 0 {
		t.Errorf("the next compaction: %+v, %d bytes are left", r, len(m.log.recs[0]))
	}
}

// This machine is restarted every week; one that never returns is dropped all the
// same.
func TestSilenceIsCountedOverRestarts(t *testing.T) {
	m, bob := lasting(t, "ada"), keyOf(t, "bob")
	m.cfg.Trust = trust(bob)
	j := m.start()
	o := m.origin(bob, session("b1"))
	m.ingest(j, o.last)
	weeks := func(n int) (r CompactReport) {
		for range n {
			wantDropped(t, r)
			m.clock.Advance(7*24*time.Hour - pastSilence)
			j = m.start()
			m.clock.Advance(pastSilence)
			r = m.compact(j, Policy{})
		}
		return r
	}
	wantDropped(t, weeks(4))
	o.clock.Advance(time.Hour) // it was heard: the time counts anew
	if !told(j, o.beat(), 0) {
		t.Fatal("the beat is not taken")
	}
	m.compact(j, Policy{})
	wantDropped(t, weeks(5)) // from the start of the next run on, at the latest
	wantDropped(t, weeks(1), o.stream())
}

func TestAPersonForgetsAMachine(t *testing.T) {
	m, bob, eve := lasting(t, "ada"), keyOf(t, "bob"), keyOf(t, "eve")
	m.cfg.Trust = trust(bob, eve)
	j := m.start()
	o := m.origin(bob, session("b1"))
	claim := m.acquire(bob, o.stream(), o.last, 20, "b1", "a")
	e := m.line(eve, "e", 1)[0]
	m.ingest(j, o.last, claim, e)
	if _, err := j.Forget(t.Context(), j.runtime); err == nil {
		t.Error("a journal forgets itself")
	}
	r, err := j.Forget(t.Context(), o.stream().Runtime())
	if err != nil {
		t.Fatal(err)
	}
	wantDropped(t, r, o.stream())
	if r.GivenUp != 1 || len(standings(j)) != 0 {
		t.Errorf("report %+v, standings %v", r, standings(j))
	}
	for range 2 {
		if d := cmp.Diff([]ident.Runtime{e.Stream.Runtime()}, j.Peers()); d != "" {
			t.Errorf("peers (-want +got):\n%s", d)
		}
		j = m.start()
	}
	if !told(j, o.beat(), 0) {
		t.Fatal("who was forgotten is not heard")
	}
	if n := len(j.Peers()); n != 2 {
		t.Errorf("%d peers, want 2: the forgotten one is back", n)
	}
	m.clock.Advance(2 * time.Minute)
	if err := j.SaveBeats(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(m.start().Peers()); n != 2 {
		t.Errorf("after a restart %d peers, want 2", n)
	}
}

func TestOldestTombstoneMakesRoom(t *testing.T) {
	m, bob := lasting(t, "ada"), keyOf(t, "bob")
	m.cfg.Trust = trust(bob)
	m.cfg.Limits.Tombstones = 3
	j := m.start()
	var streams []ident.Stream
	for i := range 5 {
		e := m.sealBy(bob, m.streamOf(bob), 1, uint64(10+i), nil, event.SessionClosed{Session: "b", Reason: "done"})
		streams = append(streams, e.Stream)
		m.ingest(j, e)
		m.clock.Advance(pastSilence)
		wantDropped(t, m.compact(j, force), e.Stream)
	}
	for range 2 {
		for i, s := range streams {
			if got := j.Marks()[s].Seq; (got == 1) != (i >= 2) {
				t.Errorf("mark of stream %d = %d", i, got)
			}
		}
		j = m.start()
	}
}

// After a gap that others may have forgotten us in, nothing of what we had goes on.
func TestRuntimeThatWasAwayForLongerThanTheRetentionEndsWhatItHad(t *testing.T) {
	for _, restart := range []bool{true, false} {
		ma, mb := lasting(t, "ada"), lasting(t, "bob")
		ma.cfg.Trust, mb.cfg.Trust = trust(mb.cfg.Key), trust(ma.cfg.Key)
		a, b := ma.start(), mb.start()
		ma.append(a, session("a1"))
		mb.append(b, session("b1"))
		mb.claim(b, "b1", "a")
		exchange(t, a, b)
		b.Tick()
		if _, ok := b.Beat(); !ok {
			t.Fatal("no beat")
		}
		mb.clock.Advance(2 * time.Minute)
		b.Tick()
		if err := b.SaveBeats(t.Context()); err != nil {
			t.Fatal(err)
		}
		ma.clock.Advance(31 * 24 * time.Hour)
		ma.compact(a, Policy{})
		if len(standings(a)) != 0 {
			t.Fatal("what bob left stands after the retention")
		}
		mb.clock.Suspend(31 * 24 * time.Hour)
		if restart {
			b = mb.start("b1")
		}
		b.Tick()
		if _, ok := b.Beat(); ok {
			t.Error("it speaks before it has ended what it had")
		}
		if _, err := b.Decide(t.Context(), func(tx *Tx) error { return tx.Begin() }); err != nil {
			t.Fatal(err)
		}
		if got := standings(b); len(got) != 0 {
			t.Errorf("restart %v: its own claim stands: %v", restart, got)
		}
		exchange(t, a, b)
		if got := standings(a); len(got) != 0 {
			t.Errorf("restart %v: its claim came back: %v", restart, got)
		}
		if beat, ok := b.Beat(); !ok || !told(a, beat, 0) {
			t.Error("it does not speak after that")
		}
		if restart { // a session that is opened after that goes on when this run ends
			mb.append(b, session("b1"))
			b.lock()
			b.forsake()
			b.unlock()
			mb.append(b, session("b2"))
			if got := first(t, b, b.Stream()).Sessions; !slices.Equal(got, []string{"b1"}) {
				t.Errorf("sessions that go on in the next stream: %v", got)
			}
		}
		mb.append(b, session("b2"))
		b = mb.start("b2") // what the new run has goes on
		mb.append(b, session("b3"))
		if got := first(t, b, b.Stream()).Sessions; !slices.Equal(got, []string{"b2"}) {
			t.Errorf("sessions that go on: %v", got)
		}
	}
}

func TestAloneNothingLapses(t *testing.T) {
	m := lasting(t, "ada")
	j := m.start()
	m.append(j, session("a1"))
	m.claim(j, "a1", "a")
	m.clock.Suspend(31 * 24 * time.Hour)
	j = m.start("a1")
	m.append(j, session("a2"))
	if got := standings(j); len(got) != 1 {
		t.Errorf("standings = %v, want the claim", got)
	}
}

func TestFolderCopiedOnOneMachineBeginsItsOwnRecord(t *testing.T) {
	m := lasting(t, "ada")
	m.cfg.Folder = "inode 1"
	j := m.start()
	m.append(j, session("a1"))
	record := j.Health().Record
	if j = m.start("a1"); j.Health().Record != record || j.Health().Run != 2 {
		t.Errorf("in its own folder: run %d of %s", j.Health().Run, j.Health().Record)
	}
	m.cfg.Folder = "" // an identity that cannot be told says nothing
	if j = m.start("a1"); j.Health().Record != record {
		t.Error("a folder that cannot be told begins a record")
	}
	m.cfg.Folder = "inode 2"
	if j = m.start("a1"); j.Health().Record == record || len(j.Health().SecondUsers) != 1 {
		t.Errorf("in a copy: record %s, second users %v", j.Health().Record, j.Health().SecondUsers)
	}
}

func TestBytesOfOthersAreBounded(t *testing.T) {
	m, bob, eve := lasting(t, "ada"), keyOf(t, "bob"), keyOf(t, "eve")
	m.cfg.Trust = trust(bob, eve)
	b, e := m.line(bob, "b", 4), m.line(eve, "e", 4)
	m.cfg.Limits.ReloadBytes = int64(len(b[0].Raw) + len(b[1].Raw) + len(b[2].Raw) - 1)
	j := m.start()
	wantOutcomes(t, m.ingest(j, b...), "accepted", "accepted", "accepted", "capacity")
	wantOutcomes(t, m.ingest(j, e[0]), "capacity")
	m.append(j, session("a1")) // our own do not count
	if got := j.Tallies()[bob.Node()]; got.Events != 3 || got.Streams != 1 || got.Bytes != m.cfg.Limits.ReloadBytes+1 {
		t.Errorf("tally = %+v", got)
	}
	j = m.start()
	wantOutcomes(t, m.ingest(j, e[0]), "capacity")
	if _, err := j.Forget(t.Context(), b[0].Stream.Runtime()); err != nil {
		t.Fatal(err)
	}
	wantOutcomes(t, m.ingest(j, e...), "accepted", "accepted", "accepted", "capacity")
}

func TestBytesOfOneNodeLeaveRoomForOthers(t *testing.T) {
	m, bob, eve := lasting(t, "ada"), keyOf(t, "bob"), keyOf(t, "eve")
	m.cfg.Trust = trust(bob, eve)
	b, e := m.line(bob, "b", 5), m.line(eve, "e", 2)
	m.cfg.Limits.NodeSize = int64(len(b[0].Raw) + len(b[1].Raw) + len(b[2].Raw) - 1)
	j := m.start()
	wantOutcomes(t, m.ingest(j, b[:4]...), "accepted", "accepted", "accepted", "capacity")
	wantOutcomes(t, m.ingest(j, e[0]), "accepted")
	for range 5 { // our own have no bound
		m.append(j, session("a1"))
	}
	j = m.start()
	wantOutcomes(t, m.ingest(j, b[3]), "capacity")
	wantOutcomes(t, m.ingest(j, e[1]), "accepted")
	if _, err := j.Forget(t.Context(), b[0].Stream.Runtime()); err != nil {
		t.Fatal(err)
	}
	wantOutcomes(t, m.ingest(j, b...), "accepted", "accepted", "accepted", "capacity", "capacity")
}

// A few short words can have two thousand states, which cost what they meet and what
// they take in memory: one node has a bound of those too.
func TestPatternsOfOneNodeLeaveRoomForOthers(t *testing.T) {
	m, bob, eve := lasting(t, "ada"), keyOf(t, "bob"), keyOf(t, "eve")
	m.cfg.Trust = trust(bob, eve)
	m.cfg.Limits.NodeStates = 4000
	b, e := m.origin(bob, session("s")), m.origin(eve, session("s"))
	all := []*event.Event{b.last}
	for i := range 6 {
		all = append(all, m.glob(bob, all[i], fmt.Sprintf("%s*%d????????????????", letters, i))) // 1,008 states
	}
	j := m.start()
	wantOutcomes(t, m.ingest(j, all[:4]...), "accepted", "accepted", "accepted", "accepted")
	wantOutcomes(t, m.ingest(j, all[4], all[5]), "accepted", "capacity")
	wantOutcomes(t, m.ingest(j, all[6]), "capacity") // to wait
	wantOutcomes(t, m.ingest(j, e.last, m.glob(eve, e.last, letters+"*e????????????????")), "accepted", "accepted")
	j = m.start()
	wantOutcomes(t, m.ingest(j, all[5]), "capacity")
	wantOutcomes(t, m.ingest(j, m.glob(bob, all[4], "src/**/*.{go,md}")), "accepted")
	if _, err := j.Forget(t.Context(), b.stream().Runtime()); err != nil {
		t.Fatal(err)
	}
	if got := j.shares.of(bob.Node()); got != (share{}) {
		t.Errorf("share = %+v, want none", got)
	}
}

func TestLeftIsToldWhatChanged(t *testing.T) {
	m, bob := lasting(t, "ada"), keyOf(t, "bob")
	m.cfg.Trust = trust(bob)
	var told []event.Key
	m.cfg.Left = func(v View, c fold.Changes) { told = append(told, c.Claims...) }
	j := m.start()
	o := m.origin(bob, session("b1"))
	theirs := m.acquire(bob, o.stream(), o.last, 20, "b1", "a")
	m.ingest(j, o.last, theirs)
	m.append(j, session("a1"))
	ours := m.claim(j, "a1", "a")
	if _, err := j.Forget(t.Context(), o.stream().Runtime()); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(told, ours) {
		t.Errorf("told %v, want that %v is free", told, ours)
	}
}

// No record orders these streams: the close in one of them ends a claim in the
// other, whichever came first.
func TestCloseInAnotherStreamStaysWithWhatItEnded(t *testing.T) {
	m, bob := lasting(t, "ada"), keyOf(t, "bob")
	m.cfg.Trust = trust(bob)
	j := m.start()
	a, b := m.streamOf(bob), m.streamOf(bob)
	a1 := m.sealBy(bob, a, 1, 10, nil, session("b1"))
	a2 := m.sealBy(bob, a, 2, 11, a1, session("b2"))
	a3 := m.acquire(bob, a, a2, 12, "b1", "x")
	end := m.sealBy(bob, b, 1, 20, nil, event.SessionClosed{Session: "b1", Reason: "done"})
	m.ingest(j, a1, a2, a3, end)
	m.clock.Advance(pastSilence)
	wantDropped(t, m.compact(j, force))
	if got := standings(j); len(got) != 0 {
		t.Errorf("standings = %v", got)
	}
	m.ingest(j, m.sealBy(bob, a, 4, 30, a3, event.SessionClosed{Session: "b2", Reason: "done"}))
	wantDropped(t, m.compact(j, force), a, b)
}

// ada took what bob offered, and her daemon was restarted before eve, who knows of
// the offer, could hear of it.
func TestTakingInAnEarlierRunReachesWhoWasAway(t *testing.T) {
	ma, mb, me := lasting(t, "ada"), lasting(t, "bob"), lasting(t, "eve")
	keys := trust(ma.cfg.Key, mb.cfg.Key, me.cfg.Key)
	ma.cfg.Trust, mb.cfg.Trust, me.cfg.Trust = keys, keys, keys
	a, b, e := ma.start(), mb.start(), me.start()
	mb.append(b, session("b1"))
	offer := mb.append(b, event.HandoverPublished{Session: "b1", Handover: event.Handover{ID: event.HandoverID("text"), Body: "text"}})
	mb.append(b, event.SessionClosed{Session: "b1", Reason: "done"})
	exchange(t, a, b)
	exchange(t, e, b)
	ma.append(a, session("a1"))
	ma.append(a, event.HandoverConsumed{Handover: event.HandoverID("text"), Publications: []event.Key{offer.Key()}, Session: "a1"})
	taker := a.Stream()
	a = ma.start()
	ma.append(a, session("a2"))
	ma.clock.Advance(pastSilence)
	wantDropped(t, ma.compact(a, force))
	exchange(t, a, e)
	for h := range e.state.OpenHandovers() {
		t.Errorf("%s is still offered to who was away", h.Publications[0].Key)
	}
	for range 5 { // the time counts over restarts
		ma.clock.Advance(7 * 24 * time.Hour)
		ma.compact(a, force)
		a = ma.start("a2")
		ma.append(a, session("a2"))
		ma.clock.Advance(pastSilence)
	}
	if ma.compact(a, force); a.heads[taker] != nil || a.heads[offer.Stream] != nil {
		t.Error("they stay for longer than the retention")
	}
}

// What bob offered in an earlier run is open for longer than the retention. That run
// is silent since then; its runtime is not.
func TestEarlierRunOfALivingRuntimeIsNotGivenUp(t *testing.T) {
	m, bob := lasting(t, "ada"), keyOf(t, "bob")
	m.cfg.Trust = trust(bob)
	j := m.start()
	record := ident.NewRecord()
	o := m.origin(bob, event.StreamSucceeded{Record: record, Run: 1})
	one := o.last
	two := m.sealBy(bob, o.stream(), 2, 11, one, session("b1"))
	three := m.sealBy(bob, o.stream(), 3, 12, two, event.HandoverPublished{Session: "b1", Handover: event.Handover{ID: event.HandoverID("text"), Body: "text"}})
	next := m.origin(bob, event.StreamSucceeded{Record: record, Run: 2})
	m.ingest(j, one, two, three, next.last)
	told(j, o.beat(), 0)
	for _, days := range []time.Duration{31, 31} {
		m.clock.Advance(days * 24 * time.Hour)
		next.clock.Advance(days * 24 * time.Hour)
		if !told(j, next.beat(), 0) {
			t.Fatal("the beat is not taken")
		}
		wantDropped(t, m.compact(j, force))
	}
	if open := slices.Collect(j.state.OpenHandovers()); len(open) != 1 {
		t.Errorf("open handovers: %v", open)
	}
	m.clock.Advance(31 * 24 * time.Hour)
	wantDropped(t, m.compact(j, force), o.stream(), next.stream())
}

// A stream was asked for, and nobody has it: it counts as dropped again, and what
// waits for it is given up. Its silence counts from when it was let back, also over a
// restart.
func TestStreamThatDoesNotComeBackIsClosedAgain(t *testing.T) {
	for _, tt := range []struct {
		name    string
		restart bool
		back    func(m *machine, j *Journal, o *origin, all []*event.Event)
	}{
		{"a beat", false, func(_ *machine, j *Journal, o *origin, _ []*event.Event) { told(j, o.beat(), 0) }},
		{"an event", false, func(m *machine, j *Journal, o *origin, all []*event.Event) {
			wantOutcomes(t, m.ingest(j, m.sealBy(o.key, o.stream(), 4, 40, all[1], session("b3"))), "pending")
		}},
		{"an event, and a restart", true, func(m *machine, j *Journal, o *origin, all []*event.Event) {
			wantOutcomes(t, m.ingest(j, m.sealBy(o.key, o.stream(), 4, 40, all[1], session("b3"))), "pending")
		}},
	} {
		m, j, o, all := droppedOrigin(t)
		tt.back(m, j, o, all)
		m.compact(j, force)
		if tt.restart {
			j = m.start()
		}
		if got, ok := j.Marks()[o.stream()]; !ok || got.Seq != 0 {
			t.Fatalf("%s: mark = %+v, want it asked for", tt.name, got)
		}
		_, version := j.MarksSince(0)
		m.clock.Advance(pastSilence)
		m.compact(j, force)
		if marks, _ := j.MarksSince(version); marks[o.stream()].Seq != 2 {
			t.Errorf("%s: mark = %+v, want 2", tt.name, marks[o.stream()])
		}
		if n := j.Health().Waiting; n != 0 {
			t.Errorf("%s: %d events wait for it", tt.name, n)
		}
		for range 2 {
			wantOutcomes(t, m.ingest(j, all...), "duplicate", "duplicate")
			j = m.start()
		}
	}
}

// A fence counts when both sessions may have been in one checkout. A run that tells of
// it stays, though the session ended since and was opened again elsewhere.
func TestRunThatTellsOfACheckoutStaysWithTheFence(t *testing.T) {
	ada, bob := lasting(t, "ada"), lasting(t, "bob")
	ada.cfg.Trust, bob.cfg.Trust = trust(bob.cfg.Key), trust(ada.cfg.Key)
	openedIn := func(sid, checkout string) event.SessionOpened {
		return event.SessionOpened{Info: event.SessionInfo{Session: sid, Client: "t", Checkout: ident.CheckoutID("00000000000000" + checkout)}}
	}
	far := bob.start()
	bob.append(far, openedIn("t", "c1"))
	claim := bob.append(far, event.ClaimAcquired{Session: "t", Scope: bob.scope("f"), Mode: event.ModeCheckout}).Key()

	first := ada.start()
	ada.append(first, openedIn("s", "c1"))
	second := ada.start() // it ends
	ada.append(second, openedIn("s", "c2"))
	j := ada.start("s") // it goes on
	exchange(t, j, far)
	ada.append(j, event.ClaimAcquired{Session: "s", Scope: ada.scope("f"), Mode: event.ModeCheckout, Fences: []event.Key{claim}})
	fenced := func() int {
		c, _ := j.state.Claim(claim)
		return len(c.FencedBy)
	}
	if fenced() != 1 {
		t.Fatal("the fence does not count")
	}
	ada.clock.Advance(pastSilence)
	ada.compact(j, force)
	if fenced() != 1 || j.heads[first.own.stream] == nil {
		t.Errorf("the claim has %d fences; the run that tells of the checkout is held: %t", fenced(), j.heads[first.own.stream] != nil)
	}
}
