package journal

import (
	"time"

	"github.com/comity-dev/comity/coop/ident"
)

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

// Liveness judges a stream. Of an Unknown one it tells how long it can stay so
// when nothing more is heard.
//
// A stream is judged by the freshest beat of itself and of all runs that
// succeeded it. Its silence counts from the latest of: that beat; when this run
// first knew the stream; the start of this run; its wake from a gap of its own.
// Under one expiry of silence it is not Expired. Nothing that an earlier run
// heard makes it Live. It is Unknown while a run of its runtime beats whose first
// event is not held here, which may have ended or taken up what is its, and
// while the first exchange with that runtime is under way.
func (j *Journal) Liveness(s ident.Stream) (Liveness, time.Duration) {
	j.lock()
	defer j.unlock()
	return j.liveness(s)
}

func (j *Journal) liveness(s ident.Stream) (Liveness, time.Duration) {
	switch {
	case j.isOwn(s):
		return Own, 0
	case j.cfg.Judge != nil:
		return j.cfg.Judge(s)
	}
	now, expiry := j.clock.Boot(), j.cfg.Limits.Expiry
	runtime := s.Runtime()
	if j.joining[runtime] > 0 {
		return Unknown, expiry
	}
	since := max(j.started, j.ticks.wake(now, j.cfg.Limits.Heartbeat, expiry))
	l, live := j.lives.byStream[s], false
	if l != nil {
		since = max(since, l.known)
	}
	for _, m := range j.lives.byNode[runtime.Node] {
		if m.stream.Runtime() != runtime || m.second != (l != nil && l.second) {
			continue
		}
		made, told := m.made()
		switch {
		case !told:
		case !m.begun && m.fresh(now, expiry):
			return Unknown, made + expiry - now
		case m == l || l != nil && m.succeeds(l):
			since = max(since, made)
			live = live || m.fresh(now, expiry)
		}
	}
	switch {
	case live:
		return Live, 0
	case now-since < expiry:
		return Unknown, since + expiry - now
	}
	return Expired, 0
}

// isOwn takes all runs of this runtime for own while the journal is reloaded:
// which record goes on is known when all is read. A stream that counts under our
// record and that we did not write belongs to a copy of this state folder.
func (j *Journal) isOwn(s ident.Stream) bool {
	record := j.lineages.recordOf(s)
	switch {
	case s == j.own.stream:
		return true
	case record == "":
		return false
	case j.run.Record == "":
		return true
	}
	l := j.lives.byStream[s]
	return record == j.run.Record && l.run < j.run.Run && !l.second
}

// Joining notes that the first exchange with a runtime has begun; done, that it
// has ended, in whatever way. Until then its streams are Unknown: what it has to
// say of them is on its way. The caller bounds it in time.
func (j *Journal) Joining(r ident.Runtime) (done func()) {
	j.lock()
	defer j.unlock()
	j.joining[r]++
	over := false
	return func() {
		j.lock()
		defer j.unlock()
		if over {
			return
		}
		over = true
		if j.joining[r]--; j.joining[r] == 0 {
			delete(j.joining, r)
		}
	}
}
