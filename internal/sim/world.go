package sim

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

// Options say what a run is like.
type Options struct {
	Seed     uint64
	Machines int  // 0: drawn
	Steps    int  // of people and of trouble
	Liveness bool // at the end a core is healed, and has to agree
	Cables   bool // links by the protocol of package link; else by messages that may be lost
	Quiet    bool // no trouble but what the test makes
}

// A Result is how a run went.
type Result struct {
	Digest string   // of the trace
	Trace  []string // one line for each thing that happened
	Err    error    // a *Violation, or nil
	Events int      // that anybody wrote
	Images int      // by which a journal was opened
}

// A World is the machines of one repository and what is between them. It belongs
// to one goroutine.
type World struct {
	rng      *rand.Rand
	now      time.Duration // true time
	queue    queue
	trace    *trace
	repo     ident.RepositoryID
	limits   event.Limits
	machines []*machine
	links    []*line
	hostile  *origin
	keys     map[ident.NodeID]bool // that are believed: of every machine that there was, and the hostile one
	facts    *facts
	boots    int
	asked    uint64
	late     *Violation // found by another goroutine
	cables   bool       // machines speak the protocol of package link; else they send messages that may be lost
	revised  bool       // some machine changed its trust: what it knew it may not know again
	cloned   bool       // two machines use one key
}

// begin is the wall clock of everybody at true time zero.
var begin = time.Unix(1_800_000_000, 0)

// NewWorld returns n machines that are up and not linked; with 0, two to four.
func NewWorld(seed uint64, n int) *World {
	repo, err := ident.RepositoryDeclared("simulated")
	if err != nil {
		panic(err) // unreachable unless the word breaks the bounds of package ident
	}
	w := &World{
		rng: rand.New(rand.NewPCG(seed, 0x636f6d697479)), trace: newTrace(), repo: repo,
		limits: limits(), facts: newFacts(), now: time.Hour,
	}
	w.hostile = newOrigin(w)
	w.keys = map[ident.NodeID]bool{w.hostile.key.Node(): true}
	if n == 0 {
		n = 2 + w.rng.IntN(3)
	}
	for i := range n {
		w.machines = append(w.machines, w.newMachine(i))
		w.keys[w.machines[i].key.Node()] = true
	}
	for i, a := range w.machines {
		for _, b := range w.machines[i+1:] {
			w.links = append(w.links, newLine(w, a, b))
		}
	}
	for _, m := range w.machines {
		m.start()
	}
	return w
}

// limits are tight where that makes bounds matter in a short run.
func limits() event.Limits {
	l := event.DefaultLimits()
	l.Pending, l.PendingTotal, l.NodeStreams = 12, 40, 8
	l.Streams = 64
	return l
}

// Run makes a world of o and lets things happen. The caller seeds crypto/rand.
func Run(o Options) (r Result) {
	w := NewWorld(o.Seed, o.Machines)
	defer func() {
		if p := recover(); p != nil {
			v, ok := p.(*Violation)
			if !ok {
				w.log("panic: %v", p)
				fmt.Println(strings.Join(tail(w.trace.lines, 30), "\n"))
				panic(p)
			}
			w.log("VIOLATED %v", v)
			r.Err = v
		}
		r.Digest, r.Trace, r.Events, r.Images = w.trace.digest(), w.trace.lines, len(w.facts.signed), w.facts.images
	}()
	w.cables = o.Cables
	w.wire()
	for range o.Steps {
		w.step(o)
		w.check()
	}
	w.settle(o)
	w.end()
	return r
}

// end leaves nothing behind: each open log has a goroutine, which holds its world.
func (w *World) end() {
	for _, m := range w.machines {
		if !m.up {
			continue
		}
		m.up, m.disk.off = false, true
		m.disk.PowerOff(m.disk.Ops())
		_ = m.room.Close(context.Background()) // it cannot be clean
	}
}

func tail(lines []string, n int) []string { return lines[max(0, len(lines)-n):] }

func (w *World) log(format string, args ...any) { w.trace.add(w.now, format, args...) }

// in does something after a time.
func (w *World) in(d time.Duration, do func()) { w.queue.put(w.now+max(d, 0), do) }

// pass lets time pass, and what is due in it happen.
func (w *World) pass(d time.Duration) {
	until := w.now + d
	for {
		next, ok := w.queue.next(until)
		if !ok {
			break
		}
		w.now = max(w.now, next.at)
		next.do()
		w.raise()
	}
	w.now = until
}

// chance is true once in n times.
func (w *World) chance(n int) bool { return w.rng.IntN(n) == 0 }

func (w *World) between(a, b time.Duration) time.Duration {
	return a + time.Duration(w.rng.Int64N(int64(b-a)+1))
}

func pick[T any](w *World, all []T) T { return all[w.rng.IntN(len(all))] }

// some are those for which ok is true.
func (w *World) some(ok func(*machine) bool) []*machine {
	return slices.DeleteFunc(slices.Clone(w.machines), func(m *machine) bool { return !ok(m) })
}
