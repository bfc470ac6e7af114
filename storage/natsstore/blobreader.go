package natsstore

import (
	"context"
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"sync"

	"github.com/comity-dev/comity/storage"
)

// chunksAhead is the number of chunks that a reader asks for at once.
const chunksAhead = 2

func (v blobs) Get(ctx context.Context, space string, d storage.Digest) (io.ReadCloser, error) {
	s := v.s
	if err := s.enter(ctx, space); err != nil {
		return nil, err
	}
	rctx, stop := s.reading(ctx)
	m, _, err := s.statIn(rctx, space, d)
	switch {
	case err != nil:
		stop()
		return nil, fmt.Errorf("get blob %s/%v: %w", space, d, err)
	case m == nil:
		stop()
		return nil, notFound(space, d)
	}
	return &blobReader{s: s, ctx: rctx, stop: stop, space: space, want: d, meta: m, hash: sha256.New()}, nil
}

// A blobReader reads the chunks of a blob and checks the whole of it.
type blobReader struct {
	s     *Store
	ctx   context.Context
	stop  context.CancelFunc
	space string
	want  storage.Digest
	meta  *stored
	close sync.Once

	mu     sync.Mutex // one reads
	hash   hash.Hash
	size   int64     // of what was handed out or is in chunks
	ahead  []*stored // chunks that were fetched
	buf    []byte    // the rest of the chunk that is read
	chunks uint64    // that were taken
	from   uint64    // in the stream
	err    error
}

func (r *blobReader) Read(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.s.over(r.ctx); err != nil {
		return 0, err
	}
	for len(r.buf) == 0 && r.err == nil {
		r.err = r.fill()
	}
	if len(r.buf) == 0 {
		return 0, r.err
	}
	n := copy(p, r.buf)
	r.buf = r.buf[n:]
	return n, nil
}

// fill takes the next chunk. It returns io.EOF behind the last one, if the
// content is what was stored.
func (r *blobReader) fill() error {
	if r.chunks == r.meta.head.b {
		if uint64(r.size) != r.meta.head.a || storage.Digest(r.hash.Sum(nil)) != r.want {
			return r.damaged()
		}
		return io.EOF
	}
	if len(r.ahead) == 0 {
		if err := r.fetch(); err != nil {
			return err
		}
	}
	m := r.ahead[0]
	r.ahead = r.ahead[1:]
	r.chunks++
	if m.bad != nil || m.head.kind != kindChunk || m.head.a != r.chunks {
		return r.damaged()
	}
	r.from = m.seq + 1
	r.hash.Write(m.data)
	r.size += int64(len(m.data))
	r.buf = m.data
	return nil
}

func (r *blobReader) fetch() error {
	ctx, cancel := r.s.limit(r.ctx)
	defer cancel()
	subject := r.s.names.chunk + string(r.meta.data)
	list, err := r.s.fetch(ctx, r.s.names.blobs, subject, r.from, chunksAhead)
	if err == nil && len(list) > 0 && list[0].bad == nil && list[0].head.a == r.chunks+1 {
		r.ahead = list
		return nil
	}
	if err == nil { // the leader knows
		var m *stored
		if m, err = r.s.nextOf(ctx, r.s.names.blobs, subject, r.from); m != nil {
			r.ahead = []*stored{m}
			return nil
		}
	}
	if err != nil {
		return fmt.Errorf("read blob %s/%v: %w", r.space, r.want, err)
	}
	if m, _, err := r.s.stat(ctx, r.space, r.want); err == nil && m == nil {
		return notFound(r.space, r.want) // it was deleted
	}
	return r.damaged()
}

func (r *blobReader) damaged() error {
	return &storage.DigestError{Want: r.want, Size: r.size}
}

func (r *blobReader) Close() error {
	r.close.Do(func() {
		r.stop()
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.err == nil {
			r.err = io.ErrClosedPipe
		}
		r.ahead, r.buf = nil, nil
	})
	return nil
}
