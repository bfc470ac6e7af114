package memstore_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/comity-dev/comity/storage"
	"github.com/comity-dev/comity/storage/memstore"
)

// BenchmarkAppend appends records of 300 bytes to one ledger, and in rounds that
// alternate copies as many into a slice under a lock, which is the least that
// it could do: us-append is the median of the rounds, x-slice that of the ratios
// of the times. Run with -benchtime 1x.
func BenchmarkAppend(b *testing.B) {
	const rounds, records = 9, 20_000
	rec := make([]byte, 300)
	for range b.N {
		var times, ratios []float64
		for range rounds {
			s := memstore.New()
			var tip storage.Tip
			own := timed(func() {
				for range records {
					var err error
					if tip, err = s.Ledger().Append(b.Context(), "sessions/0", tip, rec); err != nil {
						b.Fatal(err)
					}
				}
			})
			s.Close()
			var mu sync.Mutex
			var list [][]byte
			bare := timed(func() {
				for range records {
					mu.Lock()
					list = append(list, slices.Clone(rec))
					mu.Unlock()
				}
			})
			if tip.Seq != records || len(list) != records {
				b.Fatal(tip, len(list))
			}
			times, ratios = append(times, own/records*1e6), append(ratios, own/bare)
		}
		slices.Sort(times)
		slices.Sort(ratios)
		b.ReportMetric(times[rounds/2], "us-append")
		b.ReportMetric(ratios[rounds/2], "x-slice")
		b.ReportMetric(0, "ns/op")
	}
}

// timed returns how many seconds f took.
func timed(f func()) float64 {
	start := time.Now()
	f()
	return time.Since(start).Seconds()
}
