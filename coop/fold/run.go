package fold

import (
	"cmp"
	"slices"
	"strings"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

// A runtime has the sessions and runs of one node in this repository.
type runtime struct {
	id       ident.Runtime
	sessions map[string]*session
	streams  map[ident.Stream]*stream
	records  map[string][]*stream // runs of each record, by run, then id
	active   map[*session]struct{}
	ckpts    []*checkpoint // written by its streams
}

// known returns the stream of that id, nil when nobody spoke of it.
func (rt *runtime) known(id ident.Stream) *stream { return rt.streams[id] }

func (s *State) runtime(id ident.Runtime) *runtime {
	rt := s.runtimes[id]
	if rt == nil {
		rt = &runtime{id: id, sessions: map[string]*session{}, streams: map[ident.Stream]*stream{}, records: map[string][]*stream{}, active: map[*session]struct{}{}}
		s.runtimes[id] = rt
	}
	return rt
}

// A succession is the first event of a run. It is never removed by a
// checkpoint: without it nobody could say whose the stream is.
type succession struct {
	st       *stream
	lamport  uint64
	record   string
	run      uint64
	sessions []string       // sorted
	streams  []ident.Stream // sorted
}

func readSuccession(st *stream, h head, b event.StreamSucceeded) *succession {
	return &succession{
		st: st, lamport: h.lamport, record: b.Record, run: b.Run,
		sessions: slices.Sorted(slices.Values(b.Sessions)),
		streams:  slices.Sorted(slices.Values(b.Streams)),
	}
}

func (r *succession) on(*State)  {}
func (r *succession) off(*State) {}

func (r *succession) body() event.Body {
	return event.StreamSucceeded{Record: r.record, Run: r.run, Sessions: r.sessions, Streams: r.streams}
}

func (r *succession) lists(sid string) bool {
	_, ok := slices.BinarySearch(r.sessions, sid)
	return ok
}

func (r *succession) names(st *stream) bool {
	_, ok := slices.BinarySearch(r.streams, st.id)
	return ok
}

// begin takes note of a stream's first event: from now on it is known which
// record it belongs to, if any.
func (s *State) begin(st *stream, f fact) {
	if r, ok := f.(*succession); ok {
		st.run = r
		runs := st.rt.records[r.record]
		i, _ := slices.BinarySearchFunc(runs, st, byRun)
		st.rt.records[r.record] = slices.Insert(runs, i, st)
		for _, sid := range r.sessions {
			x := st.rt.session(sid)
			x.lists++
			s.unsettle(x, true)
		}
	}
	// A stream that a later run names counts as one that may hold an opening
	// until it is known which run it is.
	for sess := range st.rt.active {
		s.unsettle(sess, true)
	}
	if len(st.entries) > 1 {
		s.reorder(st)
	}
	if len(st.ckpts) > 0 || len(st.rt.ckpts) > 0 {
		s.remask(st.rt)
	}
}

// reorder has all looked at again that a stream says something of, when it
// turns out late which run it is: what it closed may not come after it any more.
func (s *State) reorder(st *stream) {
	for _, x := range st.rt.sessions {
		if x.in(st) == nil {
			continue
		}
		for _, ln := range x.lines {
			s.rescan(ln.st)
		}
	}
}

func byRun(a, b *stream) int {
	return cmp.Or(cmp.Compare(a.run.run, b.run.run), strings.Compare(string(a.id), string(b.id)))
}

// before tells whether a run of st's record comes before run u.
func (st *stream) before(u *stream) bool {
	return st.run != nil && u.run != nil && st.rt == u.rt && st.run.record == u.run.record && st.run.run < u.run.run
}

// later are the runs of st's record that succeed st, earliest first.
func (st *stream) later() []*stream {
	if st.run == nil {
		return nil
	}
	runs := st.rt.records[st.run.record]
	i := len(runs)
	for i > 0 && runs[i-1].run.run > st.run.run {
		i--
	}
	return runs[i:]
}

// top are the latest runs of a record: one, unless its record was copied.
func top(runs []*stream) []*stream {
	i := len(runs)
	for i > 0 && runs[i-1].run.run == runs[len(runs)-1].run.run {
		i--
	}
	return runs[i:]
}

// now is the run in which what stands of st lives now.
func (st *stream) now() *stream {
	if l := st.later(); len(l) > 0 {
		return l[len(l)-1]
	}
	return st
}

// carried tells whether what stands of sid in st goes on in every later run.
func (st *stream) carried(sid string) bool {
	for _, u := range st.later() {
		if !u.run.lists(sid) || !u.run.names(st) {
			return false
		}
	}
	return true
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
