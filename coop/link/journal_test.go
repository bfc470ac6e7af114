package link_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/fold"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/journal"
	"github.com/comity-dev/comity/coop/link"
	"github.com/comity-dev/comity/coop/link/linktest"
	"github.com/comity-dev/comity/internal/clock"
	"github.com/comity-dev/comity/internal/vfs"
)

var _ link.Journal = (*journal.Journal)(nil)

// A node is a journal in memory, with a clock of its own.
type node struct {
	*journal.Journal
	t     *testing.T
	key   *ident.Key
	clock *clock.Fake
	deaf  map[ident.NodeID]bool
	news  func() // called under the journal's lock
}

func newNode(t *testing.T, name string, booted time.Duration) *node {
	t.Helper()
	return newNodeWith(t, name, booted, func(*journal.Config) {})
}

func newNodeWith(t *testing.T, name string, booted time.Duration, change func(*journal.Config)) *node {
	t.Helper()
	seed := sha256.Sum256([]byte(name))
	key, err := ident.KeyFromSeed(seed[:])
	if err != nil {
		t.Fatal(err)
	}
	repo, err := ident.RepositoryDeclared("link-test")
	if err != nil {
		t.Fatal(err)
	}
	n := &node{t: t, key: key, clock: clock.NewFake(time.Unix(1e9, 0), booted, "boot"), deaf: map[ident.NodeID]bool{}, news: func() {}}
	cfg := journal.Config{
		Key: key, Repo: repo, Machine: name, Trust: func(id ident.NodeID) bool { return !n.deaf[id] },
		Observe: func(journal.View, journal.Arrival, fold.Changes) { n.news() },
	}
	change(&cfg)
	n.Journal, err = journal.OpenOn(t.Context(), cfg, vfs.OS(), n.clock)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close(context.Background()) })
	return n
}

func (n *node) write(count int) {
	n.t.Helper()
	for i := range count {
		if _, err := n.Append(n.t.Context(), event.SessionClosed{Session: fmt.Sprint("s-", i), Reason: "done"}); err != nil {
			n.t.Fatal(err)
		}
	}
}

// digest is of the whole state.
func (n *node) digest() (d string) {
	streams := slices.Sorted(maps.Keys(n.Marks()))
	n.View(func(v journal.View) { d = v.State().Digest(streams) })
	return d
}

func (n *node) held() map[ident.Stream]uint64 {
	held := map[ident.Stream]uint64{}
	for s, m := range n.Marks() {
		held[s] = m.Seq
	}
	return held
}

// linked joins two nodes.
func linked(t *testing.T, a, b *node) *wire {
	t.Helper()
	return joinOn(t, time.Hour, [2]link.Config{a.config(true), b.config(false)}, [2]link.Journal{a, b})
}

func (n *node) config(dialer bool) link.Config {
	return link.Config{
		Key: n.key, Card: link.Card{Repo: n.Repository(), Instance: ident.NewInstance(), Fold: fold.Version},
		Dialer: dialer, Trust: func(ident.NodeID) bool { return true },
	}
}

// Links at work between journals that write all the time: news comes under the
// journal's lock, and holds nobody up.
func TestJournalsWriteWhileTheyAreLinked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newNode(t, "ada", time.Hour), newNode(t, "bob", 50*time.Hour)
		a.write(1)
		left, right := linktest.Pair()
		x, y := start(t, a.config(true), a, left), start(t, b.config(false), b, right)
		synctest.Wait()
		a.news, b.news = x.News, y.News
		var writers sync.WaitGroup
		for _, n := range []*node{a, b} {
			for range 4 {
				writers.Go(func() { n.write(50) })
			}
		}
		writers.Wait()
		synctest.Wait()
		same(t, a, b)
		for i, r := range []*running{x, y} {
			if st := r.Stats(); !st.Up || !st.Joined || st.Duplicate > 0 || st.Rejected > 0 {
				t.Errorf("link %d: %+v", i, st)
			}
		}
		x.stop()
		<-x.done
		<-y.done
	})
}

func same(t *testing.T, nodes ...*node) {
	t.Helper()
	for _, n := range nodes[1:] {
		if d := cmp.Diff(nodes[0].held(), n.held()); d != "" {
			t.Errorf("two journals hold other events:\n%s", d)
		}
		if nodes[0].digest() != n.digest() {
			t.Error("two journals have other states")
		}
	}
}

