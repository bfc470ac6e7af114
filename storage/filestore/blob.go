package filestore

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"iter"
	"os"
	"time"

	"github.com/comity-dev/comity/internal/vfs"
	"github.com/comity-dev/comity/storage"
)

const (
	blobDir     = "blobs"
	blobTmp     = "tmp"
	blobMagic   = "cmtyblb\n"
	blobVersion = 1
	blobHeader  = 64
	blobChunk   = 64 << 10
)

func encodeBlobHeader(at time.Time, size int64, d storage.Digest) []byte {
	b := append(make([]byte, 0, blobHeader), blobMagic...)
	b = binary.LittleEndian.AppendUint32(b, blobVersion)
	b = binary.LittleEndian.AppendUint32(b, 0)
	b = binary.LittleEndian.AppendUint64(b, uint64(at.UnixMilli()))
	b = binary.LittleEndian.AppendUint64(b, uint64(size))
	b = append(b, d[:]...)
	binary.LittleEndian.PutUint32(b[12:], crc32.Checksum(b[16:], castagnoli))
	return b
}

// parseBlobHeader returns what the header of d says, if it is one.
func parseBlobHeader(b []byte, d storage.Digest) (info storage.BlobInfo, ok bool) {
	if string(b[:8]) != blobMagic || binary.LittleEndian.Uint32(b[8:]) != blobVersion ||
		binary.LittleEndian.Uint32(b[12:]) != crc32.Checksum(b[16:], castagnoli) || storage.Digest(b[32:]) != d {
		return info, false
	}
	at := time.UnixMilli(int64(binary.LittleEndian.Uint64(b[16:])))
	return storage.BlobInfo{Digest: d, Size: int64(binary.LittleEndian.Uint64(b[24:])), Age: max(0, time.Since(at))}, true
}

// openBlob opens the file of a blob. ok tells whether its header and its size
// are good; else info has what can be told.
func (s *Store) openBlob(t tag, space string, d storage.Digest) (f vfs.File, info storage.BlobInfo, ok bool, err error) {
	f, err = s.fsys.Open(s.spacePath(t, hex.EncodeToString(d[:])), os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, info, false, &storage.NotFoundError{What: "blob", Name: space + "/" + d.String()}
	}
	if err != nil {
		return nil, info, false, err
	}
	size, err := f.Size()
	if err != nil {
		f.Close()
		return nil, info, false, err
	}
	var b [blobHeader]byte
	if size >= blobHeader {
		if _, err := f.ReadAt(b[:], 0); err != nil {
			f.Close()
			return nil, info, false, err
		}
	}
	info, ok = parseBlobHeader(b[:], d)
	if !ok || info.Size != size-blobHeader {
		return f, storage.BlobInfo{Digest: d, Size: max(0, size-blobHeader)}, false, nil
	}
	return f, info, true, nil
}

type blobs struct{ s *Store }

func (v blobs) enter(ctx context.Context, space string) error {
	if err := v.s.enter(ctx, space); err != nil {
		return err
	}
	v.s.mu.Unlock()
	return nil
}

func (v blobs) enterToWrite(ctx context.Context, space string) error {
	if err := v.enter(ctx, space); err != nil {
		return err
	}
	if v.s.log == nil {
		return &storage.ReadOnlyError{Reason: "it was opened for reading"}
	}
	return nil
}

func (v blobs) Put(ctx context.Context, space string, want storage.Digest, r io.Reader) (storage.BlobInfo, error) {
	if err := v.enterToWrite(ctx, space); err != nil {
		return storage.BlobInfo{}, err
	}
	t := tagOf(familySpace, space)
	if info, ok := v.there(t, space, want); ok {
		return info, nil
	}
	info, err := v.put(ctx, t, space, want, r)
	if err == nil {
		return info, nil
	}
	var unknown *storage.AmbiguousError
	if vfs.IsNoSpace(err) && !errors.As(err, &unknown) {
		err = fmt.Errorf("%w: %w", storage.ErrNoSpace, err)
	}
	return storage.BlobInfo{}, fmt.Errorf("store a blob in %s: %w", space, err)
}

func (v blobs) there(t tag, space string, d storage.Digest) (storage.BlobInfo, bool) {
	if d == (storage.Digest{}) {
		return storage.BlobInfo{}, false
	}
	f, info, ok, err := v.s.openBlob(t, space, d)
	if err != nil {
		return info, false
	}
	f.Close()
	return info, ok
}

// put writes a blob under a temporary name and moves it into place.
func (v blobs) put(ctx context.Context, t tag, space string, want storage.Digest, r io.Reader) (info storage.BlobInfo, err error) {
	if err := vfs.MkdirAll(v.s.fsys, v.s.path(blobDir, blobTmp)); err != nil {
		return info, err
	}
	var salt [16]byte
	rand.Read(salt[:])
	tmp := v.s.path(blobDir, blobTmp, hex.EncodeToString(salt[:]))
	f, err := v.s.fsys.Open(tmp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return info, err
	}
	info, err = v.fill(ctx, f, want, r)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		if old, ok := v.there(t, space, info.Digest); ok {
			v.s.fsys.Remove(tmp)
			return old, nil
		}
		err = v.place(ctx, t, space, tmp, info.Digest)
	}
	if err != nil {
		v.s.fsys.Remove(tmp) // opening would
	}
	return info, err
}

