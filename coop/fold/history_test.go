package fold_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/fold"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/scope"
)

// A writer seals the events of streams: the next of each, chained.
type writer struct {
	t      testing.TB
	repo   ident.RepositoryID
	keys   []*ident.Key
	next   map[ident.Stream]event.Header
	stamp  uint64 // highest
	events []*event.Event
}

type fataler interface {
	Helper()
	Fatal(...any)
}

func newWriter(t testing.TB, nodes int) *writer {
	t.Helper()
	repo, err := ident.RepositoryFromRoot(strings.Repeat("ab", 20))
	if err != nil {
		t.Fatal(err)
	}
	w := &writer{t: t, repo: repo, next: map[ident.Stream]event.Header{}}
	for i := range nodes {
		seed := make([]byte, 32)
		seed[0] = byte(i + 1)
		k, err := ident.KeyFromSeed(seed)
		if err != nil {
			t.Fatal(err)
		}
		w.keys = append(w.keys, k)
	}
	return w
}

func (w *writer) runtime(node int) ident.Runtime {
	return ident.Runtime{Node: w.keys[node].Node(), ID: w.keys[node].Runtime(w.repo)}
}

// stream names a run of a node.
func (w *writer) stream(node, instance int) ident.Stream {
	r := w.runtime(node)
	return ident.NewStream(r.Node, r.ID, ident.InstanceID(fmt.Sprintf("%016x", 0xa0+instance)))
}

func (w *writer) session(node int, sid string) ident.SessionID {
	return ident.SessionID{Runtime: w.runtime(node), SID: sid}
}

// write seals the next event of a stream with a stamp above all others.
func (w *writer) write(st ident.Stream, b event.Body) *event.Event {
	return w.writeAt(st, w.stamp+1, b)
}

// writeAt is write with a stamp, raised to what the stream needs.
func (w *writer) writeAt(st ident.Stream, stamp uint64, b event.Body) *event.Event {
	w.t.Helper()
	h := w.next[st]
	h.Repo, h.Stream, h.At = w.repo, st, 1_800_000_000+int64(h.Seq)
	h.Seq++
	h.Lamport = max(h.Lamport+1, stamp)
	var key *ident.Key
	for _, k := range w.keys {
		if k.Node() == st.Node() {
			key = k
		}
	}
	sealed := b
	switch b.(type) {
	case event.Opaque, event.Unreadable: // nobody of this build writes one
		sealed = event.SessionClosed{Session: "placeholder", Reason: "x"}
	}
	e, err := event.Seal(key, h, sealed)
	if err != nil {
		w.t.Fatal(err)
	}
	e.Body = sealedBody(e.Body, b)
	h.Prev = hex.EncodeToString(e.Hash[:])
	w.next[st] = h
	w.stamp = max(w.stamp, h.Lamport)
	w.events = append(w.events, e)
	return e
}

func sealedBody(sealed, want event.Body) event.Body {
	switch want.(type) {
	case event.Opaque, event.Unreadable:
		return want
	}
	return sealed
}

