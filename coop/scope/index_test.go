package scope_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/comity-dev/comity/coop/scope"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// The index answers what asking every set one by one answers.
func TestIndexAgreesWithMeets(t *testing.T) {
	var large []scope.Entry
	for _, p := range []string{"pad-a/" + strings.Repeat("*a", 110), "pad-b/" + strings.Repeat("?", 220), "**/" + strings.Repeat("*c", 110)} {
		large = append(large, mustParse(t, "glob:"+p))
	}
	pieces := append([]string{"c/", "a/b/", "a/c/", "*/"}, asciiPieces...)
	drawn := rapid.Custom(func(t *rapid.T) scope.Set {
		entries := rapid.SliceOfN(drawEntry(pieces), 1, 3).Draw(t, "entries")
		if rapid.IntRange(0, 3).Draw(t, "large") == 0 { // too large to be asked pattern by pattern
			entries = append(entries, rapid.SampledFrom(large).Draw(t, "pad"))
		}
		if rapid.IntRange(0, 5).Draw(t, "resource") == 0 {
			r, _ := scope.Resource(rapid.SampledFrom([]string{"a", "A", "a/b"}).Draw(t, "name"))
			entries = append(entries, r)
		}
		s, err := scope.NewSet(entries...)
		if err != nil {
			t.Fatal(err)
		}
		return s
	})
	paths := append(everyPath([]string{"a", "b", ".", "/"}, 4), ".", "", "/a", "a/../b")
	rapid.Check(t, func(t *rapid.T) {
		var x scope.Index[int]
		held := map[int]scope.Set{}
		plans := map[string]*scope.Plan{} // one serves all that hold its set
		var order []int
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			k := rapid.IntRange(0, 9).Draw(t, "k")
			order = slices.DeleteFunc(order, func(o int) bool { return o == k })
			if rapid.IntRange(0, 2).Draw(t, "do") == 0 {
				x.Remove(k)
				delete(held, k)
				continue
			}
			s := drawn.Draw(t, "s")
			p := plans[fmt.Sprint(s)]
			if p == nil {
				p = s.Plan()
				plans[fmt.Sprint(s)] = p
			}
			x.Add(k, p)
			held[k] = s
			order = append(order, k)
		}
		if got, want := slices.Sorted(x.All()), slices.Sorted(maps.Keys(held)); !slices.Equal(got, want) || x.Len() != len(want) {
			t.Fatalf("All() = %v of %d, want %v", got, x.Len(), want)
		}
		q := drawn.Draw(t, "query")
		var want []int
		for _, k := range order {
			if _, ok := held[k].Meets(q); ok {
				want = append(want, k)
			}
		}
		if diff := cmp.Diff(want, slices.Collect(x.Meeting(q.Plan()))); diff != "" {
			t.Fatalf("Meeting(%v) of %v (-want +got):\n%s", q, held, diff)
		}
		want = slices.DeleteFunc(want, func(k int) bool { return k%2 == 0 })
		if got := slices.Collect(x.MeetingAmong(q.Plan(), func(k int) bool { return k%2 == 1 })); !slices.Equal(got, want) {
			t.Fatalf("MeetingAmong(%v, odd) of %v = %v, want %v", q, held, got, want)
		}
		p := rapid.SampledFrom(paths).Draw(t, "path")
		want = nil
		for _, k := range order {
			if _, ok := held[k].Covers(p); ok {
				want = append(want, k)
			}
		}
		if diff := cmp.Diff(want, slices.Collect(x.Covering(p))); diff != "" {
			t.Fatalf("Covering(%q) of %v (-want +got):\n%s", p, held, diff)
		}
	})
}

func TestIndexForgets(t *testing.T) {
	var x scope.Index[string]
	x.Add("one", mustSet(t, "path:a/b", "dir:a", "glob:a/*.go", "res:port/1").Plan())
	x.Add("two", mustSet(t, "dir:.", "res:port/1").Plan())
	if got := slices.Collect(x.Covering(".")); !slices.Equal(got, []string{"two"}) {
		t.Errorf("Covering(.) = %v, want [two]", got)
	}
	x.Remove("one")
	x.Remove("one")
	x.Remove("never")
	if got := slices.Collect(x.Meeting(mustSet(t, "path:a/b", "res:port/1").Plan())); !slices.Equal(got, []string{"two"}) {
		t.Errorf("Meeting = %v, want [two]", got)
	}
	x.Add("two", mustSet(t, "path:z").Plan())
	if got := slices.Collect(x.Meeting(mustSet(t, "path:a/b", "res:port/1").Plan())); got != nil {
		t.Errorf("Meeting after two moved = %v, want none", got)
	}
	if got := slices.Collect(x.Covering("z")); !slices.Equal(got, []string{"two"}) || x.Len() != 1 {
		t.Errorf("Covering(z) = %v of %d, want [two] of 1", got, x.Len())
	}
}

// The walk may stop early, and the index may change while it goes on.
func TestIndexChangesDuringAWalk(t *testing.T) {
	var x scope.Index[int]
	for i := range 10 {
		x.Add(i, mustSet(t, fmt.Sprintf("path:a/%d", i)).Plan())
	}
	var got []int
	for k := range x.Meeting(mustSet(t, "dir:a").Plan()) {
		x.Remove(9 - k)
		if got = append(got, k); len(got) == 3 {
			break
		}
	}
	if !slices.Equal(got, []int{0, 1, 2}) || x.Len() != 7 {
		t.Errorf("walked %v, %d left; want [0 1 2], 7 left", got, x.Len())
	}
}

