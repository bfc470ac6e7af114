package journal_test

import (
	"encoding/hex"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/journal"
	"github.com/comity-dev/comity/coop/scope"
)

// A worker writes one stream as a daemon with a few agents does: sessions that
// open, claim, say again what they are, release and close; some hand over, some
// ask for a review.
type worker struct {
	tb    testing.TB
	id    int
	key   *ident.Key
	repo  ident.RepositoryID
	clock *uint64
	last  *event.Event
	done  int // sessions
	ahead []*event.Event
}

func newWorker(tb testing.TB, n int, clock *uint64) *worker {
	return &worker{tb: tb, id: n, key: newKey(tb, fmt.Sprint("worker", n)), repo: newRepo(tb), clock: clock}
}

// next is the next event of the stream.
func (w *worker) next() *event.Event {
	if w.last == nil && len(w.ahead) == 0 {
		w.say(event.StreamSucceeded{Record: strings.Repeat("5a", 16), Run: 1})
	}
	if len(w.ahead) == 0 {
		w.session()
	}
	e := w.ahead[0]
	w.ahead = w.ahead[1:]
	return e
}

func (w *worker) say(b event.Body) event.Key {
	*w.clock++
	h := event.Header{Repo: w.repo, Seq: 1, Lamport: *w.clock, At: 1_700_000_000 + int64(*w.clock)}
	if w.last == nil {
		h.Stream = ident.NewStream(w.key.Node(), w.key.Runtime(w.repo), ident.NewInstance())
	} else {
		h.Stream, h.Seq, h.Prev = w.last.Stream, w.last.Seq+1, hex.EncodeToString(w.last.Hash[:])
	}
	e, err := event.Seal(w.key, h, b)
	if err != nil {
		w.tb.Fatal(err)
	}
	w.last = e
	w.ahead = append(w.ahead, e)
	return e.Key()
}

// session is the life of one session: 12 events, and more of every fourth and fifth.
// One in 24 goes on, with a claim on a place of its own.
func (w *worker) session() {
	n := w.done
	w.done++
	sid := fmt.Sprintf("s-%012x", n)
	info := event.SessionInfo{
		Session: sid, Client: "claude-code", By: "Ada Lovelace", Host: "anvil", Checkout: checkout,
		Branch: fmt.Sprintf("feature/%d", n%10), Head: strings.Repeat("ab", 20), Intent: fmt.Sprintf("make the parser of part %d faster", n),
	}
	w.say(event.SessionOpened{Info: info})
	for k := range 3 {
		c := w.say(event.ClaimAcquired{Session: sid, Mode: event.ModeExclusive, Scope: w.scope(101*w.id + 7*n + k), Intent: info.Intent})
		w.say(event.SessionOpened{Info: info})
		w.say(event.ClaimReleased{Claim: c, Session: sid, Reason: "done"})
	}
	if n%4 == 0 {
		text := strings.Repeat("It parses; the tests of part are left. ", 10) + sid
		h := event.Handover{ID: event.HandoverID(text), Body: text, Branch: info.Branch, Head: info.Head}
		p := w.say(event.HandoverPublished{Session: sid, Handover: h})
		w.say(event.HandoverConsumed{Session: sid, Handover: h.ID, Publications: []event.Key{p}})
	}
	if n%5 == 0 {
		r := w.say(event.ReviewRequested{Session: sid, Subject: "the parser of a part", Branch: info.Branch, Commit: info.Head})
		w.say(event.ReviewClosed{Request: r, Session: sid, Reason: "merged"})
	}
	info.Head = strings.Repeat("cd", 20)
	w.say(event.SessionOpened{Info: info})
	if n%24 == 23 {
		w.say(event.ClaimAcquired{Session: sid, Mode: event.ModeExclusive, Scope: w.path("path:cmd/worker%d/%d.go", w.id, n), Intent: info.Intent})
		return
	}
	w.say(event.SessionClosed{Session: sid, Reason: "done"})
}

// scope is one of about 300 places of a repository.
func (w *worker) scope(n int) scope.Set {
	return w.path("path:internal/part%d/file%d.go", n%20, n%300)
}

func (w *worker) path(form string, a, b int) scope.Set {
	set, err := scope.ParseSet([]string{fmt.Sprintf(form, a, b)})
	if err != nil {
		w.tb.Fatal(err)
	}
	return set
}

// workday is n events of streams that take turns.
func workday(tb testing.TB, streams, n int) []*event.Event {
	tb.Helper()
	var clock uint64
	workers := make([]*worker, streams)
	for i := range workers {
		workers[i] = newWorker(tb, i, &clock)
	}
	all := make([]*event.Event, 0, n)
	for i := range n {
		all = append(all, workers[i%streams].next())
	}
	return all
}

// keptBytes is what each of the events takes in memory once it is taken, in a
// journal on disk. What a journal takes whatever it holds, as its buffers, is there
// before they are counted.
func keptBytes(tb testing.TB, events []*event.Event) float64 {
	tb.Helper()
	j := receiver(tb, filepath.Join(tb.TempDir(), "journal"))
	first := len(events) / 10
	ingestAll(tb, j, events[:first], 1024)
	before := heap()
	ingestAll(tb, j, events[first:], 1024)
	each := float64(heap()-before) / float64(len(events)-first)
	mustClose(tb, j)
	return each
}

// reopenedBytes is what each of the events takes in a journal that was opened by the
// image of a clean stop, beside what one takes that has a tenth of them.
func reopenedBytes(tb testing.TB, events []*event.Event) float64 {
	tb.Helper()
	few := len(events) / 10
	return float64(reopened(tb, events)-reopened(tb, events[:few])) / float64(len(events)-few)
}

func reopened(tb testing.TB, events []*event.Event) uint64 {
	tb.Helper()
	dir := filepath.Join(tb.TempDir(), "journal")
	j := receiver(tb, dir)
	ingestAll(tb, j, events, 1024)
	mustClose(tb, j)
	before := heap()
	j = receiver(tb, dir)
	bytes := heap() - before
	if h := j.Health(); h.Image != journal.ImageTaken || h.Reloaded != uint64(len(events)) {
		tb.Fatalf("image %q, %d events", h.Image, h.Reloaded)
	}
	mustClose(tb, j)
	return bytes
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// Bytes of memory that one event costs for as long as it is held.
func BenchmarkKept(b *testing.B) {
	for _, streams := range []int{16, 64, 256} {
		b.Run(fmt.Sprint("streams=", streams), func(b *testing.B) {
			events := workday(b, streams, 50_000)
			for b.Loop() {
				b.ReportMetric(keptBytes(b, events), "B-kept/event")
				b.ReportMetric(reopenedBytes(b, events), "B-reopened/event")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}
