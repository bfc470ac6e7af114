package journal_test

import (
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/fold"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/journal"
)

// benchStreams are n events in streams of as many authors, in the order in which
// they take turns, of 64 sessions or of one in each stream; each event has about 500
// bytes.
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
		body := opened(fmt.Sprint("s", i/streams%max(1, 64/streams))).(event.SessionOpened)
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

// A verifier checks signatures by crypto/ed25519 alone, of messages that lie ready.
type verifier struct {
	signed []signed
	next   int
	spent  time.Duration
	done   int
}

type signed struct{ key, msg, sig []byte }

func newVerifier(b *testing.B, events []*event.Event) *verifier {
	b.Helper()
	v := &verifier{signed: make([]signed, min(len(events), 2000))}
	for i, e := range events[:len(v.signed)] {
		key, err := hex.DecodeString(e.PK)
		if err != nil {
			b.Fatal(err)
		}
		v.signed[i] = signed{key, append([]byte(ident.DomainEvent), event.SignedBytes(e.Raw)...), e.Sig}
	}
	return v
}

// some checks a few more: a processor has faster and slower moments, so that what is
// compared has to be done in turns.
func (v *verifier) some(b *testing.B) {
	b.Helper()
	const few = 32
	start := time.Now()
	for range few {
		s := v.signed[v.next%len(v.signed)]
		v.next++
		if !ed25519.Verify(s.key, s.msg, s.sig) {
			b.Fatal("a signature is not good")
		}
	}
	v.spent += time.Since(start)
	v.done += few
}

func (v *verifier) each() float64 { return float64(v.spent) / float64(v.done) }

// One operation is one event: parsed, checked, chained or verified, stored,
// synced with its batch, folded. "x-verify" is the rate by that of signature
// checks alone.
func BenchmarkIngest(b *testing.B) {
	const history, batch = 40_960, 512
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
				v := newVerifier(b, events)
				var spent time.Duration
				passes := 0
				for n := 0; n < b.N; n += history {
					dir := ""
					if where == "disk" {
						dir = filepath.Join(b.TempDir(), "journal")
					}
					j := receiver(b, dir)
					for some := range slices.Chunk(events, batch) {
						start := time.Now()
						ingestAll(b, j, some, batch)
						spent += time.Since(start)
						v.some(b)
					}
					passes++
					mustClose(b, j)
				}
				each := float64(spent) / float64(passes*history)
				b.ReportMetric(each, "ns/event")
				b.ReportMetric(v.each(), "ns/verify")
				b.ReportMetric(v.each()/each, "x-verify")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// receiver is a journal that believes all and has room for all. Nothing keeps it
// once it is closed.
func receiver(b testing.TB, dir string) *journal.Journal {
	b.Helper()
	return observed(b, dir, nil)
}

// observed is a receiver with somebody who observes.
func observed(b testing.TB, dir string, change func(*journal.Config)) *journal.Journal {
	b.Helper()
	cfg := journal.Config{Key: newKey(b, "ada"), Repo: newRepo(b), Machine: "m", Dir: dir, Trust: func(ident.NodeID) bool { return true }}
	cfg.Limits.NodeStreams, cfg.Limits.NodeRuns, cfg.Limits.Streams, cfg.Limits.NodeEvents = 1<<20, 1<<20, 1<<20, 1<<20
	cfg.Limits.NodeSize = 1 << 30
	if change != nil {
		change(&cfg)
	}
	j, err := journal.Open(context.Background(), cfg)
	if err != nil {
		b.Fatal(err)
	}
	return j
}

func ingestAll(b testing.TB, j *journal.Journal, events []*event.Event, batch int) {
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

// One operation is the opening of a log of 100,000 events that was closed, by one who
// observes it, as a room does: by the image of the clean stop, or by its events.
// "x-read" is the time of the fastest by that of the fastest reading of the log that
// sums it with CRC-32C.
func BenchmarkReopen(b *testing.B) {
	const history = 100_000
	dir := filepath.Join(b.TempDir(), "journal")
	j := receiver(b, dir)
	ingestAll(b, j, workday(b, 64, history), 4096)
	mustClose(b, j)
	for _, tt := range []struct {
		name string
		want journal.ImageUse
	}{{"image", journal.ImageTaken}, {"events", journal.ImageNone}} {
		b.Run(tt.name, func(b *testing.B) {
			var read, opened time.Duration
			for b.Loop() {
				if tt.want == journal.ImageNone {
					os.Remove(filepath.Join(dir, "image"))
				}
				start := time.Now()
				readAlone(b, dir)
				read = least(read, time.Since(start))
				changed := 0
				start = time.Now()
				j := observed(b, dir, func(cfg *journal.Config) {
					cfg.Observe = func(_ journal.View, _ journal.Arrival, c fold.Changes) { changed += len(c.Claims) }
					cfg.Recall = func(journal.View, []byte) error { return nil }
				})
				opened = least(opened, time.Since(start))
				if h := j.Health(); h.Image != tt.want || h.Reloaded != history || (changed == 0) != (h.Image == journal.ImageTaken) {
					b.Fatalf("image %s: %d of %d events came back, and %d claims changed", h.Image, h.Reloaded, history, changed)
				}
				mustClose(b, j)
			}
			b.ReportMetric(float64(opened.Microseconds())/1000, "ms/open")
			b.ReportMetric(float64(read.Microseconds())/1000, "ms/read")
			b.ReportMetric(float64(opened)/float64(read), "x-read")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// least is the shorter of two times, of which 0 is none.
func least(a, b time.Duration) time.Duration {
	if a == 0 {
		return b
	}
	return min(a, b)
}

// readAlone reads the files of a log and sums them.
func readAlone(b *testing.B, dir string) (sum uint32) {
	b.Helper()
	table := crc32.MakeTable(crc32.Castagnoli)
	buf := make([]byte, 1<<20)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || d.Name() == "image" {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		for {
			n, err := f.Read(buf)
			sum = crc32.Update(sum, table, buf[:n])
			if err == io.EOF {
				return nil
			}
			if err != nil {
				return err
			}
		}
	})
	if err != nil {
		b.Fatal(err)
	}
	return sum
}
