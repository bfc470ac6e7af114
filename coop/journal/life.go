package journal

import (
	"math"
	"slices"
	"time"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

// A life is what is known of the run behind a stream: which run it is, and when
// it was heard. Times are this machine's, since boot.
type life struct {
	stream ident.Stream
	record string // run record, "" when the first event does not tell or is not held
	run    uint64
	held   bool          // some event of it is
	begun  bool          // its first event is held
	known  time.Duration // when this run of ours first knew it
	silent time.Duration // for how long it was not heard when this run of ours began, 0 when nobody can tell
	second bool          // of our key, and not written by us

	beat  *event.Beat // the latest one, nil for none
	heard bool        // in this run of ours; else it was read from disk

	// The difference is our boot-time clock minus the origin's uptime: a beat was
	// made at difference + uptime. No delay can make a sample of it too small, so
	// every sample is at least the truth, and the smallest is the nearest to it.
	measured   bool // in this boot
	difference time.Duration
	taken      time.Duration // when the kept sample was taken
	latest     time.Duration // the beat was made at this time at the latest

	saved time.Duration // uptime of the beat that is on disk
	asked bool          // the stream is to be sent whole again
}

const noBound = time.Duration(math.MaxInt64)

// driftPart is how much two clocks may move apart: a sample may exceed the kept
// one by this part of the time since that was taken.
const driftPart = 1000

// hear takes a beat that is later than the one held, as it comes at now. word is
// its age as the one says who passes it on: it bounds a first beat alone, and by
// no more than the expiry. After that the difference speaks, whatever anybody
// says: a beat that was held back looks as old as it is. (Were the difference
// itself taken from the word, one lie of a relay would age all later beats of
// the living.)
func (l *life) hear(b *event.Beat, now, word, expiry time.Duration) {
	sample := now - b.Uptime
	switch {
	case !l.measured:
		l.measured, l.difference, l.taken = true, sample, now
		l.latest = now - min(max(word, 0), expiry)
	case sample < l.difference+drift(now-l.taken):
		l.difference, l.taken = sample, now
		fallthrough
	default:
		l.latest = noBound
	}
	l.beat, l.heard = b, true
}

// drift is how much two clocks may have moved apart in a time.
func drift(d time.Duration) time.Duration {
	if plantNoDrift {
		return 0
	}
	return d / driftPart
}

// answered takes a beat that the origin itself made after we asked it: what it
// says of the difference holds outright.
func (l *life) answered(b *event.Beat, now time.Duration) {
	l.measured, l.difference, l.taken, l.latest = true, now-b.Uptime, now, noBound
	if b.Later(l.beat) {
		l.beat = b
	}
	l.heard = true
}

// made is when the latest beat was made; false when nobody can tell.
func (l *life) made() (time.Duration, bool) {
	if l.beat == nil || !l.measured {
		return 0, false
	}
	return min(l.difference+l.beat.Uptime, l.latest), true
}

// fresh reports whether the run was heard, in this run of ours, within the expiry.
func (l *life) fresh(now, expiry time.Duration) bool {
	made, ok := l.made()
	return ok && l.heard && now-made < expiry
}

// succeeds reports whether l is a later run of the record of m.
func (l *life) succeeds(m *life) bool {
	return l.record != "" && l.record == m.record && l.run > m.run
}

// lives are those of all streams that are held or heard of.
type lives struct {
	byStream map[ident.Stream]*life
	byNode   map[ident.NodeID][]*life
	latest   map[lineOfRuns]uint64 // the highest run held
	changes  changes               // of marks
}

// lineOfRuns are the runs of a runtime under one record.
type lineOfRuns struct {
	runtime ident.Runtime
	record  string
}

func newLives() lives {
	return lives{byStream: map[ident.Stream]*life{}, byNode: map[ident.NodeID][]*life{}, latest: map[lineOfRuns]uint64{}, changes: newChanges()}
}

// of returns the life of a stream, a new one when it was not known.
func (ls *lives) of(s ident.Stream, now time.Duration) *life {
	l := ls.byStream[s]
	if l == nil {
		l = &life{stream: s, known: now}
		ls.byStream[s] = l
		ls.byNode[s.Node()] = append(ls.byNode[s.Node()], l)
	}
	return l
}

// begin takes in the first event of a stream that is held.
func (ls *lives) begin(e *event.Event, now time.Duration) {
	l := ls.of(e.Stream, now)
	l.held = true
	if e.Seq > 1 {
		return
	}
	l.begun = true
	if b, ok := e.Body.(event.StreamSucceeded); ok {
		l.record, l.run = b.Record, b.Run
		line := lineOfRuns{e.Stream.Runtime(), b.Record}
		ls.latest[line] = max(ls.latest[line], b.Run)
	}
}

// touch notes that the mark of a stream changed.
func (ls *lives) touch(s ident.Stream) {
	if ls.byStream[s] != nil {
		ls.changes.note(s)
	}
}

// remove takes out the life of a stream and returns it, nil when there is none.
func (ls *lives) remove(s ident.Stream) *life {
	l := ls.byStream[s]
	if l == nil {
		return nil
	}
	node := s.Node()
	delete(ls.byStream, s)
	ls.byNode[node] = slices.DeleteFunc(ls.byNode[node], func(m *life) bool { return m == l })
	if len(ls.byNode[node]) == 0 {
		delete(ls.byNode, node)
	}
	line := lineOfRuns{s.Runtime(), l.record}
	if l.record == "" || ls.latest[line] > l.run {
		return l
	}
	delete(ls.latest, line)
	for _, m := range ls.byNode[node] {
		if m.record == l.record && m.stream.Runtime() == line.runtime {
			ls.latest[line] = max(ls.latest[line], m.run)
		}
	}
	return l
}

// room reports whether a stream that is not known yet may enter, by the bounds on
// what others send. Of runs that are not held those count that were just heard:
// nobody keeps others out by the names of runs that never were. Runs that a later
// one succeeded do not count for their node. Of a batch all and ofNode are on
// their way in.
func (ls *lives) room(s ident.Stream, lim event.Limits, now time.Duration, all, ofNode int) bool {
	if ls.byStream[s] != nil {
		return true
	}
	for _, l := range ls.byNode[s.Node()] {
		if l.held && !ls.succeeded(l) || l.fresh(now, lim.Expiry) {
			ofNode++
		}
	}
	if ofNode >= lim.NodeStreams {
		return false
	}
	if len(ls.byStream)+all < lim.Streams {
		return true
	}
	for _, l := range ls.byStream {
		if l.held || l.fresh(now, lim.Expiry) {
			all++
		}
	}
	return all < lim.Streams
}

// trim forgets runs that are not held and were not heard for one expiry, the
// longest known first, while more are known than the bound.
func (ls *lives) trim(lim event.Limits, now time.Duration) {
	for len(ls.byStream) > lim.Streams {
		var oldest *life
		for _, l := range ls.byStream {
			if l.held || l.fresh(now, lim.Expiry) || oldest != nil && !l.before(oldest) {
				continue
			}
			oldest = l
		}
		if oldest == nil {
			return
		}
		ls.remove(oldest.stream)
		ls.changes.forget(oldest.stream)
	}
}

func (l *life) before(m *life) bool {
	return l.known < m.known || l.known == m.known && l.stream < m.stream
}

// succeeded reports whether a later run of l's record is held.
func (ls *lives) succeeded(l *life) bool {
	return l.record != "" && ls.latest[lineOfRuns{l.stream.Runtime(), l.record}] > l.run
}

// second reports whether a stream of our key is not written by us.
func (ls *lives) second(s ident.Stream) bool {
	l := ls.byStream[s]
	return l != nil && l.second
}
