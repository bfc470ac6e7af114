package sim

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"time"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/fold"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/link"
)

// A cable is one connection between two machines that speak the protocol of
// package link: bytes in order, late perhaps, until it is cut. Its ends are the
// package's cores; what drives them is here.
type cable struct {
	l    *line
	ends [2]*end
	over bool
}

// An end is one machine's side of a cable.
type end struct {
	c    *cable
	m    *machine
	life int
	core *link.Core
	far  *end

	clear   time.Duration     // true time at which the way is free for the next frame
	due     time.Duration     // true time at which the last frame arrives
	stalled []link.Frame      // that a one-way cut holds back
	sent    map[[32]byte]bool // events
	batches int               // that were taken
	reports int               // that were sent
}

// plug connects two machines.
func (w *World) plug(l *line) {
	c := &cable{l: l}
	for i, m := range []*machine{l.a, l.b} {
		m.sync()
		m.begin()
		core, err := link.NewCore(link.Config{
			Key: m.key, Trust: func(n ident.NodeID) bool { return m.trusts()(n) }, Limits: w.limits, Dialer: i == 0,
			Card: link.Card{Repo: w.repo, Instance: ident.NewInstance(), Fold: fold.Version, Name: m.name},
		}, m.replica(), m.clock.Boot())
		if err != nil {
			fail(Works, "%s has no link to %s: %v", m.name, l.other(m).name, err)
		}
		c.ends[i] = &end{c: c, m: m, life: m.life, core: core, sent: map[[32]byte]bool{}}
	}
	c.ends[0].far, c.ends[1].far = c.ends[1], c.ends[0]
	l.cable = c
	for _, e := range c.ends {
		e.tickLater()
	}
	for _, e := range c.ends {
		e.pump()
	}
}

// unplug cuts a cable: each end finds out by itself.
func (c *cable) unplug() {
	c.over = true
	for _, e := range c.ends {
		if e.m.up && e.m.life == e.life {
			e.core.End(link.ErrCut)
		}
	}
}

func (e *end) alive() bool { return !e.c.over && e.m.running() && e.m.life == e.life }

func (e *end) tickLater() {
	e.m.w.in(e.m.w.limits.Heartbeat/4, func() {
		if e.c.over || e.m.life != e.life {
			return
		}
		if e.alive() {
			e.m.sync()
			e.core.Tick(e.m.clock.Boot())
			e.pump()
		}
		e.tickLater()
	})
}

// pump writes what the core has to say, one frame after the other.
func (e *end) pump() {
	w := e.m.w
	if !e.alive() {
		return
	}
	for w.now >= e.clear {
		frame := e.core.Next(e.m.clock.Boot())
		if frame == nil {
			break
		}
		e.write(frame)
	}
	if w.now < e.clear {
		w.in(e.clear-w.now, e.wake)
	}
	e.look()
}

func (e *end) wake() {
	if e.alive() {
		e.m.sync()
		e.pump()
	}
}

// look ends the cable when this end is over, and the round of a gap when the peer
// has told all.
func (e *end) look() {
	s := e.core.Stats()
	if s.Err != nil {
		e.m.log("its link to %s ends: %v", e.far.m.name, s.Err)
		if wrong := (*link.ProtocolError)(nil); errors.As(s.Err, &wrong) && wrong.Code != link.CodeUntrusted {
			fail(Works, "%s and %s do not understand each other: %v", e.m.name, e.far.m.name, s.Err)
		}
		l := e.c.l
		e.m.w.in(fast, func() {
			if l.cable == e.c {
				e.m.w.drop(l)
				e.m.w.in(e.m.w.between(time.Second, 5*time.Second), func() { e.m.w.redial(l) })
			}
		})
		return
	}
	if n, ok := e.m.gap.rounds[e.far.m.n]; ok && s.Round >= n {
		delete(e.m.gap.left, e.far.m.n)
		delete(e.m.gap.rounds, e.far.m.n)
	}
}

