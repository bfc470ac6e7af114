package room

import (
	"time"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/fold"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/internal/clock"
)

// ages know since when what stands has stood, by the boot-time clock, so that
// a wall clock that is set makes nothing older or younger. What an earlier run
// saw gets the age that its stamp has when this run first reads it; a stamp in
// the future is age zero.
type ages struct {
	clock    clock.Clock
	sessions map[ident.SessionID]time.Duration // boot time
	claims   map[event.Key]time.Duration
}

func newAges(c clock.Clock) ages {
	return ages{c, map[ident.SessionID]time.Duration{}, map[event.Key]time.Duration{}}
}

// since is the boot time at which something began: now, or when it was read
// back from disk, as long ago as its stamp says.
func (a *ages) since(at int64, reloaded bool) time.Duration {
	if !reloaded {
		return a.clock.Boot()
	}
	return a.clock.Boot() - a.wall(at)
}

// open notes since when a session is open. While the disk is read the latest word
// of its opening counts: one may be heard after what came later. A session whose
// opening is lost has no age.
func (a *ages) open(s fold.Session, reloaded, reading bool) {
	switch _, known := a.sessions[s.ID]; {
	case s.OpenedAt == 0:
		delete(a.sessions, s.ID)
	case !known || reading:
		a.sessions[s.ID] = a.since(s.OpenedAt, reloaded)
	}
}

// wall is the distance of the wall clock from a stamp, never negative.
func (a *ages) wall(at int64) time.Duration {
	return max(0, time.Duration(a.clock.Now().Unix()-at)*time.Second)
}

// wallMS is the age of what has ended or is only shown.
func (a *ages) wallMS(at int64) int64 { return a.wall(at).Milliseconds() }

func (a *ages) session(id ident.SessionID, at int64) int64 {
	if since, ok := a.sessions[id]; ok {
		return (a.clock.Boot() - since).Milliseconds()
	}
	return a.wallMS(at)
}

func (a *ages) claim(k event.Key, at int64) int64 {
	if since, ok := a.claims[k]; ok {
		return (a.clock.Boot() - since).Milliseconds()
	}
	return a.wallMS(at)
}
