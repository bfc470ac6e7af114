package store

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"

	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/storage"
)

// An ImportError reports a file that is not a whole and undamaged export.
// Nothing was imported.
type ImportError struct {
	Offset int64  // of the section that was looked at
	Seq    uint64 // of the record in it, 0 if it is none
	Detail string
	Cause  error // may be nil
}

func (e *ImportError) Error() string {
	s := fmt.Sprintf("import: at byte %d: %s", e.Offset, e.Detail)
	if e.Seq != 0 {
		s = fmt.Sprintf("import: record %d, at byte %d: %s", e.Seq, e.Offset, e.Detail)
	}
	if e.Cause != nil {
		s += ": " + e.Cause.Error()
	}
	return s
}

func (e *ImportError) Unwrap() error { return e.Cause }

// Import makes a session from the file that Export wrote, as session as, "" for
// the one it was. It first reads the file to its end and holds it to its digest, and
// each record to those before it, as Verify does; then it writes. So what is
// imported has the sequences, the bytes and the epochs that it had, and owners
// here get epochs above them.
//
// The session must not be there: else the error is a *SessionExistsError. An
// import that does not come to its end leaves a session that cannot be opened; Import
// again replaces it, and Delete removes it. Errors about the file are an *ImportError.
func (s *Store) Import(ctx context.Context, r io.ReadSeeker, as event.ID) (Manifest, error) {
	start, err := r.Seek(0, io.SeekCurrent)
	if err != nil {
		return Manifest{}, fmt.Errorf("import: %w", err)
	}
	m, err := s.checkImport(ctx, r, start)
	if err != nil {
		return m, err
	}
	if as == "" {
		as = m.Session
	}
	if _, err := r.Seek(start, io.SeekStart); err != nil {
		return m, fmt.Errorf("import: %w", err)
	}
	c, err := s.begin(ctx, as, origin{From: m.Session, How: "import"})
	if err != nil {
		return m, err
	}
	defer c.letGo()
	var epoch uint64
	err = readExport(ctx, r, start, s.o.MaxBodyBytes, exported{
		manifest: func(got Manifest) error { return sameFile(got == m) },
		blob: func(d journal.Digest, b []byte) error {
			_, err := s.putContent(ctx, c.n, b)
			return err
		},
		record: func(rec storage.Record) error {
			f, err := journal.ParseFrame(rec.Data)
			if err != nil {
				return err
			}
			epoch = f.Epoch
			return c.raw(ctx, rec.Data)
		},
	})
	if err != nil {
		return m, err
	}
	if err := c.flush(ctx); err != nil {
		return m, err
	}
	if c.tip.Seq != m.Records {
		return m, sameFile(false)
	}
	return m, c.finish(ctx, epoch)
}

// sameFile is the error of a file that changes while it is imported.
func sameFile(same bool) error {
	if same {
		return nil
	}
	return errors.New("import: the file changed while it was read")
}

// checkImport reads a whole file and judges it.
func (s *Store) checkImport(ctx context.Context, r io.Reader, start int64) (m Manifest, err error) {
	sizes := make(map[journal.Digest]uint64)  // of all contents so far
	recent := make(map[journal.Digest][]byte) // those since the last record
	var c scan
	var a *audit
	err = readExport(ctx, r, start, s.o.MaxBodyBytes, exported{
		manifest: func(got Manifest) error {
			m = got
			n, err := s.names(m.Session)
			if err != nil {
				return err
			}
			c, a = scan{ledger: n.ledger, next: 1}, newAudit(s, n)
			a.content = func(_ context.Context, seq uint64, f journal.Field) ([]byte, error) {
				return fromFile(sizes, recent, f)
			}
			return nil
		},
		blob: func(d journal.Digest, b []byte) error {
			if _, ok := sizes[d]; ok {
				return errors.New("a content that is there twice")
			}
			sizes[d], recent[d] = uint64(len(b)), b
			return nil
		},
		record: func(rec storage.Record) error {
			at, err := c.take(rec)
			if err == nil {
				err = a.record(ctx, at)
			}
			if errors.Is(err, errSeenBefore) && at.frame.Family == journal.FamilyOpaque {
				// The record before it with this content was judged with it.
				err = a.known(at, journal.OpaqueRecord{Kind: at.frame.Kind, ID: at.frame.ID})
			}
			clear(recent)
			return err
		},
	})
	if err == nil && c.next != m.Records+1 {
		err = &ImportError{Offset: start, Detail: fmt.Sprintf("%d records, and it says %d", c.next-1, m.Records)}
	}
	if err == nil && c.prev.frame != nil && c.prev.frame.Batch != c.prev.frame.Of {
		err = &ImportError{Offset: start, Seq: c.prev.seq, Detail: "its batch is not whole"}
	}
	return m, err
}

var errSeenBefore = errors.New("its content is that of a record before it")

