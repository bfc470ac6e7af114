package journal

import (
	"strconv"
	"testing"
	"time"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/internal/clock"
)

const (
	day  = 24 * time.Hour
	year = 365 * day
)

// speaking is a machine that has a claim, knows of bob, and has told him that it
// lives, also to its own disk.
func speaking(t *testing.T) (*machine, *Journal, *origin) {
	m, bob := lasting(t, "ada"), keyOf(t, "bob")
	m.cfg.Trust = trust(bob)
	j := m.start()
	m.append(j, session("a1"))
	m.claim(j, "a1", "a")
	o := m.origin(bob, session("b1"))
	m.ingest(j, o.last)
	j.Tick()
	told(j, o.beat(), 0)
	m.speak(j)
	return m, j, o
}

// speak has a beat made, and written down.
func (m *machine) speak(j *Journal) {
	m.t.Helper()
	m.clock.Advance(saveEvery)
	if _, ok := j.Beat(); !ok {
		m.t.Fatal("no beat")
	}
	if err := j.SaveBeats(m.t.Context()); err != nil {
		m.t.Fatal(err)
	}
}

// wantGoingOn says whether what the run before had goes on in the next one.
func (m *machine) wantGoingOn(j *Journal, what string, want bool) {
	m.t.Helper()
	m.append(j, session("a9"))
	if got := len(standings(j)) == 1; got != want {
		m.t.Errorf("%s: the claim goes on: %v, want %v", what, got, want)
	}
}

// A wall clock that is set by months or years, to and fro, says nothing of a run that
// goes on: it keeps what it has, and its beats count.
func TestWallThatJumpsEndsNothing(t *testing.T) {
	m, j, o := speaking(t)
	s := j.Stream()
	mb := lasting(t, "bob")
	mb.cfg.Trust = trust(m.cfg.Key)
	far := mb.start()
	for _, e := range missing(t, j, event.Marks{}) {
		far.Ingest(t.Context(), [][]byte{e.Raw})
	}
	hear := func(what string) {
		t.Helper()
		b, ok := j.Beat()
		if !ok || !told(far, b, 0) {
			t.Fatalf("%s: a beat is not made, or not taken", what)
		}
		if l, _ := far.Liveness(s); l != Live {
			t.Errorf("%s: the run is %v", what, l)
		}
		told(j, o.beat(), 0)
		for _, c := range []interface{ Advance(time.Duration) }{m.clock, mb.clock, o.clock} {
			c.Advance(5 * time.Second)
		}
		j.Tick()
	}
	hear("at first")
	for _, d := range []time.Duration{31 * day, 60 * year, -100 * year, 60 * year, 60 * year, 20 * day} {
		m.clock.SetWall(m.clock.Now().Add(d))
		hear("wall set by " + d.String())
	}
	if got := j.uptime() - m.clock.Boot(); got != 20*day { // that alone may have been a pause
		t.Errorf("%v were added to the uptime", got)
	}
	for range 4000 { // 29 days each: what is taken for a pause has a bound as well
		m.clock.SetWall(m.clock.Now().Add(29 * day))
		j.Tick()
		m.clock.SetWall(m.clock.Now().Add(-29 * day))
		j.Tick()
	}
	hear("after a wall that was set for ever")
	if j.Stream() != s {
		t.Fatal("the run has ended")
	}
	if got := j.uptime(); got > event.MaxUptime/2 {
		t.Errorf("uptime = %v", got)
	}
	m.wantGoingOn(j, "in one run", true)
}

// Others count the silence of a run from its last beat, not from when it last looked at
// its clocks.
func TestReturnCountsFromTheLastBeat(t *testing.T) {
	for name, tt := range map[string]struct {
		beats bool
		away  func(*clock.Fake)
		gap   bool
	}{
		"short sleep":         {true, func(c *clock.Fake) { c.Suspend(20 * time.Second) }, false},
		"sleep":               {true, func(c *clock.Fake) { c.Suspend(21*time.Second + time.Millisecond) }, true},
		"pause":               {true, func(c *clock.Fake) { c.Pause(21*time.Second + time.Millisecond) }, true},
		"sleep, nobody hears": {false, func(c *clock.Fake) { c.Suspend(24 * time.Second) }, false},
	} {
		m, j, _ := speaking(t)
		before := j.Returned()
		if !tt.beats { // no link for long
			for range 20 {
				m.clock.Advance(time.Second)
				j.Tick()
			}
		}
		m.clock.Advance(4 * time.Second)
		j.Tick() // a command
		tt.away(m.clock)
		if j.Beat(); (j.Returned() != before) != tt.gap { // a link may look first
			t.Errorf("%s: returned at %v, %v before; want a gap: %v", name, j.Returned(), before, tt.gap)
		}
		if tt.gap && j.Returned() != m.clock.Boot() {
			t.Errorf("%s: returned at %v, want %v", name, j.Returned(), m.clock.Boot())
		}
	}
}

