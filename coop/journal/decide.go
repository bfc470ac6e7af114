package journal

import (
	"context"
	"fmt"

	"github.com/comity-dev/comity/coop/event"
)

// Bounds of one write, far below what the log takes in one batch.
const (
	maxBatchRecords = 4096
	maxBatchBytes   = 8 << 20
)

// A batch is what one decision made, or what others sent, on its way to the disk.
type batch struct {
	first   *event.Event // the run's first event, when this batch begins the run
	events  []*event.Event
	rows    []row
	taken   []*event.Event // of others
	proofs  int            // of forks
	beats   []heard
	landed  func(index uint64) // told the index of its first record once it is synced; may be nil
	reserve bool
	ticket  ticket

	settled  chan struct{} // closed once the fields below are set
	appended []Appended    // for events
	err      error
	behind   bool // failed only because one before it did
}

// all are the batch's events in the order of the log.
func (b *batch) all() []*event.Event {
	if b.first == nil {
		return b.events
	}
	return append([]*event.Event{b.first}, b.events...)
}

// Decide is the one critical section of every own write. Under the lock f looks
// at what is so, pending events included, and appends what it decides; an error
// of f means that nothing happened, and is returned as it is. What f appended is
// numbered at once, goes to the log as one batch, all of it or nothing, and
// enters the fold, and the eyes of Observe and pages, once it is synced.
//
// Decide returns when the write has ended, with one Appended for each event
// that f appended. The error is nil exactly when all of it is acknowledged; a
// *FailedError comes with the events, Failed. ctx bounds the wait for a place and
// the lock, with nothing done when it ends there, and nothing after that.
//
// f may run again, when what it appended with [Tx.Reserve] failed behind
// somebody else's write that found the disk full: it must set, not add to, what
// it gives to its caller. f must not block, call the journal or keep tx.
func (j *Journal) Decide(ctx context.Context, f func(tx *Tx) error) ([]Appended, error) {
	if err := j.gate.enter(); err != nil {
		return nil, err
	}
	defer j.gate.leave()
	select {
	case j.places <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for a place in the journal: %w", ctx.Err())
	}
	defer func() { <-j.places }()
	for {
		b, err := j.decide(ctx, f)
		if b == nil || err != nil {
			return nil, err
		}
		j.settle(b)
		if !b.reserve || !b.behind {
			return b.appended, b.err
		}
	}
}

// Append is Decide with nothing to decide.
func (j *Journal) Append(ctx context.Context, body event.Body) (Appended, error) {
	all, err := j.Decide(ctx, func(tx *Tx) error {
		_, err := tx.Append(body)
		return err
	})
	if len(all) == 0 {
		return Appended{}, err
	}
	return all[0], err
}

// decide runs f and queues what it made; nil when it made nothing.
func (j *Journal) decide(ctx context.Context, f func(tx *Tx) error) (*batch, error) {
	if err := j.tryLock(ctx); err != nil {
		return nil, fmt.Errorf("wait for the journal: %w", err)
	}
	defer j.unlock()
	if j.ended != nil {
		return nil, &ReadOnlyError{j.ended}
	}
	tx := j.begin()
	defer tx.finish()
	if err := f(tx); err != nil {
		return nil, err
	}
	recs, err := tx.records()
	if err != nil || len(recs) == 0 {
		return nil, err
	}
	return j.enqueue(tx, recs), nil
}

// enqueue gives a decision its place. From here on it runs to its end.
func (j *Journal) enqueue(tx *Tx, recs [][]byte) *batch {
	b := &batch{
		first:   tx.first,
		events:  tx.events,
		rows:    tx.rows,
		reserve: tx.reserve,
	}
	j.queue(b, recs)
	j.pending = append(j.pending, b.all()...)
	j.own, j.stamp = tx.next, tx.stamp
	if tx.first != nil {
		j.health.Ended = tx.ended
	}
	return b
}

// queue gives a batch its place in the order of the log.
func (j *Journal) queue(b *batch, recs [][]byte) *batch {
	b.settled = make(chan struct{})
	b.ticket = j.log.Enqueue(j.turn, b.reserve, recs...)
	j.inflight = append(j.inflight, b)
	return b
}
