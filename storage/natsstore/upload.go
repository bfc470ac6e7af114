package natsstore

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"time"

	"github.com/comity-dev/comity/storage"
)

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