// A machine that really stood still for that long is told by the uptime of another one:
// then what it had has ended.
func TestStandstillIsToldByAnothersUptime(t *testing.T) {
	for _, restart := range []bool{false, true} {
		m, j, o := speaking(t)
		o.clock.Advance(saveEvery)
		told(j, o.beat(), 0)
		if err := j.SaveBeats(t.Context()); err != nil {
			t.Fatal(err)
		}
		m.clock.Pause(31 * day)
		o.clock.Advance(31 * day)
		if restart {
			j = m.start("a1")
		}
		j.Tick()
		if !told(j, o.beat(), 0) {
			t.Fatal("a beat after the standstill is not taken")
		}
		m.wantGoingOn(j, "after a standstill", false)
	}

	m, j, o := speaking(t)
	o.clock.Advance(31 * day) // the other one's word alone is worth nothing
	j.Tick()
	if !told(j, o.beat(), 0) {
		t.Fatal("a beat is not taken")
	}
	m.wantGoingOn(j, "after another's leap", true)
}

// The doubt that a wall leaves that was set ends one expiry after beats are heard: what a
// believed key claims of its uptime later ends nothing. Until any is heard it stays.
func TestDoubtOfAWallEnds(t *testing.T) {
	for _, restart := range []bool{false, true} {
		m, j, o := speaking(t)
		m.clock.SetWall(m.clock.Now().Add(60 * year))
		if restart {
			if err := j.SaveBeats(t.Context()); err != nil {
				t.Fatal(err)
			}
			j = m.start("a1")
		}
		for range 20 {
			m.clock.Advance(5 * time.Second)
			o.clock.Advance(5 * time.Second)
			j.Tick()
			told(j, o.beat(), 0)
		}
		o.clock.Advance(31 * day)
		if !told(j, o.beat(), 0) {
			t.Fatal("a beat is not taken")
		}
		m.wantGoingOn(j, "one key's word long after a wall that was set", true)
	}

	m, j, o := speaking(t)
	m.clock.Pause(31 * day)
	for range 20 { // nobody is heard
		m.clock.Advance(5 * time.Second)
		j.Tick()
	}
	o.clock.Advance(31*day + 100*time.Second)
	told(j, o.beat(), 0)
	m.wantGoingOn(j, "a standstill that is told late", false)
}

// Over a restart in one boot the boot-time clock tells; over a reboot there is only the
// wall clock, and where that is no help the run has been away for too long.
func TestAwayOverARestart(t *testing.T) {
	for name, tt := range map[string]struct {
		away   func(*machine)
		goesOn bool
	}{
		"restart":                      {func(m *machine) {}, true},
		"restart, wall set ahead":      {func(m *machine) { m.clock.SetWall(m.clock.Now().Add(60 * year)) }, true},
		"restart, wall set back":       {func(m *machine) { m.clock.SetWall(m.clock.Now().Add(-60 * year)) }, true},
		"restart after a sleep":        {func(m *machine) { m.clock.Suspend(31 * day) }, false},
		"sleep, wall set back":         {func(m *machine) { m.clock.Suspend(31 * day); m.clock.SetWall(m.clock.Now().Add(-32 * day)) }, false},
		"reboot":                       {func(m *machine) { m.clock.Reboot("2"); m.clock.Suspend(29 * day) }, true},
		"reboot after long":            {func(m *machine) { m.clock.Reboot("2"); m.clock.Suspend(31 * day) }, false},
		"reboot, another time zone":    {func(m *machine) { m.clock.Reboot("2"); m.clock.SetWall(m.clock.Now().Add(-12 * time.Hour)) }, true},
		"reboot, wall as of years ago": {func(m *machine) { m.clock.Reboot("2"); m.clock.SetWall(time.Unix(0, 0)) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			m, _, _ := speaking(t)
			tt.away(m)
			m.wantGoingOn(m.start("a1"), name, tt.goesOn)
		})
	}
}

// A sleep is told by the boot-time clock also where the wall was set back by less than
// the sleep took; and what was written since the row counts, whose time the wall alone has.
func TestSleepOutweighsAWallThatIsSetBack(t *testing.T) {
	for name, wrote := range map[string]time.Duration{"spoke last": 0, "wrote since": time.Minute, "wrote since, for long": 25 * day} {
		for _, back := range []time.Duration{0, 20 * day, 45 * day, -60 * year} {
			m, j, _ := speaking(t)
			if wrote > 0 {
				m.clock.Advance(wrote)
				m.append(j, session("a2"))
			}
			m.clock.Suspend(40 * day)
			m.clock.SetWall(m.clock.Now().Add(-back))
			m.wantGoingOn(m.start("a1"), name+", wall set back by "+back.String(), false)
		}
	}
	m, j, _ := speaking(t)
	m.clock.Advance(25 * day)
	m.append(j, session("a2"))
	m.clock.Suspend(20 * day)
	m.wantGoingOn(m.start("a1"), "20 days behind an event", true)

	m, j, _ = speaking(t)
	m.clock.SetWall(m.clock.Now().Add(20 * day)) // it was behind when the row was written
	m.append(j, session("a2"))
	m.clock.Suspend(40 * day)
	m.wantGoingOn(m.start("a1"), "wall set right before an event", false)
}

