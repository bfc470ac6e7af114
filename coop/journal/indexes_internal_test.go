package journal

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// A list of indexes is a list, however large they are, and a copy of it stays as it
// was whatever is appended.
func TestIndexesAreAList(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 1))
	for _, most := range []uint64{100, math.MaxUint32, math.MaxUint64} {
		var x, before indexes
		var want, were []uint64
		for i := range 2000 {
			index := r.Uint64N(most)
			switch {
			case len(want) > 0 && i%5 == 0:
				k := r.IntN(len(want))
				x.set(k, index)
				want[k] = index
				before, were = x, slices.Clone(want)
			case i < 1000:
				index >>= 32
				fallthrough
			default:
				x.append(index)
				want = append(want, index)
			}
			if got := before.slice(0, before.len()); !slices.Equal(got, were) {
				t.Fatalf("below %d: a copy of %d changed when %d were there", most, len(were), len(want))
			}
		}
		if got := x.slice(0, x.len()); !slices.Equal(got, want) {
			t.Errorf("below %d: %d indexes, want %d", most, len(got), len(want))
		}
		if most <= math.MaxUint32 && x.high != nil {
			t.Errorf("below %d: more room than it needs", most)
		}
		if got := x.slice(10, 20); !slices.Equal(got, want[10:20]) {
			t.Errorf("below %d: a part is %v, want %v", most, got, want[10:20])
		}
	}
}
