package filestore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/comity-dev/comity/internal/seglog"
	"github.com/comity-dev/comity/internal/vfs"
	"github.com/comity-dev/comity/storage"
)

const (
	maxRecordBytes  = 8 << 20
	maxBatchBytes   = 16 << 20
	maxBatchRecords = 1 << 14
	maxValueBytes   = 1 << 20
)

// Options are the settings of Open. The zero value and nil mean the defaults.
type Options struct {
	// IndexAfter is the number of records after which the index is written again,
	// which bounds what opening reads after a crash. 65,536; negative: only
	// when the store is closed.
	IndexAfter int
	// CompactAfter is how many bytes of the log may be of no use any more before
	// the store compacts itself, once they are half of the log too; both are
	// estimates. 64 MiB; negative: only Compact does.
	CompactAfter int64
	// MaxSegmentBytes bounds a file of the log: 64 MiB, and no more.
	MaxSegmentBytes int64

	log seglog.Options // for tests
}

// A Store is a storage.Backend in a folder.
type Store struct {
	fsys   vfs.FS
	dir    string
	o      Options
	log    *seglog.Log // nil when the store was opened for reading
	reader reader
	seed   uint32
	report Report
	ended  chan struct{} // closed with the store
	due    chan struct{} // the index is to be written
	full   chan struct{} // the log is to be compacted
	wg     sync.WaitGroup
	once   sync.Once
	close  error
	saving sync.Mutex // one writes the index, or compacts
	spaces spaces

	mu      sync.Mutex
	closed  bool
	writes  sync.WaitGroup // in flight; none begins once closed is set
	counter uint64
	ledgers map[tag]*ledger
	dead    graves
	grants  map[string]*grant
	rows    map[string]*row
	slots   map[*slot]bool // those in flight
	doubt   uint64         // what is not attested behind this index is read-only
	since   backlog
	garbage garbage
	compact func(context.Context) error // Compact; tests put theirs in its place
}

// A reader is what looking at a log needs: a seglog.Log or a seglog.Reader.
type reader interface {
	Read(index uint64) (seglog.Record, error)
	From(index uint64) iter.Seq2[seglog.Record, error]
	End() uint64
	Incarnation() [16]byte
}

// Open opens the store in dir, and makes it if the folder is empty or missing.
// What a crash has left is recovered; Report tells what was found, and damage
// does not keep a store from opening. The error wraps storage.ErrLocked when
// another process holds the store, storage.ErrNewerFormat, or
// storage.ErrNoSpace.
//
// dir lies on a local disk: file systems of a network do not keep what Open
// promises.
func Open(dir string, o *Options) (*Store, error) { return OpenOn(vfs.OS(), nil, dir, o) }

// OpenOn is Open on the file system and the reserve of this module's own
// programs and tests. reserve may be nil.
func OpenOn(fsys vfs.FS, reserve *seglog.Reserve, dir string, o *Options) (*Store, error) {
	s := newStore(fsys, dir, o)
	if err := s.checkLog(); err != nil {
		return nil, fmt.Errorf("open store %s: %w", dir, err)
	}
	lo := s.o.log
	lo.MaxSegmentBytes, lo.Reserve = s.o.MaxSegmentBytes, reserve
	bytes := s.logBytes() // before the log makes room in it
	log, report, err := seglog.Open(fsys, s.path("log"), &lo)
	if err != nil {
		return nil, fmt.Errorf("open store %s: %w", dir, translate(err))
	}
	s.log, s.reader = log, log
	err = s.load(report)
	if err == nil {
		err = s.sweepBlobs()
	}
	if err != nil {
		log.Close()
		return nil, fmt.Errorf("open store %s: %w", dir, translate(err))
	}
	s.surveyLocked(report.Records, bytes)
	s.askCompactLocked()
	s.wg.Go(s.maintain)
	return s, nil
}

// OpenReadOnly opens the store in dir without its lock and without writing
// anything, beside a process that may hold it. It shows what was attested as
// synced when it was opened, which may lack what was written in the last second
// before. Every write is a *storage.ReadOnlyError, and so is the end of
// Follow. The error wraps fs.ErrNotExist when there is no store.
func OpenReadOnly(dir string) (*Store, error) { return OpenReadOnlyOn(vfs.OS(), dir) }

