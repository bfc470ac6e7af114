package journal

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/fold"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/internal/clock"
	"github.com/comity-dev/comity/internal/seglog"
	"github.com/comity-dev/comity/internal/vfs"
)

// Config says whose journal it is and where. Key and Repo are required.
type Config struct {
	Key  *ident.Key
	Repo ident.RepositoryID

	// Dir is the folder of the log, made when it is missing; the journal has it
	// alone. Empty keeps everything in memory.
	Dir string

	// Machine identifies this machine. It is kept in the run record, so that a
	// folder copied to another machine does not go on as this one.
	Machine string

	// Folder identifies the state folder on this machine, as something that a copy
	// of it does not share; "" when there is no such thing. It is kept in the run
	// record, so that a copied folder does not go on as the one that it was copied
	// from. Give it only where it outlives a restart: a folder that is taken for a
	// copy begins a record of its own, and what its earlier runs left is not ended.
	Folder string

	// Limits bound what others send. Zero fields mean event.DefaultLimits.
	Limits event.Limits

	// Trust tells whose events are believed; nil believes nobody else. Our own
	// are believed whatever it says. Its answers must stay the same until
	// [Journal.SetTrust]; it is called by many at once.
	Trust func(ident.NodeID) bool

	// Observe is told each event right after the fold has it, in the order of the
	// log, under the journal's lock: it must not block and not call the journal.
	// A reload tells it what it finds on disk too, marked as Reloaded.
	Observe func(View, Arrival, fold.Changes)

	// Keep is asked by Close, under the lock, for what the observer wants back when
	// the next Open takes the image of the state instead of the events: see
	// [Journal.Close]. Nil keeps nothing of the observer's.
	Keep func(View) []byte

	// Recall is told, under the lock, what Keep gave, when the state came from an
	// image: then Observe hears nothing of the events that were there before. The bytes
	// are the journal's again when it returns. On an error, after which the observer
	// must be as new, the journal is made of its events after all, and Observe hears of
	// each. While Observe is set and Recall is nil no image is taken.
	Recall func(View, []byte) error

	// Left is told under the lock what changed when a stream left the fold: it was
	// dropped ([Journal.Compact]), or its key is not believed any more
	// ([Journal.SetTrust]). What is read again from disk when a key is believed again
	// goes to Observe, marked as Reloaded.
	Left func(View, fold.Changes)

	// Continue names the sessions of this runtime that go on in a new run, those
	// to be kept first in front. It is asked once for each first append of a run
	// but the record's first, under the lock. At most event.MaxSessions go on,
	// and fewer when they stand in more than event.MaxStreams earlier runs: the
	// last ones end, and [Health.Ended] names them. Nil ends all.
	Continue func(View) []string

	// Judge judges the streams of others instead of the journal, which does so by
	// the beats that it hears; it is called under the lock. For tests.
	Judge func(ident.Stream) (Liveness, time.Duration)

	// Log sets up the log, all but its reserve; nil means the defaults. For tests.
	Log *seglog.Options
}

// Open opens the journal in cfg.Dir, or makes it, and reads it once. Whoever
// else has it open keeps it: the error is then seglog.ErrLocked.
//
// Damage does not keep a journal from opening: see [Journal.Health].
func Open(ctx context.Context, cfg Config) (*Journal, error) {
	return OpenOn(ctx, cfg, vfs.OS(), clock.System())
}

// OpenOn is Open on a disk and a clock of the caller's, for this module's own tests.
func OpenOn(ctx context.Context, cfg Config, fsys vfs.FS, clk clock.Clock) (*Journal, error) {
	if cfg.Key == nil || !cfg.Repo.Valid() {
		return nil, errors.New("open journal: a key and a repository id are required")
	}
	cfg.Limits = cfg.Limits.WithDefaults()
	log, report, err := openLog(fsys, cfg.Dir, cfg.Log)
	if err != nil {
		return nil, fmt.Errorf("open journal of repository %s: %w", cfg.Repo, err)
	}
	j, err := read(ctx, func() *Journal {
		j := newJournal(cfg, log, clk)
		if !j.memory {
			j.place, j.program = imagePlace{fsys, cfg.Dir}, thisProgram()
		}
		j.health.DroppedBatches, j.health.DroppedBytes = report.Tail.DroppedBatches, report.Tail.DroppedBytes
		return j
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read journal of repository %s: %w", cfg.Repo, err), log.Close())
	}
	return j, nil
}

// read makes a journal of its image, or else of its log.
func read(ctx context.Context, fresh func() *Journal) (*Journal, error) {
	j := fresh()
	use, err := j.recall(ctx)
	if err != nil {
		return nil, err
	}
	if use == ImageTaken {
		j.resume()
	} else {
		short := j.health.Shortened
		j = fresh()
		j.health.Shortened = short
		err = j.reload(ctx)
	}
	j.health.Image = use
	return j, err
}

// reserveBytes is the size of a log's first segment: room for thousands of
// releases.
const reserveBytes = 1 << 20

func openLog(fsys vfs.FS, dir string, set *seglog.Options) (store, *seglog.Report, error) {
	if dir == "" {
		return newMemory(), new(seglog.Report), nil
	}
	if err := vfs.MkdirAll(fsys, dir); err != nil {
		return nil, nil, err
	}
	reserve, err := seglog.NewReserve(fsys, filepath.Join(dir, "reserve"), reserveBytes)
	if err != nil {
		return nil, nil, err
	}
	o := seglog.Options{}
	if set != nil {
		o = *set
	}
	o.Reserve = reserve
	log, report, err := seglog.Open(fsys, dir, &o)
	if errors.Is(err, seglog.ErrNewerFormat) {
		return nil, nil, fmt.Errorf("%w: %w", ErrNewerFormat, err)
	}
	if err != nil {
		return nil, nil, err
	}
	return disk{log}, report, nil
}
