package journal

import (
	"strconv"
	"time"

	"github.com/comity-dev/comity/coop/ident"
)

// When this node last spoke outlives a restart in a local row, in Unix seconds.
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

// lapseOnReload does so after a restart: by what this node last wrote, and by the
// row that says that it spoke.
func (j *Journal) lapseOnReload() {
	if at, err := strconv.ParseInt(string(j.rows.of(runRowKind, spokeRowKey)), 10, 64); err == nil {
		j.spoke = max(j.spoke, at)
	}
	if j.spoke > 0 && j.clock.Now().Sub(time.Unix(j.spoke, 0)) > j.cfg.Limits.StreamRetention {
		j.lapse()
	}
}

// speaks notes that a beat is on its way to others.
func (j *Journal) speaks() { j.spoke = max(j.spoke, j.clock.Now().Unix()) }

// spokeRow is the row to be written, when an hour has passed since the last one.
func (j *Journal) spokeRow() (row, bool) {
	at, err := strconv.ParseInt(string(j.rows.of(runRowKind, spokeRowKey)), 10, 64)
	if j.spoke == 0 || err == nil && j.spoke-at < int64(spokeEvery.Seconds()) {
		return row{}, false
	}
	return row{runRowKind, spokeRowKey, strconv.AppendInt(nil, j.spoke, 10)}, true
}
