package natsstore

import (
	"context"
	"fmt"
	"maps"
	"time"
)

// Sweep removes the chunks of Puts that died more than so long ago, and returns
// how many contents that were. It must be longer than any Put takes, which
// else stores a blob that cannot be read: an hour, say.
func (s *Store) Sweep(ctx context.Context, age time.Duration) (int, error) {
	if err := s.over(ctx); err != nil {
		return 0, err
	}
	chunks, err := s.subjects(ctx, s.names.blobs, s.names.chunk+"*")
	if err != nil {
		return 0, fmt.Errorf("sweep: %w", err)
	}
	used, err := s.subjects(ctx, s.names.blobs, s.names.blob+"*.*")
	if err != nil {
		return 0, fmt.Errorf("sweep: %w", err)
	}
	now, err := s.now(ctx)
	if err != nil {
		return 0, fmt.Errorf("sweep: %w", err)
	}
	for m := range maps.Values(used) {
		delete(chunks, s.names.chunk+string(m.data))
	}
	n := 0
	for subject, m := range chunks {
		if now.Sub(m.at) <= age {
			continue
		}
		if err := s.purge(ctx, subject); err != nil {
			return n, fmt.Errorf("sweep: %w", err)
		}
		n++
	}
	return n, nil
}
