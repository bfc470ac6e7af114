package seglog

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"
)

// Options are the settings of Open. The zero value and nil mean the defaults.
type Options struct {
	// MaxSegmentBytes bounds a segment file; 64 MiB, which is also the most.
	// A single larger append still gets a segment of its own.
	MaxSegmentBytes int64
	// FirstSegmentBytes is the size of the first segment, 1 MiB. Each one that
	// fills up is followed by one of four times its size, or twice from 4 MiB on.
	FirstSegmentBytes int64
	// IdleAfter is the time after the last append at which a mark attests it
	// as synced, so that damage to it can be told from a torn write. One second;
	// negative for never.
	IdleAfter time.Duration
	// Reserve keeps room for AppendReserve and Rewrite on a full disk. All
	// logs of one state folder share one.
	Reserve *Reserve
	// Inline prepares segments on the path of the appends, and tries to make the
	// reserve again with each, so that one sequence of calls makes one sequence of
	// file operations: for tests and simulations.
	Inline bool
}

// A Log is a log opened for writing. All its methods are safe for concurrent
// use.
type Log struct {
	store
	o    Options
	lock io.Closer

	mu      sync.Mutex
	queue   []*batch // in the order of the log; the last one may still take appends
	queued  int      // bytes
	usual   int      // appends in the last batch
	joined  int      // appends in the queue
	busy    bool     // somebody runs batches: who set it, or whom work was sent to
	turn    uint64
	turnErr error // why the last turn ended
	err     error // why the log is poisoned
	closing bool
	room    chan struct{} // closed when the queue has shrunk
	bufs    [][]byte      // of past batches

	w     writer // belongs to whoever made the log busy
	work  chan struct{}
	stop  chan struct{}
	idle  *time.Timer
	prep  preparer
	wg    sync.WaitGroup
	once  sync.Once
	close error

	rewriting sync.Mutex
}

// start runs the goroutine that writes batches nobody leads, and the marks of
// idle times; Close ends it and waits.
func (l *Log) start() {
	l.work = make(chan struct{}, 1)
	l.stop = make(chan struct{})
	l.idle = time.NewTimer(time.Hour)
	l.idle.Stop()
	l.wg.Go(l.serve)
	l.prep.start(l)
}

func (l *Log) serve() {
	for {
		select {
		case <-l.stop:
			return
		case <-l.idle.C:
			l.attest()
		case <-l.work:
			l.gather()
			for l.round() {
				l.gather()
			}
		}
	}
}

// Append stores recs behind all that was appended before, all of them or none,
// and returns the index of the first. They are synced when it returns nil. Up to
// MaxBatchBytes. ctx bounds the wait for a place in a batch; from then on
// Append returns what becomes of the batch. recs may be reused once it returns.
//
// After ErrNoSpace nothing is stored and the log is usable. After ErrPoisoned
// the outcome of this append, and only of those not acknowledged, is open until
// the log is opened again.
func (l *Log) Append(ctx context.Context, recs ...[]byte) (first uint64, err error) {
	return l.append(ctx, false, recs)
}

// AppendReserve is Append, but on a full disk it may use up the reserve.
func (l *Log) AppendReserve(ctx context.Context, recs ...[]byte) (first uint64, err error) {
	return l.append(ctx, true, recs)
}

func (l *Log) append(ctx context.Context, reserve bool, recs [][]byte) (uint64, error) {
	var few [4]uint32
	size, err := checkSize(recs)
	if err != nil {
		return 0, err
	}
	crcs := checksums(few[:], recs)
	for {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		l.mu.Lock()
		if l.queued >= maxQueuedBytes {
			l.waitRoomLocked(ctx)
			continue
		}
		if err := l.refusalLocked(); err != nil {
			l.mu.Unlock()
			return 0, err
		}
		b, g := l.joinLocked(reserve, size, recs, crcs)
		lead, company := !l.busy, l.usual > 1
		l.busy = true
		l.mu.Unlock()
		if lead {
			if company {
				l.gather()
			}
			l.round()
			l.handOver()
		}
		if gone := l.await(ctx, b, g); gone {
			return 0, context.Cause(ctx)
		}
		if reserve && b.behind {
			continue // not refused for its own sake
		}
		if b.err != nil {
			return 0, b.err
		}
		return b.first + b.groups[g].before, nil
	}
}

// await waits for the batch. It reports true when ctx ended while the append still
// had its place in the queue, which it has left then.
func (l *Log) await(ctx context.Context, b *batch, g int) (gone bool) {
	if ctx.Done() != nil {
		select {
		case <-b.done:
		case <-ctx.Done():
			if l.withdraw(b, g) {
				return true
			}
		}
	}
	<-b.done
	return false
}

// waitRoomLocked waits until the queue has shrunk, or ctx ends. It unlocks l.mu.
func (l *Log) waitRoomLocked(ctx context.Context) {
	if l.room == nil {
		l.room = make(chan struct{})
	}
	room := l.room
	l.mu.Unlock()
	select {
	case <-room:
	case <-ctx.Done():
	}
}

// Turn returns the turn that Enqueue wants.
func (l *Log) Turn() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.turn
}

// Enqueue gives recs the next place in the order of the log and returns without
// waiting for the disk: the order of the calls is the order of the records, and
// recs may be reused at once. With reserve it is AppendReserve, else Append.
//
// turn must be Turn(). A batch that fails cleanly (no space, nothing on disk)
// raises the turn and fails all that is queued behind it, and each later
// Enqueue under the old turn, with the same error: so the owner can take back
// what it numbered before it numbers anew. An append that is too large takes
// no place and leaves the turn as it is.
func (l *Log) Enqueue(turn uint64, reserve bool, recs ...[]byte) *Ticket {
	var few [4]uint32
	size, err := checkSize(recs)
	if err != nil {
		return failedTicket(l, err)
	}
	crcs := checksums(few[:], recs)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.refusalLocked(); err != nil {
		return failedTicket(l, err)
	}
	if turn != l.turn {
		if l.turnErr == nil || turn > l.turn {
			return failedTicket(l, fmt.Errorf("enqueue: turn %d is not the turn %d of the log", turn, l.turn))
		}
		return failedTicket(l, l.turnErr)
	}
	b, g := l.joinLocked(reserve, size, recs, crcs)
	l.kickLocked()
	return &Ticket{l, b, g}
}

func failedTicket(l *Log, err error) *Ticket {
	b := &batch{err: err, done: make(chan struct{})}
	close(b.done)
	return &Ticket{l, b, 0}
}

// Err returns why the log is poisoned, or nil.
func (l *Log) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Close waits for what is queued, marks the log as closed cleanly, and lets go
// of the files and the lock. Iterations that run finish on the segment they are
// in. It returns nil only if the mark is synced; a log without it is recovered
// when it is opened, and has lost nothing.
func (l *Log) Close() error {
	l.once.Do(func() { l.close = l.shut() })
	return l.close
}

func (l *Log) shut() error {
	l.prep.halt()
	l.mu.Lock()
	l.closing = true
	l.mu.Unlock()
	err := l.control(l.markClosed)
	close(l.stop)
	l.wg.Wait()
	l.idle.Stop()
	l.prep.discard(l)
	if cerr := l.store.close(); err == nil {
		err = cerr
	}
	if cerr := l.lock.Close(); err == nil {
		err = cerr
	}
	return err
}
