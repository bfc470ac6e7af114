package store

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/storage"
)

// A Store holds the journals of sessions in a backend. It has no goroutines of
// its own and is safe for concurrent use. The backend stays its owner's, who
// closes it after all writers.
type Store struct {
	b storage.Backend
	o Options
}

// New returns a store over b. o may be nil.
func New(b storage.Backend, o *Options) (*Store, error) {
	s := &Store{b: b}
	if o != nil {
		s.o = *o
	}
	if err := s.o.fill(b.Traits()); err != nil {
		return nil, fmt.Errorf("options of a session store: %w", err)
	}
	return s, nil
}

// Sessions returns the sessions that have a journal, in the order of their ids.
func (s *Store) Sessions(ctx context.Context) iter.Seq2[event.ID, error] {
	return func(yield func(event.ID, error) bool) {
		prefix := s.o.Prefix + "/"
		for name, err := range s.b.Ledger().Names(ctx, prefix) {
			if err != nil {
				yield("", fmt.Errorf("list sessions: %w", err))
				return
			}
			id := event.ID(strings.TrimPrefix(name, prefix))
			if id.Valid() && !yield(id, nil) {
				return
			}
		}
	}
}

// Names of one session.
type names struct {
	id      event.ID
	ledger  string // the journal; its lease and its row of the catalog have the same name
	origin  string // row: where an imported journal comes from
	index   string // row: the last checkpoint of the index; space: its parts
	content string // space: what is too long for frames
}

// names returns the names of a session, or an *InvalidSessionError.
func (s *Store) names(id event.ID) (names, error) {
	if !id.Valid() {
		return names{}, &InvalidSessionError{id}
	}
	ledger := s.o.Prefix + "/" + id.String()
	return names{id, ledger, ledger + "/origin", ledger + "/index", ledger + "/content"}, nil
}

// An InvalidSessionError reports what is not the id of a session.
type InvalidSessionError struct{ ID event.ID }

func (e *InvalidSessionError) Error() string {
	return fmt.Sprintf("%.80q is not the id of a session: want a UUID in lower case", string(e.ID))
}

var _ journal.BatchJournal = (*Writer)(nil)
