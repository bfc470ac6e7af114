package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/session/store"
	"github.com/comity-dev/comity/storage"
	"github.com/comity-dev/comity/storage/filestore"
)

// The benchmarks of this file compare two things in rounds that alternate; x- is
// the median of the ratios. Run them with -benchtime 1x.

const pairRounds = 9

// BenchmarkIdempotent has sessions of one filestore append records with a body of
// 300 bytes through their writers: the fence, the expected sequence and the
// idempotency together. x-plain compares with frames of the same length appended
// to as many bare ledgers of the same store, and x-plain of duplicate with the same.
func BenchmarkIdempotent(b *testing.B) {
	for _, sessions := range []int{1, 64} {
		for kind, make := range map[string]func(w, n int) journal.JournalRecord{"opaque": opaqueOf, "event": eventOf} {
			b.Run(fmt.Sprintf("sessions=%d,%s", sessions, kind), func(b *testing.B) {
				for range b.N {
					p := newPair(b, sessions, make)
					p.compare(b, p.idempotent)
				}
			})
			b.Run(fmt.Sprintf("sessions=%d,%s,duplicate", sessions, kind), func(b *testing.B) {
				for range b.N {
					p := newPair(b, sessions, make)
					p.compare(b, p.duplicate)
				}
			})
		}
	}
}

func opaqueOf(w, n int) journal.JournalRecord {
	return journal.OpaqueRecord{Kind: "note", ID: strconv.Itoa(n), Schema: 1, Body: body300}
}

func eventOf(w, n int) journal.JournalRecord {
	return journal.NewEventRecord(event.Event{
		Header: event.Header{ID: id(n), At: event.Coordinates{Session: id(1000 + w)}, CreatedAt: uint64(n)},
		Body:   event.SessionStarted{Title: "session " + strconv.Itoa(n), Workspace: string(body300[:120])},
	})
}

var body300 = bytes.Repeat([]byte("a line of a record, \n"), 15)[:300]

// A pair is sessions of a store and, beside each, a bare ledger.
type pair struct {
	be      storage.Backend
	writers []*store.Writer
	bare    []storage.Tip
	names   []string
	frame   []byte
	make    func(w, n int) journal.JournalRecord
	count   []int
}

func newPair(b *testing.B, sessions int, make func(w, n int) journal.JournalRecord) *pair {
	be := backends["filestore"](b)
	s := newStore(b, be, nil)
	p := &pair{be: be, make: make, count: slices.Repeat([]int{10}, sessions), bare: slices.Repeat([]storage.Tip{{}}, sessions)}
	for i := range sessions {
		w, err := s.Open(b.Context(), id(1000+i), nil)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { w.Close() })
		mustAppend(b, w, make(i, 5))
		p.writers = append(p.writers, w)
		p.names = append(p.names, fmt.Sprint("bare/", i))
	}
	for rec, err := range be.Ledger().Read(b.Context(), "sessions/"+string(id(1000)), 2) {
		if err != nil {
			b.Fatal(err)
		}
		p.frame = rec.Data
	}
	return p
}

func (p *pair) plain(w int) (err error) {
	p.bare[w], err = p.be.Ledger().Append(context.Background(), p.names[w], p.bare[w], p.frame)
	return err
}

func (p *pair) idempotent(w int) error {
	p.count[w]++
	res, err := p.writers[w].AppendIdempotent(context.Background(), p.make(w, p.count[w]))
	if err == nil && !res.Appended {
		err = errors.New("not appended")
	}
	return err
}

func (p *pair) duplicate(w int) error {
	res, err := p.writers[w].AppendIdempotent(context.Background(), p.make(w, 5))
	if err == nil && res.Appended {
		err = errors.New("appended again")
	}
	return err
}

func (p *pair) compare(b *testing.B, f func(w int) error) {
	for _, g := range []func(int) error{p.plain, f} {
		timed(b, len(p.writers), 50*time.Millisecond, g)
	}
	var ratios, rates []float64
	for round := range pairRounds {
		var base, got float64
		if round%2 == 0 { // whoever comes second finds the disk as the first left it
			base = timed(b, len(p.writers), 200*time.Millisecond, p.plain)
		}
		got = timed(b, len(p.writers), 200*time.Millisecond, f)
		if round%2 != 0 {
			base = timed(b, len(p.writers), 200*time.Millisecond, p.plain)
		}
		ratios, rates = append(ratios, got/base), append(rates, got)
	}
	b.ReportMetric(median(ratios), "x-plain")
	b.ReportMetric(median(rates), "acks/s")
	b.ReportMetric(0, "ns/op")
}

