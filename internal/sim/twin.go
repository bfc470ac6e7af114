package sim

import (
	"context"
	"maps"
	"slices"

	"github.com/comity-dev/comity/coop/fold"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/journal"
	"github.com/comity-dev/comity/internal/vfs/vfstest"
)

const (
	folder = "/journal"
	image  = folder + "/image"
)

// open opens m's journal. Where that takes the image of a clean stop, what it knows
// is compared with what a twin of it makes of the events.
func (m *machine) open(ctx context.Context, cfg journal.Config) (*journal.Journal, error) {
	var bare *vfstest.Disk
	if _, err := m.disk.Stat(image); err == nil {
		bare = m.disk.Clone()
		if err := bare.Remove(image); err != nil {
			panic(err) // unreachable unless a clone can fail
		}
	}
	j, err := journal.OpenOn(ctx, cfg, m.disk, m.clock)
	if err == nil && j.Health().Image == journal.ImageTaken {
		m.log("takes the image of its last stop")
		m.w.facts.images++
		cfg.Observe, cfg.Keep, cfg.Recall, cfg.Left, cfg.Continue = nil, nil, nil, nil, nil
		twin, err := journal.OpenOn(ctx, cfg, bare, m.clock)
		if err != nil {
			fail(ImageIsTheLog, "%s opens by its image, and without it: %v", m.name, err)
		}
		m.compare(j, twin)
		_ = twin.Close(ctx) // its disk is thrown away
	}
	return j, err
}

// compare holds what an image gave against what the events give. Beats that were not
// written yet are in the image alone, and with them a higher clock and who made them.
func (m *machine) compare(j, twin *journal.Journal) {
	a, b := known(j), known(twin)
	if a.clock < b.clock {
		fail(ImageIsTheLog, "%s: clock %d by its image, %d by its events", m.name, a.clock, b.clock)
	}
	a.clock, b.clock = 0, 0
	if a.run == 1 && b.run == 1 { // each begins a record of its own
		a.record, b.record = "", ""
	}
	switch {
	case a.scalars != b.scalars:
		fail(ImageIsTheLog, "%s: by its image %+v, by its events %+v", m.name, a.scalars, b.scalars)
	case !slices.Equal(a.arrivals, b.arrivals):
		fail(ImageIsTheLog, "%s: by its image it walks through %d events, by its events through %d", m.name, len(a.arrivals), len(b.arrivals))
	case slices.ContainsFunc(b.peers, func(r ident.Runtime) bool { return !slices.Contains(a.peers, r) }):
		fail(ImageIsTheLog, "%s: by its image its peers are %v, by its events %v", m.name, a.peers, b.peers)
	case !maps.Equal(a.heads, b.heads):
		fail(ImageIsTheLog, "%s: by its image its streams are %v, by its events %v", m.name, a.heads, b.heads)
	case !maps.Equal(a.rows, b.rows):
		fail(ImageIsTheLog, "%s: by its image its local rows are %v, by its events %v", m.name, a.rows, b.rows)
	case !maps.Equal(a.standings, b.standings):
		fail(ImageIsTheLog, "%s: by its image its claims stand as %v, by its events %v", m.name, a.standings, b.standings)
	}
}

// A knowledge is what a journal knows that was just opened.
type knowledge struct {
	scalars
	clock     uint64
	arrivals  []string
	peers     []ident.Runtime
	heads     map[ident.Stream]uint64
	rows      map[string]string
	standings map[string]fold.StandingState
}

type scalars struct {
	digest, history, record    string
	run, reloaded              uint64
	events, streams            int
	dropped, withheld, ownKeys int
}

func known(j *journal.Journal) knowledge {
	k := knowledge{peers: j.Peers(), heads: map[ident.Stream]uint64{}, rows: map[string]string{}, standings: map[string]fold.StandingState{}}
	j.View(func(v journal.View) {
		s := v.State()
		k.digest, k.history, k.clock = s.Digest(nil), s.History(nil), v.Clock()
		gone := func(s ident.Stream) bool { return v.Liveness(s) == journal.Expired }
		for c := range s.Claims() {
			k.standings[c.Key.String()] = s.Standing(c.Key, gone).State
		}
	})
	h := j.Health()
	k.record, k.run, k.reloaded, k.events, k.streams = h.Record, h.Run, h.Reloaded, h.Events, h.Streams
	k.dropped, k.withheld, k.ownKeys = h.Dropped, h.Withheld, len(h.SecondUsers)
	for s, mark := range j.Marks() {
		if mark.Seq > 0 { // else it was only heard of
			k.heads[s] = mark.Seq
		}
	}
	for _, kind := range []string{"run", "owner", "told", "auto", "peer", "forgotten", "silent"} {
		for key, value := range j.Local(kind) {
			k.rows[kind+" "+key] = string(value)
		}
	}
	for cursor, more := "", true; more; {
		p, err := j.Page(cursor, 1000)
		if err != nil {
			fail(ImageIsTheLog, "a page behind %q: %v", cursor, err)
		}
		for _, a := range p.Arrivals {
			k.arrivals = append(k.arrivals, a.Cursor+" "+a.Event.Key().String())
		}
		cursor, more = p.Next, p.More
	}
	return k
}
