package journal

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

// A walker follows a journal page by page, over restarts.
type walker struct {
	cursor string
	seen   map[event.Key][]Arrival
	order  []uint64
}

func (w *walker) step(rt *rapid.T, j *Journal, limit int) bool {
	p, err := j.Page(w.cursor, limit)
	if err != nil {
		rt.Fatalf("page behind %s: %v", w.cursor, err)
	}
	if len(p.Arrivals) > limit {
		rt.Fatalf("%d events in a page of %d", len(p.Arrivals), limit)
	}
	for _, a := range p.Arrivals {
		k := a.Event.Key()
		w.seen[k] = append(w.seen[k], a)
		w.order = append(w.order, a.Index)
	}
	w.cursor = p.Next
	return p.More
}

// A walk that is resumed gets every event once, however they come meanwhile: own
// ones, others late with low stamps, dropped ones, and those that come again, which
// it gets a second time, marked.
func TestResumedWalkGetsEveryEventOnce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m, bob := lasting(t, "ada"), keyOf(t, "bob")
		m.cfg.Trust = trust(bob)
		j := m.start()
		w := &walker{seen: map[event.Key][]Arrival{}}
		came, again := map[event.Key]int{}, map[event.Key]bool{}
		note := func(all ...*event.Event) {
			for _, e := range all {
				came[e.Key()]++
			}
		}
		var over [][]*event.Event // streams of bob that ended
		for n := range rapid.IntRange(1, 25).Draw(rt, "steps") {
			switch rapid.IntRange(0, 5).Draw(rt, "do") {
			case 0, 1:
				note(m.append(j, session(fmt.Sprint("a", n))))
			case 2:
				s := m.streamOf(bob)
				one := m.sealBy(bob, s, 1, 2, nil, session("b")) // a low stamp
				two := m.sealBy(bob, s, 2, 3, one, event.SessionClosed{Session: "b", Reason: "done"})
				m.ingest(j, one, two)
				note(one, two)
				over = append(over, []*event.Event{one, two})
			case 3:
				m.clock.Advance(pastSilence)
				m.compact(j, force)
			case 4:
				if len(over) > 0 {
					all := rapid.SampledFrom(over).Draw(rt, "stream")
					if j.heads[all[0].Stream] == nil {
						j.lift(all[0].Stream)
						m.ingest(j, all...)
						for _, e := range all {
							came[e.Key()]++
							again[e.Key()] = true
						}
					}
				}
			case 5:
				j = m.start()
			}
			if rapid.Bool().Draw(rt, "walk") {
				w.step(rt, j, rapid.IntRange(1, 4).Draw(rt, "limit"))
			}
		}
		for w.step(rt, j, 3) {
		}
		if !slices.IsSorted(w.order) || len(slices.Compact(slices.Clone(w.order))) != len(w.order) {
			rt.Fatalf("indexes %v do not rise", w.order)
		}
		for k, n := range came {
			seen := w.seen[k]
			held := j.heads[k.Stream] != nil
			if len(seen) > n || held && len(seen) == 0 {
				rt.Fatalf("%s came %d times, the walk has it %d times, held %v", k, n, len(seen), held)
			}
			if last := len(seen) - 1; held && again[k] && !seen[last].Again {
				rt.Fatalf("%s came again and is not marked", k)
			}
		}
		for k, seen := range w.seen {
			if k.Stream.Runtime() == j.runtime && len(seen) != 1 {
				rt.Fatalf("own event %s: %d times", k, len(seen))
			}
		}
	})
}

// A page that is being read while its events are dropped has the others.
func TestPageUnderWayWhileItsEventsAreDropped(t *testing.T) {
	m, bob := lasting(t, "ada"), keyOf(t, "bob")
	m.cfg.Trust = trust(bob)
	j := m.start()
	s := m.streamOf(bob)
	one := m.sealBy(bob, s, 1, 2, nil, event.SessionClosed{Session: "b", Reason: "done"})
	m.append(j, session("a1"))
	m.ingest(j, one)
	own := m.append(j, session("a2"))
	arrivals, view := j.arrivals, j.view
	behind := j.cursor(arrivals.at(2))
	m.clock.Advance(pastSilence)
	wantDropped(t, m.compact(j, force), s)
	p, err := j.read(Page{}, view, arrivals, 2, 4)
	if err != nil || len(p.Arrivals) != 1 || p.Arrivals[0].Event.Key() != own.Key() {
		t.Errorf("page = %+v, %v, want the one event that is left", p, err)
	}
	if p, err := j.Page(behind, 10); err != nil || len(p.Arrivals) != 1 {
		t.Errorf("behind the dropped event: %+v, %v", p, err)
	}

	m.ingest(j, m.sealBy(bob, m.streamOf(bob), 1, 2, nil, event.SessionClosed{Session: "b", Reason: "done"}))
	end := j.End() // the last event is dropped, and the end is still the end
	m.clock.Advance(pastSilence)
	m.compact(j, force)
	for range 2 {
		wantCursor(t, j, end, "")
		select {
		case <-j.Grown(end):
			t.Error("there is nothing behind the end")
		default:
		}
		j = m.start()
	}
	other := newMachine(t, "ada").start()
	wantCursor(t, j, other.End(), CursorIncarnation)
}

