package journal

import (
	"slices"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/fold"
	"github.com/comity-dev/comity/coop/ident"
)

// A View is the journal at one moment, under its lock. It is void when the
// function that got it returns, and so is all that its methods give.
type View struct{ j *Journal }

// View calls f under the lock. f must be short and must not call the journal.
func (j *Journal) View(f func(View)) {
	j.lock()
	defer j.unlock()
	f(View{j})
}

// State is the fold of what is synced. It must not be changed.
func (v View) State() *fold.State { return v.j.state }

// Pending are the own events that are numbered and not yet synced, in order.
func (v View) Pending() []*event.Event { return slices.Clip(v.j.pending) }

// Runtime is the runtime whose journal it is.
func (v View) Runtime() ident.Runtime { return v.j.runtime }

// Clock is the highest stamp seen or given out.
func (v View) Clock() uint64 { return v.j.stamp }

// Local is the synced value of a local row; nil when there is none.
func (v View) Local(kind, key string) []byte { return v.j.rows[kind][key] }

// Liveness judges a stream.
func (v View) Liveness(s ident.Stream) Liveness { return v.j.liveness(s) }

// Liveness is what is known of the life of the run behind a stream.
type Liveness uint8

// The verdicts.
const (
	// Expired: nothing was heard for longer than the expiry.
	Expired Liveness = iota
	// Unknown: too little time to tell. Admission takes it for live.
	Unknown
	// Live: its runtime was heard.
	Live
	// Own: this run's stream, and those of earlier runs under the same run record.
	Own
)

func (l Liveness) String() string {
	switch l {
	case Own:
		return "own"
	case Live:
		return "live"
	case Unknown:
		return "unknown"
	}
	return "expired"
}

// liveness takes all runs of this runtime for own while the journal is reloaded:
// which record goes on is known when all is read.
func (j *Journal) liveness(s ident.Stream) Liveness {
	record := j.lineages.recordOf(s)
	switch {
	case s == j.own.stream || record != "" && (record == j.run.Record || j.run.Record == ""):
		return Own
	case j.cfg.Beats != nil:
		return j.cfg.Beats(s)
	}
	return Expired
}
