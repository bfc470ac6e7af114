package sim

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/journal"
	"github.com/comity-dev/comity/coop/room"
	"github.com/comity-dev/comity/internal/clock"
	"github.com/comity-dev/comity/internal/seglog"
	"github.com/comity-dev/comity/internal/vfs/vfstest"
)

// A state is whether a machine does anything.
type state uint8

const (
	running   state = iota
	stopped         // its process is: SIGSTOP
	suspended       // it sleeps, and its boot-time clock goes on
	paused          // from outside: its boot-time clock stands still
)

func (s state) String() string { return [...]string{"running", "stopped", "suspended", "paused"}[s] }

// A machine has a disk, a clock of its own and, while its daemon is up, a room.
type machine struct {
	w      *World
	n      int
	name   string
	key    *ident.Key
	id     string // of the machine, in the run record
	record string // under which its last run counts
	disk   *disk

	clock      *clock.Fake
	ppm        int64 // how much faster than true time the clock runs
	part       int64 // millionths of a nanosecond not yet moved
	seen       time.Duration
	state      state
	wrote      time.Duration // true time of its last event
	pausedOnce bool
	lag        time.Duration // that a pause took from the boot-time clock

	up        bool
	pulse     int // of the heartbeat that is planned
	life      int // of the daemon: what was planned in an earlier one is void
	room      *room.Room
	j         *journal.Journal
	procs     *processes
	mate      map[int]*mate // what is known of the machines linked to
	gap       gap
	awake     time.Duration // true time since which it runs without a gap
	tick      tick
	listens   time.Duration // true time since which its journal was told the time again and again
	woken     time.Duration // true time since which it was not halted at all
	heard     map[int]time.Duration
	held      *holdings
	saved     *snapshot // of its state folder
	distrusts map[ident.NodeID]bool
	own       int // sessions made
	reading   bool
}

func (w *World) newMachine(n int) *machine {
	name := string(rune('a' + n))
	m := w.machineOf(n, name, keyOf(name), vfstest.New())
	m.ppm = w.rng.Int64N(201) - 100
	return m
}

func (w *World) machineOf(n int, name string, key *ident.Key, d *vfstest.Disk) *machine {
	w.boots++
	m := &machine{
		w: w, n: n, name: name, key: key, id: "machine " + name, seen: w.now,
		clock: clock.NewFake(begin.Add(w.now), time.Duration(n+1)*10*time.Minute, fmt.Sprint("boot ", w.boots)),
		procs: newProcesses(), held: newHoldings(), distrusts: map[ident.NodeID]bool{}, heard: map[int]time.Duration{},
	}
	m.disk = &disk{Disk: d, m: m}
	return m
}

// keyOf is the key of a name.
func keyOf(name string) *ident.Key {
	seed := sha256.Sum256([]byte("simulated " + name))
	key, err := ident.KeyFromSeed(seed[:])
	if err != nil {
		panic(err) // unreachable unless a seed is no longer 32 bytes
	}
	return key
}

func (m *machine) log(format string, args ...any) {
	m.w.log("%s: %s", m.name, fmt.Sprintf(format, args...))
}

// running tells whether m does anything now.
func (m *machine) running() bool { return m.up && m.state == running }

// runtime is the runtime of m's key.
func (m *machine) runtime() ident.Runtime {
	return ident.Runtime{Node: m.key.Node(), ID: m.key.Runtime(m.w.repo)}
}

// sync moves m's clock up to now.
func (m *machine) sync() {
	d := m.w.now - m.seen
	m.seen = m.w.now
	m.part += int64(d) * m.ppm
	d += time.Duration(m.part / 1e6)
	m.part %= 1e6
	switch m.state {
	case paused:
		m.lag += d
	case suspended:
		m.clock.Suspend(d)
	default:
		m.clock.Advance(d)
	}
}

// start opens the journal and the room over what is on the disk. A disk that does
// not let it leaves the machine down.
func (m *machine) start() {
	m.sync()
	m.life++
	cfg := room.Config{
		Journal: journal.Config{
			Key: m.key, Repo: m.w.repo, Dir: folder, Machine: m.id, Limits: m.w.limits, Trust: m.trusts(),
			Log: &seglog.Options{Inline: true, IdleAfter: -1, FirstSegmentBytes: 64 << 10, MaxSegmentBytes: 256 << 10},
		},
		Clock: m.clock, Processes: m.procs, Gap: m.gapLeft,
		Open: func(ctx context.Context, cfg journal.Config) (*journal.Journal, error) {
			j, err := m.open(ctx, cfg)
			m.j = j
			return j, err
		},
	}
	m.mate, m.gap = map[int]*mate{}, gap{}
	m.awake, m.woken, m.listens, m.tick = m.w.now, m.w.now, m.w.now, tick{}
	r, err := room.Open(context.Background(), cfg)
	if err != nil {
		m.log("does not start: %v", err)
		m.room, m.j = nil, nil
		return
	}
	m.room, m.up = r, true
	h := m.j.Health()
	m.log("starts, run %d, %d events, stamp %d", h.Run, h.Events, h.Clock)
	m.reopened()
	m.w.relink(m)
	m.beatIn(m.w.limits.Heartbeat)
}

