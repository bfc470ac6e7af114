package store

import (
	"bytes"
	"container/list"
	"encoding/binary"
	"math/bits"
)

// A shard is one of a run, in memory. Nearly every key that is looked up was never
// seen, so it has a filter beside its records that refuses most of those at a glance.
type shard struct {
	b      []byte   // records in the order of their keys
	filter []uint64 // bits; a key that is there has its bit set
	used   bool     // since it was last looked at for what to drop
	home   **shard  // where its run has it
}

const filterBits = 16 // for each record: one in so many keys that are not there passes

func newShard(b []byte) *shard {
	n := len(b) / recordBytes
	words := 1 << bits.Len(uint(max(n*filterBits/64-1, 0)))
	sh := &shard{b: b, filter: make([]uint64, words)}
	for i := range n {
		word, bit := sh.place(recordAt(b, i).key)
		sh.filter[word] |= bit
	}
	return sh
}

// place returns where in the filter the bit of a key is. It is of other bits of
// the key than those that tell its shard.
func (sh *shard) place(k half) (word int, bit uint64) {
	h := binary.LittleEndian.Uint64(k[8:])
	return int(h>>6) & (len(sh.filter) - 1), 1 << (h & 63)
}

// lookup returns the entry of a key. A nil shard is an empty one.
func (sh *shard) lookup(k half) (entry, bool) {
	if sh == nil {
		return entry{}, false
	}
	if word, bit := sh.place(k); sh.filter[word]&bit == 0 {
		return entry{}, false
	}
	at, found := searchShard(sh.b, k)
	if !found {
		return entry{}, false
	}
	return recordAt(sh.b, at).entry, true
}

func searchShard(b []byte, k half) (at int, found bool) {
	lo, hi := 0, len(b)/recordBytes
	for lo < hi {
		mid := (lo + hi) / 2
		switch c := bytes.Compare(b[mid*recordBytes:mid*recordBytes+16], k[:]); {
		case c == 0:
			return mid, true
		case c < 0:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return lo, false
}

// shards are those in memory, bounded in bytes: of those that were not used lately
// the oldest go first.
type shards struct {
	most, bytes int
	order       list.List // of *shard, the newest first
}

func (sh *shard) bytes() int { return len(sh.b) + 8*len(sh.filter) }

// add puts a shard into memory and where its run has it.
func (c *shards) add(b []byte, home **shard) *shard {
	sh := newShard(b)
	c.bytes += sh.bytes()
	for c.bytes > c.most && c.order.Len() > 0 {
		e := c.order.Back()
		if old := e.Value.(*shard); old.used {
			old.used = false
			c.order.MoveToFront(e)
		} else {
			c.order.Remove(e)
			*old.home = nil
			c.bytes -= old.bytes()
		}
	}
	sh.home, *home = home, sh
	c.order.PushFront(sh)
	return sh
}
