package journal

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/internal/clock"
)

const expiry = 30 * time.Second

// An origin is a run on another machine, with a clock of its own.
type origin struct {
	m     *machine
	key   *ident.Key
	last  *event.Event
	clock *clock.Fake
}

func (m *machine) origin(key *ident.Key, first event.Body) *origin {
	return &origin{m: m, key: key, last: m.sealBy(key, m.streamOf(key), 1, 10, nil, first), clock: clock.NewFake(time.Unix(5, 0), 99*time.Hour, "origin")}
}

func (o *origin) stream() ident.Stream { return o.last.Stream }

func (o *origin) beat() *event.Beat {
	o.m.t.Helper()
	b, err := event.SealBeat(o.key, event.BeatHeader{
		Repo: o.m.cfg.Repo, Stream: o.stream(), Seq: o.last.Seq, Head: o.last.Hash, Lamport: o.last.Lamport, Uptime: o.clock.Boot(),
	})
	if err != nil {
		o.m.t.Fatal(err)
	}
	return b
}

// told hands j a beat, as a relay does that says it is age old.
func told(j *Journal, b *event.Beat, age time.Duration) bool {
	return j.MergeMarks(event.Marks{b.Stream: {Seq: b.Seq, Beat: b, Age: age}}) == 1
}

func wantLiveness(t *testing.T, j *Journal, s ident.Stream, want Liveness) {
	t.Helper()
	if got, left := j.Liveness(s); got != want {
		t.Errorf("stream is %v (%v left), want %v", got, left, want)
	}
}

// pair is a journal that has run for long, and an origin that it holds the first
// event of; time passes for both.
func pair(t *testing.T) (*machine, *Journal, *origin, func(time.Duration)) {
	m, j, bob := peered(t)
	o := m.origin(bob, session("b1"))
	pass := func(d time.Duration) {
		fake(j).Advance(d)
		o.clock.Advance(d)
	}
	pass(time.Hour)
	wantOutcomes(t, m.ingest(j, o.last), "accepted")
	return m, j, o, pass
}

func TestStreamIsLiveWhileItBeatsAndExpiresAfter(t *testing.T) {
	_, j, o, pass := pair(t)
	wantLiveness(t, j, o.stream(), Unknown) // just known
	if !told(j, o.beat(), 0) {
		t.Fatal("the first beat is not taken")
	}
	wantLiveness(t, j, o.stream(), Live)
	for range 10 {
		pass(5 * time.Second)
		told(j, o.beat(), 0)
	}
	pass(expiry - time.Millisecond)
	wantLiveness(t, j, o.stream(), Live)
	pass(time.Millisecond)
	wantLiveness(t, j, o.stream(), Expired)
	told(j, o.beat(), 0)
	wantLiveness(t, j, o.stream(), Live)
}

func TestStreamThatNeverBeatsExpires(t *testing.T) {
	m, j, o, pass := pair(t)
	if _, left := j.Liveness(o.stream()); left != expiry {
		t.Errorf("left = %v, want %v", left, expiry)
	}
	pass(expiry)
	wantLiveness(t, j, o.stream(), Expired)
	wantLiveness(t, j, m.streamOf(o.key), Expired) // never heard of
	wantLiveness(t, m.start(), m.streamOf(o.key), Unknown)
}

// A relay keeps beats of a run that is dead by now, and lets them go one by one.
func TestHoardedBeatsAreAsOldAsTheyAre(t *testing.T) {
	_, j, o, pass := pair(t)
	for range 3 {
		told(j, o.beat(), 0)
		pass(5 * time.Second)
	}
	var hoard []*event.Beat
	for range 20 { // the run lives on for 100 s, and nothing comes through
		hoard = append(hoard, o.beat())
		pass(5 * time.Second)
	}
	died := 0 * time.Second
	wantLiveness(t, j, o.stream(), Expired)
	for _, b := range hoard {
		told(j, b, 0)
		live, _ := j.Liveness(o.stream())
		// The last one was made 5 s before the end: it may keep the run alive until
		// one expiry after it was made, and a thousandth of the silence.
		if limit := expiry - 5*time.Second + 100*time.Millisecond; live != Expired && died > limit {
			t.Fatalf("%v after the last beat the run is %v", died, live)
		}
		pass(5 * time.Second)
		died += 5 * time.Second
	}
	wantLiveness(t, j, o.stream(), Expired)
}

