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
	spoke time.Duration // when the last beat was made, 0 for none in this run
	back  time.Duration // end of the last time in which no beat went out for about an expiry, 0 for none
	doubt bool          // the wall gained so much that only others can tell a pause from a clock that was set
	asked time.Duration // when one of them was first heard in that doubt, 0 for never
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
// has added up to more. What is longer than the retention is rather a wall clock that
// was wrong for years: it is left to doubt. A gap is what is longer than an expiry by
// the wall clock too: the time before the pause and after it, in which no beat went out
// either. take returns how long the run was away by the boot-time clock.
func (t *ticks) take(wall time.Time, boot time.Duration, lim event.Limits) (away time.Duration) {
	if t.any {
		away = boot - t.boot
		if away > gapOf(lim.Heartbeat, lim.Expiry) || wall.Sub(t.wall) > lim.Expiry {
			t.woke = boot
		}
		if max(away, wall.Sub(t.wall))+t.unheard(lim.Heartbeat) > lim.Expiry-lim.Heartbeat {
			t.back = boot
		}
		t.gain(wall.Add(-away).Sub(t.wall), boot, lim)
	}
	t.any, t.wall, t.boot = true, wall, boot
	return away
}

// unheard is how long before the last tick the last beat was made, if beats were going
// out then: peers count from there. Who was linked to nobody was heard by nobody anyway.
func (t *ticks) unheard(heartbeat time.Duration) time.Duration {
	if d := t.boot - t.spoke; t.spoke > 0 && d <= 2*heartbeat {
		return d
	}
	return 0
}

// gain is what the wall clock gained on the boot-time clock since the last tick.
func (t *ticks) gain(gain, boot time.Duration, lim event.Limits) {
	if gain > lim.StreamRetention {
		t.doubt, t.asked = true, 0
		return
	}
	if t.small = max(0, t.small+gain); t.small <= lim.Heartbeat {
		return
	}
	if boot+t.extra+t.small <= event.MaxUptime/2 { // a wall that is set to and fro for ever silences nobody
		t.extra += t.small
	}
	t.small = 0
}

// settle ends the doubt one expiry after the first beat that could tell.
func (t *ticks) settle(now, expiry time.Duration) {
	if t.asked == 0 {
		t.asked = max(now, 1)
	}
	t.doubt = now-t.asked <= expiry
}

// Tick looks for gaps: times in which this process or its machine did not run.
// Who calls it once calls it every heartbeat from then on; without any call no
// gap is looked for.
//
// After a gap longer than event.Limits.StreamRetention others may have dropped what
// this runtime wrote: the run ends, and the next append, or [Tx.Begin], begins one
// that carries nothing on. Until then there is no beat. Within one boot the boot-time
// clock tells; a wall clock that jumps by so much ends the run only when the uptime of
// another machine shows that this one stood still for as long. After a restart see
// lapseOnReload. Alone, nothing changes.
func (j *Journal) Tick() {
	j.lock()
	defer j.unlock()
	j.tick()
}

func (j *Journal) tick() {
	away := j.ticks.take(j.clock.Now(), j.clock.Boot(), j.cfg.Limits)
	if away > j.cfg.Limits.StreamRetention {
		j.lapse()
	}
}

// Returned is the boot time at which this run last went on after a time in which it may
// not have been heard for so long that others took it for gone; 0 for never. It counts
// from its last beat, by the clock that moved more, and begins a heartbeat before an
// expiry is over: by so much others may take its beats for older than they are. Whoever
// answers for claims looks here behind each Tick.
func (j *Journal) Returned() time.Duration {
	j.lock()
	defer j.unlock()
	return j.ticks.back
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
