package room

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/comity-dev/comity/api"
)

// What a session lives by. Nothing else ends it but its close: silence is no
// sign of death.
const (
	ownerProcess  = "process"  // until the process ends
	ownerTerminal = "terminal" // until the terminal's leading process ends
	ownerAgent    = "agent"    // until the agent's process ends
	ownerTTL      = "ttl"      // for a time after its last command
)

// DefaultTTL is the time that a session without a process lives after its last
// command, and MaxTTL the longest that may be asked for. It is counted on the
// boot-time clock, also while the machine sleeps.
const (
	DefaultTTL = 12 * time.Hour
	MaxTTL     = 30 * 24 * time.Hour
)

// Reasons of closes that nobody asked for.
const (
	reasonProcess = "process_ended"
	reasonTTL     = "time_to_live_over"
	reasonUnknown = "owner_unknown"
	reasonMany    = "too_many_sessions"
	reasonAway    = "away_too_long"
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

	Conversation string `json:"conversation,omitempty"` // of an agent, as its client names it
	Hooks        bool   `json:"hooks,omitempty"`        // its client's hooks were seen
	Before       bool   `json:"before,omitempty"`       // also those before a tool runs, which can stop it

	last    time.Duration // boot time of its last command in this run
	closing string        // why it has ended; its close is not written yet
	retry   time.Duration // boot time at which that is tried again
	unhook  func()        // ends the watch of its process
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

func (o *owner) String() string {
	switch o.Kind {
	case ownerTTL:
		return fmt.Sprintf("time to live %s", o.TTL)
	case ownerTerminal:
		return fmt.Sprintf("terminal of process %d", o.Process.PID)
	}
	return fmt.Sprintf("process %d", o.Process.PID)
}

// ownerIn reads a stored owner. One that this build cannot read counts as none:
// its session is closed, and says so.
func ownerIn(v look, sid string) *owner {
	o := new(owner)
	if row := v.Local(rowOwner, sid); row == nil || json.Unmarshal(row, o) != nil {
		return nil
	}
	return o
}

// adopt begins to watch over an own open session. undo takes it back, for when
// what said so could not be written. The caller holds the lock, for both.
func (r *Room) adopt(sid string, o *owner) (undo func()) {
	prev := r.owners[sid]
	r.watch(sid, prev, o)
	o.last = r.clock.Boot()
	return func() {
		switch {
		case r.owners[sid] != o:
		case prev == nil:
			r.forget(sid)
		default:
			r.watch(sid, o, prev)
		}
	}
}

func (r *Room) watch(sid string, prev, o *owner) {
	if prev != nil {
		prev.unwatch()
	}
	r.owners[sid] = o
	if o.Kind != ownerTTL {
		o.unhook = r.cfg.Processes.Watch(o.Process, func() {
			select {
			case r.exits <- sid:
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
	delete(r.hooks, sid)
}

// touch renews the time to live of a session: it has just given a command. One
// that is over stays so.
func (r *Room) touch(sid string) {
	if o := r.owners[sid]; o != nil && r.over(sid, o) == "" {
		o.last = r.clock.Boot()
	}
}

func (r *Room) dead(o *owner) bool { return o.Kind != ownerTTL && !r.cfg.Processes.Alive(o.Process) }

// over is why a session has ended though its close is not written yet; "" while
// it lives. A command that waits keeps its session alive.
func (r *Room) over(sid string, o *owner) string {
	switch {
	case o.closing != "":
		return o.closing
	case o.Kind == ownerTTL && o.last+o.TTL <= r.clock.Boot() && !r.waiting(sid):
		return reasonTTL
	}
	return ""
}

// overOrDead is over, and looks at the process too: whose watch may not have
// told yet.
func (r *Room) overOrDead(sid string) string {
	o := r.owners[sid]
	switch {
	case o == nil:
		return ""
	case o.closing == "" && r.dead(o):
		return reasonProcess
	}
	return r.over(sid, o)
}

// succeed says what a session that is open under have lives by when it is opened
// again. A session lives with one process: while that runs, neither another
// process nor a time to live takes its place, or two agents would be one
// session. Whoever names no owner leaves it as it is.
func (r *Room) succeed(sid string, have, o *owner, named bool) (*owner, error) {
	switch {
	case have == nil, named && have.Kind == ownerTTL, named && o.Kind != ownerTTL && o.Process == have.Process:
		return o, nil
	case !named:
		kept := *have
		kept.Worktree, kept.unhook = o.Worktree, nil
		return &kept, nil
	}
	return nil, api.Errorf(api.CodeNotOwn, "session %s lives with process %d, which still runs", sid, have.Process.PID).
		WithHint("take another name, or end it first: comity session close --session %s", sid)
}
