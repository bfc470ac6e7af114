package room

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/fold"
	"github.com/comity-dev/comity/coop/journal"
)

// What a session lives by. Nothing else ends it but its close: silence is no
// sign of death.
const (
	ownerProcess  = "process"  // until the process ends
	ownerTerminal = "terminal" // until the terminal's leading process ends
	ownerTTL      = "ttl"      // for a time after its last command
)

// DefaultTTL is the time that a session without a process lives after its last
// command, and MaxTTL the longest that may be asked for.
const (
	DefaultTTL = 12 * time.Hour
	MaxTTL     = 30 * 24 * time.Hour
)

// rowOwner is the kind of the journal's local rows that hold owners, so that
// they outlive the daemon; rowTold holds the last notice a session was told.
const (
	rowOwner = "owner"
	rowTold  = "told"
)

// An owner is what an own open session lives by. It is local: other machines
// never hear of it.
type owner struct {
	Kind     string        `json:"kind"`
	Process  Process       `json:"process,omitzero"`
	TTL      time.Duration `json:"ttl,omitempty"` // nanoseconds
	Worktree string        `json:"worktree,omitempty"`

	last   time.Duration // boot time of its last command in this run
	unhook func()        // ends the watch of its process
}

func (o *owner) unwatch() {
	if o.unhook != nil {
		o.unhook()
	}
}

func (o *owner) row() []byte {
	b, err := json.Marshal(o)
	if err != nil {
		panic(err) // unreachable unless owner gains a field that JSON cannot hold
	}
	return b
}

// A departure is a session that has to be closed, and why.
type departure struct{ sid, reason string }

// stock is what takeStock looks at: a View or a Tx of the journal.
type stock interface {
	State() *fold.State
	Local(kind, key string) []byte
}

// takeStock is asked by the journal before the first append of a run: which
// sessions of earlier runs still live. The oldest that do nothing come first,
// since those are left behind when there are too many.
func (r *Room) takeStock(v stock) (living []string, gone []departure) {
	var open []fold.Session
	for s := range v.State().Sessions() {
		if s.State == fold.SessionOpen && r.own(s.ID) {
			open = append(open, s)
		}
	}
	slices.SortStableFunc(open, func(a, b fold.Session) int {
		return cmp.Or(cmp.Compare(min(a.Claims, 1), min(b.Claims, 1)), cmp.Compare(a.OpenedAt, b.OpenedAt))
	})
	for _, s := range open {
		o := ownerIn(v, s.ID.SID)
		switch {
		case o == nil:
			gone = append(gone, departure{s.ID.SID, "owner_unknown"})
		case o.Kind != ownerTTL && !r.cfg.Processes.Alive(o.Process):
			gone = append(gone, departure{s.ID.SID, "process_ended"})
		default:
			living = append(living, s.ID.SID)
		}
	}
	return living, gone
}

// adopt begins to watch over an own open session. The caller holds the lock.
func (r *Room) adopt(sid string, o *owner) {
	if old := r.owners[sid]; old != nil {
		old.unwatch()
	}
	o.last = r.clock.Boot()
	r.owners[sid] = o
	if o.Kind != ownerTTL {
		o.unhook = r.cfg.Processes.Watch(o.Process, func() {
			select {
			case r.ended <- sid:
			case <-r.closed:
			}
		})
	}
	r.poke()
}

// forget stops watching over a session that is no longer open.
func (r *Room) forget(sid string) {
	if o := r.owners[sid]; o != nil {
		o.unwatch()
	}
	delete(r.owners, sid)
	delete(r.notices, sid)
	delete(r.seen, sid)
}

// touch renews the time to live of a session: it has just given a command.
func (r *Room) touch(sid string) {
	if o := r.owners[sid]; o != nil {
		o.last = r.clock.Boot()
	}
}

func (r *Room) poke() {
	select {
	case r.nudge <- struct{}{}:
	default:
	}
}

// idle is the longest that Run sleeps when no time to live is near.
const idle = time.Hour

// nextDeparture is the time until the next session's time to live is over.
func (r *Room) nextDeparture() time.Duration {
	next := idle
	r.view(func(look) {
		for _, o := range r.owners {
			if o.Kind == ownerTTL {
				next = min(next, o.last+o.TTL-r.clock.Boot())
			}
		}
	})
	return max(next, 0)
}

func (r *Room) closeExpired(ctx context.Context) {
	var over []string
	r.view(func(look) {
		for sid, o := range r.owners {
			if o.Kind == ownerTTL && o.last+o.TTL <= r.clock.Boot() {
				over = append(over, sid)
			}
		}
	})
	for _, sid := range over {
		r.depart(ctx, departure{sid, "time_to_live_over"})
	}
}

// depart closes a session for the reason given, unless it is closed or has come
// back to life. A refusal of the disk leaves it to the next tick, through its
// time to live.
func (r *Room) depart(ctx context.Context, d departure) {
	_, err := r.decide(ctx, func(tx *journal.Tx) error {
		if !r.isOpen(tx, d.sid) {
			return errUnchanged
		}
		if o := r.owners[d.sid]; o != nil && d.reason == "process_ended" && o.Kind != ownerTTL && r.cfg.Processes.Alive(o.Process) {
			return errUnchanged // it was handed to another process meanwhile
		}
		return r.writeClose(tx, d)
	})
	if err != nil {
		r.view(func(look) {
			if o := r.owners[d.sid]; o != nil {
				o.Kind, o.TTL, o.last = ownerTTL, retryClose, r.clock.Boot()
			}
		})
	}
}

// retryClose is when a close that the disk refused is tried again.
const retryClose = 5 * time.Second

func (r *Room) writeClose(tx *journal.Tx, d departure) error {
	tx.Reserve()
	if _, err := tx.Append(event.SessionClosed{Session: d.sid, Reason: d.reason}); err != nil {
		return err
	}
	tx.PutLocal(rowOwner, d.sid, nil)
	tx.PutLocal(rowTold, d.sid, nil)
	return nil
}

// resume ends what earlier runs left and takes up what lives on. When there is
// anything to take up or to end, the run's first events are written now, so
// that a reader of the journal need not guess. A disk that takes no writes is no
// reason to stay away: the journal is read, and says what is wrong.
func (r *Room) resume(ctx context.Context) error {
	_, err := r.decide(ctx, func(tx *journal.Tx) error {
		living, gone := r.takeStock(tx)
		for _, sid := range living {
			r.adopt(sid, ownerIn(tx, sid))
			if l := r.notices[sid]; l != nil {
				l.told = toldIn(tx.Local(rowTold, sid)) // the row came behind the events
			}
		}
		maps.DeleteFunc(r.notices, func(sid string, _ *noticeList) bool { return !slices.Contains(living, sid) })
		if len(living)+len(gone) == 0 {
			return errUnchanged
		}
		if err := tx.Begin(); err != nil { // names the living, who go on
			return err
		}
		for _, d := range gone {
			if err := r.writeClose(tx, d); err != nil {
				return err
			}
		}
		return nil
	})
	var e *api.Error
	if errors.As(err, &e) {
		return nil // of the disk: every later write says so too
	}
	return err
}

// ownerIn reads a stored owner. One that this build cannot read counts as none:
// its session is closed, and says so.
func ownerIn(v stock, sid string) *owner {
	o := new(owner)
	if row := v.Local(rowOwner, sid); row == nil || json.Unmarshal(row, o) != nil {
		return nil
	}
	return o
}
