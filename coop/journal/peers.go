package journal

import (
	"maps"
	"slices"

	"github.com/comity-dev/comity/coop/ident"
)

// Local rows: runtimes of which nothing is held any more, and those that a person
// took out.
const (
	peerRowKind   = "peer"
	forgotRowKind = "forgotten"
)

// Peers are the runtimes other than ours of which this journal ever knew, by id:
// also those whose streams were dropped, at most MaxRuntimes of one node. Silence
// takes none out; only Forget does, until the runtime is heard again, and
// [Journal.SetTrust] when its key is not believed any more: believed again, it is a
// peer by what is on disk or is heard.
func (j *Journal) Peers() []ident.Runtime {
	j.lock()
	defer j.unlock()
	found := map[ident.Runtime]bool{}
	for s := range j.heads {
		found[s.Runtime()] = true
	}
	for s, l := range j.lives.byStream {
		if l.beat != nil {
			found[s.Runtime()] = true
		}
	}
	for name := range j.rows.values[peerRowKind] {
		if r, err := ident.ParseRuntime(name); err == nil && j.believed(r.Node) {
			found[r] = true
		}
	}
	delete(found, j.runtime)
	for name := range j.rows.values[forgotRowKind] {
		if r, err := ident.ParseRuntime(name); err == nil && !j.back[r] {
			delete(found, r)
		}
	}
	return slices.SortedFunc(maps.Keys(found), ident.Runtime.Compare)
}

// heardAgain notes that a runtime speaks, also one that a person took out.
func (j *Journal) heardAgain(r ident.Runtime) {
	if j.rows.of(forgotRowKind, r.String()) != nil {
		j.back[r] = true
	}
}

// backRows make them peers again.
func (j *Journal) backRows() (all []row) {
	for _, r := range slices.SortedFunc(maps.Keys(j.back), ident.Runtime.Compare) {
		if j.rows.of(forgotRowKind, r.String()) != nil {
			all = append(all, row{forgotRowKind, r.String(), nil}, row{peerRowKind, r.String(), []byte("1")})
		} else {
			delete(j.back, r)
		}
	}
	return all
}

// strangers deletes the rows of runtimes and streams whose keys are not believed:
// what a key that was withdrawn named is not remembered either. That is for
// [Journal.SetTrust] alone, which is told so: a trust that says no for a moment, as at
// the start, deletes nothing.
func (j *Journal) strangers() (all []row) {
	for _, kind := range []string{peerRowKind, forgotRowKind, silentRowKind} {
		for _, name := range slices.Sorted(maps.Keys(j.rows.values[kind])) {
			node := ident.Stream(name).Node()
			if r, err := ident.ParseRuntime(name); err == nil {
				node = r.Node
			}
			if !j.believed(node) {
				all = append(all, row{kind, name, nil})
			}
		}
	}
	return all
}

// peers adds the rows of runtimes that are not held any more, or forgotten.
func (c *compaction) peers() {
	j := c.j
	left := map[ident.Runtime]int{}
	for s := range j.heads {
		left[s.Runtime()]++
	}
	for _, t := range c.tombs {
		r := t.stream.Runtime()
		if left[r]--; left[r] > 0 || r == j.runtime || c.forget[r] || j.rows.of(peerRowKind, r.String()) != nil {
			continue
		}
		c.rows = append(c.rows, row{peerRowKind, r.String(), []byte("1")})
	}
	for _, r := range slices.SortedFunc(maps.Keys(c.forget), ident.Runtime.Compare) {
		delete(j.back, r)
		if j.believed(r.Node) {
			c.rows = append(c.rows, row{forgotRowKind, r.String(), []byte("1")}, row{peerRowKind, r.String(), nil})
		} else if j.rows.of(peerRowKind, r.String()) != nil {
			c.rows = append(c.rows, row{peerRowKind, r.String(), nil})
		}
	}
}

// A Tally is what one node has here.
type Tally struct {
	Streams, Events int
	Bytes           int64 // of the events
	Waiting         int   // events that cannot be taken yet
	Dropped         int   // streams that were dropped and are remembered
	Withheld        int   // events on disk that are not believed
}

// Tallies tell by node what is held, in this moment.
func (j *Journal) Tallies() map[ident.NodeID]Tally {
	j.lock()
	defer j.unlock()
	all := map[ident.NodeID]Tally{}
	of := func(n ident.NodeID, add func(*Tally)) {
		t := all[n]
		add(&t)
		all[n] = t
	}
	for n, held := range j.shares {
		of(n, func(t *Tally) { t.Streams, t.Events, t.Bytes = held.streams, held.events, held.bytes })
	}
	for n, k := range j.waiting.nodes {
		of(n, func(t *Tally) { t.Waiting = k.events })
	}
	for _, one := range j.tombs.order {
		if !one.returned {
			of(one.stream.Node(), func(t *Tally) { t.Dropped++ })
		}
	}
	for s, indexes := range j.withheld {
		of(s.Node(), func(t *Tally) { t.Withheld += len(indexes) })
	}
	return all
}
