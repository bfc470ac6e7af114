package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/storage"
)

// What is kept beside a journal can be lost or damaged as anything on a disk, and
// is made anew from the journal: by a writer that comes upon it, and by
// RepairBooks, which looks for it.

// RepairBooks makes the checkpoint of a session's index and its row of the catalog
// anew from the journal, whether something is wrong with them or not: Verify does not
// hold all of the row to the journal. It returns what Verify found before. It holds the lease meanwhile, so that nobody else writes, and changes
// nothing of the journal: bad records are the error, that of the first one, and
// then nothing is changed at all.
func (s *Store) RepairBooks(ctx context.Context, id event.ID) (Report, error) {
	n, err := s.names(id)
	if err != nil {
		return Report{}, err
	}
	lease, err := s.Acquire(ctx, id)
	if err != nil {
		return Report{}, err
	}
	defer s.letGo(lease)
	r, err := s.Verify(ctx, id)
	switch {
	case err != nil:
		return r, err
	case len(r.Problems) > 0:
		return r, r.Problems[0].Err
	case r.Tip == 0:
		return r, nil
	}
	forget, err := s.remakeIndex(ctx, n)
	if err != nil {
		return r, fmt.Errorf("checkpoint of session %s: %w", id, err)
	}
	if e, revision, err := s.row(ctx, n); err != nil || e.LastSeq > r.Tip { // of another journal: it would win
		if err := s.b.KV().Delete(ctx, n.ledger, revision); err != nil {
			return r, fmt.Errorf("catalog of session %s: %w", id, err)
		}
	}
	if _, err := s.RepairCatalog(ctx, id); err != nil {
		return r, err
	}
	forget() // last, as settleBooks does
	return r, nil
}

// remakeIndex stores a checkpoint of the whole journal, and returns what removes
// the parts of those before.
func (s *Store) remakeIndex(ctx context.Context, n names) (forget func(), err error) {
	tip, err := s.b.Ledger().Tip(ctx, n.ledger)
	if err != nil {
		return nil, err
	}
	_, last, err := s.frame(ctx, n, tip.Seq)
	if err != nil {
		return nil, err
	}
	x := newIndex(s, n)
	_ = x.loadCheckpoint(ctx, tip) // only the revision of its row is wanted
	x.point = checkpoint{revision: x.point.revision, anew: true}
	if err := x.scan(ctx, 0, tip.Seq); err != nil {
		return nil, err
	}
	point, old, err := x.seal(ctx, x.tail, x.point, tip, last)
	var moved *storage.RevisionError
	if errors.As(err, &moved) { // its row could not be read
		x.point.revision = moved.Revision
		point, old, err = x.seal(ctx, x.tail, x.point, tip, last)
	}
	return func() { x.forget(ctx, point, old) }, err
}

// stored are all shards that are there: behind a checkpoint that was damaged it is
// not known which those were. They go once the new one is stored, and not before:
// a writer that has lost its session would take them from the one that has it.
func (x *index) stored(ctx context.Context) ([]storage.Digest, error) {
	var all []storage.Digest
	for info, err := range x.s.b.Blobs().List(ctx, x.n.index) {
		if err != nil {
			return nil, err
		}
		all = append(all, info.Digest)
	}
	return all, nil
}

// discard removes a shard whose content is damaged, which would be taken for the
// good one of the same name.
func (x *index) discard(ctx context.Context, d storage.Digest) error {
	_, err := x.readShard(ctx, d)
	var damaged *storage.DigestError
	if errors.As(err, &damaged) {
		return x.s.b.Blobs().Delete(ctx, x.n.index, d)
	}
	return nil // it is not there, or good, or the next to ask for it hears why not
}

// errShard is a shard that is no list of records.
var errShard = errors.New("its length is not one of whole records")

// lostShard reports whether an error says that a part of a checkpoint is lost, and
// not that it could not be asked for.
func lostShard(err error) bool {
	var missing *storage.NotFoundError
	var damaged *storage.DigestError
	return errors.As(err, &missing) || errors.As(err, &damaged) || errors.Is(err, errShard)
}
