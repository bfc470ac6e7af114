package fold

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/comity-dev/comity/coop/event"
)

// Entries are one list, whatever page they are in.
func TestEntriesAreAList(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 20 {
		var es entries
		var want []uint64
		for range 5 * pageEntries {
			if len(want) > 0 && r.IntN(5) == 0 {
				if got := es.pop(); got.seq() != want[len(want)-1] {
					t.Fatalf("pop = %d, want %d", got.seq(), want[len(want)-1])
				}
				want = want[:len(want)-1]
				continue
			}
			seq := 2 * (1 + uint64(len(want)))
			if r.IntN(4) == 0 {
				seq = 1 + 2*r.Uint64N(100)
			}
			i, held := slices.BinarySearch(want, seq)
			if got := es.search(seq); got != i {
				t.Fatalf("search(%d) = %d, want %d", seq, got, i)
			}
			if !held {
				es.insert(i, entry{fact: &silent{spot{seq: seq}}})
				want = slices.Insert(want, i, seq)
			}
		}
		var got []uint64
		for e := range es.all() {
			got = append(got, e.seq())
		}
		if !slices.Equal(got, want) || es.len() != len(want) {
			t.Fatalf("%d entries %v, want %v", es.len(), got, want)
		}
	}
}

func TestRefsAreAList(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 1))
	facts := make([]fact, 4)
	for i := range facts {
		facts[i] = &silent{spot{seq: uint64(i)}}
	}
	var refs refs
	held := map[fact]int{}
	for range 1000 {
		f := facts[r.IntN(len(facts))]
		switch {
		case r.IntN(2) == 0:
			refs.add(f)
			held[f]++
		case held[f] == 1:
			delete(held, f)
			refs.drop(f)
		default:
			held[f] = max(0, held[f]-1)
			refs.drop(f)
		}
		got := map[fact]int{}
		for f := range refs.all() {
			got[f]++
		}
		for f, n := range held {
			if n == 0 {
				delete(held, f)
			}
		}
		if !reflect.DeepEqual(got, held) {
			t.Fatalf("%v is held, want %v", got, held)
		}
	}
}

// What is packed comes back as it was said, and is held once.
func TestInfoIsPackedWhole(t *testing.T) {
	yes, no := true, false
	full := event.SessionInfo{Session: "s", Dirty: &no}
	for i, m := range members(&full) {
		*m = string(rune('a' + i))
	}
	full.Intent = string(make([]byte, 300))
	if v := reflect.ValueOf(full); v.NumField() != len(members(&full))+2 {
		t.Errorf("%d fields, %d of them packed", v.NumField(), len(members(&full)))
	}
	s := New()
	var last *info
	for _, said := range []event.SessionInfo{{Session: "s"}, {Session: "s", Dirty: &yes}, {Session: "s", Dirty: &no}, full} {
		i := s.info(last, &said)
		if got := i.of("s"); !reflect.DeepEqual(got, said) || i.checkout != said.Checkout {
			t.Errorf("%+v is packed as %+v, in checkout %q", said, got, i.checkout)
		}
		if i == last || s.info(i, &said) != i {
			t.Error("what differs is held once, or what is the same twice")
		}
		last = i
	}
}
