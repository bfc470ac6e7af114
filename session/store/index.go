package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"maps"

	"github.com/comity-dev/comity/session/command"
	"github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/storage"
)

// An index knows the ids of all records of a session, where they are, and what
// their content is. What lies behind its last checkpoint is in memory; the rest
// is in runs (run.go), of which only what is asked for is read. It belongs to
// the writer and is guarded by its turn.
type index struct {
	s       *Store
	n       names
	tail    map[half]entry // behind the last checkpoint
	sealing *sealing       // being made into a checkpoint; nil when nothing is
	through uint64         // the last record that is known
	due     int            // how long the tail may become before a checkpoint
	point   checkpoint
	shards  shards
	found   func(ctx context.Context, seq uint64, f *journal.Frame) // told of frames that are read
}

// A sealing is what is on its way into a checkpoint.
type sealing struct {
	recs map[half]entry
	done chan struct{} // closed when it is over
	err  error         // why it failed; read behind done
	anew bool          // the index was made anew because of it; read behind done
}

// A half is the first half of a SHA-256: of what a record is remembered by, or
// of its fingerprint.
type half [16]byte

// An entry says of a record where it is and what its content is.
type entry struct {
	fp  half
	seq uint64
}

func halfOf(s string) half {
	var few [128]byte
	sum := sha256.Sum256(append(few[:0], s...))
	return half(sum[:16])
}

func halfOfFingerprint(fp journal.Fingerprint) half {
	var few [128]byte
	kind, sum := fp.Parts()
	all := sha256.Sum256(append(append(append(few[:0], kind...), 0), sum[:]...))
	return half(all[:16])
}

// deliveryKey is what the intent of a phased input is remembered by besides its
// own id, with the fingerprint that it has without the phase.
func deliveryKey(id journal.CommandRecordID) string { return "delivery:" + id.CommandID.String() }

// disposedKey is what a disposition is remembered by besides its own id: the
// command that it is of.
func disposedKey(commandID string) string { return "disposed:" + commandID }

func newIndex(s *Store, n names) *index {
	return &index{s: s, n: n, tail: make(map[half]entry), due: s.o.CheckpointRecords, shards: shards{most: s.o.IndexCacheBytes}}
}

// lookup returns the entry of a key.
func (x *index) lookup(ctx context.Context, key string) (entry, bool, error) {
	return x.find(ctx, halfOf(key))
}

func (x *index) find(ctx context.Context, k half) (entry, bool, error) {
	if e, ok := x.tail[k]; ok {
		return e, true, nil
	}
	if x.sealing != nil {
		if e, ok := x.sealing.recs[k]; ok {
			return e, true, nil
		}
	}
	e, ok, err := x.lookupRuns(ctx, k)
	if err == nil || ctx.Err() != nil {
		return e, ok, err
	}
	// A checkpoint that cannot be read is no loss: everything is in the journal.
	x.s.o.Trouble(err)
	if err := x.rebuild(ctx); err != nil {
		return entry{}, false, err
	}
	e, ok = x.tail[k]
	return e, ok, nil
}

func (x *index) set(key, fp half, seq uint64) {
	x.tail[key] = entry{fp, seq}
	x.through = max(x.through, seq)
}

// observe notes a record that is durable.
func (x *index) observe(p pending, seq uint64) {
	x.set(p.key, p.fp, seq)
	switch r := p.rec.(type) {
	case journal.CommandRecord:
		if r.DeliveryPhase() != command.PhaseIntent {
			return
		}
		if fp, err := r.NormalizedDeliveryFingerprint(); err == nil {
			x.set(halfOf(deliveryKey(r.PhysicalID())), halfOfFingerprint(fp), seq)
		}
	case journal.CommandDispositionRecord:
		x.set(halfOf(disposedKey(r.Disposition().CommandID)), p.fp, seq)
	}
}

// observeFrame notes a record that was found.
func (x *index) observeFrame(ctx context.Context, seq uint64, f *journal.Frame) error {
	p := newPending(nil, f)
	if f.Family == journal.FamilyCommand && !journal.IsFallbackID(f.ID) || f.Family == journal.FamilyDisposition {
		whole, err := x.s.whole(ctx, x.n, seq, f)
		if err != nil {
			return err
		}
		if p.rec, err = x.s.o.Kinds.Decode(x.n.id, whole); err != nil {
			return &journal.ReplayDecodeError{Subject: x.n.ledger, Seq: seq, Cause: err}
		}
	}
	x.observe(p, seq)
	return nil
}

