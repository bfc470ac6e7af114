package fold_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/fold"
	"github.com/comity-dev/comity/coop/ident"
)

// What the checkpoints of one key cost, when each removes the last and when each
// keeps all before it.
func BenchmarkCheckpoints(b *testing.B) {
	for _, n := range []int{100, 1000} {
		for _, keep := range []bool{false, true} {
			b.Run(fmt.Sprintf("%d/keep=%v", n, keep), func(b *testing.B) {
				for b.Loop() {
					m := newBulk(b, 1)
					s := fold.New()
					other := m.w.stream(0, 77)
					s.Apply(m.next(0, open("s", '1')))
					for range n {
						// It names what nobody holds, so that its digest is not known to be wrong.
						k := event.StreamCheckpoint{Covers: []ident.Stream{m.streams[0], other}, Digest: strings.Repeat("00", 32)}
						k.Kept = map[ident.Stream][]event.Range{other: {{First: 1, Last: 1}}}
						if keep {
							k.Kept[m.streams[0]] = []event.Range{{First: 1, Last: m.seq[0]}}
						}
						s.Apply(m.next(0, k))
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/event")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}
