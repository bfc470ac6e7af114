package store

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/journal"
)

// A Policy says which sessions are kept.
type Policy struct {
	// MaxAge is how long a session is kept that nothing is appended to any more. It
	// is told from the catalog, so by the clock of whoever wrote there last. It
	// must be above 0.
	MaxAge time.Duration
	// KeepNewest sessions are kept however old they are.
	KeepNewest int
}

// Retained says what Retain did.
type Retained struct {
	Deleted []event.ID
	Kept    int
	Held    int // of those kept: somebody owns them
	// Repaired are those whose entry in the catalog did not say all; it was made
	// anew, and they are judged by it the next time.
	Repaired []event.ID
	// Leftovers are sessions that were deleted before and whose remains were
	// removed now.
	Leftovers []event.ID
}

// Retain deletes the sessions that a policy does not keep. Nobody's session is
// deleted under its owner, and none of which the catalog does not know the last
// record. It ends at the first error.
func (s *Store) Retain(ctx context.Context, p Policy) (Retained, error) {
	var r Retained
	if p.MaxAge <= 0 || p.KeepNewest < 0 {
		return r, errors.New("retain sessions: want an age above 0, and no negative number to keep")
	}
	var list []Entry
	for e, err := range s.Catalog(ctx) {
		if err != nil {
			return r, err
		}
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(b.Updated, a.Updated), cmp.Compare(a.Session, b.Session))
	})
	oldest := s.o.Now().Add(-p.MaxAge).UnixMilli()
	for i, e := range list {
		if err := s.retain(ctx, e, i < p.KeepNewest || e.Updated > oldest, &r); err != nil {
			return r, err
		}
	}
	return r, s.sweep(ctx, &r)
}

func (s *Store) retain(ctx context.Context, e Entry, keep bool, r *Retained) error {
	if e.Partial || e.LastSeq != e.Seq {
		r.Kept++
		if _, err := s.RepairCatalog(ctx, e.Session); err != nil {
			if ctx.Err() != nil {
				return err
			}
			s.o.Trouble(err) // a journal that cannot be read is not deleted for it
			return nil
		}
		r.Repaired = append(r.Repaired, e.Session)
		return nil
	}
	if keep {
		r.Kept++
		return nil
	}
	err := s.deleteIf(ctx, e.Session, func(tip uint64) bool { return tip == e.Seq })
	var held *journal.LeaseHeldError
	switch {
	case errors.As(err, &held):
		r.Kept++
		r.Held++
		return nil
	case err == errMovedOn:
		r.Kept++
		return nil
	case err != nil:
		return err
	}
	r.Deleted = append(r.Deleted, e.Session)
	return nil
}

// sweep removes what is left of sessions whose journal is gone: a Delete that did
// not come to its end.
func (s *Store) sweep(ctx context.Context, r *Retained) error {
	prefix := s.o.Prefix + "/"
	ids := make(map[event.ID]bool)
	note := func(name string) {
		id, _, _ := strings.Cut(strings.TrimPrefix(name, prefix), "/")
		if event.ID(id).Valid() {
			ids[event.ID(id)] = true
		}
	}
	for space, err := range s.b.Blobs().Spaces(ctx, prefix) {
		if err != nil {
			return err
		}
		note(space)
	}
	for key, err := range s.b.KV().Keys(ctx, prefix) {
		if err != nil {
			return err
		}
		note(key)
	}
	for id := range ids {
		n, err := s.names(id)
		if err != nil {
			return err
		}
		tip, err := s.b.Ledger().Tip(ctx, n.ledger)
		if err != nil {
			return err
		}
		if tip.Seq > 0 {
			continue
		}
		err = s.deleteIf(ctx, id, func(tip uint64) bool { return tip == 0 })
		var held *journal.LeaseHeldError
		if errors.As(err, &held) || err == errMovedOn { // it is being made
			continue
		}
		if err != nil {
			return err
		}
		r.Leftovers = append(r.Leftovers, id)
	}
	return nil
}
