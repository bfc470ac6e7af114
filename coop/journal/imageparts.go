package journal

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"
	"time"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/internal/pack"
)

// parts are what of a journal is in its image, beside the fold: all that a reload
// makes of the log, and no more of what this run heard than how late it is.
type parts struct {
	boot     string // in which times are
	heads    heads
	lineages lineages
	lives    []*life
	aside    []*life
	tombs    []*tomb
	rows     []rowAt
	forks    forks
	withheld map[ident.Stream][]uint64
	arrivals indexes
	stamp    uint64
	settled  bool
	waste    int
	wrote    int64
}

// A rowAt is a local row in force, and where the log has it.
type rowAt struct {
	row
	index uint64
}

func newParts(j *Journal) *parts {
	p := &parts{
		boot: j.clock.BootID(), heads: j.heads, lineages: j.lineages, tombs: j.tombs.order, forks: j.forks, withheld: j.withheld,
		arrivals: j.arrivals, stamp: j.stamp, settled: j.settled, waste: j.waste, wrote: j.wrote,
		lives: slices.SortedFunc(maps.Values(j.lives.byStream), byStreamOfLife),
		aside: slices.SortedFunc(maps.Values(j.aside), byStreamOfLife),
	}
	for name, index := range j.rows.at {
		p.rows = append(p.rows, rowAt{row{name.kind, name.key, j.rows.of(name.kind, name.key)}, index})
	}
	slices.SortFunc(p.rows, func(a, b rowAt) int { return cmp.Compare(a.index, b.index) })
	return p
}

func byStreamOfLife(a, b *life) int { return cmp.Compare(a.stream, b.stream) }

// events are how many the log has.
func (p *parts) events() uint64 {
	n := p.arrivals.len()
	for _, indexes := range p.withheld {
		n += len(indexes)
	}
	return uint64(n)
}

// install puts the parts in a journal that is new. It makes nobody live.
func (p *parts) install(j *Journal) {
	j.heads, j.lineages, j.forks, j.withheld, j.arrivals = p.heads, p.lineages, p.forks, p.withheld, p.arrivals
	j.stamp, j.settled, j.waste, j.wrote = p.stamp, p.settled, p.waste, p.wrote
	here := p.boot == j.clock.BootID()
	for s, h := range j.heads {
		h.node, h.ours = s.Node(), s.Runtime() == j.runtime
		j.count(h, h.share())
	}
	for _, t := range p.tombs {
		t.measured = t.measured && here && t.taken <= j.started
		j.tombs.byStream[t.stream] = t
		j.lives.changes.note(t.stream)
	}
	j.tombs.order = p.tombs
	for _, l := range p.lives {
		l.restart(here, j.started)
		j.lives.put(l)
	}
	for _, l := range p.aside {
		l.restart(here, j.started)
		j.aside[l.stream] = l
	}
	for _, r := range p.rows {
		j.rows.apply(r.row, r.index)
	}
	j.health.Reloaded = uint64(j.arrivals.len())
	for _, indexes := range j.withheld {
		for range indexes {
			j.health.refuse(RefusedUntrusted)
		}
	}
}

// restart makes of a life what a new run may know of it: see restore.
func (l *life) restart(sameBoot bool, started time.Duration) {
	l.known, l.latest = started, noBound
	l.measured = l.measured && sameBoot && l.taken <= started
}

// put takes in a life that another run knew.
func (ls *lives) put(l *life) {
	ls.byStream[l.stream] = l
	ls.byNode[l.stream.Node()] = append(ls.byNode[l.stream.Node()], l)
	if l.record != "" {
		line := lineOfRuns{l.stream.Runtime(), l.record}
		ls.latest[line] = max(ls.latest[line], l.run)
	}
	ls.changes.note(l.stream)
}

// readParts reads what pack writes.
func readParts(b []byte) (*parts, error) {
	c, p := pack.NewReader(b), new(parts)
	p.pack(c)
	return p, c.End()
}

func (p *parts) pack(c *pack.Coder) {
	d := &describer{Coder: c, places: map[ident.Stream]uint64{}}
	pack.String(c, &p.boot)
	pack.Map(c, (*map[ident.Stream]*head)(&p.heads), func(s *ident.Stream, h **head) {
		d.stream(s)
		d.head(h)
	})
	pack.Map(c, &p.lineages.byRecord, func(record *string, l **lineage) {
		pack.String(c, record)
		d.lineage(l)
	})
	pack.Map(c, &p.lineages.records, func(s *ident.Stream, record *string) {
		d.stream(s)
		pack.String(c, record)
	})
	pack.List(c, &p.lives, d.life)
	pack.List(c, &p.aside, d.life)
	pack.List(c, &p.tombs, d.tomb)
	pack.List(c, &p.rows, d.row)
	pack.Map(c, (*map[ident.Stream]fork)(&p.forks), func(s *ident.Stream, f *fork) {
		d.stream(s)
		pack.Uint(c, &f.seq)
		c.Fixed(f.hash[:])
	})
	pack.Map(c, &p.withheld, func(s *ident.Stream, all *[]uint64) {
		d.stream(s)
		pack.List(c, all, func(index *uint64) { pack.Uint(c, index) })
	})
	d.indexes(&p.arrivals)
	pack.Uint(c, &p.stamp)
	c.Bool(&p.settled)
	pack.Int(c, &p.waste)
	pack.Int(c, &p.wrote)
}

// A describer describes the values of a journal. A stream is written where it is
// first named, and from then on by its place among them.
type describer struct {
	*pack.Coder
	streams []ident.Stream
	places  map[ident.Stream]uint64 // when writing; from 1
}

