package link_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/link"
	"github.com/comity-dev/comity/coop/link/linktest"
)

var update = flag.Bool("update", false, "write the vectors anew; a changed vector is a broken format")

const vectorDir = "../../testdata/vectors/links"

// A vector is one frame with all that another implementation must arrive at.
type vector struct {
	About  string `json:"about"`
	Type   int    `json:"type"`
	Seed   string `json:"seed,omitempty"`   // public, of who signs
	Domain string `json:"domain,omitempty"` // of the signature
	Signed string `json:"signed,omitempty"` // what follows the domain under the signature
	Says   any    `json:"says,omitempty"`   // what a frame without a signature says
	Frame  string `json:"frame"`            // the whole, in hex
}

func seedOf(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:])
}

// vectorConfigs makes the greetings those of the vectors: ada dials b.
func vectorConfigs(b *linktest.Store) func(*[2]link.Config) {
	return func(cfgs *[2]link.Config) {
		for i := range cfgs {
			cfgs[i].Rand = bytes.NewReader(bytes.Repeat([]byte{byte(0x11 * (i + 1))}, 16))
			cfgs[i].Channel = []byte("the channel")
			cfgs[i].Card.Version, cfgs[i].Card.Features = "v1.2.3", []string{"sessions", "claims", "handovers", "reviews"}
			cfgs[i].Card.Endpoints = []string{"192.0.2.1:7741"}
		}
		cfgs[0].To = b.Key.Node()
	}
}

// greetings are the frames of a greeting of ada's, who dials bob, and bob's
// refusal of another one.
func greetings(t *testing.T) map[string]vector {
	t.Helper()
	a, b := duo()
	a.Append(1, 100)
	b.Append(2, 100)
	fixed := vectorConfigs(b)
	of := func(about, name string, d ident.Domain, frame []byte) vector {
		return vector{About: about, Type: int(frame[0]), Seed: seedOf(name), Domain: string(d), Signed: string(frame[5+64:]), Frame: hex.EncodeToString(frame)}
	}
	w := join(t, 0, a, b, fixed)
	next := func(i int) []byte {
		f := w.side[i].core.Next(0)
		w.side[1-i].core.Receive(0, frame(t, f))
		return f
	}
	hello, welcome, confirm := next(0), next(1), next(0)
	deaf := join(t, 0, a, b, fixed, func(cfgs *[2]link.Config) { cfgs[1].Trust = nil })
	deaf.step(0)
	refusal := deaf.side[1].core.Next(0)
	return map[string]vector{
		"hello":   of("ada dials bob over a channel whose binding is the bytes \"the channel\"", "ada", ident.DomainHello, hello),
		"welcome": of("bob answers hello.json", "bob", ident.DomainWelcome, welcome),
		"confirm": of("ada answers welcome.json", "ada", link.DomainConfirm, confirm),
		"refusal": of("bob refuses hello.json", "bob", ident.DomainRefusal, refusal),
	}
}

func says(t *testing.T, f link.Frame) (v any) {
	t.Helper()
	var err error
	switch f.Type {
	case link.TypeMarks:
		var m link.MarksFrame
		if m, err = link.ParseMarks(f.Body); err != nil {
			break
		}
		var marks []any
		for _, one := range m.Marks {
			beat := ""
			if one.Beat != nil {
				beat = hex.EncodeToString(one.Beat.Raw)
			}
			marks = append(marks, map[string]any{"stream": one.Stream, "seq": one.Seq, "age_ms": one.Age / time.Millisecond, "beat": beat})
		}
		v = map[string]any{"first": m.First, "last": m.Last, "marks": marks}
	case link.TypeEvents:
		var e link.EventsFrame
		if e, err = link.ParseEvents(f.Body); err != nil {
			break
		}
		var runs []any
		for _, r := range e.Runs {
			var all []string
			for _, raw := range r.Raw {
				all = append(all, string(raw))
			}
			runs = append(runs, map[string]any{"stream": r.Stream, "first": r.First, "events": all})
		}
		v = runs
	case link.TypeReport:
		var r link.Report
		if r, err = link.ParseReport(f.Body); err != nil {
			break
		}
		blocked := []any{}
		for _, b := range r.Blocked {
			blocked = append(blocked, map[string]any{"stream": b.Stream, "seq": b.Seq, "why": b.Why})
		}
		v = map[string]any{
			"batch": r.Batch, "accepted": r.Accepted, "duplicate": r.Duplicate, "pending": r.Pending, "not_stored": r.NotStored,
			"rejected": r.Rejected, "blocked": blocked,
		}
	case link.TypeAgain:
		var a link.Again
		a, err = link.ParseAgain(f.Body)
		v = map[string]any{"streams": append([]ident.Stream{}, a.Streams...)}
	case link.TypeBeat:
		v = map[string]any{"beat": hex.EncodeToString(f.Body)}
	case link.TypePong:
		v = map[string]any{"number": f.Body[7], "beat": hex.EncodeToString(f.Body[8:])}
	case link.TypePing, link.TypeAsk, link.TypeLevel:
		v, err = link.ParseNumber("", f.Body)
	case link.TypeGoodbye:
		v = string(f.Body)
	}
	if err != nil {
		t.Fatal(err)
	}
	return v
}

var abouts = map[string]string{
	"marks": "all marks of a runtime, in one piece", "events": "a batch of one run", "report": "what became of a batch",
	"again": "one stream may be offered again", "again_all": "the sender's trust changed", "beat": "the sender's own beat",
	"ping": "asks for a beat", "pong": "the beat that was asked for", "pong_bare": "a run that wrote nothing has none",
	"ask": "asks for a level", "level": "all that was held was sent", "goodbye": "a clean end",
}

func TestVectors(t *testing.T) {
	all := greetings(t)
	for name, b := range samples(t) {
		all[name] = vector{About: abouts[name], Type: int(b[0]), Says: says(t, frame(t, b)), Frame: hex.EncodeToString(b)}
	}
	for name, v := range all {
		golden(t, name+".json", v)
	}
}

// The stored vectors are read as a stranger's bytes would be.
func TestVectorsAreRead(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(vectorDir, "*.json"))
	if err != nil || len(files) != 17 {
		t.Fatalf("%d vectors, %v, want 17", len(files), err)
	}
	for _, name := range files {
		if filepath.Base(name) == "refused.json" {
			continue
		}
		var v vector
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &v); err != nil {
			t.Fatal(err)
		}
		raw, err := hex.DecodeString(v.Frame)
		if err != nil {
			t.Fatal(err)
		}
		f := frame(t, raw)
		if f.Type != link.Type(v.Type) {
			t.Errorf("%s: type %d", name, f.Type)
		}
		if v.Domain != "" {
			seed, _ := hex.DecodeString(v.Seed)
			k, err := ident.KeyFromSeed(seed)
			if err != nil {
				t.Fatal(err)
			}
			if string(f.Body[64:]) != v.Signed || !ident.Verify(k.Public(), ident.Domain(v.Domain), []byte(v.Signed), f.Body[:64]) {
				t.Errorf("%s: the signature does not verify", name)
			}
			continue
		}
		if got, err := reprint(f); err != nil || !bytes.Equal(got, raw) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// golden compares v with the stored vector, to the byte.
func golden(t *testing.T, name string, v any) {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(vectorDir, name)
	if *update {
		if err := os.MkdirAll(vectorDir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n")), b.Bytes()) {
		t.Errorf("%s moved: the format is fixed\ngot  %s\nwant %s", path, b.Bytes(), want)
	}
}
