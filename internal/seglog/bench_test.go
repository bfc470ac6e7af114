package seglog_test

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

	"github.com/comity-dev/comity/internal/seglog"
	"github.com/comity-dev/comity/internal/vfs"
)

// ideal is the least that a group commit does: length and checksum, one write
// and one sync a batch, into a file of blocks written before that wraps.
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

func (l *ideal) append(rec []byte) error {
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

// timed runs writers for d and returns acknowledgements a second, p50 and p99.
func timed(b *testing.B, writers int, d time.Duration, f func([]byte) error) (perS, p50, p99 float64) {
	lats := make([][]time.Duration, writers)
	var wg sync.WaitGroup
	start := time.Now()
	for w := range writers {
		wg.Go(func() {
			rec := make([]byte, 300)
			for i := range rec {
				rec[i] = byte(i * w)
			}
			for t := time.Now(); t.Sub(start) < d; {
				if err := f(rec); err != nil {
					b.Error(err)
					return
				}
				now := time.Now()
				lats[w] = append(lats[w], now.Sub(t))
				t = now
			}
		})
	}
	wg.Wait()
	el := time.Since(start)
	all := slices.Concat(lats...)
	slices.Sort(all)
	us := func(i int) float64 { return float64(all[i].Nanoseconds()) / 1e3 }
	return float64(len(all)) / el.Seconds(), us(len(all) / 2), us(len(all) * 99 / 100)
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

// BenchmarkAppend compares durable appends with the ideal, in rounds that
// alternate: x-ideal is the median of the ratios, tail of p99/p50.
// Run with -benchtime 1x.
func BenchmarkAppend(b *testing.B) {
	for _, writers := range []int{1, 16, 256} {
		b.Run(fmt.Sprint("writers=", writers), func(b *testing.B) {
			for range b.N {
				var ratios, rates, tails, idealTails []float64
				for range 9 {
					id := newIdeal(b)
					timed(b, writers, 40*time.Millisecond, id.append)
					base, i50, i99 := timed(b, writers, 400*time.Millisecond, id.append)
					id.f.Close()
					l, _ := mustOpen(b, b.TempDir(), nil)
					app := func(r []byte) error { _, err := l.Append(context.Background(), r); return err }
					timed(b, writers, 40*time.Millisecond, app)
					got, p50, p99 := timed(b, writers, 400*time.Millisecond, app)
					l.Close()
					ratios = append(ratios, got/base)
					rates = append(rates, got)
					tails = append(tails, p99/p50)
					idealTails = append(idealTails, i99/i50)
				}
				b.ReportMetric(median(ratios), "x-ideal")
				b.ReportMetric(median(rates), "acks/s")
				b.ReportMetric(median(tails), "p99/p50")
				b.ReportMetric(median(idealTails), "ideal-p99/p50")
				b.ReportMetric(0, "ns/op")
			}
		})
	}
}

// BenchmarkRead reads a million records of 300 bytes, opens such a log, and
// looks single records up.
func BenchmarkRead(b *testing.B) {
	const records = 1_000_000
	dir := b.TempDir()
	l, _ := mustOpen(b, dir, nil)
	batch := make([][]byte, 1000)
	for i := range batch {
		batch[i] = make([]byte, 300)
		for j := range batch[i] {
			batch[i][j] = byte(i * j)
		}
	}
	for range records / len(batch) {
		if _, err := l.Append(context.Background(), batch...); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("all", func(b *testing.B) {
		for b.Loop() {
			n := 0
			for _, err := range l.From(1) {
				if n++; err != nil {
					b.Fatal(err)
				}
			}
			if n != records {
				b.Fatal(n)
			}
		}
	})
	b.Run("one", func(b *testing.B) {
		for i := uint64(0); b.Loop(); i += 7919 {
			if _, err := l.Read(1 + i%records); err != nil {
				b.Fatal(err)
			}
		}
	})
	if err := l.Close(); err != nil {
		b.Fatal(err)
	}
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			l, _, err := seglog.Open(vfs.OS(), dir, nil)
			if err != nil {
				b.Fatal(err)
			}
			if err := l.Close(); err != nil {
				b.Fatal(err)
			}
		}
	})
	small := b.TempDir()
	l, _ = mustOpen(b, small, nil)
	for range 10 {
		if _, err := l.Append(context.Background(), batch...); err != nil {
			b.Fatal(err)
		}
	}
	l.Close()
	b.Run("open10k", func(b *testing.B) {
		for b.Loop() {
			l, _, err := seglog.Open(vfs.OS(), small, nil)
			if err != nil {
				b.Fatal(err)
			}
			l.Close()
		}
	})
}
