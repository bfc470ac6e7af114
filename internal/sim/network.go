package sim

import (
	"time"
)

// A line is the way between two machines: a link carries what two machines say to each other. It is up while both know
// of it; what it carries may be lost, late, doubled or, one way, all cut.
type line struct {
	w       *World
	a, b    *machine
	wanted  bool // the wiring has it
	up      bool
	cut     [2]bool // from a, from b: nothing arrives
	loss    int     // one in so many is lost; 0: none
	twice   int     // one in so many comes twice
	slow    time.Duration
	liar    *liar         // who passes on, and does with it what it likes
	since   time.Duration // true time since which it is as it is
	flying  int
	cable   *cable // of a world whose machines speak package link's protocol
	carried int    // events of honest machines
}

const fast = 20 * time.Millisecond

func newLine(w *World, a, b *machine) *line { return &line{w: w, a: a, b: b, slow: fast} }

func (l *line) has(m *machine) bool { return l.a == m || l.b == m }

func (l *line) other(m *machine) *machine {
	if l.a == m {
		return l.b
	}
	return l.a
}

func (l *line) cutFrom(m *machine) *bool {
	if l.a == m {
		return &l.cut[0]
	}
	return &l.cut[1]
}

// set makes a link lose, double, delay and lie; all zero is a good one.
func (l *line) set(loss, twice int, slow time.Duration, liar *liar, cut [2]bool) {
	l.loss, l.twice, l.slow, l.liar, l.cut, l.since = loss, twice, max(slow, fast), liar, cut, l.w.now
}

// sound tells whether all that is said on l arrives, and soon.
func (l *line) sound() bool {
	return l.up && !l.cut[0] && !l.cut[1] && l.loss == 0 && l.liar == nil && l.slow <= fast
}

func (w *World) link(a, b *machine) *line {
	for _, l := range w.links {
		if l.has(a) && l.has(b) && a != b {
			return l
		}
	}
	return nil
}

// connect brings a link up, when both machines are.
func (w *World) connect(l *line) {
	l.wanted = true
	if l.a.key == l.b.key || l.a.distrusts[l.b.key.Node()] || l.b.distrusts[l.a.key.Node()] {
		return
	}
	if l.up || !l.a.running() || !l.b.running() {
		return
	}
	l.up, l.since = true, w.now
	w.log("link %s-%s is up", l.a.name, l.b.name)
	if w.cables {
		w.plug(l)
		return
	}
	l.a.meet(l.b)
	l.b.meet(l.a)
}

// redial tries a line again that was given up and is still wanted.
func (w *World) redial(l *line) {
	if l.wanted && !l.up {
		w.connect(l)
		if !l.up {
			w.in(10*time.Second, func() { w.redial(l) })
		}
	}
}

func (w *World) disconnect(l *line) {
	l.wanted = false
	w.drop(l)
}

func (w *World) drop(l *line) {
	if !l.up {
		return
	}
	l.up, l.since = false, w.now
	w.log("link %s-%s is down", l.a.name, l.b.name)
	if l.cable != nil {
		l.cable.unplug()
		l.cable = nil
		return
	}
	l.a.leave(l.b)
	l.b.leave(l.a)
}

// relink brings up again what links a machine had, unlink takes them down.
func (w *World) relink(m *machine) {
	for _, l := range w.links {
		if l.has(m) && l.wanted {
			w.connect(l)
		}
	}
}

func (w *World) unlink(m *machine) {
	for _, l := range w.links {
		if l.has(m) {
			w.drop(l)
		}
	}
}

// send puts a message on the link from one machine to another.
func (w *World) send(from, to *machine, msg message) {
	l := w.link(from, to)
	w.facts.sent(w, from, msg)
	l.carried += countHonest(w, msg.events)
	if !l.up || *l.cutFrom(from) || l.loss > 0 && w.chance(l.loss) {
		return
	}
	copies := 1
	if l.twice > 0 && w.chance(l.twice) {
		copies = 2
	}
	for range copies {
		l.flying++
		w.in(w.between(time.Millisecond, l.slow), func() {
			l.flying--
			if !l.up || !to.up { // halted machines find it in their socket
				return
			}
			w.arrive(l, from, to, msg)
		})
	}
}

// arrive hands a message over, or to who stands between.
func (w *World) arrive(l *line, from, to *machine, msg message) {
	if to.state != running { // it waits
		life := to.life
		w.in(time.Second, func() {
			if l.up && to.up && to.life == life {
				w.arrive(l, from, to, msg)
			}
		})
		return
	}
	if l.liar == nil {
		to.receive(from, msg, true)
		return
	}
	for _, m := range l.liar.pass(from, msg) {
		to.receive(from, m, false)
	}
}
