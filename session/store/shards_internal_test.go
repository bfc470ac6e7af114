package store

import (
	"encoding/binary"
	"testing"
)

func keyOf(n int) half { return halfOf(string(binary.LittleEndian.AppendUint64(nil, uint64(n)))) }

// shardBytes is a shard of the keys from one on.
func shardBytes(from, n int) []byte {
	recs := make([]record, n)
	for i := range recs {
		recs[i] = record{keyOf(from + i), entry{seq: uint64(from + i)}}
	}
	sortRecords(recs)
	var b []byte
	for _, r := range recs {
		b = appendRecord(b, r)
	}
	return b
}

// A shard finds what is in it and nothing else, and its filter refuses most of that
// without a search.
func TestShardFindsWhatIsInIt(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 4, 5, 63, 64, 65, 2048, 3000} {
		sh := newShard(shardBytes(0, n))
		for i := range n {
			if e, ok := sh.lookup(keyOf(i)); !ok || e.seq != uint64(i) {
				t.Fatalf("key %d of %d: %v, %v", i, n, e, ok)
			}
		}
		passed := 0
		for i := range 4096 {
			k := keyOf(n + i)
			if e, ok := sh.lookup(k); ok {
				t.Fatalf("key %d of %d was found at %d", n+i, n, e.seq)
			}
			if word, bit := sh.place(k); sh.filter[word]&bit != 0 {
				passed++
			}
		}
		if passed > 4096/8 {
			t.Errorf("the filter of %d keys lets %d of 4096 others pass", n, passed)
		}
	}
	if _, ok := (*shard)(nil).lookup(keyOf(1)); ok {
		t.Error("an empty shard has a key")
	}
}

func TestShardsInMemoryAreBounded(t *testing.T) {
	one := newShard(shardBytes(0, 100)).bytes()
	c := shards{most: 4 * one}
	homes := make([]*shard, 20)
	for i := range homes {
		sh := c.add(shardBytes(i, 100), &homes[i])
		if homes[i] != sh {
			t.Fatalf("shard %d is not where its run looks for it", i)
		}
		homes[0].used = true // asked for all the time
		kept, bytes := 0, 0
		for _, sh := range homes {
			if sh != nil {
				kept++
				bytes += sh.bytes()
			}
		}
		if bytes > c.most || bytes != c.bytes || kept != c.order.Len() {
			t.Errorf("behind shard %d: %d kept of %d bytes, want at most %d; it counts %d of %d bytes", i, kept, bytes, c.most, c.order.Len(), c.bytes)
		}
	}
	if homes[19] == nil || homes[10] != nil {
		t.Error("those that were used last are not those that are kept")
	}
	small := shards{most: 1}
	var home *shard
	if small.add(shardBytes(0, 100), &home); home == nil {
		t.Error("the only shard was dropped")
	}
}
