package journal

import (
	"time"

	"github.com/comity-dev/comity/coop/event"
)

// ticks are how this run sees that it was away: its own clocks between one tick
// and the next.
type ticks struct {
	any   bool
	wall  time.Time
	boot  time.Duration
	woke  time.Duration // end of the last gap, 0 for none
	extra time.Duration // what pauses of the machine took from its boot-time clock
	small time.Duration // the same, of short ones that are not in it yet
}

// gapOf is how long a run may be away and still have listened: with the beat before
// it, and that beat's way, a longer time is an expiry in which nobody was heard.
func gapOf(heartbeat, expiry time.Duration) time.Duration {
	return max(expiry-2*heartbeat, expiry/2)
}

// wake is when the last gap of our own ended: now, when one has lasted until now
// and no tick has come since.
func (t ticks) wake(now, heartbeat, expiry time.Duration) time.Duration {
	if t.any && now-t.boot > gapOf(heartbeat, expiry) {
		return now
	}
	return t.woke
}

// take is one tick. A machine that was stopped from outside does not see it on
// its boot-time clock; once its wall clock is set again, the gain tells. It is
// added to the uptime, or all its beats would look too old ever after. What is no
// longer than a heartbeat may be a wall clock that is set right, and counts once it
// has added up to more. A gap is what is longer than an expiry by the wall clock
// too: the time before the pause and after it, in which no beat went out either.
// take returns how long the run was away, by the clock that moved more.
func (t *ticks) take(wall time.Time, boot, heartbeat, expiry time.Duration) (away time.Duration) {
	if t.any {
		gain := wall.Sub(t.wall) - (boot - t.boot)
		if t.small = max(0, t.small+gain); t.small > heartbeat {
			t.extra, t.small = t.extra+t.small, 0
		}
		away = max(boot-t.boot, wall.Sub(t.wall))
		if boot-t.boot > gapOf(heartbeat, expiry) || away > expiry {
			t.woke = boot
		}
	}
	t.any, t.wall, t.boot = true, wall, boot
	return away
}

// Tick looks for gaps: times in which this process or its machine did not run.
// Who calls it once calls it every heartbeat from then on; without any call no
// gap is looked for.
//
// After a gap longer than event.Limits.StreamRetention others may have dropped what
// this runtime wrote: the run ends, and the next append, or [Tx.Begin], begins one
// that carries nothing on. Until then there is no beat. The same holds after a
// restart. Alone, nothing changes.
func (j *Journal) Tick() {
	j.lock()
	defer j.unlock()
	j.tick()
}

func (j *Journal) tick() {
	away := j.ticks.take(j.clock.Now(), j.clock.Boot(), j.cfg.Limits.Heartbeat, j.cfg.Limits.Expiry)
	if away > j.cfg.Limits.StreamRetention {
		j.lapse()
	}
}

// uptime is what our beats say, in whole milliseconds.
func (j *Journal) uptime() time.Duration {
	return (j.clock.Boot() + j.ticks.extra).Truncate(time.Millisecond)
}

// Beat makes a beat of this run, for links to send every heartbeat; it ticks. It
// names the last event that is durable. A run of which nothing is durable yet
// has no beat: false. A link that is up first makes it begin (see [Tx.Begin]).
func (j *Journal) Beat() (*event.Beat, bool) {
	j.lock()
	defer j.unlock()
	j.tick()
	h := j.heads.of(j.own.stream)
	if h.seq == 0 {
		return nil, false
	}
	b, err := event.SealBeat(j.cfg.Key, event.BeatHeader{
		Repo: j.cfg.Repo, Stream: j.own.stream, Seq: h.seq, Head: h.hash, Lamport: j.stamp, Uptime: j.uptime(),
	})
	j.speaks()
	return b, err == nil // no error unless a number is out of its bounds
}
