package link_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"testing"
	"time"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/journal"
	"github.com/comity-dev/comity/coop/scope"
)

// A fleet is nodes that wrote what the journals of a test are filled with.
type fleet struct {
	t     *testing.T
	repo  ident.RepositoryID
	keys  []*ident.Key
	made  int           // streams
	up    time.Duration // of all their machines
	lines []*line
}

// A line is a stream, from its first event on.
type line struct {
	key    *ident.Key
	stream ident.Stream
	last   *event.Event // that was written
}

func newFleet(t *testing.T, repo ident.RepositoryID, nodes int) *fleet {
	t.Helper()
	f := &fleet{t: t, repo: repo, up: time.Hour}
	for i := range nodes {
		seed := sha256.Sum256(fmt.Append(nil, "fleet ", i))
		key, err := ident.KeyFromSeed(seed[:])
		if err != nil {
			t.Fatal(err)
		}
		f.keys = append(f.keys, key)
	}
	return f
}

// line begins a stream of a node.
func (f *fleet) line(node int) *line {
	sum := sha256.Sum256(fmt.Append(nil, "fleet run ", f.made))
	f.made++
	k := f.keys[node]
	return &line{key: k, stream: ident.NewStream(k.Node(), k.Runtime(f.repo), ident.InstanceID(hex.EncodeToString(sum[:8])))}
}

// write is the next event of a stream.
func (f *fleet) write(l *line, b event.Body) []byte {
	f.t.Helper()
	h := event.Header{Repo: f.repo, Stream: l.stream, Seq: 1, Lamport: 1, At: 1_700_000_000}
	if l.last != nil {
		h.Seq, h.Lamport, h.Prev = l.last.Seq+1, l.last.Lamport+1, hex.EncodeToString(l.last.Hash[:])
	}
	e, err := event.Seal(l.key, h, b)
	if err != nil {
		f.t.Fatal(err)
	}
	l.last = e
	return e.Raw
}

// open begins a session in a stream.
func (f *fleet) open(l *line) []byte {
	return f.write(l, event.SessionOpened{Info: event.SessionInfo{Session: "s", Client: "test", Checkout: "0123456789abcdef"}})
}

// done is the one event of a stream in which nothing stands.
func (f *fleet) done(l *line) []byte {
	return f.write(l, event.SessionClosed{Session: "s", Reason: "done"})
}

// claim is a claim that stands, of a file that nobody else has.
func (f *fleet) claim(l *line) []byte {
	f.t.Helper()
	set, err := scope.ParseSet([]string{fmt.Sprintf("path:src/%s/%d.go", l.stream.Instance(), l.last.Seq)})
	if err != nil {
		f.t.Fatal(err)
	}
	return f.write(l, event.ClaimAcquired{Session: "s", Scope: set, Mode: event.ModeExclusive, Intent: "change the parser of what comes in"})
}

func (f *fleet) claims(l *line, n int) (all [][]byte) {
	for range n {
		all = append(all, f.claim(l))
	}
	return all
}

// beats are later ones than all before, of some streams.
func (f *fleet) beats(some []*line) event.Marks {
	f.t.Helper()
	f.up += time.Second
	marks := event.Marks{}
	for _, l := range some {
		b, err := event.SealBeat(l.key, event.BeatHeader{
			Repo: f.repo, Stream: l.stream, Seq: l.last.Seq, Head: l.last.Hash, Lamport: l.last.Lamport, Uptime: f.up,
		})
		if err != nil {
			f.t.Fatal(err)
		}
		marks[l.stream] = event.Mark{Seq: b.Seq, Beat: b}
	}
	return marks
}

// forged is an event with a signature that is not its author's.
func forged(t *testing.T, raw []byte) []byte {
	t.Helper()
	e, err := event.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	sig := hex.EncodeToString(e.Sig)
	other := "0"
	if sig[0] == '0' {
		other = "1"
	}
	at := len(raw) - len(`","stream":"`) - len(e.Stream) - len(`","v":1}`) - len(sig)
	if string(raw[at:at+len(sig)]) != sig {
		t.Fatal("a signature is not where it was")
	}
	return []byte(string(raw[:at]) + other + string(raw[at+1:]))
}

// take hands events to a journal that has to do the same with all of them.
func (n *node) take(want event.Status, why event.Reason, all ...[]byte) {
	n.t.Helper()
	for len(all) > 0 {
		some := all[:min(len(all), 4000)]
		all = all[len(some):]
		r := n.Ingest(n.t.Context(), some)
		for i, o := range r.Outcomes {
			if o.Status != want || o.Reason != why {
				n.t.Fatalf("event %d of %d: %v %s, want %v %s; %v", i, len(some), o.Status, o.Reason, want, why, r.Err)
			}
		}
	}
}

// entomb has a journal drop n streams.
func (f *fleet) entomb(n *node, streams, atOnce int) {
	f.t.Helper()
	for n.Health().Dropped < streams {
		var all [][]byte
		for i := range min(atOnce, streams-n.Health().Dropped) {
			all = append(all, f.done(f.line(i%len(f.keys))))
		}
		n.take(event.Accepted, "", all...)
		n.clock.Advance(time.Hour)
		if _, err := n.Compact(f.t.Context(), journal.Policy{Force: true}); err != nil {
			f.t.Fatal(err)
		}
	}
}
