package journal

import (
	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

// MaxRuntimes is how many runtimes of one node are known here, held, heard or only
// remembered (see [Journal.Peers]). An honest node has one in a repository, but
// others cannot check its name: without a bound one believed key could fill the
// list of peers with names that it makes up. What comes of one more is refused for
// capacity, and counted in [Health.Crowded].
const MaxRuntimes = 4

// newcomers are the streams that one batch brings and that are not held yet: they
// count against the bounds before they are synced.
type newcomers struct {
	streams int
	nodes   map[ident.NodeID]*newcomer
}

// A newcomer is what a batch brings of one node.
type newcomer struct {
	runs     int // of records of which nothing is held, and those of no record
	records  map[lineOfRuns]bool
	runtimes map[ident.Runtime]bool
}

// add takes in a stream by the first event of it that is accepted. Of the runs of
// one record the latest alone counts, as among those that are held; one that was just
// heard counts for that already.
func (n *newcomers) add(e *event.Event, held map[lineOfRuns]uint64, heard bool) {
	node := n.nodes[e.Stream.Node()]
	if node == nil {
		node = &newcomer{records: map[lineOfRuns]bool{}, runtimes: map[ident.Runtime]bool{}}
		n.nodes[e.Stream.Node()] = node
	}
	r := e.Stream.Runtime()
	node.runtimes[r] = true
	line := lineOfRuns{runtime: r}
	if first, ok := e.Body.(event.StreamSucceeded); ok && e.Seq == 1 {
		line.record = first.Record
	}
	if !heard {
		n.streams++
	}
	if !heard && (line.record == "" || !node.records[line] && held[line] == 0) {
		node.runs++
	}
	node.records[line] = true
}

// streamRoom reports whether a stream may be held or heard of, beside those of a
// batch that are on their way in.
func (j *Journal) streamRoom(s ident.Stream, more newcomers) bool {
	if j.heads[s] != nil {
		return true
	}
	runs, node := 0, more.nodes[s.Node()]
	if node != nil {
		runs = node.runs
	}
	return j.runtimeRoom(s.Runtime(), node) && j.lives.room(s, j.cfg.Limits, j.clock.Boot(), more.streams, runs)
}

// runtimeRoom reports whether the runtime of a stream is known, or may be. What is
// refused for it is counted.
func (j *Journal) runtimeRoom(r ident.Runtime, more *newcomer) bool {
	known := map[ident.Runtime]bool{}
	for _, l := range j.lives.byNode[r.Node] {
		known[l.stream.Runtime()] = true
	}
	if more != nil {
		for entering := range more.runtimes {
			known[entering] = true
		}
	}
	for name := range j.rows.values[peerRowKind] {
		if p, err := ident.ParseRuntime(name); err == nil && p.Node == r.Node {
			known[p] = true
		}
	}
	if known[r] || len(known) < MaxRuntimes {
		return true
	}
	add(&j.health.Crowded, r.Node)
	return false
}
