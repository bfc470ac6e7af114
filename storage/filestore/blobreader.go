package filestore

import (
	"context"
	"hash"
	"io"
	"sync/atomic"

	"github.com/comity-dev/comity/internal/vfs"
	"github.com/comity-dev/comity/storage"
)

// A blobReader reads a blob and sums it up.
type blobReader struct {
	s      *Store
	ctx    context.Context
	f      vfs.File
	info   storage.BlobInfo
	sum    hash.Hash
	at     int64
	closed atomic.Bool
}

func (r *blobReader) Read(p []byte) (int, error) {
	if r.closed.Load() {
		return 0, io.ErrClosedPipe
	}
	if err := r.s.over(r.ctx); err != nil {
		return 0, err
	}
	if r.at == r.info.Size {
		if got := storage.Digest(r.sum.Sum(nil)); got != r.info.Digest {
			return 0, &storage.DigestError{Want: r.info.Digest, Got: got, Size: r.at}
		}
		return 0, io.EOF
	}
	n, err := r.f.ReadAt(p[:min(int64(len(p)), r.info.Size-r.at)], blobHeader+r.at)
	r.sum.Write(p[:n])
	r.at += int64(n)
	switch {
	case r.closed.Load():
		return 0, io.ErrClosedPipe
	case err == io.EOF && n > 0:
		return n, nil
	case err == io.EOF: // the file became shorter
		return 0, &storage.DigestError{Want: r.info.Digest, Size: r.at}
	}
	return n, err
}

func (r *blobReader) Close() error {
	if r.closed.Swap(true) {
		return nil
	}
	return r.f.Close()
}
