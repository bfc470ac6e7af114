package fold_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/fold"
	"github.com/comity-dev/comity/coop/ident"
)

var update = flag.Bool("update", false, "write testdata/vectors/folds anew")

// A vector is a small history as it is stored, and its digests. Events come in the
// order in which they arrive. Form is all that the digest sums, to the byte: the line
// that names the fold version, and what stands as canonical JSON. All is that with
// the streams too that no digest has.
type vector struct {
	Says    string            `json:"says"`
	Fold    int               `json:"fold"`
	Events  []json.RawMessage `json:"events"`
	Lost    []string          `json:"lost,omitempty"` // keys of events that the disk lost
	Form    string            `json:"form"`
	All     string            `json:"form_of_all,omitempty"` // when a stream is left out
	Digest  string            `json:"digest"`
	History string            `json:"history"`
	First   string            `json:"digest_of_first_stream"` // of the stream of the first event alone
}

var vectorDir = filepath.Join("..", "..", "testdata", "vectors", "folds")

// The digests of known histories do not move: peers of other builds compare
// with them. One that has to move needs a new fold version.
func TestDigestsOfVectorsDoNotMove(t *testing.T) {
	all := vectorHistories()
	if *update {
		writeVectors(t, all)
	}
	files, err := filepath.Glob(filepath.Join(vectorDir, "*.json"))
	if err != nil || len(files) != len(all) {
		t.Fatalf("%d vectors (%v), want %d", len(files), err, len(all))
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
			steps := v.steps(t)
			v.compare(t, "as it is stored", steps)
			v.compare(t, "the last stream first", backwards(steps))
			if got := formByOracle(after(steps)); got != v.Form {
				t.Errorf("form by the oracle\n%s, want\n%s", got, v.Form)
			}
			if all := formOfAll(after(steps)); v.All != "" && all != v.All {
				t.Errorf("form of all by the oracle\n%s, want\n%s", all, v.All)
			}
			if sum := sha256.Sum256([]byte(v.Form)); hex.EncodeToString(sum[:16]) != v.Digest {
				t.Error("the digest is not that of the form")
			}
		})
	}
}

func (v *vector) compare(t *testing.T, order string, steps []step) {
	t.Helper()
	got := *v
	got.answer(steps, v.first(t))
	if got.Fold != v.Fold {
		t.Errorf("%s: fold version = %d, want %d", order, got.Fold, v.Fold)
	}
	if got.Form != v.Form {
		t.Errorf("%s: form\n%s, want\n%s", order, got.Form, v.Form)
	}
	if got.All != v.All {
		t.Errorf("%s: form of all\n%s, want\n%s", order, got.All, v.All)
	}
	if got.Digest != v.Digest {
		t.Errorf("%s: Digest = %s, want %s", order, got.Digest, v.Digest)
	}
	if got.History != v.History {
		t.Errorf("%s: History = %s, want %s", order, got.History, v.History)
	}
	if got.First != v.First {
		t.Errorf("%s: Digest of the first stream = %s, want %s", order, got.First, v.First)
	}
}

// answer sets what the fold says of steps.
func (v *vector) answer(steps []step, first ident.Stream) {
	s := run(steps)
	whole := undamaged(steps)
	v.Fold, v.Form, v.All = fold.Version, string(whole.Form()), ""
	if count(whole.Streams()) < count(s.Streams()) {
		v.All = string(s.Form())
	}
	v.Digest, v.History, v.First = s.Digest(nil), s.History(nil), s.Digest([]ident.Stream{first})
}

// first is the stream of the first event.
func (v *vector) first(t *testing.T) ident.Stream { return v.event(t, 0).Stream }

func (v *vector) event(t *testing.T, i int) *event.Event {
	t.Helper()
	var raw bytes.Buffer
	if err := json.Compact(&raw, v.Events[i]); err != nil {
		t.Fatal(err)
	}
	e, err := event.Parse(raw.Bytes())
	if err != nil || !e.Verify() {
		t.Fatalf("event %d: %v, authentic: %v", i, err, err == nil && e.Verify())
	}
	return e
}

// steps are the events, and before each the places below it that are lost; those
// behind the last event of their stream come last.
func (v *vector) steps(t *testing.T) (all []step) {
	t.Helper()
	var lost []event.Key
	for _, s := range v.Lost {
		k, err := event.ParseKey(s)
		if err != nil {
			t.Fatal(err)
		}
		lost = append(lost, k)
	}
	skip := func(below func(event.Key) bool) {
		lost = slices.DeleteFunc(lost, func(k event.Key) bool {
			if below(k) {
				all = append(all, step{e: &event.Event{Stream: k.Stream, Seq: k.Seq}, lost: true})
				return true
			}
			return false
		})
	}
	for i := range v.Events {
		e := v.event(t, i)
		skip(func(k event.Key) bool { return k.Stream == e.Stream && k.Seq < e.Seq })
		all = append(all, step{e: e})
	}
	skip(func(event.Key) bool { return true })
	return all
}

// backwards are the same steps stream by stream, the last stream first.
func backwards(steps []step) (all []step) {
	var streams []ident.Stream
	for _, x := range steps {
		if !slices.Contains(streams, x.e.Stream) {
			streams = append(streams, x.e.Stream)
		}
	}
	for _, st := range slices.Backward(streams) {
		for _, x := range steps {
			if x.e.Stream == st {
				all = append(all, x)
			}
		}
	}
	return all
}

// undamaged folds steps without the streams that are damaged or incomplete, and then
// without those that are so without them.
func undamaged(steps []step) *fold.State {
	for {
		s := run(steps)
		out := map[ident.Stream]bool{}
		for i := range s.Streams() {
			out[i.Stream] = i.Damaged || i.Incomplete
		}
		left := slices.DeleteFunc(slices.Clone(steps), func(x step) bool { return out[x.e.Stream] })
		if len(left) == len(steps) {
			return s
		}
		steps = left
	}
}

func writeVectors(t *testing.T, all histories) {
	t.Helper()
	if err := os.MkdirAll(vectorDir, 0o777); err != nil {
		t.Fatal(err)
	}
	for name, h := range all {
		w := &scribe{writer: newWriter(t, 2)}
		h.write(w)
		v := vector{Says: h.says}
		for _, e := range w.events {
			v.Events = append(v.Events, e.Raw)
		}
		for _, k := range w.lost {
			v.Lost = append(v.Lost, k.String())
		}
		v.answer(v.steps(t), v.first(t))
		b, err := json.MarshalIndent(v, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(vectorDir, name+".json"), append(b, '\n'), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// Histories are those of the vectors, by the name of the file.
type histories map[string]struct {
	says  string
	write func(*scribe)
}

func vectorHistories() histories {
	all := histories{}
	for _, some := range []histories{
		firstVectors, standingVectors, fenceVectors, orderVectors, runVectors, checkpointVectors, newerVectors, lossVectors, doubtVectors, sessionVectors,
	} {
		maps.Copy(all, some)
	}
	return all
}
