package journal_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/journal"
	"github.com/comity-dev/comity/internal/clock"
	"github.com/comity-dev/comity/internal/vfs"
)

var update = flag.Bool("update", false, "write testdata/vectors/ingest anew")

// An ingestVector is what a fresh receiver, which wrote nothing, has the default bounds
// and a Lamport clock of 0, is handed, and what becomes of it.
type ingestVector struct {
	Says     string         `json:"says"`
	Receiver ingestReceiver `json:"receiver"`
	Batches  []ingestBatch  `json:"batches"`
}

type ingestReceiver struct {
	Seed     string             `json:"seed"` // of its key, in hex
	Repo     ident.RepositoryID `json:"repo"`
	Believes []ident.NodeID     `json:"believes"` // beside itself
}

// An ingestBatch has the bytes of events, as text. All that follows them is the answer,
// but the last two: how far each stream is held then, and the digest of all that is held.
type ingestBatch struct {
	After    int                     `json:"seconds_later,omitempty"` // than the batch before
	Events   []string                `json:"events"`
	Outcomes []ingestOutcome         `json:"outcomes"`
	Released int                     `json:"released,omitempty"` // of those that waited since earlier batches
	Dropped  int                     `json:"dropped,omitempty"`  // of the same
	Blocked  []ingestBlocked         `json:"blocked,omitempty"`
	Held     map[ident.Stream]uint64 `json:"held"`
	Digest   string                  `json:"digest"`
}

type ingestOutcome struct {
	Status string       `json:"status"`
	Reason event.Reason `json:"reason,omitempty"`
}

type ingestBlocked struct {
	Stream ident.Stream `json:"stream"`
	Seq    uint64       `json:"seq"`
	Why    event.Reason `json:"why"`
}

var ingestDir = filepath.Join("..", "..", "testdata", "vectors", "ingest")

// What becomes of an event is part of the protocol: senders act on it.
func TestIngestOfVectors(t *testing.T) {
	if *update {
		writeIngestVectors(t)
	}
	files, err := filepath.Glob(filepath.Join(ingestDir, "*.json"))
	if err != nil || len(files) != len(ingestHistories) {
		t.Fatalf("%d vectors (%v), want %d", len(files), err, len(ingestHistories))
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			var want ingestVector
			if err := json.Unmarshal(b, &want); err != nil {
				t.Fatal(err)
			}
			got := want
			got.answer(t)
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// answer hands the batches to a receiver and sets what becomes of them.
func (v *ingestVector) answer(t *testing.T) {
	t.Helper()
	seed, err := hex.DecodeString(v.Receiver.Seed)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ident.KeyFromSeed(seed)
	if err != nil {
		t.Fatal(err)
	}
	clk := clock.NewFake(time.Unix(1_800_000_000, 0), time.Hour, "boot")
	j, err := journal.OpenOn(t.Context(), journal.Config{
		Key: key, Repo: v.Receiver.Repo, Machine: "m1", Limits: event.DefaultLimits(),
		Trust: func(n ident.NodeID) bool { return slices.Contains(v.Receiver.Believes, n) },
	}, vfs.OS(), clk)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close(context.Background())
	v.Batches = slices.Clone(v.Batches)
	for i := range v.Batches {
		b := &v.Batches[i]
		clk.Advance(time.Duration(b.After) * time.Second)
		var raw [][]byte
		for _, text := range b.Events {
			raw = append(raw, []byte(text))
		}
		b.told(j.Ingest(t.Context(), raw))
		b.Held = map[ident.Stream]uint64{}
		for st, m := range j.Marks() {
			b.Held[st] = m.Seq
		}
		j.View(func(v journal.View) { b.Digest = v.State().Digest(nil) })
	}
}

// told sets what a report tells.
func (b *ingestBatch) told(r event.IngestReport) {
	b.Outcomes, b.Blocked = nil, nil
	for _, o := range r.Outcomes {
		b.Outcomes = append(b.Outcomes, ingestOutcome{o.Status.String(), o.Reason})
	}
	for _, x := range r.Blocked {
		b.Blocked = append(b.Blocked, ingestBlocked{x.Stream, x.Seq, x.Why})
	}
	b.Released, b.Dropped = r.Released, r.Dropped
}

func writeIngestVectors(t *testing.T) {
	t.Helper()
	if err := os.MkdirAll(ingestDir, 0o777); err != nil {
		t.Fatal(err)
	}
	for name, h := range ingestHistories {
		w := newHandout(t)
		h.hand(w)
		v := ingestVector{
			Says:     h.says,
			Receiver: ingestReceiver{hex.EncodeToString(seedOf(1)), w.repo, []ident.NodeID{w.bob.Node()}},
			Batches:  w.batches,
		}
		v.answer(t)
		b, err := json.MarshalIndent(v, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(ingestDir, name+".json"), append(b, '\n'), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}