// Three journals in a line come to one state, hear each other's beats, and each
// event is on each link once in one direction.
func TestJournalsInALine(t *testing.T) {
	a, b, c := newNode(t, "ada", time.Hour), newNode(t, "bob", 50*time.Hour), newNode(t, "eve", time.Minute)
	a.write(300)
	c.write(200)
	left, right := linked(t, a, b), linked(t, b, c)
	left.settle()
	right.settle()
	pass := func(seconds int) {
		for range seconds {
			for _, n := range []*node{a, b, c} {
				n.clock.Advance(time.Second)
			}
			left.pass(time.Second)
			right.pass(time.Second)
		}
	}
	b.write(10)
	left.news()
	right.news()
	left.news()
	same(t, a, b, c)
	pass(20)
	for _, one := range []struct {
		by, of *node
	}{{a, b}, {a, c}, {b, a}, {b, c}, {c, a}, {c, b}} {
		if l, _ := one.by.Liveness(one.of.Stream()); l != journal.Live {
			t.Errorf("%s takes %s for %s", one.by.Runtime(), one.of.Runtime(), l)
		}
	}
	left.once()
	right.once()
	for _, w := range []*wire{left, right} {
		for i, s := range w.side {
			if st := s.core.Stats(); st.Duplicate > 0 || st.Rejected > 0 || !st.Joined {
				t.Errorf("side %d: %+v", i, st)
			}
		}
	}
	// The clocks of a node far ahead are taken from its greeting and its events.
	if a.Health().Clock < c.Health().Clock-1 && c.Health().Clock < a.Health().Clock-1 {
		t.Errorf("clocks: %d and %d", a.Health().Clock, c.Health().Clock)
	}
}

// While the first exchange lasts nobody's stream is expired.
func TestFirstExchangeKeepsStreamsUnknown(t *testing.T) {
	a, b := newNode(t, "ada", time.Hour), newNode(t, "bob", time.Hour)
	a.write(5)
	w := linked(t, a, b)
	w.settle()
	w.side[0].core.End(nil)
	w.side[1].core.End(nil)
	for range 12 {
		b.clock.Advance(10 * time.Second)
		b.Tick()
	}
	if l, _ := b.Liveness(a.Stream()); l != journal.Expired {
		t.Fatalf("two minutes after the link %s", l)
	}
	w = linked(t, a, b)
	for !w.side[1].core.Up() {
		w.step(0)
		w.step(1)
	}
	if l, _ := b.Liveness(a.Stream()); l != journal.Unknown {
		t.Errorf("while the first exchange lasts %s", l)
	}
	w.side[1].core.Tick(w.now + 2*time.Minute)
	if l, _ := b.Liveness(a.Stream()); l == journal.Unknown {
		t.Error("a first exchange lasts for ever")
	}
}

// What a journal refuses for trust comes once its trust changed, and not before.
func TestTrustOfARealJournal(t *testing.T) {
	a, b, c := newNode(t, "ada", time.Hour), newNode(t, "bob", time.Hour), newNode(t, "eve", time.Hour)
	c.write(20)
	b.deaf[c.key.Node()] = true
	linked(t, c, a).settle()
	w := linked(t, a, b)
	w.settle()
	if b.held()[c.Stream()] != 0 || len(w.side[0].core.Stats().Blocked) != 1 {
		t.Fatalf("bob holds %v, ada backs off from %v", b.held(), w.side[0].core.Stats().Blocked)
	}
	delete(b.deaf, c.key.Node())
	w.side[1].core.TrustChanged()
	w.settle()
	if !maps.Equal(a.held(), b.held()) {
		t.Errorf("bob holds %v", b.held())
	}
}

// Nor is a stream stuck whose later events were on their way when the trust changed:
// they wait for what was refused.
func TestTrustThatChangesUnderABatch(t *testing.T) {
	a, b, c := newNode(t, "ada", time.Hour), newNode(t, "bob", time.Hour), newNode(t, "eve", time.Hour)
	hear := func(w *wire) {
		c.write(1)
		linked(t, c, a).settle()
		w.side[0].core.News()
	}
	b.deaf[c.key.Node()] = true
	w := linked(t, a, b)
	w.settle()
	hear(w)
	w.step(0) // refused, and ada has not heard of it yet
	hear(w)
	held := a.held()[c.Stream()]
	under := w.side[0].core.Next(w.now)
	sent, err := link.ParseEvents(frame(t, under).Body)
	if err != nil || w.side[0].sentOf(link.TypeEvents) != 1 || len(sent.Runs) != 1 || sent.Runs[0].First < 2 || sent.Runs[0].Last() != held {
		t.Fatalf("on its way are %+v, %v; want what was written last, up to %d", sent, err, held)
	}
	delete(b.deaf, c.key.Node())
	w.side[1].core.TrustChanged()
	for w.step(1) {
	}
	w.side[1].core.Receive(w.now, frame(t, under))
	w.side[1].ingest(w)
	w.pass(time.Minute)
	if !maps.Equal(a.held(), b.held()) {
		t.Errorf("bob holds %v, ada %v", b.held(), a.held())
	}
}
