package journal

import (
	"strconv"
	"time"

	"github.com/comity-dev/comity/coop/ident"
)

// Since when runs are silent outlives restarts in local rows, by this
// machine's wall clock: else a machine that never returns would stay for as long
// as this one is restarted now and then. The wall clock is looked at once, when the
// journal is opened: one that jumps later gives nobody up.
const silentRowKind = "silent"

// silence is how long a run was not heard, as far as is known here.
func (j *Journal) silence(s ident.Stream) time.Duration {
	l := j.lives.byStream[s]
	if l == nil {
		return 0
	}
	since := l.known
	if made, ok := l.made(); ok {
		since = max(since, made)
	}
	silent := j.clock.Boot() - since
	if l.heard || !l.held || l.silent == 0 {
		return silent
	}
	return max(silent, l.silent+j.clock.Boot()-j.started)
}

// notHeardBefore takes up the rows when the journal is opened.
func (j *Journal) notHeardBefore() {
	for s := range j.heads { // rows are of what is held: one left is of before it was dropped
		if at, ok := j.silentSince(s); ok {
			j.lives.of(s, j.started).silent = max(0, j.clock.Now().Sub(at))
		}
	}
}

// silentSince is what the row of a stream has.
func (j *Journal) silentSince(s ident.Stream) (time.Time, bool) {
	at, err := strconv.ParseInt(string(j.rows.of(silentRowKind, string(s))), 10, 64)
	return time.Unix(at, 0), err == nil
}

// absence is how long nothing was heard of a run nor of any that succeeded it.
func (j *Journal) absence(s ident.Stream) time.Duration {
	silent, l := j.silence(s), j.lives.byStream[s]
	if l == nil {
		return silent
	}
	for _, m := range j.lives.byNode[s.Node()] {
		if m.stream.Runtime() == s.Runtime() && m.succeeds(l) {
			silent = min(silent, j.silence(m.stream))
		}
	}
	return silent
}

// silences are the rows to be written: of runs that fell silent, our own earlier
// ones too, or were heard again or dropped; and anew where the wall clock was set
// since, so that the next run does not count that as silence.
func (j *Journal) silences(due func(ident.Stream) bool) []row {
	var all []row
	written := j.rows.values[silentRowKind]
	for s, l := range j.lives.byStream {
		at := written[string(s)]
		since := j.clock.Now().Add(-j.silence(s))
		was, _ := j.silentSince(s)
		switch {
		case !l.held || s == j.own.stream:
		case due(s) && (at == nil || since.Sub(was).Abs() > time.Hour):
			all = append(all, row{silentRowKind, string(s), strconv.AppendInt(nil, since.Unix(), 10)})
		case at != nil && l.heard && !due(s):
			all = append(all, row{silentRowKind, string(s), nil})
		}
	}
	for s := range written {
		if j.heads[ident.Stream(s)] == nil && j.believed(ident.Stream(s).Node()) { // else a stranger's
			all = append(all, row{silentRowKind, s, nil})
		}
	}
	return all
}
