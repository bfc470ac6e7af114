package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"github.com/comity-dev/comity/storage"
)

// A checkpoint is the index of a journal up to a record, as it is stored: one row
// that names the runs. It is believed only if the record at its end is the one
// that the journal has, and each part only if its digest is right; else the
// journal is read instead.
type checkpoint struct {
	V     int            `json:"v"`
	Gen   uint64         `json:"gen"`   // life of the ledger
	Seq   uint64         `json:"seq"`   // the last record that is in it
	Frame storage.Digest `json:"frame"` // of that record
	Runs  []run          `json:"runs"`  // the older and longer first

	revision uint64 // of the row
	anew     bool   // there was one that is damaged: what is left of it goes
}

const checkpointVersion = 1

var errMissing = errors.New("the record is not there")

// loadCheckpoint takes the stored checkpoint, if there is one. An error says why
// it was not taken; then the revision of its row is known all the same, and whether
// it is damaged: one that could not be read, or that is ahead of tip because another
// owner came meanwhile, keeps what it has.
func (x *index) loadCheckpoint(ctx context.Context, tip storage.Tip) error {
	value, revision, err := x.s.b.KV().Get(ctx, x.n.index)
	var missing *storage.NotFoundError
	if errors.As(err, &missing) {
		return nil
	}
	if err != nil {
		return err
	}
	x.point.revision = revision
	var p checkpoint
	if err := json.Unmarshal(value, &p); err != nil {
		x.point.anew = true
		return err
	}
	switch {
	case p.V != checkpointVersion:
		return fmt.Errorf("version %d, want %d", p.V, checkpointVersion)
	case p.Gen != tip.Gen || p.Seq > tip.Seq || p.Seq == 0:
		return errors.New("it is of another life of the journal")
	}
	for i, r := range p.Runs {
		if r.Bits < 0 || r.Bits > 16 || len(r.Shards) != 1<<r.Bits {
			x.point.anew = true
			return errors.New("a run whose shards do not fit")
		}
		p.Runs[i].loaded = make([]*shard, len(r.Shards))
	}
	_, raw, err := x.s.frame(ctx, x.n, p.Seq)
	if err != nil {
		return err
	}
	if storage.DigestOf(raw) != p.Frame {
		return fmt.Errorf("its last record, %d, is another one in the journal", p.Seq)
	}
	p.revision = revision
	x.point = p
	return nil
}

// beginSeal takes what is behind the last checkpoint out of the way of appends
// and returns the function that stores it, to be run beside them; nil when
// nothing is to be stored, or another is at work. The function that that one
// returns is called under the turn again, and the last one beside appends: it
// removes what lookups used until then.
func (x *index) beginSeal(tip storage.Tip, last []byte) func(context.Context) (install func() (forget func())) {
	if x.sealing != nil || len(x.tail) == 0 {
		return nil
	}
	own := &sealing{recs: x.tail, done: make(chan struct{})}
	x.sealing, x.tail = own, make(map[half]entry, min(len(x.tail), x.s.o.CheckpointRecords)) // as many will come again
	was := x.point
	return func(ctx context.Context) func() func() {
		point, old, err := x.seal(ctx, own.recs, was, tip, last)
		return func() func() {
			own.err = err
			defer close(own.done) // whoever waits for it finds everything told
			if x.sealing != own { // the index was made anew meanwhile
				return func() {}
			}
			x.sealing = nil
			if err == nil {
				x.point, x.due = point, x.s.o.CheckpointRecords
				return func() { x.forget(ctx, point, old) }
			}
			x.tail = merged(x.tail, own.recs)
			x.due = len(x.tail) + x.s.o.CheckpointRecords // not again with each append
			var moved *storage.RevisionError
			if errors.As(err, &moved) {
				x.point.revision = moved.Revision
			}
			x.s.o.Trouble(fmt.Errorf("checkpoint of session %s: %w", x.n.id, err))
			if lostShard(err) { // of a run that was to be merged: no later try could do it
				own.anew = x.rebuild(ctx) == nil
			}
			return func() {}
		}
	}
}

// seal stores records behind the checkpoint was. It returns the new checkpoint
// and the shards that it does not have any more. It touches nothing of x that
// changes.
func (x *index) seal(ctx context.Context, recs map[half]entry, was checkpoint, tip storage.Tip, last []byte) (checkpoint, []storage.Digest, error) {
	p := checkpoint{V: checkpointVersion, Gen: tip.Gen, Seq: tip.Seq, Frame: storage.DigestOf(last)}
	p.Runs = append(p.Runs, was.Runs...)
	var old []storage.Digest
	next := sorted(entries(recs))
	n := len(recs)
	if was.anew {
		var err error
		if old, err = x.stored(ctx); err != nil {
			return p, nil, err
		}
	}
	// A run is merged with those before it that are not twice as long, so that
	// there are few and none is written more often than there are runs.
	for len(p.Runs) > 0 && p.Runs[len(p.Runs)-1].Records < 2*n {
		last := p.Runs[len(p.Runs)-1]
		p.Runs = p.Runs[:len(p.Runs)-1]
		next = mergeRecords(x.records(ctx, last), next)
		n += last.Records
		old = append(old, last.Shards...)
	}
	r, err := x.writeRun(ctx, n, next, was.anew)
	if err != nil {
		return p, nil, err
	}
	p.Runs = append(p.Runs, r)
	value, err := json.Marshal(p)
	if err != nil {
		return p, nil, err
	}
	p.revision, err = x.s.b.KV().Put(ctx, x.n.index, was.revision, value)
	return p, old, err
}

func sorted(list []record) iter.Seq2[record, error] {
	return func(yield func(record, error) bool) {
		for _, r := range list {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// forget deletes shards that p has no more.
func (x *index) forget(ctx context.Context, p checkpoint, old []storage.Digest) {
	kept := make(map[storage.Digest]bool)
	for _, r := range p.Runs {
		for _, d := range r.Shards {
			kept[d] = true
		}
	}
	for _, d := range old {
		if d == (storage.Digest{}) || kept[d] {
			continue
		}
		if err := x.s.b.Blobs().Delete(ctx, x.n.index, d); err != nil {
			x.s.o.Trouble(fmt.Errorf("checkpoint of session %s: remove an old part: %w", x.n.id, err))
			return
		}
	}
}