// Who hears a run for the first time has only the relay's word: what it withheld
// it can pretend, and no more.
func TestFirstHearingIsBoundedByWhatWasWithheld(t *testing.T) {
	_, j, o, pass := pair(t)
	old := o.beat()
	withheld := 100 * time.Second
	pass(withheld)
	told(j, old, 0) // "just heard"
	wantLiveness(t, j, o.stream(), Live)
	pass(expiry)
	wantLiveness(t, j, o.stream(), Expired)

	_, j, o, pass = pair(t)
	pass(expiry)
	told(j, o.beat(), 20*time.Second) // an honest word
	wantLiveness(t, j, o.stream(), Live)
	pass(10 * time.Second)
	wantLiveness(t, j, o.stream(), Expired)
	_, j, o, pass = pair(t)
	pass(expiry)
	told(j, o.beat(), 24*time.Hour)
	wantLiveness(t, j, o.stream(), Expired)
	if got := j.Marks()[o.stream()].Age; got != expiry {
		t.Errorf("passed on as %v old, want no more than the expiry", got)
	}
}

// A relay says of a fresh first beat that it is old. Were the difference of the
// clocks taken from that word, every later beat would look as much too old, and
// the living would be fenced.
func TestRelaysWordCannotAgeTheLiving(t *testing.T) {
	_, j, o, pass := pair(t)
	told(j, o.beat(), 29*time.Second)
	pass(5 * time.Second)
	wantLiveness(t, j, o.stream(), Unknown)
	told(j, o.beat(), 29*time.Second)
	wantLiveness(t, j, o.stream(), Live)
	pass(expiry - time.Millisecond)
	wantLiveness(t, j, o.stream(), Live)
}

func TestReplayedBeatChangesNothing(t *testing.T) {
	_, j, o, pass := pair(t)
	one := o.beat()
	pass(time.Second)
	two := o.beat()
	told(j, two, 0)
	pass(expiry)
	if told(j, one, 0) || told(j, two, 0) {
		t.Error("a beat that is not later is taken")
	}
	wantLiveness(t, j, o.stream(), Expired)
}

func TestBeatIsTakenFromItsOriginAlone(t *testing.T) {
	m, j, o, _ := pair(t)
	eve := m.origin(keyOf(t, "eve"), session("e1"))
	if told(j, eve.beat(), 0) {
		t.Error("a beat of a key that is not believed is taken")
	}
	good := o.beat()
	for i := range 8 * event.BeatBytes {
		raw := append([]byte(nil), good.Raw...)
		raw[i/8] ^= 1 << (i % 8)
		if b, err := event.ParseBeat(raw); err == nil && told(j, b, 0) {
			t.Fatalf("with bit %d flipped the beat is taken", i)
		}
	}
	if j.MergeMarks(event.Marks{m.streamOf(o.key): {Beat: good}}) != 0 {
		t.Error("a beat is taken under the name of another stream")
	}
	wantLiveness(t, j, o.stream(), Unknown)
}

// Two quartz clocks run apart by 100 ppm: a minute in a week.
func TestDriftOfAWeek(t *testing.T) {
	for _, ppm := range []time.Duration{-100, 100} {
		for _, every := range []time.Duration{5 * time.Second, 7 * 24 * time.Hour} { // heard all the time, or not at all meanwhile
			t.Run(fmt.Sprint(ppm, every), func(t *testing.T) {
				_, j, o, _ := pair(t)
				told(j, o.beat(), 0)
				for passed := time.Duration(0); passed < 7*24*time.Hour; passed += every {
					fake(j).Advance(every)
					o.clock.Advance(every + every*ppm/1_000_000)
					if every > time.Minute || passed%time.Hour == 0 {
						told(j, o.beat(), 0)
						wantLiveness(t, j, o.stream(), Live)
					}
				}
				o.clock.Advance(time.Millisecond)
				fake(j).Advance(time.Millisecond)
				told(j, o.beat(), 0)
				fake(j).Advance(29 * time.Second) // and it is no younger than it is
				wantLiveness(t, j, o.stream(), Live)
				fake(j).Advance(time.Second)
				wantLiveness(t, j, o.stream(), Expired)
			})
		}
	}
}

