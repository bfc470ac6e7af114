package journal

import (
	"context"
	"errors"

	"github.com/comity-dev/comity/internal/seglog"
)

// settle waits until b has its end. Whoever finds the head of the queue done
// settles it and all that is done behind it, in the order of the log; so a batch
// that was done before one ahead of it is settled by that one's caller.
func (j *Journal) settle(b *batch) {
	b.ticket.Wait(context.Background()) // the result is read again in order
	j.lock()
	j.drain()
	j.unlock()
	<-b.settled
}

// drain settles what is done at the head of the queue; the caller holds the lock.
func (j *Journal) drain() {
	arrived := false
	for len(j.inflight) > 0 {
		b := j.inflight[0]
		select {
		case <-b.ticket.Done():
		default:
			if arrived {
				j.wake()
			}
			return
		}
		first, err := b.ticket.Wait(context.Background())
		if err != nil {
			j.fail(err)
			break
		}
		j.inflight[0] = nil
		j.inflight = j.inflight[1:]
		arrived = j.land(b, first) || arrived
	}
	if arrived {
		j.wake()
	}
}

// land applies a synced batch whose records begin at index; it reports whether
// it has events.
func (j *Journal) land(b *batch, index uint64) bool {
	durability := Synced
	if j.memory {
		durability = Memory
	}
	all := b.all()
	for i, e := range all {
		j.pending = j.pending[1:] // nobody may find it both pending and applied
		if e.Seq == 1 && e.Stream == j.own.stream {
			j.lapsed = false // what this run has goes on in the next
		}
		if refused := j.arrive(Arrival{Event: e, Index: index + uint64(i)}); refused != "" {
			panic("journal: own event " + e.Key().String() + " does not follow its stream: " + string(refused)) // unreachable unless numbering is wrong
		}
	}
	for _, e := range b.events {
		at := index + uint64(len(all)-len(b.events)+len(b.appended))
		b.appended = append(b.appended, Appended{Event: e, Durability: durability, Index: at})
	}
	for i, r := range b.rows {
		j.row(r, index+uint64(len(all)+i))
	}
	j.landTaken(b, index+uint64(len(all)+len(b.rows)))
	for _, h := range b.beats {
		h.life.saved = h.uptime
	}
	j.health.Written += uint64(len(all))
	if b.landed != nil {
		b.landed(index)
	}
	close(b.settled)
	return len(all)+len(b.taken) > 0
}

// fail ends every write in the queue. Behind a clean failure the log failed all
// of them alike, and refuses what is numbered after them until the turn is taken:
// their numbers are given out again. Behind any other the stream ends here.
func (j *Journal) fail(cause error) {
	failed := &FailedError{Unknown: !j.clean(cause), Err: cause}
	for i, b := range j.inflight {
		if i > 0 && !failed.Unknown {
			if _, err := b.ticket.Wait(context.Background()); err == nil {
				// unreachable unless the log keeps a batch behind a failed one
				failed = &FailedError{Unknown: true, Err: errors.New("the log kept a batch behind a failed one")}
			}
		}
	}
	for i, b := range j.inflight {
		b.err, b.behind = failed, i > 0 && !failed.Unknown
		for _, e := range b.events {
			b.appended = append(b.appended, Appended{Event: e, Durability: Failed, Cause: failed})
		}
		j.health.Failed += uint64(len(b.all()))
		close(b.settled)
	}
	j.inflight, j.pending = nil, nil
	if failed.Unknown {
		j.ended = failed
		return
	}
	j.own.from(j.heads)
	j.turn = j.log.Turn()
}

// clean reports whether the log proved that nothing of a failed batch is on disk.
func (j *Journal) clean(err error) bool {
	return errors.Is(err, seglog.ErrNoSpace) && !errors.Is(err, seglog.ErrPoisoned) && j.log.Turn() != j.turn
}
