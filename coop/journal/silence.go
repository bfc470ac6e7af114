package journal

import (
	"maps"
	"slices"
	"time"

	"github.com/comity-dev/comity/coop/ident"
)

// Since when runs are silent outlives restarts in local rows: else a machine that
// never returns would stay for as long as this one is restarted now and then. In one
// boot the boot-time clock tells, whatever the wall clock was set to meanwhile. Over a
// reboot the wall clock alone does; it is looked at once, when the journal is opened:
// one that jumps later gives nobody up.
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
		since, ok := j.silentSince(s)
		if !ok {
			continue
		}
		silent := j.clock.Now().Sub(time.Unix(since.at, 0))
		if since.in(j.clock.BootID()) {
			silent = j.started - since.boot
		}
		j.lives.of(s, j.started).silent = max(0, silent)
	}
}

// silentSince is what the row of a stream has.
func (j *Journal) silentSince(s ident.Stream) (moment, bool) {
	return parseMoment(j.rows.of(silentRowKind, string(s)))
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
// since, or the machine was started, so that the next run does not count that as silence.
func (j *Journal) silences(due func(ident.Stream) bool) []row {
	var all []row
	written := j.rows.values[silentRowKind]
	for _, s := range slices.Sorted(maps.Keys(j.lives.byStream)) {
		l, at := j.lives.byStream[s], written[string(s)]
		silent := j.silence(s)
		since := moment{j.clock.Now().Add(-silent).Unix(), j.clock.Boot() - silent, j.clock.BootID()}
		was, _ := j.silentSince(s)
		switch {
		case !l.held || s == j.own.stream:
		case due(s) && (at == nil || !since.near(was, time.Hour)):
			all = append(all, row{silentRowKind, string(s), since.encode()})
		case at != nil && l.heard && !due(s):
			all = append(all, row{silentRowKind, string(s), nil})
		}
	}
	for _, s := range slices.Sorted(maps.Keys(written)) {
		if j.heads[ident.Stream(s)] == nil && j.believed(ident.Stream(s).Node()) { // else a stranger's
			all = append(all, row{silentRowKind, s, nil})
		}
	}
	return all
}
