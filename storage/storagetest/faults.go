package storagetest

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/comity-dev/comity/storage"
)

// A Fate is what becomes of a write.
type Fate uint8

const (
	Pass Fate = iota // it is done and reported
	Lost             // it is not done, and nobody knows: *AmbiguousError
	Kept             // it is done, and nobody knows: *AmbiguousError
	Late             // nobody knows, and it is done at the next Land
)

// ErrFault is the cause of the errors that Faults makes.
var ErrFault = errors.New("planted fault")

// Faults is a backend whose writes are lost, or kept and reported as lost, when
// its owner says so. Writes are Append and Delete of Ledger, Acquire and Takeover
// of Leaser, Put and Delete of KV and of Blobs.
type Faults struct {
	storage.Backend

	mu     sync.Mutex
	decide func(n int, op, name string) Fate
	writes int
	late   []func()
}

// NewFaults wraps b. decide gets the number of the write, from 0, what it is
// ("append", "delete", "acquire", "takeover", "put row", "delete row",
// "put blob", "delete blob") and its name. It may be called concurrently.
func NewFaults(b storage.Backend, decide func(n int, op, name string) Fate) *Faults {
	return &Faults{Backend: b, decide: decide}
}

// Writes returns how many writes there were.
func (f *Faults) Writes() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.writes
}

// Land does the writes that are late, in their order.
func (f *Faults) Land() {
	f.mu.Lock()
	late := f.late
	f.late = nil
	f.mu.Unlock()
	for _, do := range late {
		do()
	}
}

func (f *Faults) Traits() storage.Traits {
	tr := f.Backend.Traits()
	tr.Ambiguous = true
	return tr
}

func (f *Faults) Ledger() storage.Ledger { return faultLedger{f.Backend.Ledger(), f} }
func (f *Faults) Leaser() storage.Leaser { return faultLeaser{f.Backend.Leaser(), f} }
func (f *Faults) KV() storage.KV         { return faultKV{f.Backend.KV(), f} }
func (f *Faults) Blobs() storage.Blobs   { return faultBlobs{f.Backend.Blobs(), f} }

// write runs one write as its fate wants.
func (f *Faults) write(op, name string, do func() error) error {
	f.mu.Lock()
	n := f.writes
	f.writes++
	f.mu.Unlock()
	fate := f.decide(n, op, name)
	switch fate {
	case Pass:
		return do()
	case Kept:
		do()
	case Late:
		f.mu.Lock()
		f.late = append(f.late, func() { do() })
		f.mu.Unlock()
	}
	return &storage.AmbiguousError{Op: op, Name: name, Cause: ErrFault}
}

type faultLedger struct {
	storage.Ledger
	f *Faults
}

func (l faultLedger) Append(ctx context.Context, name string, expected storage.Tip, recs ...[]byte) (tip storage.Tip, err error) {
	var kept [][]byte // a late write must not see what the caller does with recs
	for _, r := range recs {
		kept = append(kept, append([]byte{}, r...))
	}
	err = l.f.write("append", name, func() (err error) {
		tip, err = l.Ledger.Append(context.WithoutCancel(ctx), name, expected, kept...)
		return err
	})
	if err != nil {
		return storage.Tip{}, err
	}
	return tip, nil
}

func (l faultLedger) Delete(ctx context.Context, name string) error {
	return l.f.write("delete", name, func() error { return l.Ledger.Delete(context.WithoutCancel(ctx), name) })
}

type faultLeaser struct {
	storage.Leaser
	f *Faults
}

func (l faultLeaser) Acquire(ctx context.Context, name string) (storage.Lease, error) {
	return l.grant("acquire", name, func() (storage.Lease, error) {
		return l.Leaser.Acquire(context.WithoutCancel(ctx), name)
	})
}

func (l faultLeaser) Takeover(ctx context.Context, name string, p storage.Proof) (storage.Lease, error) {
	return l.grant("takeover", name, func() (storage.Lease, error) {
		return l.Leaser.Takeover(context.WithoutCancel(ctx), name, p)
	})
}

func (l faultLeaser) grant(op, name string, do func() (storage.Lease, error)) (lease storage.Lease, err error) {
	err = l.f.write(op, name, func() (err error) {
		lease, err = do()
		return err
	})
	if err != nil {
		return nil, err
	}
	return lease, nil
}

type faultKV struct {
	storage.KV
	f *Faults
}

func (v faultKV) Put(ctx context.Context, key string, expected uint64, value []byte) (rev uint64, err error) {
	value = append([]byte{}, value...)
	err = v.f.write("put row", key, func() (err error) {
		rev, err = v.KV.Put(context.WithoutCancel(ctx), key, expected, value)
		return err
	})
	if err != nil {
		return 0, err
	}
	return rev, nil
}

func (v faultKV) Delete(ctx context.Context, key string, expected uint64) error {
	return v.f.write("delete row", key, func() error { return v.KV.Delete(context.WithoutCancel(ctx), key, expected) })
}

type faultBlobs struct {
	storage.Blobs
	f *Faults
}

// Put is never Late: its reader belongs to the caller. It is Lost then.
func (b faultBlobs) Put(ctx context.Context, space string, want storage.Digest, r io.Reader) (info storage.BlobInfo, err error) {
	var over bool
	err = b.f.write("put blob", space, func() (err error) {
		if over {
			return ErrFault
		}
		info, err = b.Blobs.Put(context.WithoutCancel(ctx), space, want, r)
		return err
	})
	over = true
	if err != nil {
		return storage.BlobInfo{}, err
	}
	return info, nil
}

func (b faultBlobs) Delete(ctx context.Context, space string, d storage.Digest) error {
	return b.f.write("delete blob", space, func() error { return b.Blobs.Delete(context.WithoutCancel(ctx), space, d) })
}
