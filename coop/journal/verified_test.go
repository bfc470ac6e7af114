package journal_test

import (
	"encoding/hex"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

// No signature is checked twice in the life of a node: however often an event
// comes, in whatever order and batch, and over a reopening.
func TestNoSignatureIsCheckedTwice(t *testing.T) {
	const n = 240
	dir := filepath.Join(t.TempDir(), "journal")
	for _, tt := range []struct {
		name    string
		streams int
		want    uint64 // at most; of streams of one event each just as many
	}{
		{"each alone", n, n},
		{"chained", 6, n},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(dir, tt.name)
			events := workday(t, tt.streams, n)
			j := receiver(t, dir)
			for seed := range uint64(3) {
				shuffled(seed, events, func(batch [][]byte) { j.Ingest(t.Context(), batch) })
			}
			h := j.Health()
			if h.Events != n || h.Waiting != 0 {
				t.Fatalf("%d of %d events are held, %d wait", h.Events, n, h.Waiting)
			}
			if h.Verified > tt.want || tt.streams == n && h.Verified != tt.want {
				t.Errorf("%d signatures were checked of %d events in %d streams", h.Verified, n, tt.streams)
			}
			mustClose(t, j)

			j = receiver(t, dir)
			shuffled(9, events, func(batch [][]byte) {
				if r := j.Ingest(t.Context(), batch); r.Duplicate != len(batch) {
					t.Errorf("after the reopening %d of %d events are known", r.Duplicate, len(batch))
				}
			})
			if h := j.Health(); h.Verified != 0 {
				t.Errorf("after the reopening %d signatures were checked", h.Verified)
			}
			mustClose(t, j)
		})
	}
}

// shuffled hands out the events in some order, in batches of up to 20.
func shuffled(seed uint64, events []*event.Event, take func([][]byte)) {
	r := rand.New(rand.NewPCG(seed, 1))
	order := r.Perm(len(events))
	for len(order) > 0 {
		n := min(1+r.IntN(20), len(order))
		batch := make([][]byte, n)
		for i, at := range order[:n] {
			batch[i] = events[at].Raw
		}
		take(batch)
		order = order[n:]
	}
}

// chainOf are n events of one stream of bob's; after the first one they say what tells
// two histories apart.
func chainOf(t *testing.T, n int, what string) (all []*event.Event) {
	t.Helper()
	key, repo := newKey(t, "bob"), newRepo(t)
	h := event.Header{Repo: repo, Stream: ident.NewStream(key.Node(), key.Runtime(repo), "0123456789abcdef")}
	for i := range n {
		h.Seq, h.Lamport = uint64(i+1), uint64(i+1)
		body := opened("first")
		if i > 0 {
			h.Prev, body = hex.EncodeToString(all[i-1].Hash[:]), opened(what)
		}
		e, err := event.Seal(key, h, body)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// forged is e with another signature.
func forged(t *testing.T, e *event.Event) *event.Event {
	t.Helper()
	other := "0" + hex.EncodeToString(e.Sig)[1:]
	if other == hex.EncodeToString(e.Sig) {
		other = "1" + other[1:]
	}
	f, err := event.Parse([]byte(strings.Replace(string(e.Raw), hex.EncodeToString(e.Sig), other, 1)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// What was looked at once is not looked at again while it is held, waits or is kept as
// proof, and one copy speaks for all that are in sight.
func TestWhatWasLookedAtIsRemembered(t *testing.T) {
	e, x := chainOf(t, 5, "one"), chainOf(t, 3, "other")
	f2 := forged(t, e[1])
	type batch []*event.Event
	for _, tt := range []struct {
		name    string
		batches []batch
		want    []uint64 // signatures that each batch costs
	}{
		{"it waits and comes again with what it waited for",
			[]batch{{e[0]}, {e[2], e[3], e[4]}, {e[2]}, {e[1], e[2], e[3], e[4]}}, []uint64{1, 0, 0, 1}},
		{"it was looked at while it waited",
			[]batch{{e[0]}, {e[2]}, {f2}, {e[1], e[2]}}, []uint64{1, 0, 2, 0}},
		{"a forged one waits",
			[]batch{{e[0]}, {f2, f2, f2}, {f2}, {e[1]}}, []uint64{1, 1, 0, 1}},
		{"copies of a forged one in a batch", []batch{{e[0], f2, f2, f2}, {f2}}, []uint64{2, 0}},
		{"copies of a good one in a batch", []batch{{e[0], e[0], e[1], e[1]}, {e[1]}}, []uint64{1, 0}},
		{"the proof of a fork", []batch{{e[0], e[1]}, {x[1], x[1]}, {x[1]}}, []uint64{1, 1, 0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "journal")
			j := receiver(t, dir)
			before := uint64(0)
			give := func(b batch) uint64 {
				var raws [][]byte
				for _, one := range b {
					raws = append(raws, one.Raw)
				}
				j.Ingest(t.Context(), raws)
				n := j.Health().Verified - before
				before += n
				return n
			}
			for n, b := range tt.batches {
				if got := give(b); got != tt.want[n] {
					t.Errorf("batch %d costs %d signatures, want %d", n, got, tt.want[n])
				}
			}
			held := j.Health().Events
			mustClose(t, j)
			j, before = receiver(t, dir), 0
			kept := batch(e[:held])
			if tt.name == "the proof of a fork" {
				kept = append(kept, x[1])
			}
			if got := give(kept); got != 0 {
				t.Errorf("after the reopening what is kept costs %d signatures", got)
			}
			mustClose(t, j)
		})
	}
}
