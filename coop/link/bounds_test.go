package link_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/journal"
	"github.com/comity-dev/comity/coop/link"
)

const (
	maxMemory = 256 << 20
	liveAtAll = 256 // streams that beat

	// inProcess is set in the process that is measured.
	inProcess = "COMITY_LINK_BOUNDS_PROCESS"
)

// Two journals at every bound at once, linked: 1,024 streams held of which 256 are
// live and beat, 4,096 that were dropped, on each side other ones, 20,000 events of
// one node, and as many events waiting as may, in one stream, of one node and in all.
// What the one lacks comes over, no frame is over its bound, the marks of peers that
// agree cost what changed, and both together, what wrote all of it included, need less
// than the memory that one process may.
//
// It is measured in a process of its own: what a process needs it keeps.
func TestReplicationAtTheBounds(t *testing.T) {
	if raceDetector || os.Getenv(inProcess) != "" {
		replicateAtTheBounds(t)
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^"+t.Name()+"$", "-test.v=true", "-test.count=1", fmt.Sprint("-test.short=", testing.Short()))
	cmd.Env = append(os.Environ(), inProcess+"=1", "GOGC=100", "GOMEMLIMIT=off", "GODEBUG=")
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
}

func replicateAtTheBounds(t *testing.T) {
	lim, live := event.DefaultLimits(), liveAtAll
	if testing.Short() || raceDetector { // a fifth of them
		for _, n := range []*int{
			&lim.Streams, &lim.StreamsTrigger, &lim.Tombstones, &lim.NodeEvents, &lim.Events,
			&lim.Pending, &lim.NodePending, &lim.PendingTotal, &live,
		} {
			*n /= 5
		}
		lim.NodePending = 4 * lim.Pending
	}
	p := newPeers(t, lim)
	f, a, b := p.fleet, p.a, p.b
	for _, n := range []*node{a, b} {
		f.entomb(n, lim.Tombstones, lim.Streams-24)
		n.write(1)
	}
	p.fill(live)
	rest := p.wait()
	p.beat(f.lines[:live])
	p.link()
	p.pass(10 * time.Second)

	for _, n := range []*node{a, b} {
		p.atTheBounds(n, live)
	}
	p.sameEvents()
	p.memory("at the bounds")
	small := newPeers(t, lim)
	small.few()
	for _, k := range []int{0, 1, 10} {
		cost, same := p.marksOf(k), small.marksOf(k)
		t.Logf("%d changes: %d bytes of marks", k, cost)
		if cost > 300*k || cost != same {
			t.Errorf("%d changes among %d marks took %d bytes, among %d %d", k, len(a.Marks()), cost, len(small.a.Marks()), same)
		}
	}

	p.beat(f.lines[:live])
	p.news()
	a.Ingest(t.Context(), rest) // what they wait for comes to one of them
	p.news()
	p.pass(10 * time.Second)
	for _, n := range []*node{a, b} {
		if h := n.Health(); h.Waiting != 0 || len(h.Blocked) > 0 || h.Rejected[event.Capacity] != 3 {
			t.Errorf("%d events wait, for %v; refused are %v", h.Waiting, h.Blocked, h.Rejected)
		}
	}
	p.memory("when all came over")
	p.sameEvents()
	p.sameState()
	p.once()
	p.frames()
}

// peers are two journals on disk and what links them.
type peers struct {
	t     *testing.T
	lim   event.Limits
	fleet *fleet
	a, b  *node
	*wire
}

func newPeers(t *testing.T, lim event.Limits) *peers {
	t.Helper()
	p := &peers{t: t, lim: lim}
	on := func(name string) *node {
		return newNodeWith(t, name, time.Hour, func(c *journal.Config) {
			c.Dir, c.Limits = filepath.Join(t.TempDir(), name), lim
		})
	}
	p.a, p.b = on("ada"), on("bob")
	p.fleet = newFleet(t, p.a.Repository(), 33)
	return p
}

// fill gives the journals what both are to hold, but for what waits: one event in each
// stream, of which each has nine in ten and those that are to beat, and in the last one
// as many events of one node as may be, which the first one has.
func (p *peers) fill(live int) {
	p.t.Helper()
	f := p.fleet
	var at [2][][]byte
	for i := range p.lim.Streams - 3 { // without the last and the two own ones
		l := f.line(1 + i%32)
		f.lines = append(f.lines, l)
		raw := f.open(l)
		for n := range at {
			if i < live || i%10 != n {
				at[n] = append(at[n], raw)
			}
		}
	}
	p.a.take(event.Accepted, "", at[0]...)
	p.b.take(event.Accepted, "", at[1]...)
	long := f.line(0)
	f.lines = append(f.lines, long)
	p.a.take(event.Accepted, "", f.open(long))
	for left := p.lim.NodeEvents - 1; left > 0; left -= 1000 {
		p.a.take(event.Accepted, "", f.claims(long, min(left, 1000))...)
	}
}

// wait has both journals keep as many events that wait as they may: in each of four
// streams of one node as many as in one stream, forged copies of those that come next,
// and in others what is behind one that is missing. It returns all that they wait for,
// and the events behind it.
func (p *peers) wait() (rest [][]byte) {
	p.t.Helper()
	f, lim := p.fleet, p.lim
	left := lim.PendingTotal
	pend := func(l *line, n int, forge bool) {
		next := f.claims(l, n+1)
		rest = append(rest, next...)
		kept := slices.Clone(next[1:])
		if forge {
			kept = slices.Clone(next[:n])
			for i := range kept {
				kept[i] = forged(p.t, kept[i])
			}
		}
		p.a.take(event.Pending, "", kept...)
		p.b.take(event.Pending, "", kept...)
		left -= n
	}
	for row := range 4 {
		pend(f.lines[32*row], lim.Pending, true)
		for i := range 3 {
			pend(f.lines[32*row+1+i], lim.Pending-1, false)
		}
	}
	pend(f.lines[4], left, false)
	return rest
}

// few is what a small team has.
func (p *peers) few() {
	p.t.Helper()
	var all [][]byte
	for i := range 20 {
		p.fleet.lines = append(p.fleet.lines, p.fleet.line(1+i))
		all = append(all, p.fleet.open(p.fleet.lines[i]))
	}
	for _, n := range []*node{p.a, p.b} {
		n.write(1)
		n.take(event.Accepted, "", all...)
	}
	p.beat(p.fleet.lines)
	p.link()
	p.pass(10 * time.Second)
}

// beat has the runs behind some streams be heard by the first journal.
func (p *peers) beat(some []*line) {
	p.t.Helper()
	if n := p.a.MergeMarks(p.fleet.beats(some)); n != len(some) {
		p.t.Fatalf("of %d beats %d were heard", len(some), n)
	}
}

func (p *peers) link() {
	p.t.Helper()
	p.wire = linked(p.t, p.a, p.b)
	p.side[0].lean, p.side[1].lean = true, true
	p.settle()
}

// pass lets time go by, for the journals too.
func (p *peers) pass(d time.Duration) {
	p.t.Helper()
	for range d / time.Second {
		p.a.clock.Advance(time.Second)
		p.b.clock.Advance(time.Second)
		p.wire.pass(time.Second)
	}
	for i, s := range p.side {
		if err := s.core.Err(); err != nil {
			p.t.Fatalf("side %d: %v", i, err)
		}
	}
}

// atTheBounds wants that a journal is at each of its bounds, and takes no more.
func (p *peers) atTheBounds(n *node, live int) {
	p.t.Helper()
	h, lim := n.Health(), p.lim
	heard := 0
	for _, l := range p.fleet.lines {
		if v, _ := n.Liveness(l.stream); v == journal.Live {
			heard++
		}
	}
	if h.Streams != lim.Streams || h.Dropped != lim.Tombstones || h.Waiting != lim.PendingTotal || heard != live {
		p.t.Errorf("%d streams are held, of which %d are live, %d dropped, %d events wait", h.Streams, heard, h.Dropped, h.Waiting)
	}
	all := p.fleet.lines
	long, short := *all[len(all)-1], *all[len(all)-2]
	for _, over := range [][]byte{p.fleet.claim(&long), p.fleet.done(p.fleet.line(32)), p.fleet.claims(&short, 2)[1]} {
		n.take(event.Rejected, event.Capacity, over)
	}
}

// sameEvents wants that both hold the same events.
func (p *peers) sameEvents() {
	p.t.Helper()
	ours, theirs := p.a.held(), p.b.held()
	streams := []ident.Stream{p.a.Stream(), p.b.Stream()}
	for _, l := range p.fleet.lines {
		streams = append(streams, l.stream)
	}
	for _, s := range streams {
		if ours[s] != theirs[s] || ours[s] == 0 {
			p.t.Errorf("of %s the one holds %d events, the other %d", s, ours[s], theirs[s])
		}
	}
	h, g := p.a.Health(), p.b.Health()
	if h.Streams != len(streams) || g.Streams != len(streams) || h.Events != g.Events {
		p.t.Errorf("%d and %d events in %d and %d streams, want %d", h.Events, g.Events, h.Streams, g.Streams, len(streams))
	}
}

// sameState wants that they made one state of them.
func (p *peers) sameState() {
	p.t.Helper()
	if p.a.digest() != p.b.digest() {
		p.t.Error("the two have other states")
	}
}

// marksOf is what both sides say of marks when k streams have one more event and beat.
func (p *peers) marksOf(k int) int {
	p.t.Helper()
	p.pass(10 * time.Second)
	before := p.marks()
	some := p.fleet.lines[10 : 10+k]
	var all [][]byte
	for _, l := range some {
		all = append(all, p.fleet.claim(l))
	}
	p.a.take(event.Accepted, "", all...)
	p.beat(some)
	p.news()
	p.pass(10 * time.Second)
	return p.marks() - before
}

func (p *peers) marks() (bytes int) {
	for _, s := range p.side {
		for _, f := range s.sent {
			if f.Type == link.TypeMarks {
				bytes += f.Size
			}
		}
	}
	return bytes
}

// frames wants that none was over the bound.
func (p *peers) frames() {
	p.t.Helper()
	longest, all := 0, 0
	for i, s := range p.side {
		for _, f := range s.sent {
			longest, all = max(longest, f.Size), all+f.Size
			if f.Size > link.MaxFrame {
				p.t.Errorf("side %d sent a frame of type %d of %d bytes", i, f.Type, f.Size)
			}
		}
		if st := s.core.Stats(); !st.Up || !st.Joined || st.Lagging > 0 || st.Unreported > 0 || st.Ignored > 0 || len(st.Blocked)+len(st.Refused) > 0 {
			p.t.Errorf("side %d: %+v", i, st)
		}
	}
	p.t.Logf("%d bytes in %d frames, the longest %d", all, len(p.side[0].sent)+len(p.side[1].sent), longest)
}

// memory wants that this process needs less than its bound: what lives, and all that
// it took of the system until now, which it never gives back.
func (p *peers) memory(when string) {
	p.t.Helper()
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	p.t.Logf("%s: %d MiB live, %d MiB of the system", when, m.HeapAlloc>>20, m.Sys>>20)
	if !raceDetector && m.Sys > maxMemory {
		p.t.Errorf("%s %d MiB of the system are taken, want at most %d", when, m.Sys>>20, maxMemory>>20)
	}
}