// die ends the daemon without a word; what its disk keeps, keep says.
func (m *machine) die(how string, keep func(*vfstest.Disk) *vfstest.Disk) {
	m.sync()
	old, left := m.room, m.disk
	m.room, m.j, m.up = nil, nil, false
	m.life++
	m.disk = &disk{Disk: keep(left.Disk), m: m}
	if left.off = true; old != nil { // its goroutines end, and nothing reaches the disk any more
		left.PowerOff(left.Ops())
		_ = old.Close(context.Background()) // it cannot be clean
	}
	m.w.unlink(m)
	m.log("%s", how)
}

// kill is SIGKILL: what was written is there.
func (m *machine) kill() { m.die("is killed", (*vfstest.Disk).Kill) }

// crash is a loss of power: of what was not synced the disk keeps what it likes.
func (m *machine) crash() {
	m.die("loses power", func(d *vfstest.Disk) *vfstest.Disk {
		return d.Crash(func(n int) int { return m.w.rng.IntN(n) })
	})
	m.reboot()
}

func (m *machine) reboot() {
	m.w.boots++
	m.clock.Reboot(fmt.Sprint("boot ", m.w.boots))
	m.lag = 0
	m.procs.reboot()
}

// stop is a clean stop.
func (m *machine) stop() {
	m.sync()
	m.disk.off = true // nothing is written that anybody could see too early
	if err := m.room.Close(context.Background()); err != nil {
		m.log("does not close: %v", err)
	}
	m.room = nil
	m.die("stops", (*vfstest.Disk).Kill)
}

// halt keeps a running machine from doing anything; wake ends it.
func (m *machine) halt(s state) {
	m.sync()
	m.state = s
	m.log("is %s", s)
}

func (m *machine) wake() {
	m.sync()
	if m.state == paused {
		m.pausedOnce = true
		m.clock.Pause(m.lag)
	}
	was := m.state
	m.state, m.lag, m.woken = running, 0, m.w.now
	m.log("goes on after being %s, boot time %v", was, m.clock.Boot())
	if m.up {
		m.w.relink(m)
		m.beatIn(m.w.between(0, 2*time.Second))
	}
}

// beatIn plans the next heartbeat; one that was planned before is void.
func (m *machine) beatIn(d time.Duration) {
	m.pulse++
	life, pulse := m.life, m.pulse
	m.w.in(d, func() {
		if m.life == life && m.pulse == pulse && m.running() {
			m.heartbeat()
		}
	})
}

// heartbeat is what a daemon does every few seconds: it ticks, writes what is
// due, and tells its peers. A halted machine's comes when it goes on.
func (m *machine) heartbeat() {
	m.sync()
	m.lookForGap()
	if err := m.j.SaveBeats(context.Background()); err != nil {
		m.log("saves no beats: %v", err)
	}
	m.upkeep()
	for _, p := range m.peers() {
		m.tell(p)
	}
	m.beatIn(m.w.limits.Heartbeat)
	if m.j.Broken() != nil {
		m.log("is broken: %v", m.j.Broken())
		m.kill()
		m.start()
	}
}

// upkeep is what the room does by itself.
func (m *machine) upkeep() {
	before := len(m.held.events)
	m.room.Upkeep(context.Background())
	if m.noteWrites(); len(m.held.events) > before {
		m.changed()
	}
}

// beat makes m's beat, and notes when that was in truth.
func (m *machine) beat() *event.Beat {
	m.ticks()
	b, ok := m.j.Beat()
	if !ok {
		return nil
	}
	m.w.facts.beats[beatName{b.Stream, b.Uptime}] = made{m, m.w.now}
	return b
}

// peers are the machines that m has a link to, in order.
func (m *machine) peers() []*machine {
	var all []*machine
	for _, l := range m.w.links {
		if l.up && l.has(m) {
			all = append(all, l.other(m))
		}
	}
	slices.SortFunc(all, func(a, b *machine) int { return a.n - b.n })
	return all
}
