package filestore

import (
	"slices"
	"sync"

	"github.com/comity-dev/comity/storage"
)

func checkBatch(name string, recs [][]byte) (bytes int, err error) {
	if err := storage.CheckName(name); err != nil {
		return 0, err
	}
	for _, r := range recs {
		if len(r) > maxRecordBytes {
			return 0, &storage.TooLargeError{What: "record", Size: int64(len(r)), Max: maxRecordBytes}
		}
		bytes += len(r)
	}
	return bytes, storage.CheckBatch(len(recs), bytes, maxBatchRecords, maxBatchBytes)
}

// A batch is the records of an append as the log gets them.
type batch struct {
	buf  []byte
	recs [][]byte
	data [][]byte // those of the caller within recs; nil unless they are kept
	pool *batch   // to be used again
}

var batches = sync.Pool{New: func() any { return new(batch) }}

// newBatch puts headers in front of recs, of which h is the first. If kept, the
// memory is not used again.
func newBatch(kept bool, recs [][]byte, bytes int, h header, seed uint32) *batch {
	b := new(batch)
	if !kept {
		b = batches.Get().(*batch)
		b.pool = b
	}
	need := bytes + len(recs)*headerBytes + len(h.name)
	b.buf = slices.Grow(b.buf[:0], need)
	b.recs = b.recs[:0]
	for _, r := range recs {
		at := len(b.buf)
		b.buf = h.append(b.buf, seed)
		data := len(b.buf)
		b.buf = append(b.buf, r...)
		b.recs = append(b.recs, b.buf[at:len(b.buf):len(b.buf)])
		if kept {
			b.data = append(b.data, b.buf[data:len(b.buf):len(b.buf)])
		}
		h.seq++
		h.name = ""
	}
	return b
}

func (b *batch) release() {
	const most = 256 << 10
	if b.pool != nil && cap(b.buf) <= most {
		batches.Put(b)
	}
}