// OpenReadOnlyOn is OpenReadOnly on a file system of this module's own tests.
func OpenReadOnlyOn(fsys vfs.FS, dir string) (*Store, error) {
	s := newStore(fsys, dir, nil)
	log, report, err := seglog.OpenReadOnly(fsys, s.path("log"))
	if err != nil {
		return nil, fmt.Errorf("open store %s for reading: %w", dir, translate(err))
	}
	s.reader = log
	if err := s.load(report); err != nil {
		log.Close()
		return nil, fmt.Errorf("open store %s for reading: %w", dir, translate(err))
	}
	return s, nil
}

// checkLog refuses to make an empty store over what is left of another one.
func (s *Store) checkLog() error {
	if _, err := s.fsys.Stat(s.path(indexName)); errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	names, err := s.fsys.List(s.path("log"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if !slices.ContainsFunc(names, func(name string) bool { return strings.HasSuffix(name, ".seg") }) {
		return errors.New("its log is missing, though its index is there: put the folder log back, or move all that is left to another place")
	}
	return nil
}

func newStore(fsys vfs.FS, dir string, o *Options) *Store {
	s := &Store{
		fsys: fsys, dir: dir,
		ended:   make(chan struct{}),
		due:     make(chan struct{}, 1),
		full:    make(chan struct{}, 1),
		ledgers: make(map[tag]*ledger),
		grants:  make(map[string]*grant),
		rows:    make(map[string]*row),
		slots:   make(map[*slot]bool),
	}
	s.compact = func(ctx context.Context) error {
		_, err := s.Compact(ctx)
		return err
	}
	if o != nil {
		s.o = *o
	}
	if s.o.IndexAfter == 0 {
		s.o.IndexAfter = 1 << 16
	}
	if s.o.CompactAfter == 0 {
		s.o.CompactAfter = compactAfterBytes
	}
	return s
}

func (s *Store) path(names ...string) string {
	return filepath.Join(append([]string{s.dir}, names...)...)
}

func (s *Store) Ledger() storage.Ledger { return ledgers{s} }
func (s *Store) Leaser() storage.Leaser { return grants{s} }
func (s *Store) KV() storage.KV         { return rows{s} }
func (s *Store) Blobs() storage.Blobs   { return blobs{s} }

func (s *Store) Traits() storage.Traits {
	return storage.Traits{
		Durable:         storage.Synced,
		MaxRecordBytes:  maxRecordBytes,
		MaxBatchRecords: maxBatchRecords,
		MaxBatchBytes:   maxBatchBytes,
		MaxValueBytes:   maxValueBytes,
	}
}

// Close ends all grants, waits for the writes in flight, writes the index, and
// lets go of the store. It returns nil only if all of it was written; a store
// without it has lost nothing and opens more slowly.
func (s *Store) Close() error {
	s.once.Do(func() { s.close = s.shut() })
	return s.close
}

func (s *Store) shut() error {
	s.mu.Lock()
	s.closed = true
	close(s.ended)
	for _, g := range s.grants {
		g.endLocked()
	}
	s.mu.Unlock()
	s.writes.Wait()
	s.wg.Wait()
	if s.log == nil {
		return translate(s.reader.(*seglog.Reader).Close())
	}
	var err error
	if s.log.Err() == nil {
		err = s.saveIndex(false)
	}
	if cerr := s.log.Close(); err == nil {
		err = cerr
	}
	return translate(err)
}

// enter checks what every method checks, and locks the store.
func (s *Store) enter(ctx context.Context, name string) error {
	if err := storage.CheckName(name); err != nil {
		return err
	}
	return s.lock(ctx)
}

func (s *Store) lock(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return storage.ErrClosed
	}
	return nil
}

// over returns why an iteration must end.
func (s *Store) over(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	select {
	case <-s.ended:
		return storage.ErrClosed
	default:
		return nil
	}
}

// translate gives errors of the log the names that callers know.
func translate(err error) error {
	for from, to := range map[error]error{
		seglog.ErrClosed:      storage.ErrClosed,
		seglog.ErrNoSpace:     storage.ErrNoSpace,
		seglog.ErrLocked:      storage.ErrLocked,
		seglog.ErrNewerFormat: storage.ErrNewerFormat,
	} {
		if errors.Is(err, from) && !errors.Is(err, to) {
			return fmt.Errorf("%w: %w", to, err)
		}
	}
	return err
}