// The virtual machine of a peer is paused: its boot-time clock stands still. It
// adds what its wall clock gained; and if that was not seen, an answer to a ping
// tells.
func TestPausedMachineStaysAudible(t *testing.T) {
	bob := newMachine(t, "bob")
	far := bob.start()
	bob.append(far, session("b1"))
	_, j, _ := peered(t)
	s := far.Stream()
	pass := func(d time.Duration) {
		fake(j).Advance(d)
		fake(far).Advance(d)
	}
	hear := func() {
		b, ok := far.Beat()
		if !ok {
			t.Fatal("a run with an event has no beat")
		}
		told(j, b, 0)
	}
	for _, e := range missing(t, far, event.Marks{}) {
		j.Ingest(t.Context(), [][]byte{e.Raw})
	}
	hear()
	pass(5 * time.Second)
	hear()
	fake(far).Pause(time.Hour) // and its wall clock is set right
	fake(j).Advance(time.Hour)
	wantLiveness(t, j, s, Expired)
	hear()
	wantLiveness(t, j, s, Live)
	pass(29 * time.Second)
	wantLiveness(t, j, s, Live)

	fake(j).Advance(time.Hour) // the pause of a machine whose wall clock nobody sets
	pass(5 * time.Second)
	hear()
	wantLiveness(t, j, s, Expired)
	pass(time.Second)
	if b, _ := far.Beat(); !j.Answered(b) {
		t.Error("an answer of the origin is not taken")
	}
	wantLiveness(t, j, s, Live)
	pass(expiry - time.Second)
	wantLiveness(t, j, s, Live)
}

func TestOwnGapMakesTheOthersUnknown(t *testing.T) {
	_, j, o, pass := pair(t)
	j.Tick()
	told(j, o.beat(), 0)
	pass(5 * time.Second)
	j.Tick()
	fake(j).Suspend(time.Hour)
	wantLiveness(t, j, o.stream(), Unknown) // before any tick
	pass(time.Second)
	j.Tick()
	pass(20 * time.Second)
	j.Tick() // late, and no gap
	pass(expiry - 20*time.Second - time.Millisecond)
	wantLiveness(t, j, o.stream(), Unknown)
	pass(time.Millisecond)
	wantLiveness(t, j, o.stream(), Expired)

	pass(5 * time.Second)
	j.Tick()
	fake(j).Pause(time.Hour) // the wall clock alone tells
	pass(5 * time.Second)
	j.Tick()
	wantLiveness(t, j, o.stream(), Unknown)
	pass(15 * time.Second)
	j.Tick()
	pass(15 * time.Second)
	wantLiveness(t, j, o.stream(), Expired)

	// Whose last beat was heard before a time in which nobody listened, nearly an
	// expiry long, may have beaten all through it.
	j.Tick()
	fake(j).Suspend(20*time.Second + time.Millisecond)
	wantLiveness(t, j, o.stream(), Unknown)
}

// Pauses that are each no longer than a heartbeat count once they add up to more.
func TestShortPausesAddUp(t *testing.T) {
	_, j, _, pass := pair(t)
	j.Tick()
	for n, want := range []time.Duration{0, 8 * time.Second, 8 * time.Second, 16 * time.Second} {
		fake(j).Pause(4 * time.Second)
		pass(time.Second)
		j.Tick()
		if got := j.ticks.extra; got != want {
			t.Errorf("after %d pauses of 4s %v are added to the uptime, want %v", n+1, got, want)
		}
	}
	fake(j).SetWall(fake(j).Now().Add(-time.Hour)) // set back: nothing of it counts against a later pause
	j.Tick()
	fake(j).Pause(6 * time.Second)
	j.Tick()
	if got := j.ticks.extra; got != 22*time.Second {
		t.Errorf("after a pause of 6s behind a wall that was set back: %v, want 22s", got)
	}
}

func TestJournalThatNobodyTicksLooksForNoGap(t *testing.T) {
	_, j, o, pass := pair(t)
	pass(time.Hour)
	wantLiveness(t, j, o.stream(), Expired)
}

