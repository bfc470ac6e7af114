package fold_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/fold"
	"github.com/comity-dev/comity/coop/ident"
)

// restarts are the events of one runtime that is started again and again while
// sessions live on: in each run each of them makes claims, which stay, and one
// more, which it releases.
func restarts(b testing.TB, runs, sessions, claims int, reopen bool) []*event.Event {
	m := newBulk(b, 0)
	var sids []string
	for i := range sessions {
		sids = append(sids, fmt.Sprintf("s%03d", i))
	}
	var all []*event.Event
	for r := range runs {
		m.streams, m.seq = append(m.streams, m.w.stream(0, r)), append(m.seq, 0)
		next := func(b event.Body) *event.Event {
			e := m.next(r, b)
			all = append(all, e)
			return e
		}
		if r == 0 {
			next(event.StreamSucceeded{Record: record(0), Run: 1})
		} else {
			next(event.StreamSucceeded{Record: record(0), Run: uint64(r + 1), Sessions: sids, Streams: slices.Clone(m.streams[max(0, r-256):r])})
		}
		for i, sid := range sids {
			if r == 0 || reopen {
				next(open(sid, '1'))
			}
			for c := range claims {
				next(event.ClaimAcquired{Session: sid, Scope: set(b, fmt.Sprintf("path:s%d/r%d/c%d.go", i, r, c)), Mode: event.ModeExclusive})
			}
			c := next(event.ClaimAcquired{Session: sid, Scope: set(b, fmt.Sprintf("path:s%d/busy.go", i)), Mode: event.ModeExclusive})
			next(event.ClaimReleased{Claim: c.Key(), Session: sid, Reason: "done"})
		}
	}
	return all
}

// newestFirst has the last run come first, whole, as another runtime may hear it.
func newestFirst(events []*event.Event) []*event.Event {
	var streams []ident.Stream
	of := map[ident.Stream][]*event.Event{}
	for _, e := range events {
		if of[e.Stream] == nil {
			streams = append(streams, e.Stream)
		}
		of[e.Stream] = append(of[e.Stream], e)
	}
	var all []*event.Event
	for _, st := range slices.Backward(streams) {
		all = append(all, of[st]...)
	}
	return all
}

// One event of a runtime that was started often costs what it does in its first runs.
func BenchmarkRuns(b *testing.B) {
	for _, n := range []struct {
		runs, sessions, claims int
		reopen                 bool
	}{
		{20, 1, 0, false}, {200, 1, 0, false},
		{20, 16, 0, false}, {200, 16, 0, false},
		{20, 16, 0, true}, {200, 16, 0, true},
		{20, 1, 1, false}, {200, 1, 1, false},
		{20, 1, 10, false}, {200, 1, 10, false},
		{20, 16, 1, false}, {200, 16, 1, false},
	} {
		events := restarts(b, n.runs, n.sessions, n.claims, n.reopen)
		for _, order := range []struct {
			name   string
			events []*event.Event
		}{{"in-order", events}, {"newest-first", newestFirst(events)}} {
			b.Run(fmt.Sprintf("%d-runs/%d-sessions/%d-claims/reopen=%v/%s", n.runs, n.sessions, n.claims, n.reopen, order.name), func(b *testing.B) {
				for b.Loop() {
					s := fold.New()
					for _, e := range order.events {
						s.Apply(e)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(events)), "ns/event")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}
