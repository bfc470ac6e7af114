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
func (x *Index[K]) Meeting(p *Plan) iter.Seq[K] {
	return func(yield func(K) bool) {
		var hits []*row[K]
		for _, name := range p.names {
			hits = append(hits, x.resources[name]...)
		}
		for i := range p.ways {
			hits = x.look(&p.ways[i], hits)
		}
		give(hits, yield)
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
				a.segments = append(a.segments, segment{key: name})
			}
			w := a.way()
			hits = x.look(&w, hits)
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

// A lookUp is the search for what one alternative meets.
type lookUp[K comparable] struct {
	*way
	hits []*row[K]
}

func (x *Index[K]) look(w *way, hits []*row[K]) []*row[K] {
	q := lookUp[K]{w, hits}
	at := &x.root
	for depth := range w.lead {
		q.take(at.dirs)
		q.askGlobs(at, depth)
		if at = at.below[w.segments[depth].key]; at == nil {
			return q.hits
		}
	}
	switch depth := w.lead; q.form {
	case FormPath:
		q.take(at.paths)
		q.take(at.dirs)
		q.askGlobs(at, depth)
	case FormDir:
		q.all(at)
	default:
		q.descend(at, w.closure(1<<depth), depth)
	}
	return q.hits
}

func (q *lookUp[K]) take(list []lodger[K]) {
	for i := range list {
		q.hits = append(q.hits, list[i].row)
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
		if q.meets(l.way.alternative, depth) {
			q.hits = append(q.hits, l.row)
		}
	}
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
