package natsstore

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/nats-io/nats.go/jetstream"
)

// list yields the names of the subjects below base that are live and begin with
// prefix. The name is the first token behind base.
func (s *Store) list(ctx context.Context, stream, base, filter, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		if err := s.over(ctx); err != nil {
			yield("", err)
			return
		}
		ctx, stop := s.reading(ctx)
		defer stop()
		lctx, cancel := s.limit(ctx)
		live, err := s.subjects(lctx, stream, base+filter)
		cancel()
		if err != nil {
			yield("", fmt.Errorf("list what begins with %.80q: %w", prefix, err))
			return
		}
		for _, name := range namesIn(live, base, prefix) {
			if err := s.over(ctx); err != nil {
				yield("", err)
				return
			}
			if !yield(name, nil) {
				return
			}
		}
	}
}

func namesIn(live map[string]*stored, base, prefix string) []string {
	names := make([]string, 0, len(live))
	for subject := range live {
		first, _, _ := strings.Cut(strings.TrimPrefix(subject, base), ".")
		if name := untoken(first); strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// subjects returns the subjects of a stream that match a filter and their last
// messages that are live, by subject, without the data of all but blobs.
func (s *Store) subjects(ctx context.Context, stream, filter string) (map[string]*stored, error) {
	var info *jetstream.StreamInfo
	err := s.retry(ctx, func(ctx context.Context) error {
		st, err := s.js.Stream(ctx, stream)
		if err == nil {
			info, err = st.Info(ctx, jetstream.WithSubjectFilter(filter))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	left := make([]string, 0, len(info.State.Subjects))
	for subject := range info.State.Subjects {
		left = append(left, subject)
	}
	live := make(map[string]*stored, len(left))
	const many = 512
	for len(left) > 0 {
		batch := left[:min(len(left), many)]
		left = left[len(batch):]
		found, more, err := s.lasts(ctx, stream, batch, info.State.LastSeq)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			if found, err = s.lastsOfLeader(ctx, stream, batch); err != nil {
				return nil, err
			}
		}
		for _, subject := range batch {
			switch m := found[subject]; {
			case m == nil && more && len(found) > 0:
				left = append(left, subject)
			case m.live():
				if m.recs = nil; m.head.kind != kindBlob { // whose data is the id of its content
					m.data = nil
				}
				live[subject] = m
			}
		}
	}
	return live, nil
}

// lastsOfLeader is lasts for subjects of which a replica knew none: they are
// gone, or it is behind.
func (s *Store) lastsOfLeader(ctx context.Context, stream string, subjects []string) (map[string]*stored, error) {
	found := make(map[string]*stored)
	for _, subject := range subjects {
		m, err := s.lastOf(ctx, stream, subject)
		if err != nil {
			return nil, err
		}
		if m != nil {
			found[subject] = m
		}
	}
	return found, nil
}
