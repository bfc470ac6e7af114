package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/storage"
)

// offload stores what of f is too long for a frame as blobs, and refers to them.
// A blob is durable before the frame that names it can be; one whose frame is
// then not appended is collected later.
func (w *Writer) offload(ctx context.Context, f *journal.Frame) error {
	for _, field := range []*journal.Field{&f.Body, &f.Public} {
		if len(field.Bytes) <= w.s.o.InlineBytes || f.Family == journal.FamilyFence {
			continue
		}
		ref, err := w.s.putContent(ctx, w.n, field.Bytes)
		if err != nil {
			return &journal.RecordTooLargeError{Subject: w.n.ledger, MsgID: f.ID, Length: len(field.Bytes), Cause: err}
		}
		*field = journal.Field{Ref: ref}
	}
	return nil
}

// putContent stores content as a blob. An outcome that is not known is tried
// again: what is there already stays as it is.
func (s *Store) putContent(ctx context.Context, n names, content []byte) (journal.Ref, error) {
	d := storage.DigestOf(content)
	var err error
	for range s.o.Attempts {
		var info storage.BlobInfo
		info, err = s.b.Blobs().Put(ctx, n.content, d, bytes.NewReader(content))
		var unknown *storage.AmbiguousError
		if err == nil && (info.Digest != d || info.Size != int64(len(content))) {
			err = fmt.Errorf("the store has blob %v of %d bytes instead of %v of %d", info.Digest, info.Size, d, len(content))
		}
		if err == nil || !errors.As(err, &unknown) || ctx.Err() != nil {
			break
		}
	}
	if err != nil {
		return journal.Ref{}, fmt.Errorf("store its content outside of the journal: %w", err)
	}
	return journal.Ref{Digest: journal.Digest(d), Size: uint64(len(content))}, nil
}

// whole returns f with the content of its body in it.
func (s *Store) whole(ctx context.Context, n names, seq uint64, f *journal.Frame) (*journal.Frame, error) {
	if f.Body.Ref == (journal.Ref{}) {
		return f, nil
	}
	content, err := s.content(ctx, n, seq, f.Body)
	if err != nil {
		return nil, err
	}
	g := *f
	g.Body = journal.Field{Bytes: content}
	return &g, nil
}

// content returns what a field holds or refers to.
func (s *Store) content(ctx context.Context, n names, seq uint64, f journal.Field) ([]byte, error) {
	if f.Ref == (journal.Ref{}) {
		return f.Bytes, nil
	}
	if most := uint64(s.o.MaxBodyBytes); f.Ref.Size > most {
		return nil, &journal.BodyTooLargeError{Subject: n.ledger, Seq: seq, Size: f.Ref.Size, Max: most}
	}
	unavailable := func(err error) error {
		if ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
			return err
		}
		return &journal.BlobUnavailableError{Subject: n.ledger, Seq: seq, Blob: f.Ref.Digest, Cause: err}
	}
	damaged := func(got journal.Digest, size int) error {
		return &journal.BlobIntegrityError{
			Subject: n.ledger, Seq: seq, Blob: f.Ref.Digest, Got: got, WantSize: f.Ref.Size, GotSize: uint64(size),
		}
	}
	var wrong *storage.DigestError
	r, err := s.b.Blobs().Get(ctx, n.content, storage.Digest(f.Ref.Digest))
	if errors.As(err, &wrong) {
		return nil, damaged(journal.Digest(wrong.Got), int(wrong.Size))
	}
	if err != nil {
		return nil, unavailable(err)
	}
	defer r.Close()
	b := make([]byte, 0, f.Ref.Size+1)
	for {
		k, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+k]
		if len(b) == cap(b) || err == io.EOF {
			break
		}
		if errors.As(err, &wrong) {
			return nil, damaged(journal.Digest(wrong.Got), int(wrong.Size))
		}
		if err != nil {
			return nil, unavailable(err)
		}
	}
	if got := journal.DigestOf(b); got != f.Ref.Digest || uint64(len(b)) != f.Ref.Size {
		return nil, damaged(got, len(b))
	}
	return b, nil
}
