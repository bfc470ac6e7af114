package journal

import (
	"context"
	"crypto/sha256"
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/scope"
	"github.com/comity-dev/comity/internal/clock"
	"github.com/comity-dev/comity/internal/seglog"
)

// A machine keeps a log over restarts, as bytes that a test may change.
type machine struct {
	t   *testing.T
	log *damaged
	cfg Config
	run int

	clock *clock.Fake // of all runs; nil: each run has one of its own
}

// damaged is a log that lost the records that are nil.
type damaged struct {
	*memory
	damage []seglog.Damage
}

func (d *damaged) Damage() []seglog.Damage { return d.damage }

func (d *damaged) From(index uint64) iter.Seq2[seglog.Record, error] {
	return func(yield func(seglog.Record, error) bool) {
		for rec, err := range d.memory.From(index) {
			if rec.Data != nil && !yield(rec, err) {
				return
			}
		}
	}
}

func newMachine(t *testing.T, name string) *machine {
	repo, err := ident.RepositoryDeclared("journal-test")
	if err != nil {
		t.Fatal(err)
	}
	return &machine{t: t, log: &damaged{memory: newMemory()}, cfg: Config{
		Key: keyOf(t, name), Repo: repo, Dir: "disk", Machine: "machine of " + name, Limits: event.DefaultLimits(),
	}}
}

func keyOf(t *testing.T, name string) *ident.Key {
	seed := sha256.Sum256([]byte(name))
	key, err := ident.KeyFromSeed(seed[:])
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// start begins a run, in which sids go on.
func (m *machine) start(sids ...string) *Journal {
	m.t.Helper()
	cfg := m.cfg
	cfg.Continue = func(View) []string { return sids }
	m.run++
	clk := m.clock
	if clk == nil {
		clk = clock.NewFake(time.Unix(int64(1e9+m.run), 0), time.Hour, "boot")
	}
	j := newJournal(cfg, m.log, clk)
	if err := j.reload(m.t.Context()); err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() { j.Close(context.Background()) })
	return j
}

// fake is the clock of j's machine.
func fake(j *Journal) *clock.Fake { return j.clock.(*clock.Fake) }

func (m *machine) append(j *Journal, b event.Body) *event.Event {
	m.t.Helper()
	a, err := j.Append(m.t.Context(), b)
	if err != nil {
		m.t.Fatalf("append %s: %v", b.Kind(), err)
	}
	return a.Event
}

func (m *machine) claim(j *Journal, sid, path string) event.Key {
	m.t.Helper()
	return m.append(j, event.ClaimAcquired{Session: sid, Scope: m.scope(path), Mode: event.ModeExclusive}).Key()
}

func (m *machine) scope(path string) scope.Set {
	m.t.Helper()
	set, err := scope.ParseSet([]string{"path:" + path})
	if err != nil {
		m.t.Fatal(err)
	}
	return set
}

func (m *machine) release(j *Journal, sid string, k event.Key) {
	m.t.Helper()
	m.append(j, event.ClaimReleased{Claim: k, Session: sid, Reason: "done"})
}

// put writes a record behind all others, sealed by this machine or not.
func (m *machine) put(t RecordType, payload []byte, sealed bool) (index uint64) {
	rec := newSealer(m.cfg.Key.DeriveMAC(macLabel(m.cfg.Repo))).seal(t, payload)
	if !sealed {
		rec[2] ^= 1
	}
	m.log.recs = append(m.log.recs, rec)
	return uint64(len(m.log.recs))
}

// sealBy makes an event of somebody's stream.
func (m *machine) sealBy(k *ident.Key, s ident.Stream, seq, lamport uint64, prev *event.Event, b event.Body) *event.Event {
	m.t.Helper()
	h := event.Header{Repo: m.cfg.Repo, Stream: s, Seq: seq, Lamport: lamport, At: 1}
	if prev != nil {
		h.Prev = fmt.Sprintf("%x", prev.Hash)
	}
	e, err := event.Seal(k, h, b)
	if err != nil {
		m.t.Fatal(err)
	}
	return e
}

func (m *machine) streamOf(k *ident.Key) ident.Stream {
	return ident.NewStream(k.Node(), k.Runtime(m.cfg.Repo), ident.NewInstance())
}

// forge is e with a signature that is not its author's.
func (m *machine) forge(e *event.Event) *event.Event {
	m.t.Helper()
	raw := []byte(string(e.Raw))
	at := indexOf(raw, fmt.Sprintf("%x", e.Sig))
	if raw[at] == '0' {
		raw[at] = '1'
	} else {
		raw[at] = '0'
	}
	forged, err := event.Parse(raw)
	if err != nil {
		m.t.Fatal(err)
	}
	return forged
}

func indexOf(b []byte, s string) int {
	for i := range b {
		if string(b[i:min(i+len(s), len(b))]) == s {
			return i
		}
	}
	panic("not found")
}

func first(t *testing.T, j *Journal, s ident.Stream) event.StreamSucceeded {
	t.Helper()
	p, err := j.Page("", 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range p.Arrivals {
		if b, ok := a.Event.Body.(event.StreamSucceeded); ok && a.Event.Stream == s {
			return b
		}
	}
	t.Fatalf("stream %s has no first event", s)
	return event.StreamSucceeded{}
}
