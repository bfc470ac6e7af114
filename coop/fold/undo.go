package fold

import (
	"slices"

	"github.com/comity-dev/comity/coop/ident"
)

// Undo takes back the events of a stream from seq from on, as if they had never
// been applied: those that a journal let in before they were on disk, and whose
// write failed. Places skipped there are forgotten too.
func (s *State) Undo(id ident.Stream, from uint64) Changes {
	st := s.streams[id]
	if st == nil || st.head < max(from, 1) {
		return Changes{}
	}
	from = max(from, 1)
	for n := st.entries.len(); n > 0 && st.entries.seq(n-1) >= from; n = st.entries.len() {
		f := st.entries.fact(n - 1)
		if _, off := st.removed[f.pos().seq]; !off {
			f.off(s)
		}
		st.entries.pop()
		delete(st.removed, f.pos().seq)
		s.forget(st, f)
	}
	st.gaps = slices.DeleteFunc(st.gaps, func(g gap) bool { return g.first >= from })
	if n := len(st.gaps); n > 0 {
		st.gaps[n-1].last = min(st.gaps[n-1].last, from-1)
	}
	st.head, st.lamport = from-1, 0
	for f := range st.entries.all() {
		st.lamport = max(st.lamport, f.pos().lamport)
	}
	return s.settle()
}

// forget undoes what hold did beside putting the fact into effect.
func (s *State) forget(st *stream, was fact) {
	seq := was.pos().seq
	if h, ok := was.(holder); ok {
		t := h.it()
		for f := range t.refs.all() {
			if st.waiting == nil {
				st.waiting = map[uint64][]fact{}
			}
			st.waiting[seq] = append(st.waiting[seq], f)
		}
		t.refs = refs{}
	}
	for _, k := range st.ckpts {
		if k.names(st, seq) {
			k.missing++
			k.wrong = false
		}
	}
	var gone []*stream
	if f, ok := was.(*checkpoint); ok {
		gone = f.covers
		st.rt.ckpts = drop(st.rt.ckpts, f)
		for _, c := range f.covers {
			c.ckpts = drop(c.ckpts, f)
		}
	}
	if seq == 1 {
		s.unbegin(st)
	}
	if len(st.rt.ckpts)+len(gone) > 0 {
		s.remask(st.rt, gone...)
	}
}

// unbegin takes back what begin noted of a stream's first event. What that
// ended stands again, and a later run that names the stream cannot tell any
// more what was in it.
func (s *State) unbegin(st *stream) {
	st.take() // nothing of it is left
	if st.run != nil {
		s.strike(st)
	}
	for _, u := range st.namedBy {
		u.run.unknown++
	}
	for _, x := range st.rt.sessions {
		s.unsettle(x, true)
		s.rescanAll(x)
	}
}

// strike takes a run out of its record.
func (s *State) strike(st *stream) {
	f := st.run
	for _, v := range f.streams {
		v.namedBy = drop(v.namedBy, st)
		if v.before(st) {
			v.carriers--
		}
	}
	for _, u := range st.namedBy {
		if u.run.highest == st {
			u.run.highest = nil
			for _, v := range u.run.streams {
				if v != st && v.before(u) && (u.run.highest == nil || byRun(u.run.highest, v) < 0) {
					u.run.highest = v
				}
			}
		}
	}
	for _, x := range f.sessions {
		x.thread(st.rec).part(st)
	}
	st.rec.remove(st)
	st.run, st.rec, st.carriers = nil, &record{runs: []*stream{st}}, 0
}

func drop[X comparable](xs []X, x X) []X {
	return slices.DeleteFunc(slices.Clone(xs), func(y X) bool { return x == y })
}
