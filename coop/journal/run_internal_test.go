package journal

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/fold"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/internal/canon"
)

func sorted(ss ...ident.Stream) []ident.Stream { return slices.Sorted(slices.Values(ss)) }

func TestRestartBeginsTheNextRunInAnotherStream(t *testing.T) {
	m := newMachine(t, "ada")
	j := m.start()
	m.append(j, session("s1"))
	one, clock, digest := j.Stream(), j.Health().Clock, j.state.Digest(nil)

	j = m.start("s1")
	if j.Stream() != "" || j.Health().Clock != clock || j.state.Digest(nil) != digest {
		t.Errorf("after the restart: stream %q, clock %d, digest %s; want none, %d, %s", j.Stream(), j.Health().Clock, j.state.Digest(nil), clock, digest)
	}
	e := m.append(j, session("s2"))
	if j.Stream() == one || e.Seq != 2 || e.Lamport != clock+2 {
		t.Errorf("second run: stream %s, seq %d, stamp %d", j.Stream(), e.Seq, e.Lamport)
	}
	want := event.StreamSucceeded{Record: first(t, j, one).Record, Run: 2, Sessions: []string{"s1"}, Streams: []ident.Stream{one}}
	if d := cmp.Diff(want, first(t, j, j.Stream())); d != "" {
		t.Errorf("first event of the second run (-want +got):\n%s", d)
	}
	if h := j.Health(); h.Run != 2 || h.SecondUser() != "" || h.Reloaded != 2 {
		t.Errorf("health = %+v", h)
	}
}

// A run in which nothing was appended leaves nothing, and does not count.
func TestRunWithoutAnAppendDoesNotCount(t *testing.T) {
	m := newMachine(t, "ada")
	m.append(m.start(), session("s1"))
	m.start()
	j := m.start()
	m.append(j, session("s2"))
	if got := first(t, j, j.Stream()).Run; got != 2 {
		t.Errorf("run = %d, want 2", got)
	}
}

func TestRunIsCountedThoughItsRowIsLost(t *testing.T) {
	m := newMachine(t, "ada")
	m.append(m.start(), session("s1"))
	j := m.start()
	m.append(j, session("s2"))
	m.log.recs = slices.Delete(m.log.recs, 5, 6) // the second run's record row
	j = m.start()
	m.append(j, session("s3"))
	if got := first(t, j, j.Stream()); got.Run != 3 || got.Record != j.Health().Record {
		t.Errorf("first event = %+v, want run 3", got)
	}
}

func TestSuccessionNamesRunsInWhichSomethingStands(t *testing.T) {
	m := newMachine(t, "ada")
	one := m.start()
	m.append(one, session("s1"))
	m.append(one, session("other"))
	m.claim(one, "s1", "a")

	two := m.start("s1", "other")
	claim := m.claim(two, "s1", "b")

	three := m.start("s1", "other")
	m.append(three, session("s3")) // nothing of s1
	if d := cmp.Diff(sorted(one.Stream(), two.Stream()), first(t, three, three.Stream()).Streams); d != "" {
		t.Errorf("third run (-want +got):\n%s", d)
	}

	four := m.start("s1")
	m.release(four, "s1", claim) // an end of something in the second run
	if d := cmp.Diff(sorted(one.Stream(), two.Stream()), first(t, four, four.Stream()).Streams); d != "" {
		t.Errorf("fourth run names the third, in which nothing of s1 stands (-want +got):\n%s", d)
	}

	// The claim in the second run is released: nothing stands there any more. What
	// the fourth run ended was there only, so neither is named.
	five := m.start("s1")
	m.claim(five, "s1", "c")
	if d := cmp.Diff(sorted(one.Stream()), first(t, five, five.Stream()).Streams); d != "" {
		t.Errorf("fifth run (-want +got):\n%s", d)
	}
	var open []string
	five.View(func(v View) {
		for s := range v.State().Sessions() {
			if s.State == fold.SessionOpen {
				open = append(open, s.ID.SID)
			}
		}
	})
	if d := cmp.Diff([]string{"s1"}, open); d != "" {
		t.Errorf("open sessions (-want +got):\n%s", d)
	}
}

