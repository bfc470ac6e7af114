package journal

import (
	"context"
	"iter"

	"github.com/comity-dev/comity/internal/seglog"
)

// store is what a journal needs of its log: the part of *seglog.Log that it
// uses, so that one without a disk can stand in for it.
type store interface {
	Enqueue(turn uint64, reserve bool, recs ...[]byte) ticket
	Turn() uint64
	Read(index uint64) (seglog.Record, error)
	From(index uint64) iter.Seq2[seglog.Record, error] // of records that stay
	Scan(index uint64) iter.Seq2[seglog.Record, error] // of records that are gone with the next step
	First() uint64
	End() uint64
	Incarnation() [16]byte
	Damage() []seglog.Damage
	Rewrite(keep func(seglog.Record) bool) error
	Err() error
	Close() error
}

// ticket is a place in the order of a log.
type ticket interface {
	Wait(ctx context.Context) (first uint64, err error)
	Done() <-chan struct{}
}

// disk is a log on disk.
type disk struct{ *seglog.Log }

func (d disk) Enqueue(turn uint64, reserve bool, recs ...[]byte) ticket {
	return d.Log.Enqueue(turn, reserve, recs...)
}

// recordBlock is the size of a piece of memory in which records lie.
const recordBlock = 32 << 10

func (d disk) Scan(index uint64) iter.Seq2[seglog.Record, error] { return d.Log.From(index) }

// From gives records that stay: an event keeps the bytes that it was read from.
// Those that come together lie together.
func (d disk) From(index uint64) iter.Seq2[seglog.Record, error] {
	return func(yield func(seglog.Record, error) bool) {
		var block []byte
		for rec, err := range d.Log.From(index) {
			if n := len(rec.Data); n > cap(block)-len(block) {
				block = make([]byte, 0, max(n, recordBlock))
			}
			at := len(block)
			block = append(block, rec.Data...)
			rec.Data = block[at:len(block):len(block)]
			if !yield(rec, err) {
				return
			}
		}
	}
}