// Events that were stamped while the wall clock was decades ahead do not keep a later
// absence from being noticed, nor make one of each restart.
func TestEventsOfAWallThatWasAheadSayNothing(t *testing.T) {
	m, j, _ := speaking(t)
	m.clock.SetWall(m.clock.Now().Add(60 * year))
	m.append(j, session("ahead"))
	m.clock.SetWall(m.clock.Now().Add(-60 * year))
	m.clock.Advance(time.Hour)
	m.speak(j)
	m.clock.Reboot("2")
	m.clock.Suspend(day)
	j = m.start("a1")
	m.wantGoingOn(j, "a day later", true)
	m.clock.Reboot("3")
	m.clock.Suspend(31 * day)
	m.wantGoingOn(m.start("a1"), "31 days later", false)
}

// Whose run is silent is not given up because our own wall clock jumps, and not in the
// next run because this one's was wrong.
func TestWallThatJumpsGivesNobodyUp(t *testing.T) {
	m, bob := lasting(t, "ada"), keyOf(t, "bob")
	m.cfg.Trust = trust(bob)
	right := m.clock.Now()
	m.clock.SetWall(time.Unix(0, 0)) // it is not set yet
	j := m.start()
	o := m.origin(bob, session("b1"))
	m.ingest(j, o.last, m.acquire(bob, o.stream(), o.last, 20, "b1", "a"))
	stays := func(what string) {
		t.Helper()
		m.clock.Advance(pastSilence)
		if r := m.compact(j, force); len(r.Streams) > 0 || len(standings(j)) != 1 {
			t.Fatalf("%s: %+v, %v", what, r, standings(j))
		}
	}
	stays("the row is written")
	m.clock.SetWall(right)
	stays("after a jump")
	j = m.start()
	stays("after a restart")
	m.clock.SetWall(right.Add(40 * day))
	stays("after a jump ahead")
	m.clock.SetWall(right.Add(time.Hour))
	stays("and back")
	m.clock.Advance(31 * day)
	if r := m.compact(j, force); len(r.Streams) != 1 {
		t.Errorf("after 31 days %+v", r)
	}
}

// Nor after a restart in the same boot, whatever the wall clock was when the row was
// written: the boot-time clock tells. It tells the true silence as well.
func TestSilenceOverARestartIsOfTheBootTimeClock(t *testing.T) {
	for name, wrong := range map[string]time.Duration{"was behind": -40 * day, "was never set": -60 * year, "was ahead": 40 * day} {
		for _, first := range []bool{true, false} {
			m, bob := lasting(t, "ada"), keyOf(t, "bob")
			m.cfg.Trust = trust(bob)
			j := m.start()
			o := m.origin(bob, session("b1"))
			m.ingest(j, o.last, m.acquire(bob, o.stream(), o.last, 20, "b1", "a"))
			m.clock.Advance(pastSilence)
			if !first { // the row is written while the wall is right, and anew
				m.compact(j, force)
			}
			right := m.clock.Now()
			m.clock.SetWall(right.Add(wrong))
			m.compact(j, force)
			m.clock.SetWall(right)
			j = m.start()
			m.clock.Advance(pastSilence)
			if r := m.compact(j, force); len(r.Streams) > 0 || len(standings(j)) != 1 {
				t.Fatalf("wall %s: silent for minutes and given up: %+v, %v", name, r, standings(j))
			}
			m.clock.Advance(31 * day)
			m.clock.SetWall(right)
			j = m.start()
			m.clock.Advance(pastSilence)
			if r := m.compact(j, force); len(r.Streams) != 1 {
				t.Errorf("wall %s, after 31 days: %+v", name, r)
			}
		}
	}
}

// Over a reboot the wall clock tells, also by a row of Unix seconds alone, as earlier
// versions wrote it; and from then on the boot-time clock of the new boot.
func TestSilenceOverAReboot(t *testing.T) {
	for _, old := range []bool{false, true} {
		m, bob := lasting(t, "ada"), keyOf(t, "bob")
		m.cfg.Trust = trust(bob)
		m.clock.Advance(60 * day) // the boot before was longer than this one
		j := m.start()
		o := m.origin(bob, session("b1"))
		m.ingest(j, o.last, m.acquire(bob, o.stream(), o.last, 20, "b1", "a"))
		m.clock.Advance(pastSilence)
		m.compact(j, force)
		if old {
			since, _ := j.silentSince(o.stream())
			m.put(RecordRow, row{silentRowKind, string(o.stream()), strconv.AppendInt(nil, since.at, 10)}.encode(), true)
		}
		m.clock.Reboot("2")
		m.clock.Suspend(20 * day)
		j = m.start()
		if r := m.compact(j, force); len(r.Streams) > 0 {
			t.Fatalf("old row %v: given up after 20 days: %+v", old, r)
		}
		m.clock.Suspend(11 * day)
		m.clock.SetWall(m.clock.Now().Add(-11 * day))
		j = m.start()
		m.clock.Advance(pastSilence)
		if r := m.compact(j, force); len(r.Streams) != 1 {
			t.Errorf("old row %v: not given up after 31 days: %+v", old, r)
		}
	}
}
