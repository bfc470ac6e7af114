package natsstore

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"iter"
	"maps"
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

// Put publishes the chunks of a content, and then the message that makes a blob
// of them, which is the commit point.
func (v blobs) Put(ctx context.Context, space string, want storage.Digest, r io.Reader) (storage.BlobInfo, error) {
	s := v.s
	done, err := s.begin(ctx, space)
	if err != nil {
		return storage.BlobInfo{}, err
	}
	defer done()
	if want != (storage.Digest{}) {
		if m, info, err := s.statIn(ctx, space, want); err != nil || m != nil {
			return info, err
		}
	}
	u := upload{s: s, space: space, id: rand.Text(), hash: sha256.New()}
	info, err := u.run(ctx, want, r)
	if err != nil {
		err = fmt.Errorf("store a blob in %s: %w", space, err)
	}
	return info, err
}

// statIn is stat with a limit of its own.
func (s *Store) statIn(ctx context.Context, space string, d storage.Digest) (*stored, storage.BlobInfo, error) {
	ctx, cancel := s.limit(ctx)
	defer cancel()
	return s.stat(ctx, space, d)
}

// An upload is a Put.
type upload struct {
	s      *Store
	space  string
	id     string
	hash   hash.Hash
	size   int64
	chunks uint64
	last   uint64 // the last chunk in the stream
}

func (u *upload) run(ctx context.Context, want storage.Digest, r io.Reader) (storage.BlobInfo, error) {
	err := u.copy(ctx, r)
	got := storage.Digest(u.hash.Sum(nil))
	if err == nil && want != (storage.Digest{}) && got != want {
		err = &storage.DigestError{Want: want, Got: got, Size: u.size}
	}
	if err != nil {
		u.drop(ctx)
		return storage.BlobInfo{}, err
	}
	return u.commit(ctx, got)
}

// copy stores what r yields. Its failures are definite: without the commit there
// is no blob.
func (u *upload) copy(ctx context.Context, r io.Reader) error {
	buf := make([]byte, min(maxChunkBytes, u.s.record))
	for {
		if err := u.s.over(ctx); err != nil {
			return err
		}
		n, err := fill(r, buf)
		if n > 0 {
			u.hash.Write(buf[:n])
			u.size += int64(n)
			if err := u.chunk(ctx, buf[:n]); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// fill is io.ReadFull that returns the error of r as it is: a content ends with
// io.EOF alone.
func fill(r io.Reader, buf []byte) (n int, err error) {
	for n < len(buf) && err == nil {
		var k int
		k, err = r.Read(buf[n:])
		n += k
	}
	return n, err
}

func (u *upload) chunk(ctx context.Context, data []byte) error {
	ctx, cancel := u.s.limit(ctx)
	defer cancel()
	subject := u.s.names.chunk + u.id
	r := u.s.swap(ctx, u.s.names.blobs, newMsg(subject, head{kind: kindChunk, a: u.chunks + 1}, u.last, data))
	if r.err != nil {
		return fmt.Errorf("chunk %d: %w", u.chunks+1, r.err)
	}
	u.chunks, u.last = u.chunks+1, r.seq
	return nil
}

// commit makes a blob of the chunks, unless there is one already.
func (u *upload) commit(ctx context.Context, d storage.Digest) (storage.BlobInfo, error) {
	ctx, cancel := u.s.limit(ctx)
	defer cancel()
	h := head{kindBlob, uint64(u.size), u.chunks}
	for {
		m, err := u.s.lastOf(ctx, u.s.names.blobs, u.s.blobSubject(u.space, d))
		if err == nil && m.live() {
			u.drop(ctx)
			_, info, err := u.s.stat(ctx, u.space, d)
			return info, err
		}
		r := result{err: err}
		if err == nil {
			r = u.s.swap(ctx, u.s.names.blobs, newMsg(u.s.blobSubject(u.space, d), h, m.last(), []byte(u.id)))
		}
		switch {
		case r.err == nil:
			return storage.BlobInfo{Digest: d, Size: u.size}, nil
		case r.open:
			return storage.BlobInfo{}, r.failure("put blob", u.space+"/"+d.String())
		case !errors.Is(r.err, errWrongLast):
			u.drop(ctx)
			return storage.BlobInfo{}, r.err
		}
	}
}

// drop removes the chunks of an upload that comes to nothing, as well as it can.
func (u *upload) drop(ctx context.Context) {
	if u.chunks > 0 {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), min(u.s.timeout(), 2*time.Second))
		defer cancel()
		u.s.purge(ctx, u.s.names.chunk+u.id)
	}
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
			// What is left of the chunks if this fails is for Sweep.
			s.purge(ctx, s.names.chunk+string(m.data))
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
