package fold

import "slices"

// few is a list that mostly has one element.
type few[X any] struct {
	one  [1]*X
	more *[]*X // all of them, when they are or were more
}

// all are the elements; they may be replaced in it.
func (f *few[X]) all() []*X {
	switch {
	case f.more != nil:
		return *f.more
	case f.one[0] != nil:
		return f.one[:]
	}
	return nil
}

// insert puts x, which is not nil, at i.
func (f *few[X]) insert(i int, x *X) {
	all := f.all()
	if len(all) == 0 {
		f.one[0], f.more = x, nil
		return
	}
	all = slices.Insert(all, i, x) // never in place of the one
	f.one[0], f.more = nil, &all
}

func (f *few[X]) add(x *X) { f.insert(len(f.all()), x) }

// delete takes out the element at i.
func (f *few[X]) delete(i int) {
	if f.more == nil {
		f.one[0] = nil
		return
	}
	*f.more = slices.Delete(*f.more, i, i+1)
}

// drop takes out x.
func (f *few[X]) drop(x *X) {
	if i := slices.Index(f.all(), x); i >= 0 {
		f.delete(i)
	}
}
