package room

import (
	"context"
	"maps"
	"time"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/journal"
)

func (r *Room) limits() event.Limits { return r.cfg.Journal.Limits.WithDefaults() }

// nextBeat is the boot time of the next heartbeat: now, before the first.
func (r *Room) nextBeat() time.Duration {
	last := time.Duration(r.ticked.Load())
	if last == 0 {
		return 0
	}
	return last + r.limits().Heartbeat
}

// beat does every heartbeat what has to be done as long as others are known: it
// ticks, and looks who lives. There are none before another machine is known, so
// that one which is alone stays asleep; nothing depends on them then. Once there
// are they do not stop, as the journal would take that for a gap.
func (r *Room) beat(ctx context.Context) {
	known := r.ticked.Load() != 0
	if !known {
		r.view(func(look) { known = r.others })
	}
	if !known || r.clock.Boot() < r.nextBeat() {
		return
	}
	r.tick(ctx)
	if r.diskTakes() {
		r.noteUpkeep(r.journal.SaveBeats(ctx))
	}
}

// lookForGap ticks when heartbeats have been missing: this process did not run, and
// a command comes before the next one. The boot-time clock tells of a stopped process
// and of a machine that slept; of a virtual machine that was paused the wall clock alone.
func (r *Room) lookForGap(ctx context.Context) {
	last, most := time.Duration(r.ticked.Load()), 2*r.limits().Heartbeat
	if last != 0 && (r.clock.Boot()-last > most || r.clock.Now().Sub(time.Unix(r.walled.Load(), 0)) > most) {
		r.tick(ctx)
	}
}

// tick has the journal look for a gap. When its run has ended, because it was away
// for too long or somebody else writes under its name, the next one begins now:
// what does not go on in it has ended before anybody is answered.
func (r *Room) tick(ctx context.Context) {
	r.walled.Store(r.clock.Now().Unix())
	r.ticked.Store(int64(max(r.clock.Boot(), 1)))
	r.journal.Tick()
	if r.journal.Stream() == "" {
		_, _ = r.decide(ctx, func(tx *journal.Tx) error { // what the disk refuses is tried again
			if len(r.owners) == 0 {
				return errUnchanged
			}
			return tx.Begin()
		})
	}
	r.journal.View(r.lookWhoLives)
}

// lookWhoLives finds the streams of others that have expired, or live again, since
// the last heartbeat: no event tells of that. Then what stands is judged anew.
func (r *Room) lookWhoLives(v journal.View) {
	expired := map[ident.Stream]bool{}
	for s := range v.State().Streams() {
		if v.Liveness(s.Stream) == journal.Expired {
			expired[s.Stream] = true
		}
	}
	if maps.Equal(expired, r.expired) {
		return
	}
	r.expired = expired
	r.restand(v)
}