func TestSuccessionNamesRunsThatEndSomethingInNamedOnes(t *testing.T) {
	m := newMachine(t, "ada")
	one := m.start()
	m.append(one, session("s1"))
	claim := m.claim(one, "s1", "a")
	kept := m.claim(one, "s1", "b")

	two := m.start("s1")
	m.release(two, "s1", claim)

	three := m.start("s1")
	m.append(three, session("x"))
	if d := cmp.Diff(sorted(one.Stream(), two.Stream()), first(t, three, three.Stream()).Streams); d != "" {
		t.Errorf("third run (-want +got):\n%s", d)
	}
	// An end of something in a run that is named only for its own end.
	four := m.start("s1", "x")
	m.append(four, event.SessionClosed{Session: "x", Reason: "done"})
	five := m.start("s1")
	m.append(five, session("y"))
	if d := cmp.Diff(sorted(one.Stream(), two.Stream()), first(t, five, five.Stream()).Streams); d != "" {
		t.Errorf("fifth run (-want +got):\n%s", d)
	}
	five.View(func(v View) {
		if c, ok := v.State().Claim(kept); !ok || c.Ended || c.Released {
			t.Errorf("claim %+v (%v), want it to stand after four restarts", c, ok)
		}
		if c, ok := v.State().Claim(claim); ok && !c.Released && !c.Ended {
			t.Errorf("claim %+v, want it to stay released", c)
		}
	})
}

func TestSessionThatSaidMoreInALaterRunNamesBoth(t *testing.T) {
	m := newMachine(t, "ada")
	one := m.start()
	m.append(one, session("s1"))
	two := m.start("s1")
	m.append(two, session("s1"))
	three := m.start("s1")
	m.append(three, session("x"))
	if d := cmp.Diff(sorted(one.Stream(), two.Stream()), first(t, three, three.Stream()).Streams); d != "" {
		t.Errorf("third run (-want +got):\n%s", d)
	}
}

// What a run did not name has ended, whoever asks for it later.
func TestEndedRunIsNeverNamedAgain(t *testing.T) {
	m := newMachine(t, "ada")
	m.append(m.start(), session("s1"))
	two := m.start()
	m.append(two, session("s2"))
	three := m.start("s1", "s2")
	m.append(three, session("s3"))
	if d := cmp.Diff(sorted(two.Stream()), first(t, three, three.Stream()).Streams); d != "" {
		t.Errorf("third run (-want +got):\n%s", d)
	}
}

func TestOpenReviewKeepsItsRunNamed(t *testing.T) {
	m := newMachine(t, "ada")
	one := m.start()
	m.append(one, session("s1"))
	two := m.start("s1")
	m.append(two, event.ReviewRequested{Session: "s1", Subject: "look"})
	three := m.start("s1")
	m.append(three, session("x"))
	if d := cmp.Diff(sorted(one.Stream(), two.Stream()), first(t, three, three.Stream()).Streams); d != "" {
		t.Errorf("third run (-want +got):\n%s", d)
	}
}

func TestNoMoreSessionsGoOnThanFit(t *testing.T) {
	m := newMachine(t, "ada")
	j := m.start()
	var sids []string
	for i := range event.MaxSessions + 44 {
		sid := fmt.Sprintf("s%03d", (i*7)%300)
		sids = append(sids, sid)
		m.append(j, session(sid))
	}
	j = m.start(append(sids, sids[0], "not a sid")...)
	m.append(j, session("x"))
	want := slices.Sorted(slices.Values(sids[:event.MaxSessions]))
	if d := cmp.Diff(want, first(t, j, j.Stream()).Sessions); d != "" {
		t.Errorf("sessions that go on (-want +got):\n%s", d)
	}
	if d := cmp.Diff(sids[event.MaxSessions:], j.Health().Ended); d != "" {
		t.Errorf("sessions that ended (-want +got):\n%s", d)
	}
}

