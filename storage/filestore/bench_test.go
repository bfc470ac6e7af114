package filestore_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/comity-dev/comity/internal/vfs"
	"github.com/comity-dev/comity/storage"
	"github.com/comity-dev/comity/storage/filestore"
)

// BenchmarkAppend has writers append records of 300 bytes, each to a ledger of
// its own, and compares with the least that a group commit of one file does, in
// rounds that alternate: x-ideal is the median of the ratios. Run with
// -benchtime 1x.
func BenchmarkAppend(b *testing.B) {
	for _, writers := range []int{1, 16, 64, 256} {
		b.Run(fmt.Sprint("ledgers=", writers), func(b *testing.B) {
			for range b.N {
				var ratios, rates []float64
				for range 7 {
					id := newIdeal(b)
					timed(b, writers, 40*time.Millisecond, id.append)
					base := timed(b, writers, 400*time.Millisecond, id.append)
					id.f.Close()
					s := mustOpen(b, b.TempDir(), nil)
					tips := make([]storage.Tip, writers)
					app := func(w int, rec []byte) error {
						tip, err := s.Ledger().Append(context.Background(), fmt.Sprint("sessions/", w), tips[w], rec)
						tips[w] = tip
						return err
					}
					timed(b, writers, 40*time.Millisecond, app)
					got := timed(b, writers, 400*time.Millisecond, app)
					s.Close()
					ratios, rates = append(ratios, got/base), append(rates, got)
				}
				b.ReportMetric(median(ratios), "x-ideal")
				b.ReportMetric(median(rates), "acks/s")
				b.ReportMetric(0, "ns/op")
			}
		})
	}
}

// ideal is length and checksum, one write and one sync a batch, into a file of
// blocks written before that wraps.
type ideal struct {
	mu   sync.Mutex
	cur  *idealBatch
	busy bool
	f    vfs.File
	off  int64
	buf  []byte
}

type idealBatch struct {
	recs       [][]byte
	lead, done chan struct{}
}

const idealBytes = 64 << 20

func newIdealBatch() *idealBatch {
	return &idealBatch{lead: make(chan struct{}, 1), done: make(chan struct{})}
}

func newIdeal(b *testing.B) *ideal {
	f, err := vfs.OS().Open(filepath.Join(b.TempDir(), "ideal"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		b.Fatal(err)
	}
	if err := f.Preallocate(0, idealBytes); err != nil {
		b.Fatal(err)
	}
	if err := f.Sync(); err != nil {
		b.Fatal(err)
	}
	return &ideal{f: f, cur: newIdealBatch()}
}

func (l *ideal) append(_ int, rec []byte) error {
	l.mu.Lock()
	b := l.cur
	b.recs = append(b.recs, rec)
	switch {
	case !l.busy:
		l.busy = true
		l.mu.Unlock()
	case len(b.recs) == 1:
		l.mu.Unlock()
		<-b.lead
		runtime.Gosched()
	default:
		l.mu.Unlock()
		<-b.done
		return nil
	}
	l.mu.Lock()
	l.cur = newIdealBatch()
	l.mu.Unlock()
	err := l.commit(b.recs)
	close(b.done)
	l.mu.Lock()
	if len(l.cur.recs) > 0 {
		l.cur.lead <- struct{}{}
	} else {
		l.busy = false
	}
	l.mu.Unlock()
	return err
}

func (l *ideal) commit(recs [][]byte) error {
	l.buf = l.buf[:0]
	for _, r := range recs {
		l.buf = binary.LittleEndian.AppendUint32(l.buf, uint32(len(r)))
		l.buf = binary.LittleEndian.AppendUint32(l.buf, crc32.Checksum(r, crc32.MakeTable(crc32.Castagnoli)))
		l.buf = append(l.buf, r...)
	}
	if l.off+int64(len(l.buf)) > idealBytes {
		l.off = 0
	}
	if _, err := l.f.WriteAt(l.buf, l.off); err != nil {
		return err
	}
	l.off += int64(len(l.buf))
	return l.f.Sync()
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

// fillLedgers appends records of 300 bytes to so many ledgers in turn.
func fillLedgers(b *testing.B, s *filestore.Store, ledgers, records, batch int) {
	rec := make([]byte, 300)
	recs := slices.Repeat([][]byte{rec}, batch)
	var wg sync.WaitGroup
	for w := range ledgers {
		wg.Go(func() {
			var tip storage.Tip
			var err error
			for range records / batch {
				if tip, err = s.Ledger().Append(context.Background(), fmt.Sprint("sessions/", w), tip, recs...); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// BenchmarkOpen opens a store of one ledger of 100,000 records that was closed,
// one of 64 such ledgers, and one that has no index.
func BenchmarkOpen(b *testing.B) {
	for _, ledgers := range []int{1, 64} {
		dir := b.TempDir()
		s := mustOpen(b, dir, nil)
		fillLedgers(b, s, ledgers, 100_000, 100)
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		open := func(b *testing.B) {
			s, err := filestore.Open(dir, nil)
			if err != nil {
				b.Fatal(err)
			}
			tip, err := s.Ledger().Tip(b.Context(), "sessions/0")
			if err != nil || tip.Seq != 100_000 {
				b.Fatal(tip, err)
			}
			b.StopTimer()
			s.Close()
			b.StartTimer()
		}
		b.Run(fmt.Sprint("ledgers=", ledgers), func(b *testing.B) {
			for b.Loop() {
				open(b)
			}
		})
		b.Run(fmt.Sprintf("ledgers=%d,rebuild", ledgers), func(b *testing.B) {
			for b.Loop() {
				os.Remove(filepath.Join(dir, "index"))
				open(b)
			}
		})
	}
}

// BenchmarkReplay reads a ledger of a million records of 300 bytes that is alone
// in its store, and one of 64 that were written in turn.
func BenchmarkReplay(b *testing.B) {
	for _, ledgers := range []int{1, 64} {
		for _, batch := range []int{1, 100} {
			if ledgers == 1 && batch == 1 {
				continue
			}
			records := 1_000_000
			if ledgers > 1 {
				records = 10_000
			}
			b.Run(fmt.Sprintf("ledgers=%d,batch=%d", ledgers, batch), func(b *testing.B) {
				s := mustOpen(b, b.TempDir(), nil)
				fillLedgers(b, s, ledgers, records, batch)
				for b.Loop() {
					n := 0
					for _, err := range s.Ledger().Read(b.Context(), "sessions/0", 1) {
						if n++; err != nil {
							b.Fatal(err)
						}
					}
					if n != records {
						b.Fatal(n)
					}
				}
				b.ReportMetric(float64(records)*float64(b.N)/b.Elapsed().Seconds(), "records/s")
			})
		}
	}
}
