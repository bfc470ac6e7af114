package sim

import (
	"slices"
	"time"

	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/internal/vfs/vfstest"
)

// wire draws which machines are linked: all, in a row, or to the first one.
func (w *World) wire() {
	shape := w.rng.IntN(3)
	for _, l := range w.links {
		switch {
		case shape == 0,
			shape == 1 && l.b.n == l.a.n+1,
			shape == 2 && l.a.n == 0:
			w.connect(l)
		}
	}
}

// step is one thing that somebody does, or that goes wrong, and some time.
func (w *World) step(o Options) {
	switch {
	case o.Quiet || w.rng.IntN(100) < 65:
		w.people()
	default:
		w.trouble()
	}
	w.pass(w.while())
}

// while draws how long nothing is done: mostly short, now and then an expiry.
func (w *World) while() time.Duration {
	switch n := w.rng.IntN(100); {
	case n < 60:
		return w.between(0, 300*time.Millisecond)
	case n < 90:
		return w.between(0, 5*time.Second)
	case n < 98:
		return w.between(5*time.Second, 20*time.Second)
	}
	return w.between(20*time.Second, 2*time.Minute)
}

var troubles = []operation{
	{4, "link", func(w *World, _ *machine) { w.flip() }},
	{3, "spoil", func(w *World, _ *machine) { w.spoil() }},
	{4, "halt", func(w *World, m *machine) { w.halt(m) }},
	{3, "restart", func(w *World, m *machine) { w.restart(m) }},
	{4, "disk", func(w *World, m *machine) { w.breakDisk(m) }},
	{2, "clock", func(w *World, m *machine) { w.setClock(m) }},
	{3, "mallory", func(w *World, m *machine) {
		if m.running() {
			w.hostile.attack(m)
		}
	}},
	{4, "compact", func(w *World, m *machine) {
		if m.running() && !m.disk.failing {
			m.compact(w.between(30*time.Second, 3*time.Minute))
		}
	}},
	{1, "forget", func(w *World, m *machine) {
		if p := pick(w, w.machines); m.running() && p != m && p.key != m.key && !m.disk.failing {
			m.forget(p)
		}
	}},
	{2, "trust", func(w *World, m *machine) { w.distrust(m) }},
	{2, "set back", func(w *World, m *machine) { w.setBack(m) }},
	{1, "copy", func(w *World, m *machine) { w.copyFolder(m) }},
	{6, "mend", func(w *World, m *machine) { w.mend(m) }},
}

func (w *World) trouble() { weigh(w, troubles).do(w, pick(w, w.machines)) }

// flip takes a link down or up, or cuts it one way.
func (w *World) flip() {
	l := pick(w, w.links)
	switch {
	case !l.up:
		w.connect(l)
	case w.chance(2):
		w.disconnect(l)
	default:
		cut := l.cut
		i := w.rng.IntN(2)
		cut[i] = !cut[i]
		l.set(l.loss, l.twice, l.slow, l.liar, cut)
		w.log("link %s-%s cut %v", l.a.name, l.b.name, l.cut)
	}
}

// spoil lets a link lose, double, delay, or run through a liar.
func (w *World) spoil() {
	l := pick(w, w.links)
	n := w.rng.IntN(5)
	if w.cables { // bytes in order, of whom both ends have proved to be
		n = max(n, 2)
		if n == 3 {
			n = 4
		}
	}
	switch n {
	case 0:
		l.set(2+w.rng.IntN(8), 0, 0, nil, l.cut)
	case 1:
		l.set(0, 1+w.rng.IntN(4), 0, nil, l.cut)
	case 2:
		l.set(0, 0, w.between(time.Second, 20*time.Second), nil, l.cut)
	case 3:
		l.set(0, 0, 0, &liar{w: w}, l.cut)
	default:
		l.set(0, 0, 0, nil, l.cut)
	}
	w.log("link %s-%s loses 1/%d, doubles 1/%d, takes up to %v, liar %v", l.a.name, l.b.name, l.loss, l.twice, l.slow, l.liar != nil)
}

func (w *World) halt(m *machine) {
	if m.state != running {
		m.wake()
		return
	}
	m.halt(pick(w, []state{stopped, suspended, paused}))
	w.in(w.between(time.Second, 90*time.Second), func() {
		if m.state != running {
			m.wake()
		}
	})
}

func (w *World) restart(m *machine) {
	if m.state != running {
		return
	}
	if m.up {
		switch w.rng.IntN(3) {
		case 0:
			m.stop()
		case 1:
			m.kill()
		default:
			m.crash()
		}
	}
	if w.chance(2) {
		m.start()
		return
	}
	w.in(w.between(0, 60*time.Second), func() {
		if !m.up && m.state == running {
			m.start()
		}
	})
}