// timed runs one goroutine for each writer for d and returns calls a second.
func timed(b *testing.B, writers int, d time.Duration, f func(w int) error) float64 {
	counts := make([]int, writers)
	var wg sync.WaitGroup
	start := time.Now()
	for w := range writers {
		wg.Go(func() {
			for time.Since(start) < d {
				if err := f(w); err != nil {
					b.Error(err)
					return
				}
				counts[w]++
			}
		})
	}
	wg.Wait()
	n := 0
	for _, c := range counts {
		n += c
	}
	return float64(n) / time.Since(start).Seconds()
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

// BenchmarkOpenFile opens a filestore and in it a session of 100,000 records,
// after both were closed: ms-open is the median time until the fence is durable,
// MiB-allocated all that was allocated for it, an upper bound of the memory.
func BenchmarkOpenFile(b *testing.B) {
	dir := b.TempDir()
	fillFile(b, dir, 100_000, opaqueOf)
	for range b.N {
		var times, bytes []float64
		for range pairRounds {
			runtime.GC()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			be, w := openFile(b, dir)
			times = append(times, float64(time.Since(start).Microseconds())/1e3)
			runtime.ReadMemStats(&after)
			bytes = append(bytes, float64(after.TotalAlloc-before.TotalAlloc)/(1<<20))
			if tip, err := w.Tip(b.Context()); err != nil || tip <= 100_000 {
				b.Fatal(tip, err)
			}
			closed(b, w)
			if err := be.Close(); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(median(times), "ms-open")
		b.ReportMetric(median(bytes), "MiB-allocated")
		b.ReportMetric(0, "ns/op")
	}
}

func openFile(b *testing.B, dir string) (*filestore.Store, *store.Writer) {
	be, err := filestore.Open(dir, nil)
	if err != nil {
		b.Fatal(err)
	}
	w, err := newStore(b, be, nil).Open(b.Context(), id(1000), nil)
	if err != nil {
		b.Fatal(err)
	}
	return be, w
}

// fillFile makes a store with one session, writes so many records, and closes both.
func fillFile(b *testing.B, dir string, records int, make func(w, n int) journal.JournalRecord) {
	be, w := openFile(b, dir)
	for i := 0; i < records; i += 500 {
		var recs []journal.JournalRecord
		for j := range 500 {
			recs = append(recs, make(0, i+j+1))
		}
		if _, err := w.AppendBatch(b.Context(), recs...); err != nil {
			b.Fatal(err)
		}
	}
	closed(b, w)
	if err := be.Close(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkReplayFile reads a session of 200,000 records from a file whose pages
// are warm: small opaque records of 100 bytes, and events. x-ledger compares with
// the ledger's own reading of the same frames.
func BenchmarkReplayFile(b *testing.B) {
	const records = 200_000
	small := func(_, n int) journal.JournalRecord {
		return journal.OpaqueRecord{Kind: "note", ID: strconv.Itoa(n), Schema: 1, Body: body300[:100]}
	}
	for kind, make := range map[string]func(w, n int) journal.JournalRecord{"opaque": small, "event": eventOf} {
		b.Run(kind, func(b *testing.B) {
			dir := b.TempDir()
			fillFile(b, dir, records, make)
			be, err := filestore.Open(dir, nil)
			if err != nil {
				b.Fatal(err)
			}
			defer be.Close()
			s := newStore(b, be, nil)
			for range b.N {
				var ratios, rates, reads []float64
				for range pairRounds {
					read, replay := readAll(b, be, records), replayAll(b, s, records)
					ratios, rates, reads = append(ratios, replay/read), append(rates, replay), append(reads, read)
				}
				b.ReportMetric(median(ratios), "x-ledger")
				b.ReportMetric(median(rates), "records/s")
				b.ReportMetric(median(reads), "ledger-records/s")
				b.ReportMetric(0, "ns/op")
			}
		})
	}
}

// readAll returns records a second of the ledger alone.
func readAll(b *testing.B, be storage.Backend, records int) float64 {
	start := time.Now()
	n := 0
	for _, err := range be.Ledger().Read(b.Context(), "sessions/"+string(id(1000)), 1) {
		if n++; err != nil {
			b.Fatal(err)
		}
	}
	if n < records {
		b.Fatalf("%d records", n)
	}
	return float64(n) / time.Since(start).Seconds()
}

// replayAll returns records a second of the replayer.
func replayAll(b *testing.B, s *store.Store, records int) float64 {
	start := time.Now()
	c, err := s.Records().Open(b.Context(), journal.ReplayRequest{SessionID: id(1000)})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	n := 0
	for {
		_, _, err := c.Next(b.Context())
		if err == io.EOF {
			break
		}
		if n++; err != nil {
			b.Fatal(err)
		}
	}
	if n < records {
		b.Fatalf("%d records", n)
	}
	return float64(n) / time.Since(start).Seconds()
}
