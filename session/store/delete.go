package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/storage"
)

// Delete removes a session and all that belongs to it. Its journal goes first,
// at one moment: a Delete that ends behind it, in a crash or with an error, has
// deleted the session, and Delete again, or Retain, removes what is left. A session
// that somebody owns is a *journal.LeaseHeldError, and nothing is removed. One
// that is not there is no error.
func (s *Store) Delete(ctx context.Context, id event.ID) error {
	return s.deleteIf(ctx, id, func(uint64) bool { return true })
}

var errMovedOn = errors.New("the session has moved on")

// deleteIf deletes a session if its tip, under its lease, is still what it is
// to be deleted for; else the error is errMovedOn.
func (s *Store) deleteIf(ctx context.Context, id event.ID, still func(tip uint64) bool) error {
	lease, err := s.Acquire(ctx, id)
	if err != nil {
		return err
	}
	defer s.letGo(lease)
	n, err := s.names(id)
	if err != nil {
		return err
	}
	tip, err := s.b.Ledger().Tip(ctx, n.ledger)
	if err != nil {
		return fmt.Errorf("delete session %s: %w", n.id, err)
	}
	if !still(tip.Seq) {
		return errMovedOn
	}
	if err := s.erase(ctx, n); err != nil {
		return err
	}
	if err := s.b.KV().Delete(ctx, n.origin, 0); err != nil {
		return fmt.Errorf("delete session %s: where it came from: %w", n.id, err)
	}
	return nil
}

// erase removes the journal, and then all else but the row of its origin. The
// caller holds the lease.
func (s *Store) erase(ctx context.Context, n names) error {
	if err := s.b.Ledger().Delete(ctx, n.ledger); err != nil {
		return fmt.Errorf("delete session %s: %w", n.id, err)
	}
	for _, row := range []string{n.index, n.ledger} {
		if err := s.b.KV().Delete(ctx, row, 0); err != nil {
			return fmt.Errorf("delete session %s: row %s: %w", n.id, row, err)
		}
	}
	for _, space := range []string{n.content, n.index} {
		if err := s.eraseSpace(ctx, space); err != nil {
			return fmt.Errorf("delete session %s: %w", n.id, err)
		}
	}
	return nil
}

func (s *Store) eraseSpace(ctx context.Context, space string) error {
	var digests []storage.Digest
	for info, err := range s.b.Blobs().List(ctx, space) {
		if err != nil {
			return fmt.Errorf("list its blobs: %w", err)
		}
		digests = append(digests, info.Digest)
	}
	for _, d := range digests {
		if err := s.b.Blobs().Delete(ctx, space, d); err != nil {
			return fmt.Errorf("remove blob %v: %w", d, err)
		}
	}
	return nil
}
