package fold_test

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/fold"
	"github.com/comity-dev/comity/coop/ident"
)

// bulk makes unsigned events: sealing 100,000 would take longer than folding them.
type bulk struct {
	w       *writer
	streams []ident.Stream
	seq     []uint64
	lamport uint64
}

func newBulk(b testing.TB, streams int) *bulk {
	m := &bulk{w: newWriter(b, 4)}
	for i := range streams {
		m.streams = append(m.streams, m.w.stream(i%4, i))
		m.seq = append(m.seq, 0)
	}
	return m
}

func (m *bulk) next(i int, b event.Body) *event.Event {
	m.seq[i]++
	m.lamport++
	e := &event.Event{Stream: m.streams[i], Seq: m.seq[i], Lamport: m.lamport, At: int64(m.lamport), Body: b}
	binary.LittleEndian.PutUint64(e.Hash[:], m.lamport)
	return e
}

// fill folds about n events: sessions that open, claim, release and close,
// and one claim in eight that stays.
func (m *bulk) fill(b testing.TB, s *fold.State, n int) {
	for i := 0; i < n; {
		st := i % len(m.streams)
		sid := fmt.Sprintf("s%d", i)
		s.Apply(m.next(st, open(sid, '1')))
		i++
		for k := range 4 {
			c := m.next(st, event.ClaimAcquired{Session: sid, Scope: set(b, fmt.Sprintf("path:d%d/e%d/f%d.go", i%50, i%1000, i)), Mode: event.ModeExclusive, Intent: "change the parser"})
			s.Apply(c)
			i++
			if k != 0 || i%2 == 0 {
				s.Apply(m.next(st, event.ClaimReleased{Claim: c.Key(), Session: sid, Reason: "done"}))
				i++
			}
		}
		if i%4 == 0 {
			s.Apply(m.next(st, event.SessionClosed{Session: sid, Reason: "done"}))
			i++
		}
	}
}

// One event costs the same whatever is held.
func BenchmarkApply(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000, 1_000_000} {
		s, m := fold.New(), newBulk(b, 12)
		m.fill(b, s, n)
		here := set(b, "path:d1/e1/here.go")
		s.Apply(m.next(0, open("busy", '1')))
		b.Run(fmt.Sprintf("claim+release/%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c := m.next(0, event.ClaimAcquired{Session: "busy", Scope: here, Mode: event.ModeExclusive})
				s.Apply(c)
				s.Apply(m.next(0, event.ClaimReleased{Claim: c.Key(), Session: "busy", Reason: "done"}))
			}
		})
		b.Run(fmt.Sprintf("update/%d", n), func(b *testing.B) {
			for b.Loop() {
				s.Apply(m.next(0, open("busy", '1')))
			}
		})
		b.Run(fmt.Sprintf("open+close/%d", n), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				s.Apply(m.next(1, open("other", '1')))
				s.Apply(m.next(1, event.SessionClosed{Session: "other", Reason: "done"}))
			}
		})
	}
}

// BenchmarkFlat has small and large states take the same in turn, and tells of each the
// fastest claim and release: other work on the machine then hits all of them alike.
// "x-1e6" is that of a million events held by that of a thousand.
func BenchmarkFlat(b *testing.B) {
	type held struct {
		s    *fold.State
		m    *bulk
		best time.Duration
	}
	var all []*held
	for _, n := range []int{1_000, 10_000, 100_000, 1_000_000} {
		h := &held{fold.New(), newBulk(b, 12), time.Hour}
		h.m.fill(b, h.s, n)
		h.s.Apply(h.m.next(0, open("busy", '1')))
		all = append(all, h)
	}
	here := set(b, "path:d1/e1/here.go")
	runtime.GC()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	const each = 50
	for b.Loop() {
		for _, h := range all {
			start := time.Now()
			for range each {
				c := h.m.next(0, event.ClaimAcquired{Session: "busy", Scope: here, Mode: event.ModeExclusive})
				h.s.Apply(c)
				h.s.Apply(h.m.next(0, event.ClaimReleased{Claim: c.Key(), Session: "busy", Reason: "done"}))
			}
			h.best = min(h.best, time.Since(start)/each)
		}
	}
	for i, h := range all {
		b.ReportMetric(float64(h.best.Nanoseconds()), fmt.Sprintf("ns/1e%d", 3+i))
	}
	b.ReportMetric(float64(all[3].best)/float64(all[0].best), "x-1e6")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkPile is the end of a claim that many more have waited for, on one folder.
// What it costs for each of them is to stay the same.
func BenchmarkPile(b *testing.B) {
	for _, n := range []int{1_000, 4_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s, m := fold.New(), newBulk(b, 1)
			all := set(b, "dir:.")
			for i := range n + b.N {
				sid := fmt.Sprintf("s%d", i)
				s.Apply(m.next(0, open(sid, '1')))
				s.Apply(m.next(0, event.ClaimAcquired{Session: sid, Scope: all, Mode: event.ModeExclusive}))
			}
			b.ResetTimer()
			for i := range b.N {
				s.Apply(m.next(0, event.SessionClosed{Session: fmt.Sprintf("s%d", i), Reason: "done"}))
			}
		})
	}
}

func BenchmarkStanding(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		s, m := fold.New(), newBulk(b, 12)
		m.fill(b, s, n)
		s.Apply(m.next(0, open("busy", '1')))
		c := m.next(0, event.ClaimAcquired{Session: "busy", Scope: set(b, "path:here.go"), Mode: event.ModeExclusive})
		s.Apply(c)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				s.Standing(c.Key(), nil)
			}
		})
	}
}

func BenchmarkDigest(b *testing.B) {
	s, m := fold.New(), newBulk(b, 12)
	m.fill(b, s, 10_000)
	b.Run("whole", func(b *testing.B) {
		for b.Loop() {
			s.Apply(m.next(0, open("busy", '1')))
			s.Digest(nil)
		}
	})
	b.Run("part", func(b *testing.B) {
		for b.Loop() {
			s.Digest(m.streams[1:])
		}
	})
}

// BenchmarkMemory reports the heap that an event takes for as long as it is kept.
func BenchmarkMemory(b *testing.B) {
	const n = 100_000
	for b.Loop() {
		var before, after runtime.MemStats
		m := newBulk(b, 12)
		runtime.GC()
		runtime.ReadMemStats(&before)
		s := fold.New()
		m.fill(b, s, n)
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/n, "B/event")
		runtime.KeepAlive(s)
	}
}
