package store

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash"
	"hash/crc32"
	"io"

	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/storage"
)

// The file of an exported session: a line that says what it is, then sections.
//
//	"comity session export 1\n"
//	section: type (1 byte), 3 zero bytes, CRC-32C of the payload (4),
//	length of the payload (8), payload; integers little endian
//
//	'M'  first: JSON, a Manifest
//	'B'  content that is stored outside of frames: its SHA-256 (32), the content;
//	     each once, before the first record that names it
//	'R'  a record: its sequence (8), the frame; 1, 2, 3 and so on
//	'E'  last: JSON, an ending, with the SHA-256 of every byte before the section
const (
	exportLine    = "comity session export 1\n"
	sectionHeader = 16

	sectionManifest = 'M'
	sectionBlob     = 'B'
	sectionRecord   = 'R'
	sectionEnd      = 'E'
)

// A Manifest says what an exported file holds.
type Manifest struct {
	Session event.ID `json:"session"`
	Records uint64   `json:"records"` // the last sequence
	// ExportedAt is the exporter's clock, in milliseconds since 1970 UTC.
	ExportedAt int64 `json:"exported_at"`
}

type ending struct {
	Records uint64         `json:"records"`
	Blobs   uint64         `json:"blobs"`
	SHA256  storage.Digest `json:"sha256"`
}

// Export writes a session into one file that needs nothing else to be read: the
// frames as they are, with all content, and a digest over the whole. It may run
// beside a writer and has what was there when it began. Each record is read as
// a replay reads it, and one that cannot be ends the export with its error: repair
// such a session first. Memory does not grow with the session, but by 32 bytes
// for each content that is stored outside of frames.
func (s *Store) Export(ctx context.Context, id event.ID, w io.Writer) (Manifest, error) {
	n, err := s.names(id)
	if err != nil {
		return Manifest{}, err
	}
	tip, err := s.b.Ledger().Tip(ctx, n.ledger)
	if err != nil {
		return Manifest{}, readError(ctx, n, 1, err)
	}
	m := Manifest{Session: id, Records: tip.Seq, ExportedAt: s.o.Now().UnixMilli()}
	e := &exporter{w: bufio.NewWriterSize(w, 64<<10), sum: sha256.New(), written: make(map[journal.Digest]bool)}
	e.write([]byte(exportLine))
	e.json(sectionManifest, m)
	var last uint64
	for at, err := range s.frames(ctx, n, 1, tip.Seq) {
		if err != nil {
			return m, err
		}
		if err := e.record(ctx, s, n, at); err != nil {
			return m, err
		}
		last = at.seq
	}
	if last != tip.Seq {
		return m, &journal.ReplayReadError{Subject: n.ledger, Seq: last + 1, Cause: errMissing}
	}
	e.json(sectionEnd, ending{last, uint64(len(e.written)), storage.Digest(e.sum.Sum(nil))})
	if e.err == nil {
		e.err = e.w.Flush()
	}
	if e.err != nil {
		return m, fmt.Errorf("export session %s: %w", id, e.err)
	}
	return m, nil
}

type exporter struct {
	w       *bufio.Writer
	sum     hash.Hash
	written map[journal.Digest]bool
	err     error // of w
}

func (e *exporter) write(parts ...[]byte) {
	for _, b := range parts {
		e.sum.Write(b)
		if e.err == nil {
			_, e.err = e.w.Write(b)
		}
	}
}

func (e *exporter) section(kind byte, parts ...[]byte) {
	var h [sectionHeader]byte
	h[0] = kind
	var crc uint32
	var size uint64
	for _, b := range parts {
		crc = crc32.Update(crc, castagnoli, b)
		size += uint64(len(b))
	}
	binary.LittleEndian.PutUint32(h[4:], crc)
	binary.LittleEndian.PutUint64(h[8:], size)
	e.write(h[:])
	e.write(parts...)
}

func (e *exporter) json(kind byte, v any) {
	b, err := json.Marshal(v)
	if err != nil && e.err == nil {
		e.err = err
	}
	e.section(kind, b)
}

// record writes a frame, behind what it refers to.
func (e *exporter) record(ctx context.Context, s *Store, n names, at located) error {
	whole, err := s.whole(ctx, n, at.seq, at.frame)
	if err != nil {
		return err
	}
	if _, err := s.o.Kinds.Decode(n.id, whole); err != nil {
		return &journal.ReplayDecodeError{Subject: n.ledger, Seq: at.seq, Cause: err}
	}
	for _, f := range []journal.Field{at.frame.Body, at.frame.Public} {
		if f.Ref == (journal.Ref{}) || e.written[f.Ref.Digest] {
			continue
		}
		b, err := s.content(ctx, n, at.seq, f)
		if err != nil {
			return err
		}
		e.section(sectionBlob, f.Ref.Digest[:], b)
		e.written[f.Ref.Digest] = true
	}
	e.section(sectionRecord, binary.LittleEndian.AppendUint64(nil, at.seq), at.raw)
	if e.err != nil {
		return fmt.Errorf("export session %s: %w", n.id, e.err)
	}
	return nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)
