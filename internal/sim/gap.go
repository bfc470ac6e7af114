package sim

import (
	"maps"
	"slices"
	"time"
)

// A gap is a time in which a machine was silent for longer than its peers wait.
// Until it has finished a round with each peer that it was linked to, for one
// expiry at most, it answers no claim.
type gap struct {
	back   time.Duration  // boot time of the return that was answered last
	end    time.Duration  // boot time
	left   map[int]bool   // peers that have not answered since
	all    map[int]bool   // that were to be asked
	rounds map[int]uint64 // that were asked for on their cables
}

// A tick is when m last told its journal the time, by m's clocks.
type tick struct {
	any  bool
	boot time.Duration
	wall time.Time
}

// ticks goes before all that has the journal look at its clocks: who did that for
// longer than an expiry not has listened since now only.
func (m *machine) ticks() {
	now := tick{true, m.clock.Boot(), m.clock.Now()}
	if m.tick.any && max(now.boot-m.tick.boot, now.wall.Sub(m.tick.wall)) > m.w.limits.Expiry {
		m.listens = m.w.now
	}
	m.tick = now
}

// lookForGap is done at every request and tick.
func (m *machine) lookForGap() {
	m.ticks()
	m.j.Tick()
	back := m.j.Returned()
	if back == m.gap.back {
		return
	}
	m.gap = gap{back: back, end: back + m.w.limits.Expiry, left: map[int]bool{}, all: map[int]bool{}, rounds: map[int]uint64{}}
	for _, p := range m.peers() {
		m.gap.left[p.n], m.gap.all[p.n] = true, true
	}
	m.awake = m.w.now
	m.log("was not heard for long, asks %v", slices.Sorted(maps.Keys(m.gap.left)))
	for _, p := range m.peers() {
		m.ask(p)
	}
}

// gapLeft is for how long m answers no claim.
func (m *machine) gapLeft() time.Duration {
	if len(m.gap.left) == 0 {
		return 0
	}
	return max(0, m.gap.end-m.clock.Boot())
}
