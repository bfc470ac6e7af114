package memstore

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/comity-dev/comity/storage"
)

type blob struct {
	data []byte
	at   time.Duration // since the store began, by the monotonic clock
}

type blobs struct{ s *Store }

func (v blobs) Put(ctx context.Context, space string, want storage.Digest, r io.Reader) (storage.BlobInfo, error) {
	if err := v.s.enter(ctx, space); err != nil {
		return storage.BlobInfo{}, err
	}
	info, ok := v.s.infoLocked(space, want)
	v.s.mu.Unlock()
	if ok {
		return info, nil
	}
	data, err := io.ReadAll(bounded{ctx, r})
	if err != nil {
		return storage.BlobInfo{}, fmt.Errorf("store a blob in %s: %w", space, err)
	}
	got := storage.DigestOf(data)
	if want != (storage.Digest{}) && got != want {
		return storage.BlobInfo{}, &storage.DigestError{Want: want, Got: got, Size: int64(len(data))}
	}
	if err := v.s.lock(ctx); err != nil {
		return storage.BlobInfo{}, err
	}
	defer v.s.mu.Unlock()
	if v.s.spaces[space] == nil {
		v.s.spaces[space] = make(map[storage.Digest]blob)
	}
	if _, ok := v.s.spaces[space][got]; !ok {
		v.s.spaces[space][got] = blob{data, time.Since(v.s.began)}
	}
	info, _ = v.s.infoLocked(space, got)
	return info, nil
}

// A bounded reader ends with its context.
type bounded struct {
	ctx context.Context
	r   io.Reader
}

func (b bounded) Read(p []byte) (int, error) {
	if b.ctx.Err() != nil {
		return 0, context.Cause(b.ctx)
	}
	return b.r.Read(p)
}

func (s *Store) infoLocked(space string, d storage.Digest) (storage.BlobInfo, bool) {
	b, ok := s.spaces[space][d]
	if !ok {
		return storage.BlobInfo{}, false
	}
	return storage.BlobInfo{Digest: d, Size: int64(len(b.data)), Age: time.Since(s.began) - b.at}, true
}

func notFound(space string, d storage.Digest) error {
	return &storage.NotFoundError{What: "blob", Name: space + "/" + d.String()}
}

func (v blobs) Get(ctx context.Context, space string, d storage.Digest) (io.ReadCloser, error) {
	if err := v.s.enter(ctx, space); err != nil {
		return nil, err
	}
	defer v.s.mu.Unlock()
	b, ok := v.s.spaces[space][d]
	if !ok {
		return nil, notFound(space, d)
	}
	return &reader{s: v.s, r: bounded{ctx, bytes.NewReader(b.data)}}, nil
}

type reader struct {
	s      *Store
	r      io.Reader
	closed atomic.Bool
}

func (r *reader) Read(p []byte) (int, error) {
	if r.closed.Load() {
		return 0, io.ErrClosedPipe
	}
	if err := r.s.over(context.Background()); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

func (r *reader) Close() error {
	r.closed.Store(true)
	return nil
}

func (v blobs) Stat(ctx context.Context, space string, d storage.Digest) (storage.BlobInfo, error) {
	if err := v.s.enter(ctx, space); err != nil {
		return storage.BlobInfo{}, err
	}
	defer v.s.mu.Unlock()
	info, ok := v.s.infoLocked(space, d)
	if !ok {
		return info, notFound(space, d)
	}
	return info, nil
}

func (v blobs) Delete(ctx context.Context, space string, d storage.Digest) error {
	if err := v.s.enter(ctx, space); err != nil {
		return err
	}
	defer v.s.mu.Unlock()
	delete(v.s.spaces[space], d)
	if len(v.s.spaces[space]) == 0 {
		delete(v.s.spaces, space)
	}
	return nil
}

func (v blobs) List(ctx context.Context, space string) iter.Seq2[storage.BlobInfo, error] {
	return func(yield func(storage.BlobInfo, error) bool) {
		if err := v.s.enter(ctx, space); err != nil {
			yield(storage.BlobInfo{}, err)
			return
		}
		digests := slices.SortedFunc(maps.Keys(v.s.spaces[space]), func(a, b storage.Digest) int {
			return bytes.Compare(a[:], b[:])
		})
		v.s.mu.Unlock()
		for _, d := range digests {
			if err := v.s.lock(ctx); err != nil {
				yield(storage.BlobInfo{}, err)
				return
			}
			info, ok := v.s.infoLocked(space, d)
			v.s.mu.Unlock()
			if ok && !yield(info, nil) {
				return
			}
		}
	}
}

func (v blobs) Spaces(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return v.s.names(ctx, func() []string {
		return sorted(v.s.spaces, prefix, func(map[storage.Digest]blob) bool { return true })
	})
}
