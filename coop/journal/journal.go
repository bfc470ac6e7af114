package journal

import (
	"context"
	"encoding/hex"
	"sync/atomic"
	"time"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/fold"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/internal/clock"
)

// A Journal is one repository's replica on this machine. It is safe for
// concurrent use, and must be closed.
type Journal struct {
	cfg     Config
	clock   clock.Clock
	runtime ident.Runtime
	log     store
	inc     string // the log's incarnation
	memory  bool
	place   imagePlace
	program string // for its image

	trust atomic.Pointer[func(ident.NodeID) bool] // see SetTrust

	gate   *gate
	places chan struct{} // one for each write between its decision and its end
	mutex  chan struct{} // the one lock: held while it is full

	// All below is guarded by the lock.

	seal     *sealer
	state    *fold.State
	heads    heads
	forks    forks
	rows     rows
	lineages lineages
	lives    lives
	tombs    tombs
	withheld map[ident.Stream][]uint64 // where events are that are not believed
	aside    map[ident.Stream]*life    // of streams that are not believed
	joining  map[ident.Runtime]int     // first exchanges under way
	arrivals indexes                   // log indexes of the events in the fold, rising; appended to, or made anew
	view     string                    // names the keys that are not believed though the log has events of them
	grown    chan struct{}
	stamp    uint64 // the highest stamp seen, pending ones included
	ceil     ceiling
	settled  bool // the clock is that of the others: somebody was heard of

	started time.Duration // since boot
	ticks   ticks
	saved   time.Duration // when beats were last written

	run      run
	own      numbering
	turn     uint64
	inflight []*batch       // in the order of the log
	pending  []*event.Event // their events
	ended    error          // why nothing can be written until reopened; nil while it can

	shares    shares        // of what is held
	theirs    int64         // bytes of events of other nodes
	waiting   pool          // events of others that cannot be taken yet
	turnOf    uint64        // of the streams, for the peers' sake
	turnstile chan struct{} // one batch of others, or one compaction, at a time: held while it is full
	rewriting chan struct{} // one rewrite at a time: held while it is full

	dead  []uint64 // of events that can go from the disk
	waste int      // bytes of other records that can, about

	lapsed bool                   // this runtime was away for longer than others remember it
	spoke  int64                  // Unix seconds: when it last said something to others, as far as known
	wrote  int64                  // Unix seconds: the latest that an event of this runtime says
	back   map[ident.Runtime]bool // forgotten, and heard since

	health Health
}

const maxInFlight = 1024 // writes that wait for the disk at once

func newJournal(cfg Config, log store, clk clock.Clock) *Journal {
	inc := log.Incarnation()
	j := &Journal{
		cfg:       cfg,
		clock:     clk,
		runtime:   ident.Runtime{Node: cfg.Key.Node(), ID: cfg.Key.Runtime(cfg.Repo)},
		log:       log,
		inc:       hex.EncodeToString(inc[:]),
		memory:    cfg.Dir == "",
		gate:      newGate(),
		places:    make(chan struct{}, maxInFlight),
		mutex:     make(chan struct{}, 1),
		seal:      newSealer(cfg.Key.DeriveMAC(macLabel(cfg.Repo))),
		state:     fold.New(),
		heads:     heads{},
		forks:     forks{},
		rows:      newRows(),
		lineages:  newLineages(),
		lives:     newLives(),
		tombs:     newTombs(),
		withheld:  map[ident.Stream][]uint64{},
		aside:     map[ident.Stream]*life{},
		joining:   map[ident.Runtime]int{},
		started:   clk.Boot(),
		saved:     clk.Boot(),
		shares:    shares{},
		waiting:   newPool(),
		turnstile: make(chan struct{}, 1),
		rewriting: make(chan struct{}, 1),
		back:      map[ident.Runtime]bool{},
		grown:     make(chan struct{}),
		turn:      log.Turn(),
	}
	j.trust.Store(&j.cfg.Trust)
	j.own = numbering{stream: ident.NewStream(j.runtime.Node, j.runtime.ID, ident.NewInstance())}
	return j
}

// Runtime is this node's daemon for this repository: it writes the own streams.
func (j *Journal) Runtime() ident.Runtime { return j.runtime }

// Repository is the repository whose journal it is.
func (j *Journal) Repository() ident.RepositoryID { return j.cfg.Repo }

// Incarnation names the log: 32 hex digits, random, the same as long as the log
// is. Indexes and cursors mean something only within it.
func (j *Journal) Incarnation() string { return j.inc }

// Stream is the own stream of this run, "" before its first append.
func (j *Journal) Stream() ident.Stream {
	j.lock()
	defer j.unlock()
	if j.own.seq == 0 {
		return ""
	}
	return j.own.stream
}

// Close refuses new calls, waits for those under way, whatever they wait for,
// and closes the log. When ctx ends first it returns ctx's error and has to be
// called again. Followers are woken.
//
// A journal on disk leaves an image of its state, which the next Open takes in place
// of the events where nothing has changed since: the log, this very program, the
// limits, and who is believed (see [Health.Image]). A journal in which anything is
// amiss leaves none. That it cannot be written is no error: the log has everything.
func (j *Journal) Close(ctx context.Context) error {
	j.gate.shut()
	if err := j.gate.wait(ctx); err != nil {
		return err
	}
	j.lock()
	defer j.unlock()
	if j.grown == nil {
		return nil // closed before
	}
	close(j.grown)
	j.grown = nil
	j.place.leave(ctx, j)
	return j.log.Close()
}

func (j *Journal) lock()   { j.mutex <- struct{}{} }
func (j *Journal) unlock() { <-j.mutex }

// tryLock waits for the lock as long as ctx lasts.
func (j *Journal) tryLock(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case j.mutex <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
