package fold

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

// Entries are one list, whatever page they are in.
func TestEntriesAreAList(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 20 {
		var es entries
		var want []uint64
		for range 5 * pageEntries {
			if len(want) > 0 && r.IntN(5) == 0 {
				if got := es.pop(); got.pos().seq != want[len(want)-1] {
					t.Fatalf("pop = %d, want %d", got.pos().seq, want[len(want)-1])
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
				es.insert(i, [32]byte{byte(seq), byte(seq >> 8)}, &silent{spot{seq: seq}})
				want = slices.Insert(want, i, seq)
			}
		}
		var got []uint64
		for f := range es.all() {
			seq := f.pos().seq
			if hash := es.hash(len(got)); hash != [32]byte{byte(seq), byte(seq >> 8)} {
				t.Fatalf("the hash of %d is %x", seq, hash[:2])
			}
			got = append(got, seq)
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
	names, texts := named(&full), told(&full)
	packed := append(slices.Concat(names[:], texts[:]), &full.Head)
	for i, m := range packed {
		*m = string(rune('a' + i))
	}
	full.Intent = string(make([]byte, 300))
	if v := reflect.ValueOf(full); v.NumField() != len(packed)+2 {
		t.Errorf("%d fields, %d of them packed", v.NumField(), len(packed))
	}
	s := New()
	var last *info
	for _, said := range []event.SessionInfo{{Session: "s"}, {Session: "s", Dirty: &yes}, {Session: "s", Dirty: &no}, full} {
		i := s.info(last, &said)
		if got := i.of("s"); !reflect.DeepEqual(got, said) || i.checkout() != said.Checkout {
			t.Errorf("%+v is packed as %+v, in checkout %q", said, got, i.checkout())
		}
		if i == last || s.info(i, &said) != i {
			t.Error("what differs is held once, or what is the same twice")
		}
		last = i
	}
}

// What a session says of itself comes back as it was said, whatever its commit looks
// like, and what is said again is held once.
func TestInfoComesBack(t *testing.T) {
	s, yes, no := New(), true, false
	long := strings.Repeat("ab", 100)
	heads := []string{"", "a", "abc", "abcd", "AB", "zz", strings.Repeat("0f", 20), strings.Repeat("0f", 32), long, long + "c", long + "x", long + "xy"}
	var last *info
	for i, head := range heads {
		for _, dirty := range []*bool{nil, &yes, &no} {
			for _, empty := range []bool{true, false} {
				said := event.SessionInfo{Session: "s", Client: "cli", Checkout: "0123456789abcdef", Head: head, Dirty: dirty}
				if !empty {
					said.By, said.Host, said.Worker = "ada", "anvil", fmt.Sprint("w", i)
					said.Branch, said.Intent, said.Issue, said.Task, said.Context = "b", long, "i", "t", "c"
				}
				in := s.info(last, &said)
				if got := in.of("s"); !reflect.DeepEqual(got, said) {
					t.Fatalf("%+v, want %+v", got, said)
				}
				if in.checkout() != said.Checkout || in.intent() != said.Intent {
					t.Errorf("checkout %q and intent %q, want %q and %q", in.checkout(), in.intent(), said.Checkout, said.Intent)
				}
				if again := s.info(in, &said); again != in {
					t.Errorf("%+v, said again, is held twice", said)
				}
				if last == in {
					t.Errorf("%+v is taken for what was said before", said)
				}
				last = in
			}
		}
	}
	if len(s.whos) != 1+len(heads) {
		t.Errorf("%d of who and where, want %d", len(s.whos), 1+len(heads))
	}
}

func TestLinesAreAList(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	rec := new(record)
	var all []*line
	for n := range 6 {
		st := &stream{id: ident.Stream(fmt.Sprint("s", 9-n)), rec: rec, run: &succession{run: uint64(1 + n/2)}} // a copied record has a number twice
		rec.insert(st)
		all = append(all, &line{st: st})
	}
	var ls lines
	var want []*line
	for range 2000 {
		ln := all[r.IntN(len(all))]
		i, held := slices.BinarySearchFunc(want, ln.st, lineRun)
		switch {
		case r.IntN(5) < 2:
			ls.add(ln)
			if !held {
				want = slices.Insert(want, i, ln)
			}
		default:
			ls.remove(ln)
			if held {
				want = slices.Delete(want, i, i+1)
			}
		}
		if !slices.Equal(ls.all(), want) {
			t.Fatalf("%d lines, want %d", len(ls.all()), len(want))
		}
		for _, ln := range all {
			var before *line
			found := slices.Contains(want, ln)
			var behind int
			for _, w := range want {
				switch {
				case w.st.number() < ln.st.number():
					before = w
				case w.st.number() > ln.st.number():
					behind++
				}
			}
			if got := ls.find(ln.st); (got == ln) != found || !found && got != nil {
				t.Fatalf("line of run %d: %v, held: %v", ln.st.number(), got, found)
			}
			if got := ls.lastBefore(ln.st); got != before {
				t.Fatalf("before run %d: %v, want %v", ln.st.number(), got, before)
			}
			if got := len(after(ls.all(), ln.st)); got != behind {
				t.Fatalf("behind run %d: %d, want %d", ln.st.number(), got, behind)
			}
		}
		if got := ls.last(); len(want) == 0 && got != nil || len(want) > 0 && got != want[len(want)-1] {
			t.Fatalf("the last is %v", got)
		}
	}
}