// fromFile returns the content of a field from what a file had so far.
func fromFile(sizes map[journal.Digest]uint64, recent map[journal.Digest][]byte, f journal.Field) ([]byte, error) {
	if f.Ref == (journal.Ref{}) {
		return f.Bytes, nil
	}
	size, ok := sizes[f.Ref.Digest]
	if !ok || size != f.Ref.Size {
		return nil, fmt.Errorf("its content %x of %d bytes is not in the file before it", f.Ref.Digest, f.Ref.Size)
	}
	b, ok := recent[f.Ref.Digest]
	if !ok {
		return nil, errSeenBefore
	}
	return b, nil
}

// exported is told what is in a file, in its order.
type exported struct {
	manifest func(Manifest) error
	blob     func(d journal.Digest, b []byte) error
	record   func(storage.Record) error
}

// readExport reads a file that Export wrote, to its end. It is strict: what it
// takes, Export could have written. Content is held to its digest, sections to
// their checksums, the whole to its digest, and records to their count.
func readExport(ctx context.Context, r io.Reader, start int64, maxBody int, to exported) error {
	f := &importer{r: bufio.NewReaderSize(r, 64<<10), sum: sha256.New(), at: start, max: uint64(maxBody)}
	line := make([]byte, len(exportLine))
	if _, err := io.ReadFull(f.r, line); err != nil || string(line) != exportLine {
		return f.bad(0, "it is no exported session of this version", nil)
	}
	f.took(line)
	var records, blobs uint64
	for first := true; ; first = false {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		digest := f.sum.Sum(nil)
		kind, b, err := f.section()
		if err != nil {
			return err
		}
		switch {
		case first != (kind == sectionManifest):
			return f.bad(0, "the manifest is not the first section", nil)
		case kind == sectionManifest:
			var m Manifest
			if err := strictManifest(b, &m); err != nil {
				return f.bad(0, "the manifest", err)
			}
			if err := to.manifest(m); err != nil {
				return f.bad(0, "the manifest", err)
			}
		case kind == sectionBlob:
			if len(b) < sha256.Size || journal.Digest(b[:sha256.Size]) != journal.DigestOf(b[sha256.Size:]) {
				return f.bad(0, "a content that is not what its digest says", nil)
			}
			blobs++
			if err := to.blob(journal.Digest(b[:sha256.Size]), b[sha256.Size:]); err != nil {
				return f.bad(0, "a content", err)
			}
		case kind == sectionRecord:
			if len(b) < 8 {
				return f.bad(0, "a record without its sequence", nil)
			}
			records++
			seq := binary.LittleEndian.Uint64(b)
			if seq != records {
				return f.bad(seq, fmt.Sprintf("want record %d", records), nil)
			}
			if err := to.record(storage.Record{Seq: seq, Data: b[8:]}); err != nil {
				return f.bad(seq, "it cannot be read", err)
			}
		case kind == sectionEnd:
			want, err := json.Marshal(ending{records, blobs, storage.Digest(digest)})
			if err != nil || !bytes.Equal(want, b) {
				return f.bad(0, "its ending is not that of what is before it", err)
			}
			if _, err := f.r.ReadByte(); err != io.EOF {
				return f.bad(0, "bytes behind the end", nil)
			}
			return nil
		}
	}
}

func strictManifest(b []byte, m *Manifest) error {
	if err := json.Unmarshal(b, m); err != nil {
		return err
	}
	if again, err := json.Marshal(m); err != nil || !bytes.Equal(again, b) {
		return errors.New("it is not written as Export writes it")
	}
	return nil
}

type importer struct {
	r   *bufio.Reader
	sum hash.Hash
	at  int64 // of the section
	end int64 // behind what was read
	max uint64
}

func (f *importer) took(b []byte) {
	f.sum.Write(b)
	f.end += int64(len(b))
}

func (f *importer) bad(seq uint64, detail string, cause error) error {
	return &ImportError{Offset: f.at, Seq: seq, Detail: detail, Cause: cause}
}

// section reads one. Its length is believed only as far as bytes come.
func (f *importer) section() (kind byte, payload []byte, err error) {
	f.at += f.end
	f.end = 0
	h := make([]byte, sectionHeader)
	if _, err := io.ReadFull(f.r, h); err != nil {
		return 0, nil, f.bad(0, "it ends without its ending", err)
	}
	f.took(h)
	kind = h[0]
	size := binary.LittleEndian.Uint64(h[8:])
	known := kind == sectionManifest || kind == sectionBlob || kind == sectionRecord || kind == sectionEnd
	if !known || h[1] != 0 || h[2] != 0 || h[3] != 0 {
		return 0, nil, f.bad(0, "a section of no known type", nil)
	}
	if most := f.max + 64<<10; size > max(most, 1<<25) {
		return 0, nil, f.bad(0, fmt.Sprintf("a section of %d bytes", size), nil)
	}
	var buf bytes.Buffer
	if n, err := io.CopyN(&buf, f.r, int64(size)); err != nil {
		return 0, nil, f.bad(0, fmt.Sprintf("a section of %d bytes ends after %d", size, n), err)
	}
	payload = buf.Bytes()
	f.took(payload)
	if crc32.Checksum(payload, castagnoli) != binary.LittleEndian.Uint32(h[4:]) {
		return 0, nil, f.bad(0, "a section whose checksum is wrong", nil)
	}
	return kind, payload, nil
}
