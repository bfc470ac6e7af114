package journal_test

import (
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/comity-dev/comity/coop/event"
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
