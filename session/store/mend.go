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
// anew where they are not what the journal says, and returns what Verify found
// before. It holds the lease meanwhile, so that nobody else writes, and changes
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
	if err := s.remakeIndex(ctx, n); err != nil {
		return r, fmt.Errorf("checkpoint of session %s: %w", id, err)
	}
	if e, revision, err := s.row(ctx, n); err != nil || e.LastSeq > r.Tip { // of another journal: it would win
		if err := s.b.KV().Delete(ctx, n.ledger, revision); err != nil {
			return r, fmt.Errorf("catalog of session %s: %w", id, err)
		}
	}
	_, err = s.RepairCatalog(ctx, id)
	return r, err
}

// remakeIndex stores a checkpoint of the whole journal.
func (s *Store) remakeIndex(ctx context.Context, n names) error {
	tip, err := s.b.Ledger().Tip(ctx, n.ledger)
	if err != nil {
		return err
	}
	_, last, err := s.frame(ctx, n, tip.Seq)
	if err != nil {
		return err
	}
	x := newIndex(s, n)
	_ = x.loadCheckpoint(ctx, tip) // only the revision of its row is wanted
	x.point = checkpoint{revision: x.point.revision, anew: true}
	if err := x.scan(ctx, 0, tip.Seq); err != nil {
		return err
	}
	_, _, err = x.seal(ctx, x.tail, x.point, tip, last)
	var moved *storage.RevisionError
	if errors.As(err, &moved) { // its row could not be read
		x.point.revision = moved.Revision
		_, _, err = x.seal(ctx, x.tail, x.point, tip, last)
	}
	return err
}

// clear removes all shards that are stored: those of a checkpoint that was not
// believed. One whose content is damaged would be taken for the same one that is
// good. A crash behind it leaves a checkpoint without shards, which is made anew
// too.
func (x *index) clear(ctx context.Context) error {
	var all []storage.Digest
	for info, err := range x.s.b.Blobs().List(ctx, x.n.index) {
		if err != nil {
			return err
		}
		all = append(all, info.Digest)
	}
	for _, d := range all {
		if err := x.s.b.Blobs().Delete(ctx, x.n.index, d); err != nil {
			return err
		}
	}
	return nil
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
