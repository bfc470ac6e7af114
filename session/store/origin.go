package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/storage"
)

// An origin says of a journal that was written elsewhere what its lease here
// cannot know. Journals that began here have none.
type origin struct {
	// Base is added to the epochs of leases, so that they are above those in what
	// was imported.
	Base uint64 `json:"base"`
	// Partial is set while the journal is being imported, and after an import that
	// did not come to its end.
	Partial bool     `json:"partial,omitempty"`
	From    event.ID `json:"from"`
	How     string   `json:"how"` // "import" or "repair"
}

// origin returns the origin of a session, and the revision of its row, 0 if it
// has none.
func (s *Store) origin(ctx context.Context, n names) (o origin, revision uint64, err error) {
	value, revision, err := s.b.KV().Get(ctx, n.origin)
	var missing *storage.NotFoundError
	if errors.As(err, &missing) {
		return o, 0, nil
	}
	if err == nil {
		err = json.Unmarshal(value, &o)
	}
	if err != nil {
		return o, 0, fmt.Errorf("read where session %s comes from: %w", n.id, err)
	}
	return o, revision, nil
}

func (s *Store) putOrigin(ctx context.Context, n names, o origin, revision uint64) (uint64, error) {
	value, err := json.Marshal(o)
	if err != nil {
		return 0, err
	}
	revision, err = s.b.KV().Put(ctx, n.origin, revision, value)
	if err != nil {
		return 0, fmt.Errorf("note where session %s comes from: %w", n.id, err)
	}
	return revision, nil
}

// A PartialImportError reports a session whose import has not come to its end.
// Importing it again replaces it.
type PartialImportError struct{ SessionID event.ID }

func (e *PartialImportError) Error() string {
	return fmt.Sprintf("session %s was not imported to its end; import it again, or delete it", e.SessionID)
}