// A restart finds a live claim on disk. Nothing was heard yet: its holder is not
// dead.
func TestRestartThatFindsALiveClaim(t *testing.T) {
	m, j, o, pass := pair(t)
	claim := m.sealBy(o.key, o.stream(), 2, 20, o.last, event.ClaimAcquired{Session: "b1", Scope: m.scope("a"), Mode: event.ModeExclusive})
	m.ingest(j, claim)
	pass(time.Minute)
	told(j, o.beat(), 0)
	if err := j.SaveBeats(t.Context()); err != nil {
		t.Fatal(err)
	}
	m.clock = fake(j)
	j = m.start()
	if l, left := j.Liveness(o.stream()); l != Unknown || left != expiry {
		t.Errorf("after the restart: %v for %v, want unknown for one expiry", l, left)
	}
	pass(expiry - time.Millisecond)
	wantLiveness(t, j, o.stream(), Unknown)
	pass(time.Millisecond)
	wantLiveness(t, j, o.stream(), Expired)
}

// succession is a later run of o's record.
func (o *origin) next(record string, run uint64, sids ...string) *origin {
	n := o.m.origin(o.key, event.StreamSucceeded{Record: record, Run: run, Sessions: sids, Streams: nil})
	n.clock = o.clock
	return n
}

func TestStreamIsJudgedByTheRunsThatSucceededIt(t *testing.T) {
	m, j, bob := peered(t)
	record := ident.NewRecord()
	one := m.origin(bob, event.StreamSucceeded{Record: record, Run: 1})
	two, three := one.next(record, 2), one.next(record, 3)
	m.ingest(j, one.last, two.last, three.last)
	fake(j).Advance(expiry)
	wantLiveness(t, j, one.stream(), Expired)
	told(j, three.beat(), 0)
	wantLiveness(t, j, one.stream(), Live)
	wantLiveness(t, j, two.stream(), Live)

	m, j, _ = peered(t)
	m.ingest(j, one.last, two.last)
	fake(j).Advance(expiry)
	told(j, one.beat(), 0)
	wantLiveness(t, j, two.stream(), Expired) // an earlier run says nothing of a later one
}

// The next run of a peer is heard before its first event is here. It may have
// taken up what the one before left, or ended it.
func TestSuccessorHeardBeforeItsFirstEvent(t *testing.T) {
	m, j, bob := peered(t)
	record := ident.NewRecord()
	one := m.origin(bob, event.StreamSucceeded{Record: record, Run: 1})
	two := one.next(record, 2)
	m.ingest(j, one.last)
	fake(j).Advance(expiry)
	wantLiveness(t, j, one.stream(), Expired)
	if !told(j, two.beat(), 0) {
		t.Fatal("a beat of a run that is not held is not taken")
	}
	wantLiveness(t, j, one.stream(), Unknown)
	if got := j.Marks()[two.stream()]; got.Seq != 0 || got.Beat == nil {
		t.Errorf("mark = %+v, want a beat alone, for others to hear", got)
	}
	m.ingest(j, two.last)
	wantLiveness(t, j, one.stream(), Live)
	wantLiveness(t, j, two.stream(), Live)
	fake(j).Advance(expiry)
	wantLiveness(t, j, one.stream(), Expired)
}

func TestOldBeatOfAnUnknownStreamTakesNoPlace(t *testing.T) {
	m, j, bob := peered(t)
	o := m.origin(bob, session("b1"))
	if told(j, o.beat(), expiry) || len(j.lives.byStream) != 0 {
		t.Error("an old beat of a stream that is not held is taken")
	}
	m.cfg.Limits.NodeStreams = 2
	j = m.start()
	for i := range 4 {
		if got := told(j, m.origin(bob, session("b1")).beat(), 0); got != (i < 2) {
			t.Errorf("beat of stream %d taken: %v", i, got)
		}
	}
}

func TestFirstExchangeKeepsStreamsUnknown(t *testing.T) {
	_, j, o, pass := pair(t)
	pass(expiry)
	done := j.Joining(o.stream().Runtime())
	again := j.Joining(o.stream().Runtime())
	wantLiveness(t, j, o.stream(), Unknown)
	done()
	done()
	wantLiveness(t, j, o.stream(), Unknown)
	again()
	wantLiveness(t, j, o.stream(), Expired)
}

