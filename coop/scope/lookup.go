package scope

import (
	"cmp"
	"iter"
	"slices"
	"strings"
)

// Meeting gives the keys of all sets that p's meets, each once, in the order in
// which they were added. The answer is that of Set.Meets for every one of them.
// It is worked out before the first key is given; the index may change then.
func (x *Index[K]) Meeting(p *Plan) iter.Seq[K] { return x.MeetingAmong(p, nil) }

// MeetingAmong is Meeting of no keys but those that among tells of: the others
// cost little more than the telling. It must not change the index.
func (x *Index[K]) MeetingAmong(p *Plan, among func(K) bool) iter.Seq[K] {
	return func(yield func(K) bool) {
		var hits []*row[K]
		for _, name := range p.names {
			for _, r := range x.resources[name] {
				if among == nil || among(r.key) {
					hits = append(hits, r)
				}
			}
		}
		give(x.search(p, among, hits), yield)
	}
}

// Covering gives the keys of all sets that cover a repository path, as
// Set.Covers does, each once, in the order in which they were added.
func (x *Index[K]) Covering(path string) iter.Seq[K] {
	return func(yield func(K) bool) {
		var hits []*row[K]
		switch {
		case path == ".":
			for _, l := range x.root.dirs {
				if l.row.plan.top {
					hits = append(hits, l.row)
				}
			}
		case isRepositoryPath(path):
			var a alternative
			for name := range strings.SplitSeq(key(path), "/") {
				a.add(segment{key: name})
			}
			var p Plan
			p.add(&a)
			hits = x.search(&p, nil, hits)
		}
		give(hits, yield)
	}
}

func give[K comparable](hits []*row[K], yield func(K) bool) {
	slices.SortFunc(hits, func(a, b *row[K]) int { return cmp.Compare(a.order, b.order) })
	for _, r := range slices.Compact(hits) {
		if !yield(r.key) {
			return
		}
	}
}

// A lookUp is the search for what the alternatives of a plan meet, one after the
// other.
type lookUp[K comparable] struct {
	*way  // the one at hand
	plan  *Plan
	among func(K) bool // nil is any
	hits  []*row[K]
	asks  []ask[K]
}

// An ask is an alternative and a row of whose patterns it may meet one.
type ask[K comparable] struct {
	row *row[K]
	way *way
}

// maxAsks bounds what is kept to be asked in bulk.
const maxAsks = 1 << 14

func (x *Index[K]) search(p *Plan, among func(K) bool, hits []*row[K]) []*row[K] {
	q := lookUp[K]{plan: p, among: among, hits: hits}
	for i := range p.ways {
		q.way = &p.ways[i]
		q.look(&x.root)
	}
	q.answer()
	return q.hits
}

func (q *lookUp[K]) look(at *place[K]) {
	for depth := range q.lead {
		q.take(at.dirs)
		q.askGlobs(at, depth)
		if at = at.below[q.segments[depth].key]; at == nil {
			return
		}
	}
	switch depth := q.lead; q.form {
	case FormPath:
		q.take(at.paths)
		q.take(at.dirs)
		q.askGlobs(at, depth)
	case FormDir:
		q.all(at)
	default:
		q.descend(at, q.closure(1<<depth), depth)
	}
}

func (q *lookUp[K]) take(list []lodger[K]) {
	for i := range list {
		if q.among == nil || q.among(list[i].row.key) {
			q.hits = append(q.hits, list[i].row)
		}
	}
}

// askGlobs asks the patterns of a place; a path only those that it can meet.
func (q *lookUp[K]) askGlobs(at *place[K], depth int) {
	q.ask(at.globs, depth)
	switch {
	case len(at.anchored) == 0:
	case q.form == FormPath:
		for _, s := range q.segments[depth:] {
			if list := at.anchored[s.key]; list != nil {
				q.ask(*list, depth)
			}
		}
	default:
		for _, list := range at.anchored {
			q.ask(*list, depth)
		}
	}
}

// ask takes those of some patterns that the alternative meets. The names
// before depth are the same in both.
func (q *lookUp[K]) ask(list []lodger[K], depth int) {
	for i := range list {
		l := &list[i]
		if !strings.HasSuffix(q.tail, l.way.tail) && !strings.HasSuffix(l.way.tail, q.tail) {
			continue
		}
		if q.among != nil && !q.among(l.row.key) {
			continue
		}
		if q.plan.large(l.row.plan) {
			q.later(l.row)
		} else if q.meets(l.way.alternative, depth) {
			q.hits = append(q.hits, l.row)
		}
	}
}

// later has the patterns of a row asked with those of others. The patterns of a
// row are mostly side by side.
func (q *lookUp[K]) later(r *row[K]) {
	a := ask[K]{r, q.way}
	if n := len(q.asks); n > 0 && q.asks[n-1] == a {
		return
	}
	if len(q.asks) == maxAsks {
		q.answer()
	}
	q.asks = append(q.asks, a)
}

// answer asks what was left for later, each row at once.
func (q *lookUp[K]) answer() {
	if len(q.asks) == 0 {
		return
	}
	slices.SortStableFunc(q.asks, func(a, b ask[K]) int { return cmp.Compare(a.row.order, b.row.order) })
	var r run
	var met *row[K]
	for i, a := range q.asks {
		if i == 0 || a.row != q.asks[i-1].row {
			r.over(a.row.plan.patterns())
		}
		if a.row != met && (i == 0 || a != q.asks[i-1]) && r.meets(a.way.alternative) {
			met = a.row
			q.hits = append(q.hits, met)
		}
	}
	q.asks = q.asks[:0]
}

func (q *lookUp[K]) meets(a *alternative, depth int) bool {
	if q.form != FormPath {
		return alternativesMeet(q.alternative, a, nil)
	}
	p := a.closure(1 << depth)
	for _, s := range q.segments[depth:] {
		if p = a.step(p, s.key, nil); p == 0 {
			return false
		}
	}
	return a.accepts(p)
}

// all takes everything at and below a folder: every entry there covers a path
// there, because a pattern that covers none is refused.
func (q *lookUp[K]) all(at *place[K]) {
	q.take(at.paths)
	q.take(at.dirs)
	q.take(at.globs)
	for _, list := range at.anchored {
		q.take(*list)
	}
	for _, below := range at.below {
		q.all(below)
	}
}

// descend goes where a pattern can still match; p is never empty.
func (q *lookUp[K]) descend(at *place[K], p places, depth int) {
	if q.accepts(p) {
		q.take(at.paths)
	}
	q.take(at.dirs)
	q.askGlobs(at, depth)
	for name, below := range at.below {
		if next := q.step(p, name, nil); next != 0 {
			q.descend(below, next, depth+1)
		}
	}
}