func set(t fataler, stored ...string) scope.Set {
	t.Helper()
	s, err := scope.ParseSet(stored)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func open(sid string, checkout byte) event.SessionOpened {
	return event.SessionOpened{Info: event.SessionInfo{
		Session: sid, Client: "cli", Checkout: ident.CheckoutID(strings.Repeat("0", 15) + string(checkout)),
	}}
}

// record is the n-th run record.
func record(n int) string { return fmt.Sprintf("%032x", 0xc0+n) }

// checkpoint names what keep tells of the covered streams, with the right digest.
func (w *writer) checkpoint(covers []ident.Stream, keep func(*event.Event) bool) event.StreamCheckpoint {
	k := event.StreamCheckpoint{Covers: slices.Sorted(slices.Values(covers)), Kept: map[ident.Stream][]event.Range{}}
	sum := sha256.New()
	for _, st := range k.Covers {
		for _, e := range w.events {
			if e.Stream != st || !keep(e) {
				continue
			}
			sum.Write(e.Hash[:])
			r := k.Kept[st]
			if n := len(r); n > 0 && r[n-1].Last+1 == e.Seq {
				r[n-1].Last = e.Seq
			} else {
				k.Kept[st] = append(r, event.Range{First: e.Seq, Last: e.Seq})
			}
		}
	}
	k.Digest = hex.EncodeToString(sum.Sum(nil))
	return k
}

// A history is what some runtimes wrote, and what of it is lost here.
type history struct {
	*writer
	streams  []ident.Stream
	lost     map[event.Key]bool
	faithful bool // no checkpoint leaves out a claim or an opening
}

var (
	scopes = [][]string{
		{"path:a"}, {"path:b"}, {"dir:."}, {"path:d/x"}, {"dir:d"}, {"glob:d/*"}, {"res:port/1"}, {"path:a", "path:b"}, {"path:b", "res:port/1"},
	}
	texts = []string{"# one", "# two"}
	sids  = []string{"s", "t", "u"}
)

// drawHistory makes a history of up to n events. Most of what it writes is what
// runtimes do; a part names any event, session, run and stamp whatever.
func drawHistory(t *rapid.T, tb testing.TB, n int, damage bool) *history {
	g := drawRuns(t, tb)
	g.events(n)
	if damage {
		g.losses(g.h.events)
	}
	return g.h
}

// drawRuns makes the runs of a history in which nobody wrote yet.
func drawRuns(t *rapid.T, tb testing.TB) *drawing {
	h := &history{writer: newWriter(tb, 2+rapid.IntRange(0, 1).Draw(t, "nodes")), lost: map[event.Key]bool{}, faithful: true}
	g := &drawing{T: t, h: h, kinds: wild, numbers: map[ident.Stream]uint64{}}
	if rapid.Bool().Draw(t, "calm") { // many claims that stand at once
		g.kinds, g.calm = calm, true
	}
	g.long = g.chance("long", 2) // one runtime is started often
	for node := range h.keys {
		runs := rapid.IntRange(1, 3).Draw(t, "runs")
		if g.long && node == 0 {
			runs = rapid.IntRange(4, 12).Draw(t, "restarts")
		}
		for run := range runs {
			st := h.stream(node, run*7%13) // the order of ids is not that of runs
			h.streams = append(h.streams, st)
			g.numbers[st] = uint64(run + 1)
		}
	}
	return g
}

// events writes up to n events more.
func (g *drawing) events(n int) {
	t, h := g.T, g.h
	for range rapid.IntRange(n/3, n).Draw(t, "events") {
		st := rapid.SampledFrom(h.streams).Draw(t, "stream")
		if g.long && !g.chance("elsewhere", 5) {
			st = g.oldest(st)
		}
		stamp := h.stamp + 1
		if g.chance("stamp", 4) {
			stamp = rapid.Uint64Range(1, h.stamp+2).Draw(t, "stamp")
		}
		if h.next[st].Seq == 0 && !g.chance("begin", 8) {
			h.writeAt(st, stamp, g.succession(st))
			continue
		}
		h.writeAt(st, stamp, g.body(st))
	}
}

// losses lets up to three of the events be lost.
func (g *drawing) losses(events []*event.Event) {
	for range rapid.IntRange(0, 3).Draw(g.T, "losses") {
		if len(events) > 0 {
			k := rapid.SampledFrom(events).Draw(g.T, "lost").Key()
			if g.chance("first", 3) {
				k.Seq = 1 // which run it is is lost
			}
			g.h.lost[k] = true
		}
	}
}

// fence writes, as the first runs of two nodes, a claim and one that fences it.
func (g *drawing) fence() (fenced event.Key) {
	g.Helper()
	mine := g.h.streams[0]
	theirs := g.h.streams[slices.IndexFunc(g.h.streams, func(st ident.Stream) bool { return st.Node() != mine.Node() })]
	claim := event.ClaimAcquired{Session: g.sid(), Scope: set(g.T, "path:a"), Mode: event.ModeExclusive}
	for _, st := range []ident.Stream{mine, theirs} {
		g.h.write(st, g.succession(st))
		g.h.write(st, open(claim.Session, '1'))
		claim.Fences = []event.Key{g.h.write(st, claim).Key()}
		if st == mine {
			fenced = claim.Fences[0]
		}
	}
	return fenced
}

type drawing struct {
	*rapid.T
	h       *history
	kinds   []string
	calm    bool
	long    bool
	numbers map[ident.Stream]uint64 // of runs
}

// oldest is the first run of st's runtime that wrote nothing yet, now and then,
// else one that wrote: runs begin in their order.
func (g *drawing) oldest(st ident.Stream) ident.Stream {
	var begun []ident.Stream
	for _, u := range g.h.streams {
		switch {
		case u.Runtime() != st.Runtime():
		case g.h.next[u].Seq > 0:
			begun = append(begun, u)
		case len(begun) == 0 || g.chance("restart", 2):
			return u
		default:
			return rapid.SampledFrom(begun).Draw(g.T, "begun")
		}
	}
	return rapid.SampledFrom(begun).Draw(g.T, "begun")
}

var (
	wild = []string{
		"open", "open", "open", "close", "claim", "claim", "claim", "claim", "claim", "release", "release", "publish", "take", "decline", "withdraw",
		"request", "answer", "end", "succession", "checkpoint", "opaque", "unreadable",
	}
	calm = []string{"open", "open", "claim", "claim", "claim", "claim", "claim", "release", "close"}
)

func (g *drawing) chance(name string, in int) bool {
	return rapid.IntRange(1, in).Draw(g.T, name) == in
}

func (g *drawing) sid() string { return rapid.SampledFrom(sids).Draw(g.T, "sid") }

// key names an event of a kind that is written, mostly, else any place.
func (g *drawing) key(want func(*event.Event) bool) event.Key {
	var all []*event.Event
	for _, e := range g.h.events {
		if want(e) {
			all = append(all, e)
		}
	}
	if len(all) == 0 || g.chance("any", 6) {
		return event.Key{Stream: rapid.SampledFrom(g.h.streams).Draw(g.T, "of"), Seq: rapid.Uint64Range(1, 12).Draw(g.T, "seq")}
	}
	return rapid.SampledFrom(all).Draw(g.T, "event").Key()
}

func is[B event.Body](e *event.Event) bool { _, ok := e.Body.(B); return ok }

func (g *drawing) keys(n int, want func(*event.Event) bool) []event.Key {
	var all []event.Key
	for range n {
		all = append(all, g.key(want))
	}
	slices.SortFunc(all, event.Key.Compare)
	return slices.Compact(all)
}

// earlier are the streams of st's runtime but st.
func (g *drawing) earlier(st ident.Stream) (all []ident.Stream) {
	for _, u := range g.h.streams {
		if u != st && u.Runtime() == st.Runtime() {
			all = append(all, u)
		}
	}
	return all
}

func some[X any](t *rapid.T, xs []X, name string) (out []X) {
	for _, x := range xs {
		if rapid.IntRange(0, 3).Draw(t, name) > 0 {
			out = append(out, x)
		}
	}
	return out
}

func (g *drawing) succession(st ident.Stream) event.Body {
	rec := 0
	if g.chance("record", 6) {
		rec = 1
	}
	run := g.numbers[st]
	if g.chance("run", 6) {
		run = rapid.Uint64Range(1, 4).Draw(g.T, "run")
	}
	if !g.long {
		return event.StreamSucceeded{Record: record(rec), Run: run, Sessions: some(g.T, sids, "listed"), Streams: some(g.T, g.earlier(st), "named")}
	}
	b := event.StreamSucceeded{Record: record(rec), Run: run}
	for _, sid := range sids {
		if !g.chance("left", 12) {
			b.Sessions = append(b.Sessions, sid)
		}
	}
	for _, u := range g.earlier(st) {
		if g.numbers[u] < run && !g.chance("unnamed", 12) || g.chance("whichever", 12) {
			b.Streams = append(b.Streams, u)
		}
	}
	return b
}

func (g *drawing) checkpoint(st ident.Stream) event.Body {
	covers := []ident.Stream{st}
	if first := g.h.next[st]; first.Seq > 0 {
		covers = append(covers, some(g.T, g.earlier(st), "covered")...)
	}
	faithful := g.chance("faithful", 2)
	h := g.h
	k := h.writer.checkpoint(covers, func(e *event.Event) bool {
		matters := is[event.ClaimAcquired](e) || is[event.SessionOpened](e)
		return faithful && matters || rapid.IntRange(0, 1).Draw(g.T, "kept") == 1
	})
	if !faithful {
		h.faithful = false
	} else {
		// What the covered streams write later is below it too, when they are earlier runs.
		for _, c := range covers {
			if c != st {
				h.faithful = false
			}
		}
	}
	switch {
	case g.chance("wrong", 5):
		k.Digest = strings.Repeat("ee", 32)
	case g.chance("astray", 8):
		k.Kept[st] = append(k.Kept[st], event.Range{First: h.next[st].Seq + 2, Last: h.next[st].Seq + 3})
	}
	return k
}

func (g *drawing) body(st ident.Stream) event.Body {
	sid := g.sid()
	switch rapid.SampledFrom(g.kinds).Draw(g.T, "kind") {
	case "open":
		return open(sid, "12"[rapid.IntRange(0, 1).Draw(g.T, "checkout")])
	case "close":
		return event.SessionClosed{Session: sid, Reason: rapid.SampledFrom([]string{"done", "gone"}).Draw(g.T, "reason")}
	case "claim":
		c := event.ClaimAcquired{
			Session: sid, Scope: set(g.T, rapid.SampledFrom(scopes).Draw(g.T, "scope")...),
			Mode: rapid.SampledFrom([]event.Mode{event.ModeExclusive, event.ModeExclusive, event.ModeCheckout, event.ModeCheckout, event.ModeAdvisory}).Draw(g.T, "mode"),
		}
		if g.chance("intent", 3) {
			c.Intent = "work"
		}
		if g.calm && g.chance("calmly", 2) {
			c.Mode = event.ModeExclusive
		}
		if g.chance("fences", 2) && (!g.calm || g.chance("calmly", 4)) {
			c.Fences = g.keys(rapid.IntRange(1, 3).Draw(g.T, "n"), is[event.ClaimAcquired])
			if g.chance("breaks", 3) {
				c.Breaks, c.Reason = c.Fences[:1], "a person"
			}
		}
		return c
	case "release":
		r := event.ClaimReleased{Claim: g.key(is[event.ClaimAcquired]), Session: sid, Reason: "done"}
		if g.chance("fenced", 3) {
			k := g.key(is[event.ClaimAcquired])
			r.Fence, r.Reason = &k, "fenced"
		}
		return r
	case "publish":
		b := rapid.SampledFrom(texts).Draw(g.T, "text")
		return event.HandoverPublished{Session: sid, Handover: event.Handover{ID: event.HandoverID(b), Body: b, Task: sid}}
	case "take":
		b := rapid.SampledFrom(texts).Draw(g.T, "text")
		return event.HandoverConsumed{Handover: event.HandoverID(b), Publications: g.keys(2, is[event.HandoverPublished]), Session: sid}
	case "decline":
		b := rapid.SampledFrom(texts).Draw(g.T, "text")
		return event.HandoverDeclined{Handover: event.HandoverID(b), Publications: g.keys(1, is[event.HandoverPublished]), Session: sid, Reason: "busy"}
	case "withdraw":
		return event.HandoverWithdrawn{Publication: g.key(is[event.HandoverPublished]), Session: sid}
	case "request":
		return event.ReviewRequested{Session: sid, Subject: "look"}
	case "answer":
		return event.ReviewAnswered{Request: g.key(is[event.ReviewRequested]), Session: sid, Verdict: event.VerdictCommented}
	case "end":
		return event.ReviewClosed{Request: g.key(is[event.ReviewRequested]), Session: sid, Reason: "merged"}
	case "succession":
		return g.succession(st) // not the first event: says nothing
	case "checkpoint":
		return g.checkpoint(st)
	case "opaque":
		return event.Opaque{Name: "session_moved"}
	}
	return event.Unreadable{Name: "claim_acquired", Reason: "mode"}
}

// A step is one event that arrives, or is found lost.
type step struct {
	e    *event.Event
	lost bool
}

// interleave draws an order of arrival, any that keeps each stream's: now and
// then run by run, from the first or from the last.
func (h *history) interleave(t *rapid.T, label string) (steps []step) {
	queues := map[ident.Stream][]*event.Event{}
	for _, e := range h.events {
		queues[e.Stream] = append(queues[e.Stream], e)
	}
	left := slices.Clone(h.streams)
	from := rapid.IntRange(0, 3).Draw(t, label)
	for {
		left = slices.DeleteFunc(left, func(st ident.Stream) bool { return len(queues[st]) == 0 })
		if len(left) == 0 {
			return steps
		}
		st := left[0]
		if from == 1 {
			st = left[len(left)-1]
		} else if from > 1 {
			st = rapid.SampledFrom(left).Draw(t, label)
		}
		e := queues[st][0]
		queues[st] = queues[st][1:]
		steps = append(steps, step{e: e, lost: h.lost[e.Key()]})
	}
}

func (x step) apply(s *fold.State) fold.Changes {
	if x.lost {
		s.Skip(x.e.Stream, x.e.Seq, x.e.Seq)
		return fold.Changes{}
	}
	return s.Apply(x.e)
}

func run(steps []step) *fold.State {
	s := fold.New()
	for _, x := range steps {
		x.apply(s)
	}
	return s
}
