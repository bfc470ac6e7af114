package journal

import (
	"strconv"
	"time"

	"github.com/comity-dev/comity/coop/ident"
)

// Since when runs are silent outlives restarts in local rows, by this
// machine's wall clock: else a machine that never returns would stay for as long
// as this one is restarted now and then.
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
	if l.heard || !l.held { // rows are of what is held: one left is of before it was dropped
		return silent
	}
	if at, err := strconv.ParseInt(string(j.rows.of(silentRowKind, string(s))), 10, 64); err == nil {
		silent = max(silent, j.clock.Now().Sub(time.Unix(at, 0)))
	}
	return silent
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
// ones too, or were heard again or dropped.
func (j *Journal) silences(due func(ident.Stream) bool) []row {
	var all []row
	written := j.rows.values[silentRowKind]
	for s, l := range j.lives.byStream {
		at := written[string(s)]
		switch {
		case !l.held || s == j.own.stream:
		case at == nil && due(s):
			since := j.clock.Now().Add(-j.silence(s)).Unix()
			all = append(all, row{silentRowKind, string(s), strconv.AppendInt(nil, since, 10)})
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
