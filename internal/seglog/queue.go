package seglog

import (
	"errors"
	"fmt"
	"runtime"
)

// refusalLocked returns why nothing can be appended any more.
func (l *Log) refusalLocked() error {
	if l.closing {
		return ErrClosed
	}
	return l.err
}

// joinLocked puts recs into the last batch of the queue, or into a new one.
func (l *Log) joinLocked(reserve bool, size int, recs [][]byte, crcs []uint32) (*batch, int) {
	var b *batch
	if n := len(l.queue); n > 0 {
		b = l.queue[n-1]
	}
	if b == nil || b.control != nil || b.reserve != reserve || len(b.buf) > 0 && len(b.buf)+size > softBatchBytes {
		b = &batch{reserve: reserve, done: make(chan struct{}), buf: l.bufferLocked(), groups: make([]group, 0, max(1, l.usual))}
		l.queue = append(l.queue, b)
	}
	g := b.add(recs, crcs)
	l.queued += size
	l.joined++
	return b, g
}

// bufferLocked returns an empty buffer.
func (l *Log) bufferLocked() []byte {
	if n := len(l.bufs); n > 0 {
		buf := l.bufs[n-1]
		l.bufs = l.bufs[:n-1]
		return buf
	}
	return nil
}

// kickLocked sees to it that somebody runs what is queued.
func (l *Log) kickLocked() {
	if !l.busy {
		l.busy = true
		l.work <- struct{}{}
	}
}

// withdraw takes an append out of the queue. It reports false when a batch has
// taken it on its way already.
func (l *Log) withdraw(b *batch, g int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, q := range l.queue {
		if q == b {
			before := len(b.buf)
			b.remove(g)
			l.queued -= before - len(b.buf)
			return true
		}
	}
	return false
}

// gather lets those whom the last batch woke join the next one: as long as more
// come, and until there are as many as there were. Without it, the few that are
// quickest would get a sync of their own, and on a busy machine the syncs would
// take the time that the others need to come.
func (l *Log) gather() {
	const most, idle = 16, 2
	for yields, still, before := 0, 0, 0; yields < most && still < idle; yields++ {
		runtime.Gosched()
		l.mu.Lock()
		joined, usual := l.joined, l.usual
		l.mu.Unlock()
		if joined >= usual {
			return
		}
		if still++; joined > before {
			still = 0
		}
		before = joined
	}
}

// round runs the first batch of the queue. It reports false, and the log is no
// longer busy, when the queue is empty.
func (l *Log) round() bool {
	l.mu.Lock()
	if len(l.queue) == 0 {
		l.busy = false
		l.mu.Unlock()
		return false
	}
	b := l.queue[0]
	copy(l.queue, l.queue[1:])
	l.queue[len(l.queue)-1] = nil
	l.queue = l.queue[:len(l.queue)-1]
	l.queued -= len(b.buf)
	l.joined -= len(b.groups)
	l.usual = min(len(b.groups), 4096)
	if l.room != nil && l.queued < maxQueuedBytes {
		close(l.room)
		l.room = nil
	}
	err := l.err
	l.mu.Unlock()
	l.run(b, err)
	return true
}

// handOver ends the lead of an appender: what came in meanwhile is the business
// of the log's own goroutine.
func (l *Log) handOver() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.busy = false
	if len(l.queue) > 0 {
		l.kickLocked()
	}
}

// run executes b. poison is why the log refuses writes, if it does.
func (l *Log) run(b *batch, poison error) {
	switch {
	case b.control != nil:
		b.err = b.control()
	case poison != nil:
		b.err = poison
	case b.records == 0: // all withdrawn
	default:
		if err := l.commit(b); errors.Is(err, ErrNoSpace) {
			l.refuse(b, err)
		} else if err != nil {
			b.err = l.poison(err)
		} else {
			l.armIdle()
		}
	}
	l.recycle(b)
	close(b.done)
}

func (l *Log) recycle(b *batch) {
	if cap(b.buf) == 0 || cap(b.buf) > keepBufferBytes {
		b.buf = nil
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.bufs) < 2 {
		l.bufs = append(l.bufs, b.buf[:0])
	}
	b.buf = nil
}

// refuse ends the turn: b failed cleanly, and with it all that was to come
// behind it.
func (l *Log) refuse(b *batch, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b.err = err
	l.turn++
	l.turnErr = err
	l.failQueueLocked(err, true)
}

// poison makes the log refuse all writes from now on.
func (l *Log) poison(cause error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = fmt.Errorf("%w: %w", ErrPoisoned, cause)
		l.failQueueLocked(l.err, false)
	}
	return l.err
}

func (l *Log) failQueueLocked(err error, behind bool) {
	kept := l.queue[:0]
	for _, b := range l.queue {
		if b.control != nil {
			kept = append(kept, b)
			continue
		}
		b.err, b.behind = err, behind
		l.queued -= len(b.buf)
		l.joined -= len(b.groups)
		close(b.done)
	}
	clear(l.queue[len(kept):])
	l.queue = kept
	if l.room != nil {
		close(l.room)
		l.room = nil
	}
}

// control runs f between two batches and returns its error.
func (l *Log) control(f func() error) error {
	b := &batch{control: f, done: make(chan struct{})}
	l.mu.Lock()
	l.queue = append(l.queue, b)
	l.kickLocked()
	l.mu.Unlock()
	<-b.done
	return b.err
}
