package journal

import (
	"maps"
	"slices"
	"time"

	"github.com/comity-dev/comity/coop/event"
)

// MergeMarks takes the beats in a peer's marks that are later than those held,
// and tells how many there were. A beat that is not its origin's, of another
// repository or of a key that is not believed is passed over; so is an old one of
// a stream that is not known here. How far the peer is, is the peer's: only
// events move marks.
func (j *Journal) MergeMarks(theirs event.Marks) (risen int) {
	now := j.clock.Boot()
	for _, s := range slices.Sorted(maps.Keys(theirs)) { // so that a simulation repeats
		m := theirs[s]
		if m.Beat != nil && m.Beat.Stream == s && j.hear(m.Beat, func(l *life) {
			l.hear(m.Beat, now, m.Age, j.cfg.Limits.Expiry)
		}, m.Age) {
			risen++
		}
	}
	return risen
}

// Answered takes a beat that its origin made after we asked for one, and sent
// over a direct link: the caller vouches for both. It tells the difference of
// the two clocks outright. It reports whether the beat was taken.
func (j *Journal) Answered(b *event.Beat) bool {
	now := j.clock.Boot()
	return j.hear(b, func(l *life) { l.answered(b, now) }, 0)
}

// hear takes a beat when it is later than the one held and authentic.
func (j *Journal) hear(b *event.Beat, take func(*life), word time.Duration) bool {
	if b.Repo != j.cfg.Repo || !j.wants(b, word) || !b.Verify() {
		return false
	}
	j.lock()
	defer j.unlock()
	if !j.wantsLocked(b, word) {
		return false
	}
	j.climb(b.Lamport, j.ceiling())
	if b.Stream == j.own.stream {
		j.forsake()
		return false
	}
	now := j.clock.Boot()
	j.lift(b.Stream)
	l := j.lives.of(b.Stream, now)
	j.stoodStill(l, b, now)
	take(l)
	j.lives.touch(b.Stream)
	j.heardOfUs(l)
	j.heardAgain(b.Stream.Runtime())
	j.settled = true
	j.lives.trim(j.cfg.Limits, now)
	return true
}

func (j *Journal) wants(b *event.Beat, word time.Duration) bool {
	j.lock()
	defer j.unlock()
	return j.wantsLocked(b, word)
}

func (j *Journal) wantsLocked(b *event.Beat, word time.Duration) bool {
	switch {
	case b.Stream == j.own.stream:
		return j.alien(b)
	case !j.believed(b.Stream.Node()):
		return false
	}
	t := j.tombs.byStream[b.Stream]
	if t != nil && b.Uptime <= t.uptime { // it was heard that far before it was dropped, back or not
		return false
	}
	if l := j.lives.byStream[b.Stream]; l != nil {
		return b.Later(l.beat)
	}
	now, expiry := j.clock.Boot(), j.cfg.Limits.Expiry
	if t != nil && t.measured && now-(t.difference+b.Uptime) >= expiry {
		return false
	}
	return word < expiry && j.streamRoom(b.Stream, newcomers{})
}

// alien reports whether a beat of our current stream is none that we made.
func (j *Journal) alien(b *event.Beat) bool {
	e := j.end(j.own.stream)
	return b.Seq > e.seq || b.Seq == e.seq && b.Head != e.hash || b.Uptime > j.uptime()
}

// heardOfUs looks at a run of our own key that was heard. One that has beaten
// since this run started is not an earlier run of ours: the key has a second user.
func (j *Journal) heardOfUs(l *life) {
	if l.stream.Node() != j.runtime.Node || l.second {
		return
	}
	if made, ok := l.made(); ok && made > j.started+j.cfg.Limits.Heartbeat {
		j.second(l)
	}
}

func (j *Journal) second(l *life) {
	l.second = true
	if !slices.Contains(j.health.SecondUsers, l.stream) {
		j.health.SecondUsers = append(j.health.SecondUsers, l.stream)
		slices.Sort(j.health.SecondUsers)
	}
}

// Clock is the highest stamp that this journal has seen, 0 for none: what a greeting
// tells. It is no sign of life, as who asks may be anybody.
func (j *Journal) Clock() uint64 {
	j.lock()
	defer j.unlock()
	return j.stamp
}

// firstClock is how far ahead the first welcome may set a clock: others, who are held
// to the lead, climb to it in four days.
const firstClock = 1 << 40

// Welcome takes the clock that a peer's welcome tells. A journal that has heard
// of nobody yet is set to it, up to 2^40; any later one counts within the lead
// that every stamp is held to. It reports whether all of it counted.
func (j *Journal) Welcome(clock uint64) bool {
	j.lock()
	defer j.unlock()
	most := uint64(firstClock)
	if j.settled {
		most = j.ceiling()
	}
	j.climb(clock, most)
	if !j.settled {
		j.settled, j.ceil = true, ceiling{}
	}
	return clock <= most
}

// climb raises our clock to another's, or as far as may be. Who is further ahead was
// raised while we were away: were that not to count at all, we would refuse what it
// writes for ever.
func (j *Journal) climb(to, most uint64) { j.stamp = max(j.stamp, min(to, most)) }