// Which beats are old, and how old, is known over a restart; in another boot of
// this machine only which are.
func TestSavedBeatsAreNoNewsAfterARestart(t *testing.T) {
	m, j, o, pass := pair(t)
	told(j, o.beat(), 0)
	pass(time.Minute)
	last := o.beat()
	told(j, last, 0)
	records := len(m.log.recs)
	if err := j.SaveBeats(t.Context()); err != nil || len(m.log.recs) != records+1 {
		t.Fatalf("SaveBeats = %v, %d records more", err, len(m.log.recs)-records)
	}
	pass(saveEvery)
	if err := j.SaveBeats(t.Context()); err != nil || len(m.log.recs) != records+1 {
		t.Errorf("a beat is written twice: %v", err)
	}
	last = o.beat()
	told(j, last, 0)
	if err := j.SaveBeats(t.Context()); err != nil || len(m.log.recs) != records+2 {
		t.Errorf("SaveBeats = %v, %d records more", err, len(m.log.recs)-records)
	}
	pass(saveEvery - time.Second)
	told(j, o.beat(), 0)
	if err := j.SaveBeats(t.Context()); err != nil || len(m.log.recs) != records+2 {
		t.Errorf("beats are written more than once a minute: %v", err)
	}
	hoarded := []*event.Beat{}
	for range 10 {
		o.clock.Advance(5 * time.Second)
		hoarded = append(hoarded, o.beat())
	}
	m.clock = fake(j)
	j = m.start()
	if d := cmp.Diff(uint64(10), j.Health().Clock); d != "" {
		t.Errorf("clock (-want +got):\n%s", d)
	}
	pass(time.Hour)
	if told(j, last, 0) {
		t.Error("a beat that was heard before the restart is news")
	}
	for _, b := range hoarded {
		told(j, b, 0)
		wantLiveness(t, j, o.stream(), Expired)
	}

	m.clock.Reboot("another")
	j = m.start()
	pass(time.Hour)
	if told(j, last, 0) {
		t.Error("a beat that was heard before the reboot is news")
	}
	told(j, hoarded[0], 20*time.Second) // how old it is only the relay can tell in this boot
	wantLiveness(t, j, o.stream(), Live)
	pass(10 * time.Second)
	wantLiveness(t, j, o.stream(), Expired)
	if v, err := j.Verify(t.Context()); err != nil || !v.OK() {
		t.Errorf("Verify = %+v, %v", v, err)
	}
}

// counting counts the writes that a log is given.
type counting struct {
	store
	writes int
}

func (c *counting) Enqueue(turn uint64, reserve bool, recs ...[]byte) ticket {
	c.writes++
	return c.store.Enqueue(turn, reserve, recs...)
}

// What is due goes to the disk in one write, which is one sync: beats, and the
// row that says when this node spoke. And a restart finds both.
func TestSavedBeatsAndRowsAreOneWrite(t *testing.T) {
	m, j, o, pass := pair(t)
	m.append(j, session("a1"))
	told(j, o.beat(), 0)
	pass(saveEvery)
	last := o.beat()
	told(j, last, 0)
	j.Beat()
	counted := &counting{store: j.log}
	j.log = counted
	if err := j.SaveBeats(t.Context()); err != nil || counted.writes != 1 {
		t.Errorf("SaveBeats = %v, in %d writes", err, counted.writes)
	}
	if j.rows.of(runRowKind, spokeRowKey) == nil {
		t.Error("the row is not there")
	}
	j = m.start()
	if told(j, last, 0) || j.rows.of(runRowKind, spokeRowKey) == nil {
		t.Error("a restart does not find what was saved")
	}
}

// A beat that says more than the lead counts for the lead: who was away while a clock
// was raised climbs to it, or it would refuse all that comes from there for ever.
func TestBeatRaisesTheClockWithinTheLead(t *testing.T) {
	const lead = 1 << 24
	m, j, o, pass := pair(t)
	o.last = m.sealBy(o.key, o.stream(), 2, 5000, o.last, session("b2"))
	told(j, o.beat(), 0)
	if got := j.Health().Clock; got != 5000 {
		t.Errorf("clock = %d, want 5000", got)
	}
	pass(time.Minute)
	if err := j.SaveBeats(t.Context()); err != nil {
		t.Fatal(err)
	}
	m.clock = fake(j)
	if j = m.start(); j.Health().Clock != 5000 {
		t.Errorf("clock = %d after a restart, want 5000", j.Health().Clock)
	}
	far := m.sealBy(o.key, o.stream(), 3, 5001+2*lead, o.last, session("b3"))
	o.last = far
	for _, want := range []uint64{5000 + lead, 5000 + 2*lead, far.Lamport} {
		pass(event.DefaultLimits().Heartbeat)
		told(j, o.beat(), 0)
		if got := j.Health().Clock; got != want {
			t.Errorf("clock = %d after a beat beyond the lead, want %d", got, want)
		}
	}
	wantLiveness(t, j, o.stream(), Live)
}