// write puts one frame on its way.
func (e *end) write(frame []byte) {
	w, l := e.m.w, e.c.l
	e.clear = max(e.clear, w.now) + time.Duration(len(frame))*100 // 10 MB/s
	if len(frame) > link.MaxFrame {
		fail(Bounded, "%s sends a frame of %d bytes", e.m.name, len(frame))
	}
	f := link.Frame{Type: link.Type(frame[0]), Body: frame[5:], Size: len(frame)}
	switch f.Type {
	case link.TypeEvents:
		e.checkEvents(f)
	case link.TypeReport:
		if e.reports++; e.reports > e.batches {
			fail(SyncedBeforeSent, "%s reports a batch that its journal has not taken", e.m.name)
		}
	}
	l.flying++
	e.due = max(e.due, e.clear+l.slow) // in order, however slow the line was
	w.in(e.due-w.now, func() {
		l.flying--
		e.arrive(f)
	})
}

// checkEvents: what is sent is durable here, and was not sent on this cable.
func (e *end) checkEvents(f link.Frame) {
	raws := eventsOf(f.Body)
	e.m.w.facts.sent(e.m.w, e.m, message{events: raws})
	e.c.l.carried += countHonest(e.m.w, raws)
	for _, raw := range raws {
		sum := sha256.Sum256(raw)
		if e.sent[sum] {
			fail(OnceOnALink, "%s sends %s twice to %s", e.m.name, name(raw), e.far.m.name)
		}
		e.sent[sum] = true
	}
}

func (e *end) arrive(f link.Frame) {
	if e.c.over || !e.far.m.up || e.far.m.life != e.far.life {
		return
	}
	if *e.c.l.cutFrom(e.m) || e.far.m.state != running || len(e.stalled) > 0 {
		if e.stalled = append(e.stalled, f); len(e.stalled) == 1 {
			e.m.w.in(time.Second, e.flush)
		}
		return
	}
	e.far.take(f)
}

// flush delivers what was held back, once the way is free.
func (e *end) flush() {
	if e.c.over || !e.far.m.up || e.far.m.life != e.far.life {
		return
	}
	if *e.c.l.cutFrom(e.m) || e.far.m.state != running {
		e.m.w.in(time.Second, e.flush)
		return
	}
	all := e.stalled
	e.stalled = nil
	for _, f := range all {
		if !e.c.over {
			e.far.take(f)
		}
	}
}

// take is a frame that came.
func (e *end) take(f link.Frame) {
	m := e.m
	m.sync()
	m.lookForGap()
	if f.Type == link.TypeAgain { // what the peer wants anew; till it is here, what is sent may be new
		clear(e.sent)
	}
	if err := e.core.Receive(m.clock.Boot(), f); err == nil {
		e.pump() // before the journal has taken anything
		for batch, ok := e.core.Batch(); ok; batch, ok = e.core.Batch() {
			r := m.ingest(e.far.m.name, batch)
			e.batches++
			e.core.Ingested(m.clock.Boot(), r)
			if !m.running() {
				return
			}
		}
	}
	e.pump()
}

// ask begins a round with a peer after a gap.
func (e *end) ask() {
	e.m.gap.rounds[e.far.m.n] = e.core.Round()
	e.pump()
}

// eventsOf reads the body of a frame of events as its format says.
func eventsOf(b []byte) (raws [][]byte) {
	for len(b) > 0 {
		count := binary.BigEndian.Uint16(b[40:])
		b = b[42:]
		for range count {
			n := binary.BigEndian.Uint16(b)
			raws = append(raws, b[2:2+n])
			b = b[2+n:]
		}
	}
	return raws
}

func countHonest(w *World, raws [][]byte) (n int) {
	for _, raw := range raws {
		if e, err := event.Parse(raw); err == nil && w.honest(e.Stream) {
			n++
		}
	}
	return n
}

// A replica is a machine's journal as its links see it. The simulation notes what
// goes by.
type replica struct {
	m *machine
	link.Replica
}

func (m *machine) replica() link.Replica { return replica{m, m.j} }

func (r replica) Beat() (*event.Beat, bool) {
	b := r.m.beat()
	return b, b != nil
}

func (r replica) MergeMarks(theirs event.Marks) int {
	r.m.noteBeats(theirs)
	return r.Replica.MergeMarks(theirs)
}

func (r replica) Answered(b *event.Beat) bool {
	r.m.noteHeard(b)
	return r.Replica.Answered(b)
}