// fill writes header and content, synced.
func (v blobs) fill(ctx context.Context, f vfs.File, want storage.Digest, r io.Reader) (info storage.BlobInfo, err error) {
	sum := sha256.New()
	buf := make([]byte, blobChunk)
	for {
		if err := v.s.over(ctx); err != nil {
			return info, err
		}
		n, rerr := io.ReadFull(r, buf)
		sum.Write(buf[:n])
		if n > 0 {
			if _, err := f.WriteAt(buf[:n], blobHeader+info.Size); err != nil {
				return info, err
			}
		}
		info.Size += int64(n)
		if rerr == io.EOF || rerr == io.ErrUnexpectedEOF {
			break
		}
		if rerr != nil {
			return info, rerr
		}
	}
	info.Digest = storage.Digest(sum.Sum(nil))
	if want != (storage.Digest{}) && want != info.Digest {
		return info, &storage.DigestError{Want: want, Got: info.Digest, Size: info.Size}
	}
	if _, err := f.WriteAt(encodeBlobHeader(time.Now(), info.Size, info.Digest), 0); err != nil {
		return info, err
	}
	return info, f.Sync()
}

// place gives the file its name. The commit point is the sync of the folder.
func (v blobs) place(ctx context.Context, t tag, space, tmp string, d storage.Digest) error {
	s := v.s
	if err := s.lock(ctx); err != nil {
		return err
	}
	s.writes.Add(1)
	s.mu.Unlock()
	defer s.writes.Done()
	if err := s.holdSpace(t, space); err != nil {
		return err
	}
	defer s.spaces.RUnlock()
	err := s.fsys.Rename(tmp, s.spacePath(t, hex.EncodeToString(d[:])))
	if vfs.IsNoSpace(err) {
		return err
	}
	if err != nil { // what the disk did is another question
		return &storage.AmbiguousError{Op: "put blob", Name: space, Cause: err}
	}
	if err := s.fsys.SyncDir(s.spacePath(t)); err != nil {
		return &storage.AmbiguousError{Op: "put blob", Name: space, Cause: err}
	}
	return nil
}

func (v blobs) Get(ctx context.Context, space string, d storage.Digest) (io.ReadCloser, error) {
	if err := v.enter(ctx, space); err != nil {
		return nil, err
	}
	f, info, ok, err := v.s.openBlob(tagOf(familySpace, space), space, d)
	if err != nil {
		return nil, err
	}
	if !ok {
		f.Close()
		return nil, &storage.DigestError{Want: d, Size: info.Size}
	}
	return &blobReader{s: v.s, ctx: ctx, f: f, info: info, sum: sha256.New()}, nil
}

func (v blobs) Stat(ctx context.Context, space string, d storage.Digest) (storage.BlobInfo, error) {
	if err := v.enter(ctx, space); err != nil {
		return storage.BlobInfo{}, err
	}
	f, info, _, err := v.s.openBlob(tagOf(familySpace, space), space, d)
	if err != nil {
		return storage.BlobInfo{}, err
	}
	return info, f.Close()
}

func (v blobs) Delete(ctx context.Context, space string, d storage.Digest) error {
	if err := v.enterToWrite(ctx, space); err != nil {
		return err
	}
	t := tagOf(familySpace, space)
	err := v.s.fsys.Remove(v.s.spacePath(t, hex.EncodeToString(d[:])))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return &storage.AmbiguousError{Op: "delete blob", Name: space, Cause: err}
	}
	if err := v.s.fsys.SyncDir(v.s.spacePath(t)); err != nil {
		return &storage.AmbiguousError{Op: "delete blob", Name: space, Cause: err}
	}
	v.s.dropSpace(t)
	return nil
}

func (v blobs) List(ctx context.Context, space string) iter.Seq2[storage.BlobInfo, error] {
	return func(yield func(storage.BlobInfo, error) bool) {
		if err := v.enter(ctx, space); err != nil {
			yield(storage.BlobInfo{}, err)
			return
		}
		t := tagOf(familySpace, space)
		digests, err := v.s.digests(t)
		if err != nil {
			yield(storage.BlobInfo{}, fmt.Errorf("list the blobs of %s: %w", space, err))
			return
		}
		for _, d := range digests {
			if err := v.s.over(ctx); err != nil {
				yield(storage.BlobInfo{}, err)
				return
			}
			f, info, _, err := v.s.openBlob(t, space, d)
			var missing *storage.NotFoundError
			if errors.As(err, &missing) {
				continue
			}
			if err == nil {
				err = f.Close()
			}
			if !yield(info, err) || err != nil {
				return
			}
		}
	}
}