// A believed key raises the clock by the lead in a heartbeat, however much it
// says: else it could use up all numbers, for ever and for everybody.
func TestClockIsRaisedByTheLeadInAHeartbeat(t *testing.T) {
	const lead = 1 << 24
	m, j, o, pass := pair(t)
	pass(event.DefaultLimits().Heartbeat) // a heartbeat begins
	base := j.Health().Clock
	raise := func(to uint64) {
		t.Helper()
		o.last = m.sealBy(o.key, o.stream(), o.last.Seq+1, to, o.last, session(fmt.Sprint("c", to)))
		pass(time.Second)
		told(j, o.beat(), 0)
	}
	raise(base + lead - 1)
	raise(base + lead) // and no further
	raise(base + lead + 1)
	raise(base + 2*lead - 1)
	if got := j.Health().Clock; got != base+lead {
		t.Errorf("clock = %d after four beats in a heartbeat, want %d", got, base+lead)
	}
	wantOutcomes(t, m.ingest(j, m.sealBy(o.key, m.streamOf(o.key), 1, base+lead+1, nil, session("x"))), "clock_ahead")
	pass(event.DefaultLimits().Heartbeat)
	raise(base + 2*lead)
	if got := j.Health().Clock; got != base+2*lead {
		t.Errorf("clock = %d a heartbeat later, want %d", got, base+2*lead)
	}
}

func TestOwnBeatSaysWhatIsSynced(t *testing.T) {
	m, j, _ := peered(t)
	if _, ok := j.Beat(); ok {
		t.Error("a run that wrote nothing beats")
	}
	e := m.append(j, session("a1"))
	fake(j).Advance(1500 * time.Microsecond)
	b, ok := j.Beat()
	if !ok || b.Stream != e.Stream || b.Seq != 2 || b.Head != e.Hash || b.Lamport != e.Lamport || !b.Verify() {
		t.Errorf("beat = %+v, %v", b, ok)
	}
	if b.Uptime != time.Hour+time.Millisecond {
		t.Errorf("uptime = %v", b.Uptime)
	}
	if told(j, b, 0) || len(j.Health().Forsaken) != 0 {
		t.Error("our own beat that comes back changes something")
	}
}

// Somebody else beats in the stream of this run.
func TestAlienBeatOfTheOwnStreamEndsIt(t *testing.T) {
	for name, change := range map[string]func(*event.BeatHeader){
		"beyond our end":      func(h *event.BeatHeader) { h.Seq, h.Lamport = h.Seq+1, h.Lamport+1 },
		"with another head":   func(h *event.BeatHeader) { h.Head[0] ^= 1 },
		"later than we lived": func(h *event.BeatHeader) { h.Uptime += time.Minute },
	} {
		t.Run(name, func(t *testing.T) {
			m, j, _ := peered(t)
			e := m.append(j, session("a1"))
			b, _ := j.Beat()
			h := b.BeatHeader
			change(&h)
			alien, err := event.SealBeat(m.cfg.Key, h)
			if err != nil {
				t.Fatal(err)
			}
			told(j, alien, 0)
			if d := cmp.Diff([]ident.Stream{e.Stream}, j.Health().Forsaken); d != "" {
				t.Errorf("forsaken (-want +got):\n%s", d)
			}
			if _, ok := j.Beat(); ok {
				t.Error("the new run beats before its first event")
			}
		})
	}
}

