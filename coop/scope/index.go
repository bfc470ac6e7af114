package scope

import (
	"iter"
	"maps"
	"slices"
)

// An Index holds the sets of many claims by key and finds those that a set
// meets. A look-up goes down a tree of folder names and asks an exact question
// only of what it passes: it costs what is near the set, not what is held.
//
// The zero Index is empty. Add and Remove must not run beside any other call;
// look-ups may run beside each other.
type Index[K comparable] struct {
	rows      map[K]*row[K]
	root      place[K]
	resources map[string][]*row[K]
	added     uint64
}

// A row is one claim in the index.
type row[K comparable] struct {
	key   K
	order uint64 // of Add
	plan  *Plan
	spots []spot[K]
	one   [1]spot[K] // room for spots: most sets are one path
}

// A place is one folder or path name below its parent.
type place[K comparable] struct {
	parent *place[K]
	name   string
	below  map[string]*place[K]
	paths  []lodger[K] // that are this very path
	dirs   []lodger[K] // that are this folder
	globs  []lodger[K] // whose names without a wildcard end here

	// anchored are those globs that have a name without a wildcard further on,
	// by that name: a path without it need not ask them.
	anchored map[string]*[]lodger[K]
}

// A lodger is one alternative of one entry of a row at its place.
type lodger[K comparable] struct {
	row  *row[K]
	spot int // in row.spots
	way  *way
}

// A spot says where a lodger lives, so that it can leave without a search.
type spot[K comparable] struct {
	place *place[K]
	kind  Form
	name  string // of an anchored glob
	at    int    // in its list
}

// Len is the number of keys held.
func (x *Index[K]) Len() int { return len(x.rows) }

// All gives the keys held, in no order.
func (x *Index[K]) All() iter.Seq[K] { return maps.Keys(x.rows) }

// Add holds the set of p under k, in place of what k held.
func (x *Index[K]) Add(k K, p *Plan) {
	x.Remove(k)
	if x.rows == nil {
		x.rows = make(map[K]*row[K])
		x.resources = make(map[string][]*row[K])
	}
	x.added++
	r := &row[K]{key: k, order: x.added, plan: p}
	r.spots = r.one[:0]
	x.rows[k] = r
	for _, name := range p.names {
		x.resources[name] = append(x.resources[name], r)
	}
	for i := range p.ways {
		x.lodge(r, &p.ways[i])
	}
}

func (x *Index[K]) lodge(r *row[K], w *way) {
	at := &x.root
	for i := range w.lead {
		at = at.enter(w.segments[i].key)
	}
	list := at.list(w.form, w.name)
	r.spots = append(r.spots, spot[K]{at, w.form, w.name, len(*list)})
	*list = append(*list, lodger[K]{r, len(r.spots) - 1, w})
}

func (p *place[K]) list(form Form, anchor string) *[]lodger[K] {
	switch {
	case form == FormPath:
		return &p.paths
	case form == FormDir:
		return &p.dirs
	case anchor == "":
		return &p.globs
	}
	list := p.anchored[anchor]
	if list == nil {
		list = new([]lodger[K])
		if p.anchored == nil {
			p.anchored = make(map[string]*[]lodger[K])
		}
		p.anchored[anchor] = list
	}
	return list
}

func (p *place[K]) enter(name string) *place[K] {
	q := p.below[name]
	if q == nil {
		q = &place[K]{parent: p, name: name}
		if p.below == nil {
			p.below = make(map[string]*place[K])
		}
		p.below[name] = q
	}
	return q
}

// Remove forgets k. A key that is not held is no error.
func (x *Index[K]) Remove(k K) {
	r := x.rows[k]
	if r == nil {
		return
	}
	delete(x.rows, k)
	for _, s := range r.spots {
		list := s.place.list(s.kind, s.name)
		last := len(*list) - 1
		moved := (*list)[last]
		(*list)[s.at] = moved
		moved.row.spots[moved.spot].at = s.at
		(*list)[last] = lodger[K]{}
		*list = (*list)[:last]
		if last == 0 && s.name != "" {
			delete(s.place.anchored, s.name)
		}
		s.place.prune()
	}
	for _, name := range r.plan.names {
		left := slices.DeleteFunc(x.resources[name], func(o *row[K]) bool { return o == r })
		if len(left) == 0 {
			delete(x.resources, name)
		} else {
			x.resources[name] = left
		}
	}
}

// prune takes away the places that nothing lives in or below.
func (p *place[K]) prune() {
	for p.parent != nil && len(p.below)+len(p.paths)+len(p.dirs)+len(p.globs)+len(p.anchored) == 0 {
		delete(p.parent.below, p.name)
		p = p.parent
	}
}