// breakDisk fails one of the next operations of a disk, or all, or ends the power
// there.
func (w *World) breakDisk(m *machine) {
	at := m.disk.Ops() + w.rng.IntN(12)
	f := vfstest.Fault{At: at, Kept: w.chance(2), Short: w.chance(3)}
	switch w.rng.IntN(4) {
	case 0:
		f.Err, f.Kinds = vfstest.EIO, []string{"sync"}
	case 1:
		f.Err, f.Kinds = vfstest.EIO, []string{"write"}
	case 2:
		f.Err, f.Kinds, f.Forever, f.Kept = vfstest.ENOSPC, []string{"write"}, true, false
	case 3:
		m.disk.failing, m.disk.dying = true, true
		m.disk.PowerOff(at)
		m.log("loses power at operation %d", at)
		w.in(w.between(0, 10*time.Second), func() {
			if m.disk.dying && m.state == running {
				m.lose()
			}
		})
		return
	}
	m.disk.failing = true
	m.disk.Fail(f)
	m.log("disk: operation %d: %v %v kept %v short %v for ever %v", at, f.Kinds, f.Err, f.Kept, f.Short, f.Forever)
	w.in(w.between(time.Second, 30*time.Second), func() { m.repair() })
}

// repair ends all that is wrong with a disk; a daemon that is up stays as it is.
func (m *machine) repair() {
	switch {
	case m.disk.dying && m.state == running:
		m.lose()
	case m.disk.failing && !m.disk.dying:
		m.disk.failing = false
		m.disk.Repair()
		m.log("disk: all is well again")
	}
}

// lose is that the power is gone, and comes back.
func (m *machine) lose() {
	m.crash()
	m.start()
}

// setClock sets a wall. A machine that stands still at that very time would take
// the one for the other: that is no promise.
func (w *World) setClock(m *machine) {
	if !m.running() {
		return
	}
	m.sync()
	m.lookForGap()
	d := w.between(-2*time.Hour, 2*time.Hour)
	m.clock.SetWall(m.clock.Now().Add(d))
	m.log("wall is set by %v", d)
	m.lookForGap()
}

// mend ends what is wrong with one machine and its links.
func (w *World) mend(m *machine) {
	if m.state != running {
		m.wake()
	}
	m.repair()
	if !m.up {
		m.start()
	}
	for _, l := range w.links {
		if l.has(m) {
			if l.wanted = true; !l.sound() {
				l.set(0, 0, 0, nil, [2]bool{})
			}
			w.connect(l)
		}
	}
}

// settle ends a run. In liveness mode a core of machines is healed and the rest
// left as it is; the core has to agree in time, and to work.
func (w *World) settle(o Options) {
	for _, m := range w.machines {
		if m.running() {
			m.checkModel()
		}
	}
	if !o.Liveness {
		return
	}
	core := slices.Clone(w.machines)
	w.rng.Shuffle(len(core), func(i, j int) { core[i], core[j] = core[j], core[i] })
	core = core[:2+w.rng.IntN(len(core)-1)]
	for i, m := range core { // two users of one key do not link
		if slices.ContainsFunc(core[:i], func(p *machine) bool { return p.key == m.key }) {
			return
		}
	}
	w.log("from here on the core is sound: %d machines", len(core))
	w.heal(core)
	w.pass(healing(w))
	w.rest()
	w.check()
	w.agree(core)
	w.quiet(core)
	w.useful(core)
	for _, m := range core {
		m.checkModel()
	}
}

// rest lets time pass until nobody has written for a second: else something new may be
// on its way.
func (w *World) rest() {
	for range 10 {
		before := len(w.facts.signed)
		if w.pass(time.Second); len(w.facts.signed) == before {
			return
		}
	}
}

// distrust withdraws or gives back a machine's trust in another; they are linked
// no more or again.
func (w *World) distrust(m *machine) {
	p := pick(w, w.machines)
	if p == m || p.key == m.key || !m.running() || m.disk.failing {
		return
	}
	now := !m.distrusts[p.key.Node()]
	m.distrust(p, now)
	l := w.link(m, p)
	if now {
		w.disconnect(l)
	} else if !p.distrusts[m.key.Node()] {
		w.connect(l)
	}
}

// setBack keeps a copy of a state folder, or goes back to it.
func (w *World) setBack(m *machine) {
	switch {
	case !m.running() || m.disk.failing:
	case m.saved == nil:
		m.saved = m.snapshot()
	default:
		m.setBack(m.saved)
		m.saved = nil
	}
}

// copyFolder puts a copy of another machine's state folder, its key too, in the
// place of a machine's own.
func (w *World) copyFolder(m *machine) {
	p := pick(w, w.machines)
	if p == m || p.key == m.key || !p.running() || p.disk.failing || m.state != running || m.distrusts[p.key.Node()] || len(w.machines) < 3 {
		return
	}
	for _, not := range p.distrusts { // nobody would give back the trust in a key that is gone
		if not {
			return
		}
	}
	s := p.snapshot()
	w.cloned = true
	m.die("gets a copy of "+p.name, func(*vfstest.Disk) *vfstest.Disk { return s.disk })
	m.key, m.held, m.saved, m.record = p.key, s.held, nil, ""
	m.distrusts = map[ident.NodeID]bool{}
	m.start()
}