// Each run but the last three opened a session, and those three have claims of the
// first one: one run too many for all sessions to go on.
func TestNoMoreRunsAreNamedThanFit(t *testing.T) {
	m := newMachine(t, "ada")
	var sids []string
	var runs []ident.Stream
	stamp, last := uint64(0), run{Machine: m.cfg.Machine, Record: ident.NewRecord()}
	for range event.MaxStreams + 1 {
		last.Run++
		s := m.streamOf(m.cfg.Key)
		e := m.sealBy(m.cfg.Key, s, 1, stamp+1, nil, event.StreamSucceeded{Record: last.Record, Run: last.Run, Sessions: sids, Streams: runs})
		m.put(RecordEvent, e.Raw, true)
		runs = append(runs, s)
		var body event.Body = event.ClaimAcquired{Session: "s1", Scope: m.scope("a"), Mode: event.ModeAdvisory}
		if last.Run <= event.MaxStreams-2 {
			sids = append(sids, fmt.Sprintf("s%d", last.Run))
			body = session(sids[len(sids)-1])
		}
		m.put(RecordEvent, m.sealBy(m.cfg.Key, s, 2, stamp+2, e, body).Raw, true)
		stamp += 2
	}
	value, err := canon.Marshal(last)
	if err != nil {
		t.Fatal(err)
	}
	m.put(RecordRow, row{runRowKind, runRowKey, value}.encode(), true)

	j := m.start(sids...)
	m.append(j, session("x"))
	b := first(t, j, j.Stream())
	want := slices.Delete(slices.Clone(runs), len(sids)-1, len(sids))
	if d := cmp.Diff(sorted(want...), b.Streams); d != "" {
		t.Errorf("runs named (-want +got):\n%s", d)
	}
	if d := cmp.Diff(sids[len(sids)-1:], j.Health().Ended); d != "" {
		t.Errorf("sessions that ended (-want +got):\n%s", d)
	}
}

func TestBeginEndsWhatDoesNotGoOn(t *testing.T) {
	m := newMachine(t, "ada")
	j := m.start()
	m.append(j, session("s1"))
	m.append(j, session("s2"))
	j = m.start("s2")
	all, err := j.Decide(t.Context(), func(tx *Tx) error { return tx.Begin() })
	if err != nil || len(all) != 0 {
		t.Fatalf("Decide = %v, %v", all, err)
	}
	j.View(func(v View) {
		for sid, want := range map[string]fold.SessionState{"s1": fold.SessionEnded, "s2": fold.SessionOpen} {
			s, ok := v.State().Session(ident.SessionID{Runtime: j.runtime, SID: sid})
			if !ok || s.State != want {
				t.Errorf("session %s is %q, want %q", sid, s.State, want)
			}
		}
	})
	if e := m.append(j, session("s3")); e.Seq != 2 {
		t.Errorf("seq %d after Begin, want 2", e.Seq)
	}
}

// A folder that came from another machine is a second user of the key there and
// here: neither succeeds the other's runs.
func TestFolderOnAnotherMachineBeginsItsOwnRecord(t *testing.T) {
	m := newMachine(t, "ada")
	j := m.start()
	m.append(j, session("s1"))
	old, record := j.Stream(), j.Health().Record

	m.cfg.Machine = "another"
	j = m.start("s1")
	m.append(j, session("s2"))
	b := first(t, j, j.Stream())
	if b.Record == record || b.Run != 1 || len(b.Sessions)+len(b.Streams) != 0 {
		t.Errorf("first event there = %+v, want run 1 of its own record with nothing", b)
	}
	h := j.Health()
	if h.SecondUser() == "" || !slices.Equal(h.SecondUsers, []ident.Stream{old}) {
		t.Errorf("second users = %v, want %s", h.SecondUsers, old)
	}
	if l, left := j.Liveness(old); l != Unknown || left != j.cfg.Limits.Expiry {
		t.Errorf("old stream is %v for %v at the start, want unknown for one expiry", l, left)
	}
	fake(j).Advance(j.cfg.Limits.Expiry)
	j.View(func(v View) {
		if v.Liveness(old) != Expired || v.Liveness(j.own.stream) != Own {
			t.Errorf("old stream is %v, own %v", v.Liveness(old), v.Liveness(j.own.stream))
		}
		for s := range v.State().Streams() {
			if s.Stream == old && s.Succeeded {
				t.Error("the other machine's stream was succeeded")
			}
		}
	})

	j = m.start("s2") // and it goes on there under the new record
	m.append(j, session("s3"))
	if got := first(t, j, j.Stream()); got.Record != b.Record || got.Run != 2 {
		t.Errorf("next run there = %+v", got)
	}
	if j.Health().SecondUser() == "" {
		t.Error("the second user is forgotten after a restart")
	}
}

