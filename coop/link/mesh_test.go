package link_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/comity-dev/comity/coop/link"
	"github.com/comity-dev/comity/coop/link/linktest"
)

// A mesh is stores with a link between each two that are to have one. Frames take
// turns on all links, one each.
type mesh struct {
	t      *testing.T
	stores []*linktest.Store
	wires  map[[2]int]*wire
	now    time.Duration
}

func newMesh(t *testing.T, n int, linked func(i, k int) bool) *mesh {
	m := &mesh{t: t, wires: map[[2]int]*wire{}, now: time.Hour}
	for i := range n {
		m.stores = append(m.stores, linktest.NewStore(fmt.Sprint("node ", i)))
		m.stores[i].Append(1, 100)
	}
	for i := range n {
		for k := range i {
			if linked(k, i) {
				m.link(k, i)
			}
		}
	}
	for range 4 { // all have all, and said so
		m.pass(5 * time.Second)
	}
	m.agree()
	return m
}

func (m *mesh) link(i, k int) {
	m.wires[[2]int{i, k}] = join(m.t, m.now, m.stores[i], m.stores[k], func(c *[2]link.Config) {
		for side := range c {
			c[side].Rand = rand.NewChaCha8([32]byte{byte(i), byte(k), byte(side)})
		}
	})
}

// settle carries frames until all links are quiet. All that are said at one time cross:
// nobody hears of another's before it has said its own.
func (m *mesh) settle() {
	type saying struct {
		w    *wire
		side int
		f    link.Frame
		to   int
	}
	for moved := true; moved; {
		var all []saying
		for i := range m.stores {
			for k := range m.stores {
				w := m.wires[[2]int{i, k}]
				for side := range 2 {
					if w == nil {
						continue
					}
					if b := w.side[side].core.Next(w.now); b != nil {
						f := frame(m.t, b)
						w.side[side].record(m.t, f)
						all = append(all, saying{w, side, f, [2]int{k, i}[side]})
					}
				}
			}
		}
		for _, s := range all {
			s.w.side[1-s.side].core.Receive(m.now, s.f)
			s.w.side[1-s.side].ingest(s.w)
			m.news(s.to)
		}
		moved = len(all) > 0
	}
}

// news tells the other links of two stores.
func (m *mesh) news(stores ...int) {
	for ends, w := range m.wires {
		for side, at := range ends {
			for _, s := range stores {
				if s == at {
					w.side[side].core.News()
				}
			}
		}
	}
}

func (m *mesh) pass(d time.Duration) {
	for end := m.now + d; m.now < end; {
		m.tick()
		m.settle()
	}
}

// tick lets a second go by, and nobody say anything yet.
func (m *mesh) tick() {
	m.now += time.Second
	for _, w := range m.wires {
		w.now = m.now
		for _, s := range w.side {
			s.core.Tick(m.now)
		}
	}
}

// cut takes away the link between two stores.
func (m *mesh) cut(i, k int) {
	w := m.wires[[2]int{i, k}]
	delete(m.wires, [2]int{i, k})
	for _, s := range w.side {
		s.core.End(link.ErrCut)
	}
}

// write appends events at one store, and lets all links carry them.
func (m *mesh) write(i, n int) {
	m.stores[i].Append(n, 100)
	m.news(i)
	m.settle()
}

func (m *mesh) agree() {
	m.t.Helper()
	for i, s := range m.stores {
		if !maps.Equal(s.Held(), m.stores[0].Held()) {
			m.t.Errorf("store %d holds %v, the first %v", i, s.Held(), m.stores[0].Held())
		}
	}
}

// carried is how many events crossed any link.
func (m *mesh) carried() (n uint64) {
	for _, w := range m.wires {
		for _, s := range w.side {
			n += s.core.Stats().EventsOut
		}
	}
	return n
}

// In a full mesh each event crosses one link for each machine that gets it, and not
// each link: who has it from its author sooner is left to its author. Only the first
// of a stream goes everywhere, (n-1)^2 times, as nobody knows that yet.
func TestEventsCrossAMeshOnceForEachMachine(t *testing.T) {
	for _, n := range []int{4, 8} {
		m := newMesh(t, n, func(int, int) bool { return true })
		for round := range 5 {
			for i := range m.stores {
				before := m.carried()
				m.write(i, 1+round)
				m.agree()
				if got, want := m.carried()-before, uint64((n-1)*(1+round)); got != want {
					t.Errorf("%d machines, round %d: %d events on all links for %d of store %d, want %d", n, round, got, 1+round, i, want)
				}
			}
			before := m.carried()
			m.pass(15 * time.Second)
			if got := m.carried() - before; got != 0 {
				t.Errorf("%d machines: %d events follow", n, got)
			}
		}
	}
}

