package store_test

import (
	"fmt"
	"testing"

	"github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/session/store"
	"github.com/comity-dev/comity/storage"
	"github.com/comity-dev/comity/storage/memstore"
)

// What an append costs beside the backend's own: the pair "raw" is the same
// frame, given to the ledger.
func BenchmarkAppend(b *testing.B) {
	for name, open := range backends {
		if name == "natsstore" {
			continue
		}
		b.Run(name+"/raw", func(b *testing.B) {
			be := open(b)
			frame := make([]byte, 600)
			var tip storage.Tip
			b.ReportAllocs()
			for b.Loop() {
				var err error
				if tip, err = be.Ledger().Append(b.Context(), ledger, tip, frame); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/event", func(b *testing.B) {
			w := benchWriter(b, open(b))
			n := 100
			b.ReportAllocs()
			for b.Loop() {
				n++
				if _, err := w.AppendCommitted(b.Context(), ev(n)); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/opaque", func(b *testing.B) {
			w := benchWriter(b, open(b))
			rec := note("", string(make([]byte, 400)))
			n := 0
			b.ReportAllocs()
			for b.Loop() {
				n++
				rec.ID = fmt.Sprint(n)
				if _, err := w.Append(b.Context(), rec); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func benchWriter(b *testing.B, be storage.Backend) *store.Writer {
	w, err := newStore(b, be, nil).Open(b.Context(), session, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { w.Close() })
	return w
}

// Opening a journal and closing it again, by its length.
func BenchmarkOpen(b *testing.B) {
	for _, records := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprint(records), func(b *testing.B) {
			s := newStore(b, closing(b, memstore.New()), nil)
			fillWith(b, s, records)
			for b.Loop() {
				w, err := s.Open(b.Context(), session, nil)
				if err != nil {
					b.Fatal(err)
				}
				if err := w.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func fillWith(b *testing.B, s *store.Store, records int) {
	w, err := s.Open(b.Context(), session, nil)
	if err != nil {
		b.Fatal(err)
	}
	for i := 0; i < records; i += 500 {
		recs := make([]journal.JournalRecord, 500)
		for j := range recs {
			recs[j] = note(fmt.Sprint(i+j), "x")
		}
		if _, err := w.AppendBatch(b.Context(), recs...); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkReplay(b *testing.B) {
	be := closing(b, memstore.New())
	s := newStore(b, be, nil)
	const records = 10_000
	fillWith(b, s, records)
	for b.Loop() {
		n := 0
		c, err := s.Records().Open(b.Context(), journal.ReplayRequest{SessionID: session})
		if err != nil {
			b.Fatal(err)
		}
		for {
			if _, _, err := c.Next(b.Context()); err != nil {
				break
			}
			n++
		}
		c.Close()
		if n < records {
			b.Fatalf("%d records", n)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/records, "ns/record")
}
