package room

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/journal"
)

// compactBeats is how many heartbeats lie between two compactions.
const compactBeats = 60

// upkept tells of what Run does for the journal.
type upkept struct {
	due time.Duration // boot time of the next compaction; Run's alone

	failed error         // of the last time, nil when that went well
	at     time.Duration // boot time of it
}

// compact has the journal drop what nobody needs, when a time for that has come. The
// journal does nothing while nothing is over its trigger. A disk that is full or takes
// no writes is left alone: a compaction needs room before it makes any.
func (r *Room) compact(ctx context.Context) {
	if r.clock.Boot() < r.upkept.due {
		return
	}
	if r.diskTakes() {
		_, err := r.journal.Compact(ctx, journal.Policy{})
		r.noteUpkeep(err)
	}
	r.upkept.due = r.clock.Boot() + compactBeats*r.limits().Heartbeat
}

// diskTakes tells that upkeep may write: the disk is not known to be full, and the
// journal takes writes.
func (r *Room) diskTakes() bool { return !r.full.Load() && r.journal.Broken() == nil }

// noteUpkeep remembers a failure for the doctor: it is nobody else's.
func (r *Room) noteUpkeep(err error) {
	if errors.Is(err, context.Canceled) || errors.Is(err, journal.ErrClosed) {
		return
	}
	if errors.Is(err, journal.ErrNoSpace) {
		r.full.Store(true)
	}
	r.view(func(look) { r.upkept.failed, r.upkept.at = err, r.clock.Boot() })
}

// noteRoom notes that the disk has room again once it takes what the reserve is not
// for.
func (r *Room) noteRoom(done []journal.Appended) {
	if r.full.Load() && slices.ContainsFunc(done, takesRoom) {
		r.full.Store(false)
	}
}

func takesRoom(d journal.Appended) bool {
	switch d.Event.Body.(type) {
	case event.ClaimReleased, event.SessionClosed, event.ReviewClosed:
		return false
	}
	return true
}
