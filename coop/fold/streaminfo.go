package fold

import (
	"iter"
	"slices"
	"strings"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

// StreamInfo is what is held of a stream.
type StreamInfo struct {
	Stream     ident.Stream
	Head       uint64
	Lamport    uint64 // highest stamp
	Record     string // run record, "" when its first event does not tell or is not held
	Run        uint64
	Succeeded  bool // by a later run of its record that is held
	Damaged    bool // an event that matters was skipped
	Incomplete bool // a checkpoint names an event that is not held
	Opaque     int  // events of kinds that this build does not know
	Unreadable int  // events and checkpoints that this build cannot read
}

// Head returns the highest place of a stream that is held or skipped, 0 for an unknown one.
func (s *State) Head(id ident.Stream) uint64 {
	if st := s.streams[id]; st != nil {
		return st.head
	}
	return 0
}

// Streams yields what is held, by stream id.
func (s *State) Streams() iter.Seq[StreamInfo] {
	return sorted(s.held(), func(st *stream) StreamInfo {
		i := StreamInfo{
			Stream: st.id, Head: st.head, Lamport: st.lamport, Succeeded: len(st.later()) > 0,
			Damaged: st.damaged(), Incomplete: st.incomplete(),
			Opaque: st.opaque, Unreadable: st.unreadable + st.badCheckpoints(),
		}
		if st.run != nil {
			i.Record, i.Run = st.run.record, st.run.run
		}
		return i
	})
}

// held are the streams of which something is held or skipped, by id.
func (s *State) held() []*stream {
	var all []*stream
	for _, st := range s.streams {
		if st.head > 0 {
			all = append(all, st)
		}
	}
	slices.SortFunc(all, func(a, b *stream) int { return strings.Compare(string(a.id), string(b.id)) })
	return all
}

// sorted yields the views of xs, made one by one.
func sorted[X, V any](xs []X, view func(X) V) iter.Seq[V] {
	return func(yield func(V) bool) {
		for _, x := range xs {
			if !yield(view(x)) {
				return
			}
		}
	}
}

// Hash returns the hash of an event that is held.
func (s *State) Hash(k event.Key) ([32]byte, bool) {
	st := s.streams[k.Stream]
	if st == nil {
		return [32]byte{}, false
	}
	i, ok := st.find(k.Seq)
	if !ok {
		return [32]byte{}, false
	}
	return st.entries.hash(i), true
}

// Tellers are the earlier runs of a run's record that tell in which checkouts a session
// has been: for each checkout the first. Whether a fence counts can depend on each of
// them, also on one from before the session ended and was opened again.
func (s *State) Tellers(id ident.SessionID, run ident.Stream) (all []ident.Stream) {
	rt, u := s.runtimes[id.Runtime], s.streams[run]
	if rt == nil || u == nil || rt.sessions[id.SID] == nil {
		return nil
	}
	t := rt.sessions[id.SID].find(u.rec)
	if t == nil {
		return nil
	}
	t.learn()
	for _, m := range t.stays.all() {
		if m.ln.st.before(u) {
			all = append(all, m.ln.st.id)
		}
	}
	return all
}