// At the bounds: 1,024 streams held of which 256 live, 4,096 dropped ones, 20,000
// events of one node, and as many as may wait.
func TestAtTheBounds(t *testing.T) {
	m := lasting(t, "ada")
	nodes := make([]*ident.Key, 33)
	for i := range nodes {
		nodes[i] = keyOf(t, fmt.Sprint("node", i))
	}
	m.cfg.Trust = trust(nodes...)
	if testing.Short() { // a fifth of them
		l := &m.cfg.Limits
		l.Streams, l.StreamsTrigger, l.Tombstones, l.NodeEvents, l.Events = l.Streams/5, l.StreamsTrigger/5, l.Tombstones/5, l.NodeEvents/5, l.Events/5
	}
	j := m.start()
	lim := m.cfg.Limits
	last := func(k *ident.Key) *event.Event {
		return m.sealBy(k, m.streamOf(k), 1, 1, nil, event.SessionClosed{Session: "s", Reason: "done"})
	}
	fill := func(n int, make func(*ident.Key) *event.Event) {
		var batch []*event.Event
		for i := range n {
			batch = append(batch, make(nodes[1+i%32]))
		}
		if r := m.ingest(j, batch...); r.Accepted != n {
			t.Fatalf("%d of %d taken: %v", r.Accepted, n, r.Rejected)
		}
	}
	for j.tombs.dropped() < lim.Tombstones {
		fill(lim.Streams-24, last)
		m.clock.Advance(pastSilence)
		m.compact(j, Policy{})
	}
	fill(lim.Streams-24, last) // the oldest make room
	m.clock.Advance(pastSilence)
	m.compact(j, Policy{})
	if n := j.tombs.dropped(); n != lim.Tombstones || len(j.tombs.order) != n {
		t.Errorf("%d tombstones, want %d", n, lim.Tombstones)
	}

	fill(lim.Streams-1, func(k *ident.Key) *event.Event { return m.sealBy(k, m.streamOf(k), 1, 1, nil, session("s")) })
	long := m.line(nodes[0], "n", lim.NodeEvents)
	for len(long) > 0 {
		n := min(5000, len(long))
		if r := m.ingest(j, long[:n]...); r.Accepted != n {
			t.Fatalf("%d of %d taken: %v", r.Accepted, n, r.Rejected)
		}
		long = long[n:]
	}
	over := last(nodes[2])
	wantOutcomes(t, m.ingest(j, over), "capacity")
	if got := len(j.Marks()); got != lim.Streams+lim.Tombstones {
		t.Errorf("%d marks, want %d", got, lim.Streams+lim.Tombstones)
	}
	_, version := j.MarksSince(0)
	if marks, _ := j.MarksSince(version); len(marks) != 0 {
		t.Errorf("%d marks changed, want none", len(marks))
	}
	m.append(j, session("a1"))
	if n := testing.AllocsPerRun(100, func() { j.MarksSince(version) }); n > 10 {
		t.Errorf("one changed mark among %d costs %.0f allocations", lim.Streams+lim.Tombstones, n)
	}
	if n := len(j.lives.changes.of); n > lim.Streams+lim.Tombstones+1 {
		t.Errorf("%d changes are kept", n)
	}
	h := j.Health()
	if h.Events != lim.NodeEvents+lim.Streams-1+2 || h.Streams != lim.Streams+1 {
		t.Errorf("%d events in %d streams", h.Events, h.Streams)
	}
	m.clock.Advance(pastSilence)
	start := time.Now()
	r := m.compact(j, Policy{})
	t.Logf("a compaction in which all are due and stay: %v", time.Since(start))
	if wantDropped(t, r); r.Kept != lim.Streams {
		t.Errorf("%d silent streams stay, want %d", r.Kept, lim.Streams)
	}
	start = time.Now()
	n := m.start()
	t.Logf("the reload: %v", time.Since(start))
	if d := n.tombs.dropped(); d != lim.Tombstones || len(n.heads) != lim.Streams+1 {
		t.Errorf("after a restart: %d tombstones, %d streams", d, len(n.heads))
	}
	j.Close(context.Background())
}
