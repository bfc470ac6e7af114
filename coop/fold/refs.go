package fold

import (
	"iter"
	"slices"
)

// refs are the facts in effect that name a thing: mostly one, its end.
type refs struct {
	first fact
	more  *[]fact
}

func (r *refs) add(f fact) {
	switch {
	case r.first == nil:
		r.first = f
	case r.more == nil:
		r.more = &[]fact{f}
	default:
		*r.more = append(*r.more, f)
	}
}

func (r *refs) drop(f fact) {
	if r.first == f {
		r.first = nil
		if r.more == nil {
			return
		}
		r.first = (*r.more)[0]
		f = r.first
	}
	if r.more == nil {
		return
	}
	if *r.more = without(*r.more, f); len(*r.more) == 0 {
		r.more = nil
	}
}

func (r *refs) all() iter.Seq[fact] {
	return func(yield func(fact) bool) {
		if r.first == nil || !yield(r.first) || r.more == nil {
			return
		}
		slices.Values(*r.more)(yield)
	}
}