// load makes the index of a journal that ends at tip: of its last checkpoint, if
// that is one of this journal, and of the records behind it.
func (x *index) load(ctx context.Context, tip storage.Tip) error {
	if err := x.loadCheckpoint(ctx, tip); err != nil {
		if ctx.Err() != nil {
			return err
		}
		x.s.o.Trouble(fmt.Errorf("checkpoint of session %s: %w; its journal is read from the beginning", x.n.id, err))
		x.point = checkpoint{revision: x.point.revision, anew: x.point.anew}
	}
	return x.scan(ctx, x.point.Seq, tip.Seq)
}

// rebuild makes the index anew from the whole journal.
func (x *index) rebuild(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), x.s.o.OpenTimeout)
	defer cancel()
	tail, sealing, point, through := x.tail, x.sealing, x.point, x.through
	x.point = checkpoint{revision: point.revision, anew: true}
	x.tail, x.sealing = make(map[half]entry), nil
	if err := x.scan(ctx, 0, through); err != nil {
		x.tail, x.sealing, x.point, x.through = tail, sealing, point, through
		return err
	}
	return nil
}

// scan observes the records behind from, up to through.
func (x *index) scan(ctx context.Context, from, through uint64) error {
	x.through = max(x.through, from)
	for at, err := range x.s.frames(ctx, x.n, from+1, through) {
		if err != nil {
			return err
		}
		if err := x.observeFrame(ctx, at.seq, at.frame); err != nil {
			return err
		}
		if x.found != nil {
			x.found(ctx, at.seq, at.frame)
		}
	}
	if x.through != through && through != 0 {
		return &journal.ReplayReadError{Subject: x.n.ledger, Seq: x.through + 1, Cause: errMissing}
	}
	return nil
}

// An overlay is the index with the records of a batch that is not written yet.
type overlay struct {
	x    *index
	tail map[half]entry
}

func newOverlay(x *index) *overlay { return &overlay{x: x} }

func (o *overlay) lookup(ctx context.Context, key string) (entry, bool, error) {
	return o.find(ctx, halfOf(key))
}

func (o *overlay) find(ctx context.Context, k half) (entry, bool, error) {
	if e, ok := o.tail[k]; ok {
		return e, true, nil
	}
	return o.x.find(ctx, k)
}

// check is IdempotencyIndex.Check, without the id in its error.
func (o *overlay) check(ctx context.Context, p pending) (seq uint64, seen bool, err error) {
	e, ok, err := o.find(ctx, p.key)
	switch {
	case err != nil || !ok:
		return 0, false, err
	case e.fp != p.fp:
		return 0, false, &journal.IdempotencyCollisionError{Seq: e.seq}
	}
	return e.seq, true, nil
}

// delivery returns what is durable, or before it in the batch, of a phased input.
func (o *overlay) delivery(ctx context.Context, r journal.CommandRecord) (d journal.Delivery, err error) {
	if r.DeliveryPhase() == command.PhaseNone {
		return d, nil
	}
	fp, err := r.NormalizedDeliveryFingerprint()
	if err != nil {
		return d, err
	}
	intent, ok, err := o.lookup(ctx, deliveryKey(r.PhysicalID()))
	if err != nil || !ok {
		return d, err
	}
	d.Intent = intent.seq
	if intent.fp == halfOfFingerprint(fp) {
		d.Fingerprint = fp
	}
	fallback := journal.CommandRecordID{CommandID: r.LogicalCommandID(), Phase: command.PhaseFallbackQueued}
	e, _, err := o.lookup(ctx, journal.IndexKey(journal.FamilyCommand, "", fallback.String()))
	d.Fallback = e.seq
	return d, err
}

func (o *overlay) observe(p pending, seq uint64) {
	batch := index{tail: o.tail}
	if batch.tail == nil {
		batch.tail = make(map[half]entry)
	}
	batch.observe(p, seq)
	o.tail = batch.tail
}

// entries returns what a map holds in the order of its keys.
func entries(m map[half]entry) []record {
	list := make([]record, 0, len(m))
	for k, e := range m {
		list = append(list, record{k, e})
	}
	sortRecords(list)
	return list
}

// merged returns a with what b has besides.
func merged(a, b map[half]entry) map[half]entry {
	if len(b) == 0 {
		return a
	}
	both := maps.Clone(b)
	maps.Copy(both, a)
	return both
}

func compareHalf(a, b half) int { return bytes.Compare(a[:], b[:]) }