func (d *describer) stream(s *ident.Stream) {
	place := d.places[*s]
	if pack.Uint(d.Coder, &place); place > uint64(len(d.streams)) {
		d.Fail()
		return
	}
	if place > 0 {
		*s = d.streams[place-1]
		return
	}
	pack.String(d.Coder, s)
	if *s != "" && !s.Valid() {
		d.Fail()
		return
	}
	d.streams = append(d.streams, *s)
	if !d.Reading() {
		d.places[*s] = uint64(len(d.streams))
	}
}

// set is a set of streams, none read as an empty one.
func (d *describer) set(set *map[ident.Stream]bool) {
	list := slices.Sorted(maps.Keys(*set))
	pack.List(d.Coder, &list, d.stream)
	if !d.Reading() {
		return
	}
	*set = make(map[ident.Stream]bool, len(list))
	for _, s := range list {
		(*set)[s] = true
	}
}

// head is one of which nothing is lost.
func (d *describer) head(at **head) {
	if d.Reading() {
		*at = &head{tie: newTie()}
	}
	h := *at
	pack.Uint(d.Coder, &h.lamport)
	d.Fixed(h.hash[:])
	pack.Int(d.Coder, &h.bytes)
	pack.Int(d.Coder, &h.states)
	d.indexes(&h.events)
	d.tie(h.tie)
	if d.Reading() {
		h.seq = uint64(h.events.len())
		h.whole = h.seq
	}
}

// indexes are two pieces, of the lower and the upper halves, each number in four
// bytes: to read them one by one would take longer than all else.
func (d *describer) indexes(x *indexes) {
	d.halves(&x.low)
	if d.halves(&x.high); d.Reading() && x.high != nil && len(x.high) != len(x.low) {
		*x = indexes{}
		d.Fail()
	}
}

func (d *describer) halves(all *[]uint32) {
	b := d.Part(func(c *pack.Coder) {
		b := make([]byte, 0, 4*len(*all))
		for _, n := range *all {
			b = binary.LittleEndian.AppendUint32(b, n)
		}
		c.Fixed(b)
	})
	switch {
	case !d.Reading():
		return
	case len(b)%4 != 0:
		d.Fail()
		return
	case len(b) > 0:
		*all = make([]uint32, len(b)/4)
	}
	for i := range *all {
		(*all)[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
}

func (d *describer) tie(t *tie) {
	d.first(&t.first)
	d.set(&t.refs)
	d.set(&t.needs)
	pack.Map(d.Coder, &t.sids, func(sid *string, done *deeds) {
		pack.String(d.Coder, sid)
		pack.Uint(d.Coder, done)
	})
	d.Bool(&t.handed)
	pack.String(d.Coder, &t.latest)
	pack.Uint(d.Coder, &t.done)
}

// first is the first event of a run, nil when it says something else.
func (d *describer) first(b **event.StreamSucceeded) {
	is := *b != nil
	if d.Bool(&is); !is {
		return
	}
	if d.Reading() {
		*b = new(event.StreamSucceeded)
	}
	d.succession(*b)
}

func (d *describer) succession(b *event.StreamSucceeded) {
	pack.String(d.Coder, &b.Record)
	pack.Uint(d.Coder, &b.Run)
	pack.List(d.Coder, &b.Sessions, func(sid *string) { pack.String(d.Coder, sid) })
	pack.List(d.Coder, &b.Streams, d.stream)
}

func (d *describer) lineage(at **lineage) {
	if d.Reading() {
		*at = newLineage()
	}
	l := *at
	d.stream(&l.last)
	d.succession(&l.first)
	d.set(&l.goesOn)
	pack.Map(d.Coder, &l.opened, func(sid *string, in *[]ident.Stream) {
		pack.String(d.Coder, sid)
		pack.List(d.Coder, in, d.stream)
	})
	pack.Map(d.Coder, &l.wrote, func(sid *string, in *map[ident.Stream]bool) {
		pack.String(d.Coder, sid)
		d.set(in)
	})
	pack.Map(d.Coder, &l.ends, func(s *ident.Stream, of *map[ident.Stream]bool) {
		d.stream(s)
		d.set(of)
	})
}

func (d *describer) life(at **life) {
	if d.Reading() {
		*at = new(life)
	}
	l := *at
	d.stream(&l.stream)
	pack.String(d.Coder, &l.record)
	pack.Uint(d.Coder, &l.run)
	d.Bool(&l.held)
	d.Bool(&l.begun)
	d.Bool(&l.asked)
	d.beat(&l.beat)
	pack.Int(d.Coder, &l.saved)
	d.Bool(&l.measured)
	pack.Int(d.Coder, &l.difference)
	pack.Int(d.Coder, &l.taken)
}

// beat is one or none.
func (d *describer) beat(b **event.Beat) {
	is := *b != nil
	if d.Bool(&is); !is {
		return
	}
	if !d.Reading() {
		d.Fixed((*b).Raw)
		return
	}
	raw := make([]byte, event.BeatBytes)
	d.Fixed(raw)
	var err error
	if *b, err = event.ParseBeat(raw); err != nil {
		d.Fail()
	}
}

func (d *describer) tomb(at **tomb) {
	if d.Reading() {
		*at = new(tomb)
	}
	t := *at
	d.stream(&t.stream)
	pack.Uint(d.Coder, &t.head)
	pack.Uint(d.Coder, &t.at)
	d.Bool(&t.returned)
	pack.Int(d.Coder, &t.uptime)
	d.Bool(&t.measured)
	pack.Int(d.Coder, &t.difference)
	pack.Int(d.Coder, &t.taken)
}

func (d *describer) row(r *rowAt) {
	pack.String(d.Coder, &r.kind)
	pack.String(d.Coder, &r.key)
	d.Bytes(&r.value)
	if r.value == nil { // it is there
		r.value = []byte{}
	}
	pack.Uint(d.Coder, &r.index)
}
