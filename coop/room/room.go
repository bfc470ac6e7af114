// Package room runs one repository's cooperation on one machine: it is where
// every operation on sessions, claims, handovers and reviews is decided, in the
// words of package api.
//
// There is one Room for each repository and one lock in it: the journal's. What
// is decided (may this session have that scope?), numbered and stamped is one
// critical section; only the sync of the disk is waited for outside it. What is
// written and not yet synced counts in every decision, so two callers can never
// both win; it is shown to nobody else until it is on disk.
//
// The room does no I/O of its own: git, processes and files are reached through
// the small interfaces declared here, and everything durable is the journal's.
// It starts no goroutine; its owner runs [Room.Run].
package room

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/fold"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/journal"
	"github.com/comity-dev/comity/internal/clock"
)

// Processes tells the room of the processes that sessions live with.
type Processes interface {
	// Alive tells whether p still runs. It is asked when a journal is opened.
	Alive(p Process) bool
	// Watch calls ended once, on a goroutine of its own, when p is gone, also
	// when it was gone already. stop ends the watch; it may be called twice.
	Watch(p Process, ended func()) (stop func())
}

// A Process is one run of a program on this machine: a pid, the stamp of its
// start and the id of the boot it runs in.
type Process struct {
	PID   int    `json:"pid"`
	Start string `json:"start"`
	Boot  string `json:"boot"`
}

// Config says what a room needs. Journal's Observe, Keep, Recall, Left, Continue and
// Judge are set by Open.
type Config struct {
	Journal   journal.Config
	Clock     clock.Clock // nil: the system's
	Processes Processes
	// Liveness judges the streams of others, and tells how long one that is
	// Unknown can stay so before it is Expired. It is called under the journal's
	// lock. Nil leaves it to the journal, which goes by the beats that it hears.
	Liveness func(ident.Stream) (journal.Liveness, time.Duration)
	// Gap is the time left in which this runtime answers no claim, because it
	// was silent for longer than its peers wait: they are asked first, for one expiry
	// at most from [journal.Journal.Returned] on. Nil means never.
	Gap func() time.Duration
	// Open opens the journal; nil means journal.Open.
	Open func(context.Context, journal.Config) (*journal.Journal, error)
}

// A Room is one repository's cooperation. Its methods may be called from any
// number of goroutines.
type Room struct {
	cfg     Config
	clock   clock.Clock
	runtime ident.Runtime
	journal *journal.Journal

	// Guarded by the journal's lock: read and written only inside its View,
	// Decide, Observe, Keep and Recall.
	owners    map[string]*owner      // by session, own open sessions
	standings map[event.Key]standing // last known, own live claims
	notices   map[string]*noticeList // by session, own open sessions
	hooks     map[string]*hooked     // by session, those whose hooks called in this run
	losses    map[string][]loss      // by session, own open sessions
	ended     map[string][]event.Key // claims that have ended, by session, own open sessions
	ages      ages
	names     names
	waits     []*wait     // in the order in which they came
	fenced    []event.Key // own claims that a fence ended and whose release is not written yet
	spent     []string    // local rows of auto-claims that have ended
	others    bool        // another runtime, or another user of this key, is known
	opened    bool        // what the disk has is read

	expired map[ident.Stream]bool // streams of others that were judged so at the last heartbeat
	moved   bool                  // what stands has to be looked at: streams have left, or this run began by an image
	upkept  upkept

	ticked atomic.Int64 // boot time of the last tick, 0 before the first
	walled atomic.Int64 // wall time of the last tick, in Unix seconds
	full   atomic.Bool  // the disk took no claim, and none since

	exits  chan string   // sessions whose process is gone
	nudge  chan struct{} // something may be due
	closed chan struct{}
}

// maxExits bounds the queue of ended processes; a watcher waits for a place.
const maxExits = 64

