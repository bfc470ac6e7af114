package fold

import (
	"slices"
	"strings"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

// A runtime has the sessions and runs of one node in this repository.
type runtime struct {
	id       ident.Runtime
	sessions map[string]*session
	records  map[string]*record
	active   map[*session]struct{}
	ckpts    []*checkpoint // written by its streams
}

func (s *State) runtime(id ident.Runtime) *runtime {
	rt := s.runtimes[id]
	if rt == nil {
		rt = &runtime{id: id, sessions: map[string]*session{}, records: map[string]*record{}, active: map[*session]struct{}{}}
		s.runtimes[id] = rt
	}
	return rt
}

// A succession is the first event of a run. It is never removed by a
// checkpoint: without it nobody could say whose the stream is.
type succession struct {
	spot
	record   string
	run      uint64
	sessions []*session // by sid
	streams  []*stream  // by id
	unknown  int        // of streams: those of which it is not known yet which run they are
	highest  *stream    // of streams: the latest that is an earlier run, nil when none is known
}

func (s *State) readSuccession(st *stream, h head, b event.StreamSucceeded) *succession {
	r := &succession{spot: h.spot(), record: b.Record, run: b.Run}
	for _, sid := range slices.Compact(slices.Sorted(slices.Values(b.Sessions))) {
		r.sessions = append(r.sessions, st.rt.session(sid))
	}
	for _, id := range slices.Compact(slices.Sorted(slices.Values(b.Streams))) {
		r.streams = append(r.streams, s.stream(id))
	}
	return r
}

func (r *succession) on(*State)  {}
func (r *succession) off(*State) {}

func (r *succession) body() event.Body {
	b := event.StreamSucceeded{Record: r.record, Run: r.run}
	for _, x := range r.sessions {
		b.Sessions = append(b.Sessions, x.sid)
	}
	for _, st := range r.streams {
		b.Streams = append(b.Streams, st.id)
	}
	return b
}

func (r *succession) lists(x *session) bool {
	_, ok := slices.BinarySearchFunc(r.sessions, x, func(a, b *session) int { return strings.Compare(a.sid, b.sid) })
	return ok
}

func (r *succession) names(st *stream) bool {
	_, ok := slices.BinarySearchFunc(r.streams, st, func(a, b *stream) int { return strings.Compare(string(a.id), string(b.id)) })
	return ok
}

// begin takes note of a stream's first event: from now on it is known which
// record it belongs to, if any. A run that has no more than that can end things
// and revives none, so only what stands is looked at.
func (s *State) begin(st *stream, f fact, late bool) {
	r, _ := f.(*succession)
	if r != nil {
		s.enrol(st, r, late)
	}
	for _, u := range st.namedBy {
		u.carry(st)
		if u.run.unknown--; u.run.unknown == 0 {
			s.doubtListings(u)
		}
	}
	if r != nil {
		for _, v := range r.streams {
			v.namedBy = append(v.namedBy, st)
			if v.holds(1) {
				st.carry(v)
			} else {
				r.unknown++
			}
		}
		s.succeed(st)
	}
	if len(st.ckpts) > 0 || len(st.rt.ckpts) > 0 {
		s.remask(st.rt)
	}
}

// enrol puts a run in its place among those of its record. When that turns out
// late, all is looked at again that the stream says something of: what it closed
// may not come after it any more.
func (s *State) enrol(st *stream, r *succession, late bool) {
	rec := st.rt.records[r.record]
	if rec == nil {
		rec = new(record)
		st.rt.records[r.record] = rec
	}
	var lines []*line
	if late {
		lines = st.take()
	}
	st.run, st.rec = r, rec
	rec.insert(st)
	for _, ln := range lines {
		ln.put()
		s.unsettle(ln.sess, true)
		s.rescanAll(ln.sess)
	}
	for _, x := range r.sessions {
		x.thread(rec).join(st)
		s.unsettle(x, false)
	}
}

// carry counts that u names st, when st is an earlier run.
func (u *stream) carry(st *stream) {
	if !st.before(u) {
		return
	}
	st.carriers++
	if r := u.run; r.highest == nil || byRun(r.highest, st) < 0 {
		r.highest = st
	}
}

// doubtListings looks again at what rests on a listing by u, which names no
// stream any more in which an opening could still come.
func (s *State) doubtListings(u *stream) {
	for _, x := range u.run.sessions {
		s.unsettle(x, false)
		if ln := x.thread(u.rec).line(u); ln != nil {
			s.doubtLive(ln.inherited)
		}
	}
}

// succeed looks again at what a new run ends: what stands in earlier runs and is
// not carried on, and what rests on the listing of a later run that finds it
// ended here when it looks down. All that the latest run carries lives in it now.
func (s *State) succeed(u *stream) {
	latest := len(u.later()) == 0
	for x := range u.rt.active {
		s.unsettle(x, false)
		listed := u.run.lists(x)
		for _, h := range x.things() {
			switch v := h.it().ln.st; {
			case !v.before(u):
			case !listed || u != v.lastNamer():
				s.doubt(h)
			case latest:
				s.work.touch(h)
			}
		}
	}
	// A walk down from a later run comes here only by the next one.
	for _, next := range u.later() {
		if next.number() != u.later()[0].number() {
			break
		}
		for _, x := range next.run.sessions {
			if !u.run.lists(x) {
				s.unsettle(x, false)
				s.endListings(x.thread(u.rec), u)
			}
		}
	}
}

// lastNamer is the last run to arrive of those that name st, nil when none does.
func (st *stream) lastNamer() *stream {
	if n := len(st.namedBy); n > 0 {
		return st.namedBy[n-1]
	}
	return nil
}

// endListings looks again at what rests on listings for which u is the latest
// end.
func (s *State) endListings(t *thread, u *stream) {
	for _, heir := range after(t.heirs(), u) {
		if _, v := t.beneath(heir.st); v != u {
			return
		}
		s.doubtLive(heir.inherited)
	}
}

// precedes tells whether a came before b in the life of their runtime: by
// place in one stream, by run in one record. Between streams that no record
// orders (a second user of the key) the shared order of events decides.
func (a *act) precedes(b *act) bool {
	switch {
	case a.ln.st == b.ln.st:
		return a.seq < b.seq
	case a.ln.st.before(b.ln.st):
		return true
	case b.ln.st.before(a.ln.st):
		return false
	}
	return a.order(b) < 0
}
