package fold

import (
	"cmp"
	"slices"
	"strings"
)

// A record has the runs that begin with one run record, in their order: by
// number, then id, as a copied record can have a number twice. A stream that
// begins otherwise, or is not known yet, is alone in a record of its own.
type record struct {
	runs []*stream
}

func byRun(a, b *stream) int {
	return cmp.Or(cmp.Compare(a.number(), b.number()), strings.Compare(string(a.id), string(b.id)))
}

// number is the run's, 0 for a stream that is none.
func (st *stream) number() uint64 {
	if st.run == nil {
		return 0
	}
	return st.run.run
}

// before tells whether st is an earlier run of u's record.
func (st *stream) before(u *stream) bool { return st.rec == u.rec && st.number() < u.number() }

// below counts those of runs that come before u, above those that come after:
// runs are of u's record and sorted.
func below(runs []*stream, u *stream) int {
	i, _ := slices.BinarySearchFunc(runs, u.number(), byNumber)
	return i
}

func above(runs []*stream, u *stream) int {
	i, _ := slices.BinarySearchFunc(runs, u.number()+1, byNumber)
	return len(runs) - i
}

func byNumber(st *stream, n uint64) int { return cmp.Compare(st.number(), n) }

// later are the runs that succeed st, earliest first.
func (st *stream) later() []*stream {
	runs := st.rec.runs
	return runs[len(runs)-above(runs, st):]
}

// top are the latest runs: one, unless the record was copied.
func (r *record) top() []*stream {
	if len(r.runs) == 0 {
		return nil
	}
	return r.runs[below(r.runs, r.runs[len(r.runs)-1]):]
}

// now is the run in which what stands of st lives now.
func (st *stream) now() *stream {
	if runs := st.rec.runs; st.before(runs[len(runs)-1]) {
		return runs[len(runs)-1]
	}
	return st
}

func (r *record) insert(st *stream) {
	i, _ := slices.BinarySearchFunc(r.runs, st, byRun)
	r.runs = slices.Insert(r.runs, i, st)
}

func (r *record) remove(st *stream) {
	if i, ok := slices.BinarySearchFunc(r.runs, st, byRun); ok {
		r.runs = slices.Delete(r.runs, i, i+1)
	}
}