// A copy of the state folder on the same machine, or on one that says it is the
// same: it counts under the same record.
func TestClonedStateFolderIsASecondUser(t *testing.T) {
	m := newMachine(t, "ada")
	m.append(m.start(), session("s1"))
	clone := newMachine(t, "ada")
	clone.log.recs = append(clone.log.recs, m.log.recs...)

	j, copied := m.start("s1"), clone.start("s1")
	m.append(j, session("here"))
	e := clone.append(copied, session("there"))
	for _, s := range missing(t, copied, j.Marks()) {
		j.Ingest(t.Context(), [][]byte{s.Raw})
	}
	if d := cmp.Diff([]ident.Stream{e.Stream}, j.Health().SecondUsers); d != "" || j.Health().SecondUser() == "" {
		t.Errorf("second users (-want +got):\n%s", d)
	}
	wantLiveness(t, j, e.Stream, Unknown)
	b, _ := copied.Beat()
	told(j, b, 0)
	wantLiveness(t, j, e.Stream, Live)
	// Were both to go on under one record, each would end what the other has.
	mine := m.append(j, session("again"))
	wantLiveness(t, j, mine.Stream, Own)
	if record := first(t, j, mine.Stream).Record; record == first(t, j, e.Stream).Record {
		t.Errorf("both count under the record %s", record)
	}
}

// A run that we take for an earlier one of ours beats after we started.
func TestEarlierRunThatBeatsIsASecondUser(t *testing.T) {
	m := newMachine(t, "ada")
	one := m.start()
	m.append(one, session("s1"))
	two := m.start("s1")
	m.append(two, session("s2"))
	wantLiveness(t, two, one.Stream(), Own)
	last, _ := one.Beat() // from before we started
	told(two, last, 0)
	wantLiveness(t, two, one.Stream(), Own)
	fake(one).Advance(time.Minute)
	fake(two).Advance(time.Minute)
	b, _ := one.Beat()
	told(two, b, 0)
	if d := cmp.Diff([]ident.Stream{one.Stream()}, two.Health().SecondUsers); d != "" {
		t.Errorf("second users (-want +got):\n%s", d)
	}
	wantLiveness(t, two, one.Stream(), Live)
}

func FuzzDecodeBeats(f *testing.F) {
	key, err := ident.KeyFromSeed(make([]byte, 32))
	if err != nil {
		f.Fatal(err)
	}
	repo, err := ident.RepositoryDeclared("journal-test")
	if err != nil {
		f.Fatal(err)
	}
	b, err := event.SealBeat(key, event.BeatHeader{Repo: repo, Stream: ident.NewStream(key.Node(), key.Runtime(repo), "00000000000000aa"), Seq: 1, Lamport: 1})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(savedBeats{clock: 7, boot: "boot", beats: []savedBeat{{b, -5, 9}, {b, 1, 2}}}.encode())
	f.Add(savedBeats{}.encode())
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := decodeBeats(raw)
		if err == nil && string(s.encode()) != string(raw) {
			t.Fatalf("decodeBeats(%x) prints as %x", raw, s.encode())
		}
	})
}

// A key that is believed names runs without end, and beats in each. It fills its
// own places while they are fresh, and never those of others.
func TestBeatsOfRunsThatNeverWereKeepNobodyOut(t *testing.T) {
	m, bob, eve := newMachine(t, "ada"), keyOf(t, "bob"), keyOf(t, "eve")
	m.cfg.Trust = trust(bob, eve)
	m.cfg.Limits.NodeStreams, m.cfg.Limits.Streams = 4, 10
	j := m.start()
	for round := range 6 {
		taken := 0
		for range 8 {
			if told(j, m.origin(eve, session("e")).beat(), 0) {
				taken++
			}
		}
		if taken != 4 {
			t.Errorf("round %d: %d beats of new runs are taken, want 4", round, taken)
		}
		if n := len(j.lives.byStream); n > 10 || n != len(j.lives.byNode[eve.Node()]) {
			t.Fatalf("round %d: %d streams are known, %d of eve", round, n, len(j.lives.byNode[eve.Node()]))
		}
		fake(j).Advance(expiry)
	}
	for range 4 {
		wantOutcomes(t, m.ingest(j, m.line(bob, "b", 1)...), "accepted")
	}
	wantOutcomes(t, m.ingest(j, m.line(bob, "b", 1)...), "capacity")
	if n := len(j.lives.byStream); n > 10 {
		t.Errorf("%d streams are known, want at most 10", n)
	}
}
