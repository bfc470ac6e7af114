package link_test

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/link"
	"github.com/comity-dev/comity/coop/link/linktest"
)

// A side is one end of a link without a stream, and all that it sent.
type side struct {
	core    *link.Core
	journal link.Journal
	sent    []link.Frame
	events  map[event.Key]int // how often each event was sent
	lean    bool              // sent is without the bodies
}

// A wire joins two sides. Frames cross it one at a time; time stands still until
// a test moves it.
type wire struct {
	t    testing.TB
	now  time.Duration
	side [2]*side
}

// join links two journals whose nodes trust each other, changed by change.
func join(t testing.TB, now time.Duration, a, b *linktest.Store, change ...func(*[2]link.Config)) *wire {
	t.Helper()
	cfgs := [2]link.Config{linktest.ConfigOf(a, true), linktest.ConfigOf(b, false)}
	for i := range cfgs {
		cfgs[i].Rand = rand.NewChaCha8([32]byte{byte(i), byte(now)})
	}
	for _, f := range change {
		f(&cfgs)
	}
	return joinOn(t, now, cfgs, [2]link.Journal{a, b})
}

func joinOn(t testing.TB, now time.Duration, cfgs [2]link.Config, js [2]link.Journal) *wire {
	t.Helper()
	w := &wire{t: t, now: now}
	for i, cfg := range cfgs {
		core, err := link.NewCore(cfg, js[i], now)
		if err != nil {
			t.Fatal(err)
		}
		w.side[i] = &side{core: core, journal: js[i], events: map[event.Key]int{}}
	}
	return w
}

// frame reads the one frame that b is, as a stream would.
func frame(t testing.TB, b []byte) link.Frame {
	t.Helper()
	r := bytes.NewReader(b)
	f, err := link.ReadFrame(r, link.MaxFrame)
	if err != nil || r.Len() > 0 {
		t.Fatalf("%d bytes that were sent are not one frame: %v", len(b), err)
	}
	return f
}

// step carries one frame from side i, if it has one.
func (w *wire) step(i int) bool {
	w.t.Helper()
	from, to := w.side[i], w.side[1-i]
	b := from.core.Next(w.now)
	if b == nil {
		return false
	}
	f := frame(w.t, b)
	from.record(w.t, f)
	to.core.Receive(w.now, f)
	to.ingest(w)
	return true
}

// ingest takes what came into the journal.
func (s *side) ingest(w *wire) {
	if batch, ok := s.core.Batch(); ok {
		s.core.Ingested(w.now, s.journal.Ingest(w.t.Context(), batch))
	}
}

func (s *side) record(t testing.TB, f link.Frame) {
	t.Helper()
	s.sent = append(s.sent, f)
	if s.lean {
		s.sent[len(s.sent)-1].Body = nil
	}
	if f.Type != link.TypeEvents {
		return
	}
	all, err := link.ParseEvents(f.Body)
	if err != nil {
		t.Fatal(err)
	}
	bytes := 0
	for _, run := range all.Runs {
		for n, raw := range run.Raw {
			s.events[event.Key{Stream: run.Stream, Seq: run.First + uint64(n)}]++
			bytes += len(raw)
		}
	}
	if bytes > 600<<10 && len(all.Runs) > 1 {
		t.Errorf("a batch of %d bytes of events", bytes)
	}
}

// settle carries frames until both sides are quiet.
func (w *wire) settle() {
	w.t.Helper()
	for n := 0; w.step(0) || w.step(1); n++ {
		if n > 1_000_000 {
			w.t.Fatal("the link never falls quiet")
		}
	}
}

// pass lets time go by, in ticks.
func (w *wire) pass(d time.Duration) {
	w.t.Helper()
	for end := w.now + d; w.now < end; {
		w.now += time.Second
		for _, s := range w.side {
			s.core.Tick(w.now)
		}
		w.settle()
	}
}

// until lets time go by until the very frame at which over holds.
func (w *wire) until(atMost time.Duration, over func() bool) {
	w.t.Helper()
	for end := w.now + atMost; ; w.now += time.Second {
		for _, s := range w.side {
			s.core.Tick(w.now)
		}
		for !over() && (w.step(0) || w.step(1)) {
		}
		switch {
		case over():
			return
		case w.now > end:
			w.t.Fatalf("not within %v", atMost)
		}
	}
}

func (w *wire) news() {
	w.t.Helper()
	for _, s := range w.side {
		s.core.News()
	}
	w.settle()
}

// once wants that no event crossed twice in one direction.
func (w *wire) once() {
	w.t.Helper()
	for i, s := range w.side {
		for k, n := range s.events {
			if n > 1 {
				w.t.Errorf("side %d sent %s %d times", i, k, n)
			}
		}
	}
}

// sentOf counts the frames of a type that a side sent.
func (s *side) sentOf(t link.Type) (n int) {
	for _, f := range s.sent {
		if f.Type == t {
			n++
		}
	}
	return n
}

func agree(t testing.TB, a, b *linktest.Store) {
	t.Helper()
	if !maps.Equal(a.Held(), b.Held()) {
		t.Errorf("the stores differ: %v and %v", a.Held(), b.Held())
	}
}

func duo() (a, b *linktest.Store) { return linktest.NewStore("ada"), linktest.NewStore("bob") }
