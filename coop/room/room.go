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
	"fmt"
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

// Config says what a room needs. Journal's Observe and Continue are set by
// Open.
type Config struct {
	Journal   journal.Config
	Clock     clock.Clock // nil: the system's
	Processes Processes
	// Liveness judges the streams of others; nil means the journal does. Own
	// streams are judged by the journal always.
	Liveness func(ident.Stream) journal.Liveness
	// Gap is the time left in which this runtime answers no claim, because it
	// was silent for longer than its peers wait; nil means never.
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
	// Decide and Observe.
	owners    map[string]*owner        // by session, own open sessions
	standings map[event.Key]standing   // last known, own unreleased claims
	notices   map[string]*noticeList   // by session, own open sessions
	seen      map[string]time.Duration // boot time at which a claim or session was first seen in this run
	waits     []*wait                  // in the order in which they came

	ended  chan string   // sessions whose process is gone
	nudge  chan struct{} // a time to live may have changed
	closed chan struct{}
}

// maxEnded bounds the queue of ended processes; a watcher waits for a place.
const maxEnded = 64

// Open opens the journal and takes up the sessions of earlier runs: those whose
// process still lives go on, the others are closed with the reason before Open
// returns.
func Open(ctx context.Context, cfg Config) (*Room, error) {
	if cfg.Clock == nil {
		cfg.Clock = clock.System()
	}
	if cfg.Open == nil {
		cfg.Open = journal.Open
	}
	r := &Room{
		cfg:       cfg,
		clock:     cfg.Clock,
		runtime:   ident.Runtime{Node: cfg.Journal.Key.Node(), ID: cfg.Journal.Key.Runtime(cfg.Journal.Repo)},
		owners:    map[string]*owner{},
		standings: map[event.Key]standing{},
		notices:   map[string]*noticeList{},
		seen:      map[string]time.Duration{},
		ended:     make(chan string, maxEnded),
		nudge:     make(chan struct{}, 1),
		closed:    make(chan struct{}),
	}
	cfg.Journal.Observe = r.observe
	cfg.Journal.Continue = func(v journal.View) []string {
		living, _ := r.takeStock(v)
		return living
	}
	j, err := cfg.Open(ctx, cfg.Journal)
	if err != nil {
		return nil, err
	}
	r.journal = j
	if err := r.resume(ctx); err != nil {
		j.Close(ctx)
		return nil, err
	}
	return r, nil
}

// Run closes sessions whose process has ended or whose time to live is over,
// until ctx ends; then it returns nil. A close that the disk refuses is tried
// again with the next tick.
func (r *Room) Run(ctx context.Context) error {
	for {
		wait := r.nextDeparture()
		timer := r.clock.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case sid := <-r.ended:
			timer.Stop()
			r.depart(ctx, departure{sid, "process_ended"})
		case <-r.nudge:
			timer.Stop()
		case <-timer.C():
			r.closeExpired(ctx)
		}
	}
}

// Close ends every watch and closes the journal. Sessions stay open: the next
// run takes them up. It is called once, after Run has returned.
func (r *Room) Close(ctx context.Context) error {
	close(r.closed)
	r.view(func(look) {
		for _, o := range r.owners {
			o.unwatch()
		}
	})
	return r.journal.Close(ctx)
}

// Busy tells whether somebody is here: an open session of this machine or a
// waiting claim.
func (r *Room) Busy() (busy bool) {
	r.view(func(look) { busy = len(r.owners) > 0 || len(r.waits) > 0 })
	return busy
}

// Broken returns why the journal takes no writes any more and must be opened
// again, or nil.
func (r *Room) Broken() error { return r.journal.Health().ReadOnly }

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
}

func (r *Room) liveness(v look, s ident.Stream) journal.Liveness {
	live := v.Liveness(s)
	if live != journal.Own && r.cfg.Liveness != nil {
		return r.cfg.Liveness(s)
	}
	return live
}

// gone is the argument of fold.State.Standing.
func (r *Room) gone(v look) func(ident.Stream) bool {
	return func(s ident.Stream) bool { return r.liveness(v, s) == journal.Expired }
}

func (r *Room) id(sid string) ident.SessionID {
	return ident.SessionID{Runtime: r.runtime, SID: sid}
}

func (r *Room) own(id ident.SessionID) bool { return id.Runtime == r.runtime }

// ageMS is how long ago something happened, in milliseconds: by the boot-time
// clock when this run saw it happen, else by the distance of the wall clock
// from its stamp, which a clock set back makes zero.
func (r *Room) ageMS(name string, at int64) int64 {
	if boot, ok := r.seen[name]; ok {
		return (r.clock.Boot() - boot).Milliseconds()
	}
	return max(0, r.clock.Now().Unix()-at) * 1000
}

// errUnchanged leaves a Decide that has nothing to write.
var errUnchanged = errors.New("nothing to write")

// decide runs one critical section. Nothing was written when f returns an
// error; errUnchanged is none to the caller.
func (r *Room) decide(ctx context.Context, f func(tx *journal.Tx) error) ([]journal.Appended, error) {
	done, err := r.journal.Decide(ctx, f)
	if errors.Is(err, errUnchanged) {
		return nil, nil
	}
	if err != nil {
		return nil, failure(err)
	}
	for _, a := range done {
		if a.Durability == journal.Failed {
			return nil, failure(fmt.Errorf("write %s: %w", a.Event.Key(), a.Cause))
		}
	}
	return done, nil
}