func TestLostRunRecordBeginsANewOne(t *testing.T) {
	m := newMachine(t, "ada")
	j := m.start()
	m.append(j, session("s1"))
	m.log.recs = m.log.recs[:2]
	record := j.Health().Record
	j = m.start("s1")
	m.append(j, session("s2"))
	if b := first(t, j, j.Stream()); b.Record == record || b.Run != 1 {
		t.Errorf("first event = %+v, want a new record", b)
	}
	if j.Health().SecondUser() == "" {
		t.Error("runs of an unknown record are not shown")
	}
}

func TestEarlierRunsAreOwn(t *testing.T) {
	m := newMachine(t, "ada")
	j := m.start()
	m.append(j, session("s1"))
	old := j.Stream()
	m.cfg.Judge = func(ident.Stream) (Liveness, time.Duration) { return Unknown, time.Second }
	j = m.start("s1")
	j.View(func(v View) {
		if got := v.Liveness(old); got != Own {
			t.Errorf("earlier run before the first append = %v, want own", got)
		}
		if got := v.Liveness(m.streamOf(keyOf(t, "bob"))); got != Unknown {
			t.Errorf("somebody else's = %v, want what Judge says", got)
		}
	})
}

// Who observes the reload asks for liveness before it is known which record goes on.
func TestLivenessWhileReloading(t *testing.T) {
	bob := keyOf(t, "bob")
	m := newMachine(t, "ada")
	m.cfg.Trust = trust(bob)
	m.append(m.start(), session("s1"))
	m.put(RecordEvent, m.sealBy(bob, m.streamOf(bob), 1, 9, nil, session("b1")).Raw, true)
	var got []Liveness
	m.cfg.Observe = func(v View, a Arrival, _ fold.Changes) {
		if !a.Reloaded || a.Cursor != "" {
			t.Errorf("arrival on reload = %+v", a)
		}
		got = append(got, v.Liveness(a.Event.Stream))
	}
	m.start()
	if d := cmp.Diff([]Liveness{Own, Own, Unknown}, got); d != "" {
		t.Errorf("liveness (-want +got):\n%s", d)
	}
}

// The disk lost a run in the middle, and a peer has it: what the latest run carries
// on is still carried.
func TestEarlierRunThatComesBackDropsNothing(t *testing.T) {
	m := newMachine(t, "ada")
	ls, record := newLineages(), ident.NewRecord()
	var runs []ident.Stream
	begin := func(run uint64, named ...ident.Stream) *event.Event {
		s := m.streamOf(m.cfg.Key)
		runs = append(runs, s)
		return m.sealBy(m.cfg.Key, s, 1, run, nil, event.StreamSucceeded{Record: record, Run: run, Sessions: []string{"a1"}, Streams: sorted(named...)})
	}
	one := begin(1)
	two := begin(2, runs[0])
	three := begin(3, runs[0], runs[1])
	ls.observe(one, false)
	ls.observe(m.sealBy(m.cfg.Key, runs[0], 2, 10, one, session("a1")), false)
	ls.observe(three, false)
	ls.observe(two, false)
	ls.observe(m.sealBy(m.cfg.Key, runs[1], 2, 11, two, event.SessionClosed{Session: "a1", Reason: "done"}), false)
	l := ls.of(record)
	if !l.goesOn[runs[0]] || !l.goesOn[runs[1]] || !l.goesOn[runs[2]] || l.last != runs[2] {
		t.Errorf("going on: %v", l.goesOn)
	}
	if len(l.opened["a1"]) != 1 {
		t.Error("a close in an earlier run that comes late ends what may have been opened since")
	}
}
