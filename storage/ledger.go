package storage

import (
	"context"
	"iter"
)

// A Ledger stores named sequences of records. A ledger begins with its first
// append; before it, and after Delete, it is absent, which is the same as empty.
// Records are numbered 1, 2, 3 and so on, without a gap, and never change.
// A record may be empty; one of 1 MiB is always accepted, see Traits for more.
//
// Delete ends the life of a ledger, and the next append begins another one, at 1
// again. So that a writer of the earlier life cannot write into the later one,
// a Tip has a generation besides the sequence number.
type Ledger interface {
	// Append stores recs behind the tip, all of them or none, if the tip is
	// expected, and returns the new tip, whose Seq is that of the last record.
	// The first record of the batch has the number expected.Seq+1. There is at
	// least one record. recs are not kept and may be reused once it returns.
	//
	// It takes effect at one moment, and is durable when it returns nil. Of any
	// number of appends at one expected tip, by any number of clients, at most
	// one ever succeeds. A backend holds at most one batch of a ledger in flight:
	// an append that meets one waits for its outcome.
	//
	// Errors: *ConflictError, with the tip, when the tip was another (nothing is
	// written); *AmbiguousError; *TooLargeError for a record or a batch over the
	// bounds in Traits; *ReadOnlyError; ErrNoSpace; ErrUnavailable; ErrClosed.
	Append(ctx context.Context, name string, expected Tip, recs ...[]byte) (Tip, error)

	// Tip returns the tip. An absent ledger has Seq 0, and its Gen is what an
	// append must expect that begins it: 0 as long as it was never deleted.
	Tip(ctx context.Context, name string) (Tip, error)

	// Read returns the records from number from on (0 is the same as 1) up to the
	// tip as it was when the iteration began. What was acknowledged before that is
	// there. Beyond the tip, and of an absent ledger, there is nothing, which is
	// no error.
	//
	// The iteration ends at its first error, and a number is never skipped:
	// a record that is lost or fails its checksum is a *DamagedError with its
	// number, and the caller may read on behind it. When the ledger is deleted
	// meanwhile, the iteration ends with a *DeletedError, or yields all that it
	// would have yielded.
	//
	// Each range over the result is an iteration of its own.
	Read(ctx context.Context, name string, from uint64) iter.Seq2[Record, error]

	// Follow is Read that does not end at the tip: it waits for more, and yields
	// each record once, in order, without a gap between those that were there
	// and those that come. It also waits for an absent ledger to begin, and for
	// a tip that has not reached from. It is woken and does not poll.
	//
	// It always ends with an error: the cause of ctx, a *DeletedError,
	// a *DamagedError, or ErrClosed. A consumer that is slow delays nobody.
	Follow(ctx context.Context, name string, from uint64) iter.Seq2[Record, error]

	// Delete ends the ledger's life: all its records are gone when it returns nil,
	// also after a crash. Deleting an absent ledger does nothing. Whoever
	// deletes makes sure that no writer holds the ledger's lease.
	Delete(ctx context.Context, name string) error

	// Names returns the names that begin with prefix of all ledgers that are not
	// absent, in the order of their bytes. prefix is any string, "" for all.
	// A ledger that begins or ends during the iteration may be there or not.
	Names(ctx context.Context, prefix string) iter.Seq2[string, error]
}

// A Tip is the end of a ledger: what the next append must expect. Tips are
// compared with ==. The zero Tip is that of a ledger that never was.
type Tip struct {
	// Gen tells the lives of a ledger apart. It is opaque, and never the same for
	// two lives of one name. The first append of a life may change it: expect what
	// Append returns.
	Gen uint64
	// Seq is the number of the last record, 0 when there is none.
	Seq uint64
}

// A Record is one record of a ledger.
type Record struct {
	Seq uint64
	// Data may be kept, is never changed by the backend, and must not be
	// changed. It may be part of a larger block of memory: clone what is kept
	// for long.
	Data []byte
}
