package storage

import (
	"context"
	"time"
)

// A Leaser grants names to one holder at a time. It tells who may write, early
// and kindly; what keeps a stale holder from writing is the expected tip of
// Ledger. Names of leases are their own: a lease guards whatever its holders
// agree on.
type Leaser interface {
	// Acquire grants name to the caller, if nobody holds it. It does not wait for
	// a holder. The epoch of the grant is above that of every earlier grant of the
	// name, for ever: over restarts, over deletes of ledgers of that name, and
	// over the loss of a grant of which nobody was told. It is durable before
	// Acquire returns.
	//
	// Errors: *HeldError, with the holder's epoch; *AmbiguousError when it is not
	// known whether the grant was made (such a grant has no holder: it ends by
	// expiry, or by Takeover); *ReadOnlyError; ErrNoSpace; ErrUnavailable;
	// ErrClosed.
	Acquire(ctx context.Context, name string) (Lease, error)

	// Takeover ends the grant that the proof names and grants name to the caller:
	// for a holder that hangs, when waiting for its expiry is no way, or there is
	// none. It is for a person who has seen that the holder is stuck, never for
	// a program that wants in. If the grant has ended, Takeover is Acquire; if
	// another one holds, the error is a *HeldError with its epoch.
	Takeover(ctx context.Context, name string, proof Proof) (Lease, error)

	// Holder returns the epoch of the grant that holds name, 0 when none does.
	Holder(ctx context.Context, name string) (epoch uint64, err error)
}

// A Lease is a grant. It ends by Release, by Takeover, by the Close of the
// backend, and, if Traits.Expiry is not 0, when its holder has not been able to
// renew it for that long; the backend renews it by itself. Expiry is measured by
// one clock: the server's, or the holder's monotonic one for the holder's own
// side, which then gives up first. Two wall clocks are never compared.
type Lease interface {
	Name() string
	Epoch() uint64
	// Lost is closed when the grant has ended or can no longer be relied on, also
	// by Release. It is never opened again.
	Lost() <-chan struct{}
	// Release ends the grant. It may be called any number of times, and it never
	// touches a later grant. A nil error says that the name is free or held by
	// a later grant.
	Release(ctx context.Context) error
}

// A Proof says that somebody looked at the grant that is to end.
type Proof struct {
	// Epoch is that of the grant that is to end, as HeldError or Holder gave it.
	Epoch uint64
	// Reason is kept where the backend can keep it. It must not be empty.
	Reason string
}

// Traits say what a backend promises and what it can take.
type Traits struct {
	// Durable says what a write that returned nil survives.
	Durable Durability
	// Expiry is the longest time that a grant outlives its holder. 0: grants do
	// not expire; they end with the process of the holder, by Release, or by
	// Takeover.
	Expiry time.Duration
	// Ambiguous reports whether the outcome of a write may stay unknown while
	// the backend works (it lies over a network). Where it is false, only
	// a broken disk makes an *AmbiguousError, and reopening the store resolves it.
	Ambiguous bool
	// MaxRecordBytes bounds a record of a ledger, at least 1 MiB. MaxBatchRecords
	// and MaxBatchBytes bound one append; MaxBatchRecords is at least 100 and
	// MaxBatchBytes at least MaxRecordBytes.
	MaxRecordBytes, MaxBatchRecords, MaxBatchBytes int
	// MaxValueBytes bounds a value of KV, at least 1 MiB.
	MaxValueBytes int
}

// Durability is what a write survives.
type Durability uint8

const (
	Memory   Durability = iota // nothing: it ends with the process
	Process                    // the death of every process, but not a loss of power
	Synced                     // a loss of power: it is on disk
	Replicas                   // what the server promises, which the backend's documentation says
)

func (d Durability) String() string {
	switch d {
	case Memory:
		return "memory"
	case Process:
		return "process"
	case Synced:
		return "synced"
	case Replicas:
		return "replicas"
	}
	return "unknown"
}
