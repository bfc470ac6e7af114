package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"math/bits"
	"slices"

	"github.com/comity-dev/comity/storage"
)

// A run is a part of the index that is stored: records in the order of their
// keys, cut into shards by the first bits of the key. A shard is a blob, so it
// is verified by its name, and one that is asked for is read without the others.
type run struct {
	Records int              `json:"records"`
	Bits    int              `json:"bits"`
	Shards  []storage.Digest `json:"shards"` // 1<<Bits; the zero digest is an empty one

	loaded []*shard // those of Shards that are in memory, nil for the others; guarded by the turn
}

// A record of a shard: key, content, sequence.
type record struct {
	key half
	entry
}

const (
	recordBytes  = 40
	shardRecords = 2048 // about
)

func sortRecords(list []record) {
	slices.SortFunc(list, func(a, b record) int { return compareHalf(a.key, b.key) })
}

func appendRecord(b []byte, r record) []byte {
	b = append(append(b, r.key[:]...), r.fp[:]...)
	return binary.LittleEndian.AppendUint64(b, r.seq)
}

func recordAt(b []byte, i int) record {
	b = b[i*recordBytes : (i+1)*recordBytes]
	return record{half(b[:16]), entry{half(b[16:32]), binary.LittleEndian.Uint64(b[32:])}}
}

// shardOf returns which shard of 1<<n a key is in.
func shardOf(k half, n int) int {
	return int(binary.BigEndian.Uint32(k[:4]) >> (32 - n)) // a shift by 32 gives 0
}

// lookupRuns looks a key up in the checkpoint, in the newest run first.
func (x *index) lookupRuns(ctx context.Context, k half) (entry, bool, error) {
	for i := len(x.point.Runs) - 1; i >= 0; i-- {
		sh, err := x.shard(ctx, &x.point.Runs[i], k)
		if err != nil {
			return entry{}, false, err
		}
		if e, ok := sh.lookup(k); ok {
			return e, true, nil
		}
	}
	return entry{}, false, nil
}

// shard returns the shard of a run that k is in if it is in the run; nil is an
// empty one.
func (x *index) shard(ctx context.Context, r *run, k half) (*shard, error) {
	at := shardOf(k, r.Bits)
	if sh := r.loaded[at]; sh != nil {
		sh.used = true
		return sh, nil
	}
	if r.Shards[at] == (storage.Digest{}) {
		return nil, nil
	}
	b, err := x.readShard(ctx, r.Shards[at])
	if err != nil {
		return nil, fmt.Errorf("index of session %s: %w", x.n.id, err)
	}
	return x.shards.add(b, &r.loaded[at]), nil
}

func (x *index) readShard(ctx context.Context, d storage.Digest) ([]byte, error) {
	r, err := x.s.b.Blobs().Get(ctx, x.n.index, d)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	if len(b)%recordBytes != 0 {
		return nil, fmt.Errorf("shard of %d bytes: %w", len(b), errShard)
	}
	return b, nil
}

// writeRun stores records, which come in the order of their keys, about n of them.
// With anew it does not rely on what is stored already.
func (x *index) writeRun(ctx context.Context, n int, recs iter.Seq2[record, error], anew bool) (run, error) {
	r := run{Bits: min(bits.Len(uint(max(n-1, 0)/shardRecords)), 16)}
	r.Shards, r.loaded = make([]storage.Digest, 1<<r.Bits), make([]*shard, 1<<r.Bits)
	var buf []byte
	at := 0
	flush := func() error {
		if len(buf) == 0 {
			return nil
		}
		d := storage.DigestOf(buf)
		if anew {
			if err := x.discard(ctx, d); err != nil {
				return err
			}
		}
		if _, err := x.s.b.Blobs().Put(ctx, x.n.index, d, bytes.NewReader(buf)); err != nil {
			return err
		}
		r.Shards[at], buf = d, buf[:0]
		return nil
	}
	for rec, err := range recs {
		if err != nil {
			return run{}, err
		}
		if i := shardOf(rec.key, r.Bits); i != at {
			if err := flush(); err != nil {
				return run{}, err
			}
			at = i
		}
		buf = appendRecord(buf, rec)
		r.Records++
	}
	return r, flush()
}

// records returns those of a run in the order of their keys.
func (x *index) records(ctx context.Context, r run) iter.Seq2[record, error] {
	return func(yield func(record, error) bool) {
		for _, d := range r.Shards {
			if d == (storage.Digest{}) {
				continue
			}
			b, err := x.readShard(ctx, d)
			if err != nil {
				yield(record{}, err)
				return
			}
			for i := range len(b) / recordBytes {
				if !yield(recordAt(b, i), nil) {
					return
				}
			}
		}
	}
}

// mergeRecords returns the records of two runs in the order of their keys; of one
// that both have, that of newer.
func mergeRecords(older, newer iter.Seq2[record, error]) iter.Seq2[record, error] {
	return func(yield func(record, error) bool) {
		nextOld, stopOld := iter.Pull2(older)
		defer stopOld()
		nextNew, stopNew := iter.Pull2(newer)
		defer stopNew()
		o, oerr, ook := nextOld()
		n, nerr, nok := nextNew()
		for ook || nok {
			if oerr != nil || nerr != nil {
				yield(record{}, cmpErr(oerr, nerr))
				return
			}
			c := 1
			switch {
			case !nok:
				c = -1
			case ook:
				c = compareHalf(o.key, n.key)
			}
			out := n
			if c < 0 {
				out = o
			}
			if !yield(out, nil) {
				return
			}
			if c <= 0 {
				o, oerr, ook = nextOld()
			}
			if c >= 0 {
				n, nerr, nok = nextNew()
			}
		}
	}
}

func cmpErr(a, b error) error {
	if a != nil {
		return a
	}
	return b
}
