package journal

import (
	"cmp"
	"maps"
	"slices"

	"github.com/comity-dev/comity/coop/fold"
	"github.com/comity-dev/comity/coop/ident"
)

// A survey works out which streams stay when a journal compacts. All stay that
// are not due, those in which something stands, and what a stream that stays is
// held to by its ties: so dropping the others changes nothing that stands, now
// or when one of them returns.
type survey struct {
	j     *Journal
	infos map[ident.Stream]fold.StreamInfo
	runs  map[lineOfRuns][]ident.Stream // by number

	namedIn map[ident.Stream][]ident.Stream // the streams whose events name events of one
	closers map[ident.SessionID][]ident.Stream

	stay  map[ident.Stream]bool
	queue []ident.Stream // of stay, not looked at yet
}

func newSurvey(j *Journal) *survey {
	v := &survey{
		j: j, infos: map[ident.Stream]fold.StreamInfo{}, runs: map[lineOfRuns][]ident.Stream{},
		namedIn: map[ident.Stream][]ident.Stream{}, closers: map[ident.SessionID][]ident.Stream{},
		stay: map[ident.Stream]bool{},
	}
	for i := range j.state.Streams() { // by id
		v.infos[i.Stream] = i
		if i.Record != "" {
			line := lineOfRuns{i.Stream.Runtime(), i.Record}
			v.runs[line] = append(v.runs[line], i.Stream)
		}
		t := v.tie(i.Stream)
		for of := range t.refs {
			v.namedIn[of] = append(v.namedIn[of], i.Stream)
		}
		for sid := range t.did(didClose) {
			id := ident.SessionID{Runtime: i.Stream.Runtime(), SID: sid}
			v.closers[id] = append(v.closers[id], i.Stream)
		}
	}
	for _, runs := range v.runs {
		slices.SortStableFunc(runs, func(a, b ident.Stream) int { return cmp.Compare(v.infos[a].Run, v.infos[b].Run) })
	}
	return v
}

var noTie = newTie()

func (v *survey) tie(s ident.Stream) *tie {
	if h := v.j.heads[s]; h != nil {
		return h.tie
	}
	return noTie
}

// add keeps a stream that is held.
func (v *survey) add(s ident.Stream) {
	if _, held := v.infos[s]; held && !v.stay[s] {
		v.stay[s] = true
		v.queue = append(v.queue, s)
	}
}

// standing are the streams in which something stands by events, or that this
// build cannot tell it of; and for a time those that say something of a handover. What else ends is ended for everybody by the
// next run of who wrote it. That a handover was taken, only the taker says, and
// who was away has to hear it.
func (v *survey) standing(recent func(ident.Stream) bool) map[ident.Stream]bool {
	stands, state := map[ident.Stream]bool{}, v.j.state
	for c := range state.Claims() {
		stands[c.Key.Stream] = true
	}
	for r := range state.OpenReviews() {
		stands[r.Key.Stream] = true
	}
	for h := range state.OpenHandovers() {
		for _, p := range h.Publications {
			stands[p.Key.Stream] = true
		}
	}
	for x := range state.OpenSessions() {
		stands[x.Opened.Stream], stands[x.Stream] = true, true
	}
	for s, i := range v.infos {
		if i.Damaged || v.tie(s).handed && recent(s) || i.Incomplete || i.Opaque+i.Unreadable > 0 || v.opensAlone(i) {
			stands[s] = true
		}
	}
	return stands
}

// opensAlone reports whether a stream that is no run of a record opened a session
// that is open: no record tells which opening counts.
func (v *survey) opensAlone(i fold.StreamInfo) bool {
	if i.Record != "" {
		return false
	}
	for sid := range v.tie(i.Stream).did(didOpen) {
		x, ok := v.j.state.Session(ident.SessionID{Runtime: i.Stream.Runtime(), SID: sid})
		if ok && x.State == fold.SessionOpen {
			return true
		}
	}
	return false
}

// close adds what those that stay are held to, until nothing is added.
func (v *survey) close() {
	for len(v.queue) > 0 {
		s := v.queue[len(v.queue)-1]
		v.queue = v.queue[:len(v.queue)-1]
		v.held(s)
	}
}

// held adds what s, which stays, is held to.
func (v *survey) held(s ident.Stream) {
	t := v.tie(s)
	for _, by := range v.namedIn[s] { // it fences, ends or answers something in s
		v.add(by)
	}
	for of := range t.needs {
		v.add(of)
	}
	for sid := range t.did(didWrite) {
		for _, by := range v.closers[ident.SessionID{Runtime: s.Runtime(), SID: sid}] {
			if !v.before(by, s) {
				v.add(by)
			}
		}
	}
	if i := v.infos[s]; i.Record != "" {
		v.ended(s, t)
		v.carries(s, t)
	}
}

// before reports whether a is an earlier run of b's record.
func (v *survey) before(a, b ident.Stream) bool {
	i, k := v.infos[a], v.infos[b]
	return a.Runtime() == b.Runtime() && i.Record != "" && i.Record == k.Record && i.Run < k.Run
}

// line are the runs of s's record.
func (v *survey) line(s ident.Stream) []ident.Stream {
	return v.runs[lineOfRuns{s.Runtime(), v.infos[s].Record}]
}

// ended adds the runs that ended something in s, the latest for each thing, and
// the latest of all: what a session is, it says.
func (v *survey) ended(s ident.Stream, t *tie) {
	line := v.line(s)
	for _, u := range slices.Backward(line) {
		if v.infos[u].Run < v.infos[line[len(line)-1]].Run {
			break
		}
		v.add(u)
	}
	left := maps.Collect(t.did(didWrite))
	for _, u := range slices.Backward(line) {
		if !v.before(s, u) {
			return
		}
		if !v.tie(u).names(s) {
			v.add(u)
			return // it ended all
		}
		for sid := range left {
			if !v.tie(u).lists(sid) {
				v.add(u)
				delete(left, sid)
			}
		}
	}
}

// carries adds the runs that s carries something from: those that it names, and
// for each session that it lists those that opened it since it last ended, the
// one in which it did, and those that tell in which checkouts it has been.
func (v *survey) carries(s ident.Stream, t *tie) {
	if t.first == nil {
		return
	}
	for _, u := range t.first.Streams {
		v.add(u)
	}
	left := map[string]bool{}
	for _, sid := range t.first.Sessions {
		left[sid] = true
		for _, u := range v.j.state.Tellers(ident.SessionID{Runtime: s.Runtime(), SID: sid}, s) {
			v.add(u)
		}
	}
	for _, u := range slices.Backward(v.line(s)) {
		if len(left) == 0 {
			return
		}
		if !v.before(u, s) {
			continue
		}
		for sid := range left {
			in := v.tie(u)
			ended := in.sids[sid]&didClose != 0 || !in.lists(sid)
			if ended || in.sids[sid]&didOpen != 0 {
				v.add(u)
			}
			if ended {
				delete(left, sid)
			}
		}
	}
}