// Open opens the journal and takes up the sessions of earlier runs: those whose
// process still lives go on, the others are closed with the reason before Open
// returns. A time to live begins anew: the time that the daemon was away is not
// known.
func Open(ctx context.Context, cfg Config) (*Room, error) {
	if cfg.Clock == nil {
		cfg.Clock = clock.System()
	}
	if cfg.Open == nil {
		cfg.Open = journal.Open
	}
	r := newRoom(cfg)
	cfg.Journal.Observe = r.observe
	cfg.Journal.Keep = r.keep
	cfg.Journal.Recall = r.recall
	cfg.Journal.Left = r.left
	cfg.Journal.Continue = func(v journal.View) []string { return r.living(v) }
	cfg.Journal.Judge = cfg.Liveness
	j, err := cfg.Open(ctx, cfg.Journal)
	if err != nil {
		return nil, err
	}
	r.journal = j
	peers := len(j.Peers()) > 0 || len(j.Health().SecondUsers) > 0
	r.view(func(look) { r.opened, r.others = true, r.others || peers })
	r.upkept.due = r.clock.Boot() + compactBeats*r.limits().Heartbeat
	r.resume(ctx)
	return r, nil
}

func newRoom(cfg Config) *Room {
	return &Room{
		cfg:       cfg,
		clock:     cfg.Clock,
		runtime:   ident.Runtime{Node: cfg.Journal.Key.Node(), ID: cfg.Journal.Key.Runtime(cfg.Journal.Repo)},
		owners:    map[string]*owner{},
		standings: map[event.Key]standing{},
		notices:   map[string]*noticeList{},
		hooks:     map[string]*hooked{},
		losses:    map[string][]loss{},
		ended:     map[string][]event.Key{},
		ages:      newAges(cfg.Clock),
		names:     newNames(),
		exits:     make(chan string, maxExits),
		nudge:     make(chan struct{}, 1),
		closed:    make(chan struct{}),
	}
}

// Close ends every watch and every wait and closes the journal. Sessions stay
// open: the next run takes them up. It is called once, after Run has returned.
func (r *Room) Close(ctx context.Context) error {
	close(r.closed)
	r.view(func(look) {
		for _, o := range r.owners {
			o.unwatch()
		}
	})
	return r.journal.Close(ctx)
}

// Repository is the repository that the room is for.
func (r *Room) Repository() ident.RepositoryID { return r.cfg.Journal.Repo }

// Incarnation names the journal's log: another name is another log.
func (r *Room) Incarnation() string { return r.journal.Incarnation() }

// Busy tells whether somebody is here: an open session of this machine or a
// waiting claim.
func (r *Room) Busy() (busy bool) {
	r.view(func(look) { busy = len(r.owners) > 0 || len(r.waits) > 0 })
	return busy
}

// Broken returns why the journal takes no writes any more and must be opened
// again, or nil.
func (r *Room) Broken() error { return r.journal.Broken() }

// view runs f under the lock.
func (r *Room) view(f func(v look)) {
	r.journal.View(func(v journal.View) { f(v) })
}

// look is what decisions and views see: the folded state, what is written and
// not yet synced, and the liveness of streams.
type look interface {
	State() *fold.State
	Pending() []*event.Event
	Liveness(ident.Stream) journal.Liveness
	Left(ident.Stream) time.Duration
	Local(kind, key string) []byte
}

// gone is the argument of fold.State.Standing: which streams are judged
// expired. It is nil, which is much faster, while nobody else is known.
func (r *Room) gone(v look) func(ident.Stream) bool {
	if !r.others {
		return nil
	}
	return func(s ident.Stream) bool { return v.Liveness(s) == journal.Expired }
}

func (r *Room) id(sid string) ident.SessionID {
	return ident.SessionID{Runtime: r.runtime, SID: sid}
}

func (r *Room) own(id ident.SessionID) bool { return id.Runtime == r.runtime }

// errUnchanged leaves a Decide that has nothing to write.
var errUnchanged = errors.New("nothing to write")

// decide runs one critical section. Nothing was written when f returns an
// error; errUnchanged is none to the caller. When the disk fails, what was
// pending is no more, and whoever waited for it may try again.
func (r *Room) decide(ctx context.Context, f func(tx *journal.Tx) error) ([]journal.Appended, error) {
	r.lookForGap(ctx)
	done, err := r.journal.Decide(ctx, f)
	var failed *journal.FailedError
	switch {
	case err == nil:
		r.noteRoom(done)
		return done, nil
	case errors.Is(err, errUnchanged):
		return nil, nil
	case errors.Is(err, journal.ErrNoSpace):
		r.full.Store(true)
	}
	if errors.As(err, &failed) {
		r.view(func(look) { r.wakeAll() })
	}
	return nil, failure(err)
}