// Who loses its link to the author is sent by the others what it lacks, two heartbeats
// later, and then at once again.
func TestMeshFindsAnotherWay(t *testing.T) {
	m := newMesh(t, 4, func(int, int) bool { return true })
	m.write(0, 1)
	m.cut(0, 1)
	m.write(0, 1)
	m.pass(10 * time.Second)
	m.agree()
	before := m.carried()
	m.write(0, 1)
	if m.agree(); m.carried()-before > 4 {
		t.Errorf("%d events cross for one, want at most 4: two have no other way to the fourth", m.carried()-before)
	}
	m.link(0, 1)
	m.pass(10 * time.Second)
	m.write(0, 1)
	m.pass(10 * time.Second)
	before = m.carried()
	m.write(0, 1)
	if m.agree(); m.carried()-before != 3 {
		t.Errorf("with the link back %d events cross for one, want 3", m.carried()-before)
	}
}

// Who was sooner once does not keep an author from saying at once what is its own.
func TestAuthorWaitsForNobody(t *testing.T) {
	m := newMesh(t, 3, func(_, k int) bool { return k == 2 })
	m.link(0, 1)
	m.settle()
	m.stores[0].Append(1, 100)
	for _, ends := range [][2]int{{0, 2}, {1, 2}, {0, 1}} { // its own way is the slow one
		m.wires[ends].news()
	}
	m.stores[0].Append(1, 100)
	m.wires[[2]int{0, 1}].news()
	if got, want := m.stores[1].Held()[m.stores[0].Stream], m.stores[0].Held()[m.stores[0].Stream]; got != want {
		t.Errorf("%d events are held, want %d at once", got, want)
	}
}

// A stream that grows all the time is at any moment one event further than the marks of
// the peer, which gets each from its author within the second: it is left to the author.
func TestBusyStreamIsLeftToItsAuthor(t *testing.T) {
	m := newMesh(t, 3, func(int, int) bool { return true })
	m.write(0, 1)
	m.pass(15 * time.Second)
	author, relay := m.wires[[2]int{0, 1}], m.wires[[2]int{1, 2}]
	before := relay.side[0].core.Stats().EventsOut
	for range 100 {
		m.tick()
		m.stores[0].Append(1, 100)
		author.news()  // the relay has it a moment sooner than the third
		relay.settle() // and hears marks of the third that lack it, when they are due
		m.news(0)
		m.settle()
		m.agree()
	}
	if n := relay.side[0].core.Stats().EventsOut - before; n > 0 {
		t.Errorf("of 100 events that the third had within the second the relay sends %d", n)
	}
}

// Who has no other way is sent at once what somebody in between gets.
func TestLinePassesOnAtOnce(t *testing.T) {
	m := newMesh(t, 5, func(i, k int) bool { return k == i+1 })
	for round := range 5 {
		before := m.carried()
		m.write(round, 2)
		if m.agree(); m.carried()-before != 8 {
			t.Errorf("%d events cross, want 8", m.carried()-before)
		}
	}
}

// Who asks for all that is held gets also what it is to get from elsewhere.
func TestRoundBringsWhatWasLeftToOthers(t *testing.T) {
	m := newMesh(t, 3, func(int, int) bool { return true })
	m.write(0, 1)
	m.stores[0].Append(1, 100)
	for ends, w := range m.wires { // the author's way to the third is stuck
		if ends == [2]int{0, 1} {
			w.news()
		}
	}
	w := m.wires[[2]int{1, 2}]
	w.news()
	if n := m.stores[2].Held()[m.stores[0].Stream]; n != 2 {
		t.Fatalf("%d events are held, want 2 until it asks", n)
	}
	round := w.side[1].core.Round()
	w.settle()
	if n := m.stores[2].Held()[m.stores[0].Stream]; n != 3 || w.side[1].core.Stats().Round < round {
		t.Errorf("when the round is over %d events are held, want 3", n)
	}
}
