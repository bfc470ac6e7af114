package natsstore

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/comity-dev/comity/storage"
)

const maxChunkBytes = 1 << 20

type blobs struct{ s *Store }

func (s *Store) blobSubject(space string, d storage.Digest) string {
	return s.names.blob + token(space) + "." + hex.EncodeToString(d[:])
}

func notFound(space string, d storage.Digest) error {
	return &storage.NotFoundError{What: "blob", Name: space + "/" + d.String()}
}

// A clock tells the time of the server.
type clock struct {
	server, here time.Time
}

// now returns the time by the server's clock. It asks once in a while, and
// counts by its own monotonic clock in between.
func (s *Store) now(ctx context.Context) (time.Time, error) {
	s.mu.Lock()
	c := s.clock
	s.mu.Unlock()
	if c.here.IsZero() || time.Since(c.here) > time.Minute {
		err := s.retry(ctx, func(ctx context.Context) error {
			st, err := s.js.Stream(ctx, s.names.blobs)
			if err == nil {
				c = clock{st.CachedInfo().TimeStamp, time.Now()}
			}
			return err
		})
		if err != nil {
			return time.Time{}, err
		}
		s.mu.Lock()
		s.clock = c
		s.mu.Unlock()
	}
	return c.server.Add(time.Since(c.here)), nil
}

func info(m *stored, d storage.Digest, now time.Time) storage.BlobInfo {
	return storage.BlobInfo{Digest: d, Size: int64(m.head.a), Age: max(now.Sub(m.at), 0)}
}

// stat returns the message of a blob and what it says, nil if it is not there.
func (s *Store) stat(ctx context.Context, space string, d storage.Digest) (*stored, storage.BlobInfo, error) {
	m, err := s.lastOf(ctx, s.names.blobs, s.blobSubject(space, d))
	if err != nil || !m.live() {
		return nil, storage.BlobInfo{}, err
	}
	if m.bad != nil || m.head.kind != kindBlob {
		return nil, storage.BlobInfo{}, &storage.DigestError{Want: d}
	}
	now, err := s.now(ctx)
	if err != nil {
		return nil, storage.BlobInfo{}, err
	}
	return m, info(m, d, now), nil
}

// statIn is stat with a limit of its own.
func (s *Store) statIn(ctx context.Context, space string, d storage.Digest) (*stored, storage.BlobInfo, error) {
	ctx, cancel := s.limit(ctx)
	defer cancel()
	return s.stat(ctx, space, d)
}

func (v blobs) Stat(ctx context.Context, space string, d storage.Digest) (storage.BlobInfo, error) {
	if err := v.s.enter(ctx, space); err != nil {
		return storage.BlobInfo{}, err
	}
	ctx, stop := v.s.reading(ctx)
	defer stop()
	ctx, cancel := v.s.limit(ctx)
	defer cancel()
	m, info, err := v.s.stat(ctx, space, d)
	switch {
	case err != nil:
		return storage.BlobInfo{}, fmt.Errorf("stat of blob %s/%v: %w", space, d, err)
	case m == nil:
		return storage.BlobInfo{}, notFound(space, d)
	}
	return info, nil
}

// purge removes all messages of a subject of the stream of blobs. It can be done
// again.
func (s *Store) purge(ctx context.Context, subject string) error {
	return s.retry(ctx, func(ctx context.Context) error {
		st, err := s.js.Stream(ctx, s.names.blobs)
		if err == nil {
			err = st.Purge(ctx, jetstream.WithPurgeSubject(subject))
		}
		return err
	})
}

func (v blobs) Delete(ctx context.Context, space string, d storage.Digest) error {
	s := v.s
	done, err := s.begin(ctx, space)
	if err != nil {
		return err
	}
	defer done()
	ctx, cancel := s.limit(ctx)
	defer cancel()
	for open := false; ; {
		m, err := s.lastOf(ctx, s.names.blobs, s.blobSubject(space, d))
		if err == nil && !m.live() {
			return nil
		}
		r := result{err: err}
		if err == nil {
			r = s.swap(ctx, s.names.blobs, removal(m))
		}
		open = open || r.open
		switch {
		case r.err == nil:
			// What is left of the chunks if this fails, or the blob is damaged, is for Sweep.
			if m.bad == nil && m.head.kind == kindBlob {
				s.purge(ctx, s.names.chunk+string(m.data))
			}
			return nil
		case !errors.Is(r.err, errWrongLast):
			return result{err: r.err, open: open}.failure("delete blob", space+"/"+d.String())
		}
	}
}

func (v blobs) List(ctx context.Context, space string) iter.Seq2[storage.BlobInfo, error] {
	return func(yield func(storage.BlobInfo, error) bool) {
		s := v.s
		if err := s.enter(ctx, space); err != nil {
			yield(storage.BlobInfo{}, err)
			return
		}
		ctx, stop := s.reading(ctx)
		defer stop()
		list, err := s.blobsOf(ctx, space)
		if err != nil {
			yield(storage.BlobInfo{}, fmt.Errorf("list blobs of %s: %w", space, err))
			return
		}
		for _, info := range list {
			if err := s.over(ctx); err != nil {
				yield(storage.BlobInfo{}, err)
				return
			}
			if !yield(info, nil) {
				return
			}
		}
	}
}

func (s *Store) blobsOf(ctx context.Context, space string) ([]storage.BlobInfo, error) {
	ctx, cancel := s.limit(ctx)
	defer cancel()
	base := s.names.blob + token(space) + "."
	live, err := s.subjects(ctx, s.names.blobs, base+"*")
	if err != nil {
		return nil, err
	}
	now, err := s.now(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]storage.BlobInfo, 0, len(live))
	for subject, m := range live {
		d, err := storage.ParseDigest("sha256:" + strings.TrimPrefix(subject, base))
		if err == nil && m.head.kind == kindBlob {
			list = append(list, info(m, d, now))
		}
	}
	slices.SortFunc(list, func(a, b storage.BlobInfo) int { return bytes.Compare(a.Digest[:], b.Digest[:]) })
	return list, nil
}

func (v blobs) Spaces(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return v.s.list(ctx, v.s.names.blobs, v.s.names.blob, "*.*", prefix)
}
