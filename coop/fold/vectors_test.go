package fold_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/fold"
	"github.com/comity-dev/comity/coop/ident"
)

var update = flag.Bool("update", false, "write the digests of testdata/vectors/folds anew")

// A vector is a small history as it is stored, and its digests.
type vector struct {
	Says    string            `json:"says"`
	Fold    int               `json:"fold"`
	Events  []json.RawMessage `json:"events"`
	Digest  string            `json:"digest"`
	History string            `json:"history"`
	First   string            `json:"digest_of_first_stream"` // of the stream of the first event alone
}

var vectorDir = filepath.Join("..", "..", "testdata", "vectors", "folds")

// The digests of known histories do not move: peers of other builds compare
// with them. One that has to move needs a new fold version.
func TestDigestsOfVectorsDoNotMove(t *testing.T) {
	if *update {
		writeVectors(t)
	}
	files, err := filepath.Glob(filepath.Join(vectorDir, "*.json"))
	if err != nil || len(files) != len(vectorHistories) {
		t.Fatalf("%d vectors (%v), want %d", len(files), err, len(vectorHistories))
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			var v vector
			if err := json.Unmarshal(b, &v); err != nil {
				t.Fatal(err)
			}
			s, first := foldVector(t, v)
			if v.Fold != fold.Version {
				t.Errorf("fold version = %d, want %d", fold.Version, v.Fold)
			}
			if got := s.Digest(nil); got != v.Digest {
				t.Errorf("Digest = %s, want %s", got, v.Digest)
			}
			if got := s.History(nil); got != v.History {
				t.Errorf("History = %s, want %s", got, v.History)
			}
			if got := s.Digest(first); got != v.First {
				t.Errorf("Digest of the first stream = %s, want %s", got, v.First)
			}
		})
	}
}

func foldVector(t *testing.T, v vector) (*fold.State, []ident.Stream) {
	t.Helper()
	s := fold.New()
	var first []ident.Stream
	for i, indented := range v.Events {
		var raw bytes.Buffer
		if err := json.Compact(&raw, indented); err != nil {
			t.Fatal(err)
		}
		e, err := event.Parse(raw.Bytes())
		if err != nil || !e.Verify() {
			t.Fatalf("event %d: %v, authentic: %v", i, err, err == nil && e.Verify())
		}
		if i == 0 {
			first = []ident.Stream{e.Stream}
		}
		s.Apply(e)
	}
	return s, first
}

func writeVectors(t *testing.T) {
	t.Helper()
	for name, h := range vectorHistories {
		w := newWriter(t, 2)
		h.write(w)
		v := vector{Says: h.says, Fold: fold.Version}
		for _, e := range w.events {
			v.Events = append(v.Events, e.Raw)
		}
		s, first := foldVector(t, v)
		v.Digest, v.History, v.First = s.Digest(nil), s.History(nil), s.Digest(first)
		b, err := json.MarshalIndent(v, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(vectorDir, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(vectorDir, name+".json"), append(b, '\n'), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

var vectorHistories = map[string]struct {
	says  string
	write func(*writer)
}{
	"conflict": {"two nodes claim what meets; the lower stamp holds, the other names it", func(w *writer) {
		a, b := w.stream(0, 0), w.stream(1, 0)
		w.write(a, run1())
		w.write(b, run1())
		w.write(a, open("ada", '1'))
		w.write(b, open("bob", '2'))
		w.write(a, claim(w, "ada", event.ModeExclusive, "dir:src"))
		w.write(b, claim(w, "bob", event.ModeExclusive, "path:src/main.go"))
		w.write(b, claim(w, "bob", event.ModeAdvisory, "glob:**/*.md"))
	}},
	"fence": {"a claim fences another and ends; what it fenced is expired", func(w *writer) {
		a, b := w.stream(0, 0), w.stream(1, 0)
		w.write(a, run1())
		w.write(b, run1())
		w.write(a, open("ada", '1'))
		lost := w.write(a, claim(w, "ada", event.ModeExclusive, "res:port/3000"))
		w.write(b, open("bob", '2'))
		c := claim(w, "bob", event.ModeExclusive, "res:port/3000")
		c.Fences = []event.Key{lost.Key()}
		by := w.write(b, c)
		w.write(b, event.ClaimReleased{Claim: by.Key(), Session: "bob", Reason: "done"})
	}},
	"succession": {"a second run carries one session of two", func(w *writer) {
		a, b := w.stream(0, 0), w.stream(0, 1)
		w.write(a, run1())
		w.write(a, open("ada", '1'))
		w.write(a, open("bob", '1'))
		w.write(a, claim(w, "ada", event.ModeExclusive, "path:a"))
		w.write(a, claim(w, "bob", event.ModeExclusive, "path:b"))
		w.write(b, event.StreamSucceeded{Record: record(0), Run: 2, Sessions: []string{"ada"}, Streams: []ident.Stream{a}})
		w.write(b, claim(w, "ada", event.ModeCheckout, "path:c"))
	}},
	"cooperation": {"a handover published twice and taken once, one withdrawn, a review answered and open, one closed", func(w *writer) {
		a, b := w.stream(0, 0), w.stream(1, 0)
		w.write(a, run1())
		w.write(b, run1())
		w.write(a, open("ada", '1'))
		w.write(b, open("bob", '2'))
		h := event.HandoverPublished{Session: "ada", Handover: event.Handover{ID: event.HandoverID("# rest"), Body: "# rest"}}
		p := w.write(a, h)
		w.write(b, event.HandoverConsumed{Handover: h.Handover.ID, Publications: []event.Key{p.Key()}, Session: "bob"})
		w.write(a, h)
		gone := event.HandoverPublished{Session: "ada", Handover: event.Handover{ID: event.HandoverID("# no"), Body: "# no"}}
		p = w.write(a, gone)
		w.write(a, event.HandoverWithdrawn{Publication: p.Key(), Session: "ada"})
		r := w.write(a, event.ReviewRequested{Session: "ada", Subject: "parser"})
		w.write(b, event.ReviewAnswered{Request: r.Key(), Session: "bob", Verdict: event.VerdictApproved})
		r = w.write(a, event.ReviewRequested{Session: "ada", Subject: "printer"})
		w.write(a, event.ReviewClosed{Request: r.Key(), Session: "ada", Reason: "merged"})
	}},
	"checkpoint": {"a checkpoint of two runs leaves out what is over", func(w *writer) {
		a, b := w.stream(0, 0), w.stream(0, 1)
		w.write(a, run1())
		w.write(a, open("ada", '1'))
		w.write(a, claim(w, "ada", event.ModeExclusive, "path:a"))
		w.write(a, claim(w, "ada", event.ModeExclusive, "path:b"))
		w.write(b, event.StreamSucceeded{Record: record(0), Run: 2, Sessions: []string{"ada"}, Streams: []ident.Stream{a}})
		w.write(b, claim(w, "ada", event.ModeExclusive, "path:c"))
		w.write(b, w.checkpoint([]ident.Stream{a, b}, func(e *event.Event) bool { return e.Stream == a && e.Seq <= 3 }))
		w.write(b, claim(w, "ada", event.ModeExclusive, "path:d"))
	}},
}

// run1 is the first event of the first run of a record.
func run1() event.StreamSucceeded { return event.StreamSucceeded{Record: record(0), Run: 1} }

func claim(w *writer, sid string, mode event.Mode, stored ...string) event.ClaimAcquired {
	return event.ClaimAcquired{Session: sid, Scope: set(w.t, stored...), Mode: mode}
}
