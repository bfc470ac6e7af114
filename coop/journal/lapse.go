package journal

import (
	"time"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

// When this node last spoke outlives a restart in a local row.
const (
	spokeRowKey = "spoke"
	spokeEvery  = time.Hour
)

// nextStream ends the stream of this run: what is appended next begins a new run
// in a new one. What is numbered already goes its way.
func (j *Journal) nextStream() {
	j.own = numbering{stream: ident.NewStream(j.runtime.Node, j.runtime.ID, ident.NewInstance())}
	j.run.Run++
}

// lapse ends what this runtime had. It was away for so long that others may have
// dropped its streams, and with them what their own streams said of it: were it to
// come back as it was, they would find it standing. So it begins a new run, whose
// first event carries nothing on.
func (j *Journal) lapse() {
	if j.lapsed || !j.settled {
		return
	}
	j.lapsed = true
	if j.own.seq > 0 {
		j.nextStream()
	}
}

// stoodStill ends the run when the wall clock has jumped and a beat tells that it was
// right: the uptime of another machine, which nobody sets, went on for longer than the
// retention while ours did not. One expiry after the first such beat nobody ends it any
// more: who lives has spoken by then, and a jump says nothing of what comes later.
func (j *Journal) stoodStill(l *life, b *event.Beat, now time.Duration) {
	if j.ticks.doubt && l.measured {
		j.ticks.settle(now, j.cfg.Limits.Expiry)
	}
	if j.ticks.doubt && l.measured && l.difference-(now-b.Uptime) > j.cfg.Limits.StreamRetention {
		j.lapse()
	}
}

// spokenRow is when this node last said something to others; false when no row says.
func (j *Journal) spokenRow() (moment, bool) {
	return parseMoment(j.rows.of(runRowKind, spokeRowKey))
}

// wallSlack is how far a wall clock may be behind after a reboot, as by a time zone
// that another system on the machine goes by.
const wallSlack = 24 * time.Hour

// lapseOnReload ends what this runtime had after a restart: by what it last wrote, and
// by the row that says that it spoke. In the boot of that row the boot-time clock
// tells. In another boot there is the wall clock alone, and where that is behind what
// it was, nobody can tell for how long this node was away: then it was too long.
func (j *Journal) lapseOnReload() {
	j.notHeardBefore()
	j.spoke = j.wrote
	row, known := j.spokenRow()
	if known && (row.at > j.spoke || j.ahead(j.spoke)) { // else events were written since
		j.spoke = row.at
	}
	if j.spoke == 0 {
		return
	}
	retention, away := j.cfg.Limits.StreamRetention, j.clock.Now().Sub(time.Unix(j.spoke, 0))
	switch {
	case known && row.in(j.clock.BootID()):
		ran := j.clock.Boot() - row.boot
		j.ticks.doubt = away-ran > retention
		since := time.Unix(j.spoke, 0).Sub(time.Unix(row.at, 0)) // the row was written; 0 where nothing was
		away = min(ran, max(away, ran-since))                    // a wall that was set back hides no sleep
	case j.ahead(j.spoke):
		away = retention + 1
	}
	if away > retention {
		j.lapse()
	}
}

// ahead reports whether a time by the wall clock has not come yet.
func (j *Journal) ahead(at int64) bool { return time.Unix(at, 0).Sub(j.clock.Now()) > wallSlack }

// speaks notes that a beat is on its way to others.
func (j *Journal) speaks() {
	j.spoke, j.ticks.spoke = j.clock.Now().Unix(), max(j.clock.Boot(), 1)
}

// spokeRow is the row to be written, when an hour has passed since the last one, or it
// is of another boot or wall clock.
func (j *Journal) spokeRow() (row, bool) {
	last, known := j.spokenRow()
	now := moment{j.spoke, j.ticks.spoke, j.clock.BootID()}
	if now.boot == 0 || known && last.id == now.id && now.boot-last.boot < spokeEvery && time.Unix(now.at, 0).Sub(time.Unix(last.at, 0)).Abs() < spokeEvery {
		return row{}, false
	}
	return row{runRowKind, spokeRowKey, now.encode()}, true
}