// mixedClaims are what the claims of a large repository may look like: mostly
// paths and folders, a third patterns, of which some begin with a wildcard.
func mixedClaims(t testing.TB, n int) []scope.Set {
	r := rand.New(rand.NewPCG(1, 2))
	dir := func() string {
		return fmt.Sprintf("services/svc%d/pkg%d", r.IntN(60), r.IntN(40))
	}
	var out []scope.Set
	for i := range n {
		switch i % 10 {
		case 0, 1, 2, 3:
			out = append(out, mustSet(t, fmt.Sprintf("path:%s/file%d.go", dir(), r.IntN(50)), fmt.Sprintf("path:%s/Test%d.go", dir(), i)))
		case 4, 5:
			out = append(out, mustSet(t, "dir:"+dir()))
		case 6, 7:
			out = append(out, mustSet(t, fmt.Sprintf("glob:%s/**/*_%d.{go,ts}", dir(), i)))
		case 8:
			out = append(out, mustSet(t, fmt.Sprintf("glob:**/gen%d/*.go", i)))
		case 9:
			out = append(out, mustSet(t, fmt.Sprintf("res:port/%d", i), fmt.Sprintf("glob:services/*/only%d-*.sql", i)))
		}
	}
	return out
}

func BenchmarkMeeting(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		var x scope.Index[int]
		for i, s := range mixedClaims(b, n) {
			x.Add(i, s.Plan())
		}
		for _, q := range []struct{ name, stored string }{
			{"path", "path:services/svc7/pkg3/file9.go"},
			{"dir", "dir:services/svc7/pkg3"},
			{"glob", "glob:services/svc7/**/*_test.go"},
			{"wide", "glob:**/*_test.go"},
			{"resource", "res:port/19"},
		} {
			s := mustSet(b, q.stored)
			b.Run(fmt.Sprintf("%s/%d", q.name, n), func(b *testing.B) {
				b.ReportAllocs()
				hits := 0
				for b.Loop() {
					for range x.Meeting(s.Plan()) {
						hits++
					}
				}
				b.ReportMetric(float64(hits)/float64(b.N), "hits/op")
			})
		}
		b.Run(fmt.Sprintf("covering/%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for range x.Covering("services/svc7/pkg3/file9.go") {
				}
			}
		})
	}
}

// hostileClaims are of eight entries each, as long as they can be, that a name of
// many stars makes dear to compare; no two of them meet.
func hostileClaims(t testing.TB, n int) []scope.Set {
	var out []scope.Set
	for i := range n {
		var stored []string
		for k := range 8 {
			stored = append(stored, fmt.Sprintf("glob:%s%d_%d/**/*x*", strings.Repeat("*a", 58), k, i))
		}
		out = append(out, mustSet(t, stored...))
	}
	return out
}

// What one plan asked of another costs, of honest scopes and of hostile ones.
func BenchmarkPlansMeet(b *testing.B) {
	short := func(last string) (stored []string) { // 384 patterns of five states
		for i := range 64 {
			stored = append(stored, fmt.Sprintf("glob:{[a-c],[b-d],[c-e],[d-f],[e-g],[f-h]}%c*[%s]", '一'+i, last))
		}
		return stored
	}
	hostile := hostileClaims(b, 2)
	for _, p := range []struct {
		name string
		a, b scope.Set
	}{
		{"paths", mustSet(b, "path:src/api/x.go"), mustSet(b, "path:src/api/y.go")},
		{"dir-path", mustSet(b, "dir:src/api"), mustSet(b, "path:src/api/y.go")},
		{"path-glob", mustSet(b, "path:src/api/x.go"), mustSet(b, "glob:src/**/*.go")},
		{"dir-glob", mustSet(b, "dir:src/api"), mustSet(b, "glob:src/**/*.go")},
		{"globs", mustSet(b, "glob:src/**/*.go"), mustSet(b, "glob:**/*_test.go")},
		{"hostile", hostile[0], hostile[1]},
		{"short", mustSet(b, short("x")...), mustSet(b, short("y")...)},
	} {
		x, y := p.a.Plan(), p.b.Plan()
		b.Run(p.name, func(b *testing.B) {
			for b.Loop() {
				x.Meets(y)
			}
		})
	}
}

func BenchmarkAdd(b *testing.B) {
	sets := mixedClaims(b, 10_000)
	var x scope.Index[int]
	for i := 0; b.Loop(); i++ {
		x.Add(i%len(sets), sets[i%len(sets)].Plan())
	}
}

func BenchmarkMeets(b *testing.B) {
	for _, p := range []struct{ name, a, b string }{
		{"paths", "path:src/api/x.go", "path:src/api/y.go"},
		{"path-glob", "path:src/api/x.go", "glob:src/**/*.go"},
		{"globs", "glob:src/**/*.go", "glob:src/api/**"},
		{"hostile", "glob:*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a", "glob:*b*b*b*b*b*b*b*b*b*b*b*b*b*b*b*b*b*b*b*b*b*b*b*b*b*b*b*b*b*b*b*b*b*b*bc"},
	} {
		x, y := mustParse(b, p.a), mustParse(b, p.b)
		b.Run(p.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				x.Meets(y)
			}
			b.ReportMetric(float64(scope.Work(x, y)), "states/op")
		})
	}
}
