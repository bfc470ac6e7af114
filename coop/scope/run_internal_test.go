package scope

import "testing"

// Every pair of short names with dots meets in bulk as it does place by place: in
// one word and across two, by letters asked alone and by masks.
func TestShortNamesMeetInBulk(t *testing.T) {
	var names []alternative
	signs := []string{".", "a", "*", "?", "[.]", "[.a]", "[!a]"}
	level := []string{""}
	for range 3 {
		var next []string
		for _, p := range level {
			for _, s := range signs {
				next = append(next, p+s)
			}
		}
		level = next
		for _, p := range level {
			r := &globReader{rest: p}
			atoms, _ := r.sequence(0)
			if a, err := cut(atoms); err == nil {
				names = append(names, a)
			}
		}
	}
	var r run
	for i := range names {
		b := &names[i]
		for at := 60; at < 64; at++ {
			over := newTrack([]way{{alternative: b, form: FormGlob}}, at)
			r.over(over)
			r.few = at & 1 * 8
			for j := range names {
				a := &names[j]
				if got, want := r.meets(a), alternativesMeet(a, b, nil); got != want {
					t.Fatalf("%+v meets %+v at %d: %v in bulk, want %v", a.segments, b.segments, at, got, want)
				}
			}
		}
	}
}
