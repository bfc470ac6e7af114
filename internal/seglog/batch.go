package seglog

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
)

const (
	softBatchBytes  = 8 << 20  // a write takes in no more appends behind this size
	maxQueuedBytes  = 64 << 20 // Append waits for room behind this
	keepBufferBytes = 16 << 20
)

// A batch is what one write and one sync make durable: the frames of one or
// more appends.
type batch struct {
	reserve bool
	control func() error // runs in the batch's place; no frames then
	buf     []byte
	groups  []group
	records uint64
	done    chan struct{}

	// Set before done is closed.
	first  uint64
	err    error
	behind bool // failed because of one before it
}

// A group is one append in a batch.
type group struct {
	before uint64 // records of the batch in front of it
	at     int    // in buf
}

// A Ticket is a place in the order of the log.
type Ticket struct {
	log   *Log
	batch *batch
	group int
}

// Done is closed when the append is durable or has failed.
func (t *Ticket) Done() <-chan struct{} { return t.batch.done }

// Wait waits until the append is durable, and returns the index of its first
// record, or has failed. When ctx ends before, Wait returns its error, the
// append keeps its place, and its result can be waited for again.
func (t *Ticket) Wait(ctx context.Context) (first uint64, err error) {
	select {
	case <-t.batch.done:
		return t.result()
	default:
	}
	select {
	case <-t.batch.done:
		return t.result()
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}

func (t *Ticket) result() (uint64, error) {
	if t.batch.err != nil {
		return 0, t.batch.err
	}
	return t.batch.first + t.batch.groups[t.group].before, nil
}

// checkSize returns the bytes that recs take in a batch.
func checkSize(recs [][]byte) (int, error) {
	if len(recs) == 0 {
		return 0, errors.New("append: no records")
	}
	total := int64(0)
	for _, r := range recs {
		if len(r) > MaxRecordBytes {
			return 0, fmt.Errorf("append a record of %d bytes, at most %d: %w", len(r), MaxRecordBytes, ErrTooLarge)
		}
		total += frameSize(len(r))
	}
	if total > MaxBatchBytes {
		return 0, fmt.Errorf("append %d records, %d bytes with headers, at most %d: %w", len(recs), total, MaxBatchBytes, ErrTooLarge)
	}
	return int(total), nil
}

// add puts an append into b.
func (b *batch) add(recs [][]byte, crcs []uint32) (index int) {
	b.groups = append(b.groups, group{b.records, len(b.buf)})
	for i, r := range recs {
		var flags uint16
		if i == 0 {
			flags |= flagFirst
		}
		if i == len(recs)-1 {
			flags |= flagLast
		}
		b.buf = appendFrame(b.buf, flags, 0, uint32(len(recs)-1-i), r, crcs[i])
	}
	b.records += uint64(len(recs))
	return len(b.groups) - 1
}

// remove takes an append out of b again, leaving its group empty.
func (b *batch) remove(g int) {
	at, before := b.groups[g].at, b.groups[g].before
	end, records := len(b.buf), b.records
	if g+1 < len(b.groups) {
		end, records = b.groups[g+1].at, b.groups[g+1].before
	}
	b.buf = append(b.buf[:at], b.buf[end:]...)
	b.records -= records - before
	for i := g + 1; i < len(b.groups); i++ {
		b.groups[i].at -= end - at
		b.groups[i].before -= records - before
	}
}

// checksums returns the plain checksums of recs, in buf where they fit.
func checksums(buf []uint32, recs [][]byte) []uint32 {
	buf = buf[:0]
	for _, r := range recs {
		buf = append(buf, crc32.Checksum(r, castagnoli))
	}
	return buf
}
