package natsstore_test

import (
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/comity-dev/comity/storage"
	"github.com/comity-dev/comity/storage/natsstore"
)

// BenchmarkAppend has writers append records of 300 bytes, each to a ledger of
// its own, and compares with what nats.go does bare: a publish with the same
// headers to the same stream, one connection for all writers in both. x-bare is
// the median of the ratios of rounds that alternate. Run with -benchtime 1x.
func BenchmarkAppend(b *testing.B) {
	for _, sync := range []bool{true, false} {
		for _, writers := range []int{1, 16, 64} {
			b.Run(fmt.Sprintf("sync=%v,ledgers=%d", sync, writers), func(b *testing.B) {
				for range b.N {
					o := serverOptions(b)
					o.SyncAlways = sync
					srv := startServer(b, o)
					s := openRemote(b, srv, natsstore.Options{})
					bare := newBare(b, srv.ClientURL(), writers)
					tips := make([]storage.Tip, writers)
					app := func(w int, rec []byte) error {
						tip, err := s.Ledger().Append(b.Context(), fmt.Sprint("sessions/", w), tips[w], rec)
						tips[w] = tip
						return err
					}
					timed(b, writers, 100*time.Millisecond, app)
					timed(b, writers, 100*time.Millisecond, bare.publish)
					var ratios, rates []float64
					for round := range 40 {
						var base, got float64
						if round%2 == 0 { // whoever comes first has a smaller stream
							base = timed(b, writers, 75*time.Millisecond, bare.publish)
						}
						got = timed(b, writers, 75*time.Millisecond, app)
						if round%2 != 0 {
							base = timed(b, writers, 75*time.Millisecond, bare.publish)
						}
						ratios, rates = append(ratios, got/base), append(rates, got)
					}
					b.ReportMetric(median(ratios), "x-bare")
					b.ReportMetric(median(rates), "acks/s")
					b.ReportMetric(0, "ns/op")
				}
			})
		}
	}
}

// bare publishes as a client does that knows no ledgers.
type bare struct {
	b    *testing.B
	js   jetstream.JetStream
	last []uint64
	n    []int
}

func newBare(b *testing.B, url string, writers int) *bare {
	nc, err := nats.Connect(url)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		b.Fatal(err)
	}
	return &bare{b, js, make([]uint64, writers), make([]int, writers)}
}

func (p *bare) publish(w int, rec []byte) error {
	p.n[w]++
	m := &nats.Msg{Subject: "comity.l.bare/" + strconv.Itoa(w), Data: rec, Header: nats.Header{
		"Comity":                              {"r 0 " + strconv.Itoa(p.n[w]) + " 00000000"},
		"Nats-Msg-Id":                         {nats.NewInbox()},
		"Nats-Expected-Last-Subject-Sequence": {strconv.FormatUint(p.last[w], 10)},
	}}
	ack, err := p.js.PublishMsg(p.b.Context(), m)
	if err != nil {
		return err
	}
	p.last[w] = ack.Sequence
	return nil
}

// timed runs writers for d and returns acknowledgements a second.
func timed(b *testing.B, writers int, d time.Duration, f func(int, []byte) error) float64 {
	counts := make([]int, writers)
	var wg sync.WaitGroup
	start := time.Now()
	for w := range writers {
		wg.Go(func() {
			rec := make([]byte, 300)
			for i := range rec {
				rec[i] = byte(i * w)
			}
			for time.Since(start) < d {
				if err := f(w, rec); err != nil {
					b.Error(err)
					return
				}
				counts[w]++
			}
		})
	}
	wg.Wait()
	el := time.Since(start)
	n := 0
	for _, c := range counts {
		n += c
	}
	return float64(n) / el.Seconds()
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

// BenchmarkRead reads a ledger of 100,000 records of 300 bytes that came one by
// one, and one whose records came in hundreds.
func BenchmarkRead(b *testing.B) {
	const records = 100_000
	for _, batch := range []int{1, 100} {
		b.Run(fmt.Sprint("batch=", batch), func(b *testing.B) {
			s := openRemote(b, startServer(b, serverOptions(b)), natsstore.Options{})
			recs := slices.Repeat([][]byte{make([]byte, 300)}, batch)
			var tip storage.Tip
			for range records / batch {
				next, err := s.Ledger().Append(b.Context(), "a", tip, recs...)
				if err != nil {
					b.Fatal(err)
				}
				tip = next
			}
			for b.Loop() {
				n := 0
				for _, err := range s.Ledger().Read(b.Context(), "a", 1) {
					if n++; err != nil {
						b.Fatal(err)
					}
				}
				if n != records {
					b.Fatal(n)
				}
			}
			b.ReportMetric(records*float64(b.N)/b.Elapsed().Seconds(), "records/s")
		})
	}
}
