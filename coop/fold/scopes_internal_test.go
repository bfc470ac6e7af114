package fold

import (
	"fmt"
	"slices"
	"testing"

	"github.com/comity-dev/comity/coop/scope"
)

// Plans are kept of the scopes that were asked for last, and no more of them however
// many there are; one that is not kept any more is made again.
func TestFewPlansAreKept(t *testing.T) {
	s := newScopes()
	var all []*covered
	for i := range 3 * maxPlans {
		set, err := scope.ParseSet([]string{fmt.Sprintf("path:a/%d", i)})
		if err != nil {
			t.Fatal(err)
		}
		c := s.of(set)
		all = append(all, c)
		if p := s.plan(c); p == nil || p != s.plan(c) {
			t.Fatalf("the plan of scope %d is not the one that was made before", i)
		}
	}
	s.plan(all[0])
	for i, c := range all {
		if want := i == 0 || i > len(all)-maxPlans; (c.plan != nil) != want {
			t.Fatalf("the plan of scope %d of %d is kept: %v, want %v", i, len(all), c.plan != nil, want)
		}
	}
	var x scope.Index[int]
	for i, c := range all {
		x.Add(i, s.plan(c))
	}
	for i, c := range all {
		if got := slices.Collect(x.Meeting(s.plan(c))); !slices.Equal(got, []int{i}) {
			t.Fatalf("scope %d meets %v, want itself alone", i, got)
		}
	}
}
