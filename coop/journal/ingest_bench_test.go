package journal_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/journal"
)

// benchStreams are n events in streams of as many authors, in the order in which
// they take turns; each event has about 500 bytes.
func benchStreams(b *testing.B, streams, n int) []*event.Event {
	b.Helper()
	repo := newRepo(b)
	keys := make([]*ident.Key, streams)
	for i := range keys {
		keys[i] = newKey(b, fmt.Sprint("peer", i))
	}
	last := make([]*event.Event, streams)
	var all []*event.Event
	for i := range n {
		key, prev := keys[i%streams], last[i%streams]
		h := event.Header{Repo: repo, Lamport: uint64(i + 1), At: 1_700_000_000, Seq: 1}
		if prev == nil {
			h.Stream = ident.NewStream(key.Node(), key.Runtime(repo), ident.NewInstance())
		} else {
			h.Stream, h.Seq, h.Prev = prev.Stream, prev.Seq+1, hex.EncodeToString(prev.Hash[:])
		}
		body := opened(fmt.Sprint("s", i/streams%64)).(event.SessionOpened)
		body.Info.Branch = "feature/" + strings.Repeat("x", 20)
		e, err := event.Seal(key, h, body)
		if err != nil {
			b.Fatal(err)
		}
		last[i%streams] = e
		all = append(all, e)
	}
	return all
}

// verifyAlone is the time of one signature check by crypto/ed25519, in this run.
func verifyAlone(b *testing.B, events []*event.Event) time.Duration {
	b.Helper()
	start := time.Now()
	n := min(len(events), 2000)
	for _, e := range events[:n] {
		if !e.Verify() {
			b.Fatal("a signature is not good")
		}
	}
	return time.Since(start) / time.Duration(n)
}

// One operation is one event: parsed, checked, chained or verified, stored,
// synced with its batch, folded. "x-verify" is the rate by that of signature
// checks alone.
func BenchmarkIngest(b *testing.B) {
	const history, batch = 8192, 512
	for _, bb := range []struct {
		name    string
		streams int
	}{
		{"chained", 1},          // one signature a batch
		{"signed", batch},       // each event by its own signature
		{"signed/4", batch / 4}, // runs of four
	} {
		events := benchStreams(b, bb.streams, history)
		for _, where := range []string{"memory", "disk"} {
			b.Run(bb.name+"/"+where, func(b *testing.B) {
				alone := verifyAlone(b, events)
				var spent time.Duration
				passes := 0
				for n := 0; n < b.N; n += history {
					dir := ""
					if where == "disk" {
						dir = filepath.Join(b.TempDir(), "journal")
					}
					j := receiver(b, dir)
					start := time.Now()
					ingestAll(b, j, events, batch)
					spent += time.Since(start)
					passes++
					mustClose(b, j)
				}
				each := spent / time.Duration(passes*history)
				b.ReportMetric(float64(each), "ns/event")
				b.ReportMetric(float64(alone)/float64(each), "x-verify")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// receiver is a journal that believes all and has room for all. Nothing keeps it
// once it is closed.
func receiver(b *testing.B, dir string) *journal.Journal {
	b.Helper()
	cfg := journal.Config{Key: newKey(b, "ada"), Repo: newRepo(b), Machine: "m", Dir: dir, Trust: func(ident.NodeID) bool { return true }}
	cfg.Limits.NodeStreams, cfg.Limits.Streams, cfg.Limits.NodeEvents = 1<<20, 1<<20, 1<<20
	j, err := journal.Open(context.Background(), cfg)
	if err != nil {
		b.Fatal(err)
	}
	return j
}

func ingestAll(b *testing.B, j *journal.Journal, events []*event.Event, batch int) {
	b.Helper()
	for len(events) > 0 {
		n := min(batch, len(events))
		raws := make([][]byte, n)
		for i, e := range events[:n] {
			raws[i] = e.Raw
		}
		if r := j.Ingest(context.Background(), raws); r.Accepted != n {
			b.Fatalf("of %d events %d were taken: %v", n, r.Accepted, r.Rejected)
		}
		events = events[n:]
	}
}

// Bytes of memory that one event of others costs for as long as it is held.
func BenchmarkIngestMemory(b *testing.B) {
	const history = 50_000
	events := benchStreams(b, 16, history)
	for b.Loop() {
		j := receiver(b, filepath.Join(b.TempDir(), "journal"))
		before := heap()
		ingestAll(b, j, events, 1024)
		b.ReportMetric(float64(heap()-before)/history, "B-kept/event")
		mustClose(b, j)
	}
	b.ReportMetric(0, "ns/op")
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
