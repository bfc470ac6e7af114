package room_test

import (
	"context"
	"maps"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/journal"
	"github.com/comity-dev/comity/internal/vfs/vfstest"
)

// What marks a claim as made by a hook goes with the claim, however that ends:
// an agent makes thousands of them, and each row would be read at every start.
func TestTheRowOfAnAutoClaimEndsWithIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j *journal.Journal
		live := func(f *fixture, live bool) {
			open := f.cfg.Open
			f.live = live
			f.cfg.Open = func(ctx context.Context, cfg journal.Config) (*journal.Journal, error) {
				var err error
				j, err = open(ctx, cfg)
				return j, err
			}
		}
		f := newFixtureOn(t, vfstest.New(), func(f *fixture) { live(f, true) })
		want := func(when string, claims ...string) {
			t.Helper()
			synctest.Wait()
			got := slices.Sorted(maps.Keys(j.Local("auto")))
			slices.Sort(claims)
			if !slices.Equal(got, claims) {
				t.Errorf("%s: rows of %d claims, want of %d", when, len(got), len(claims))
			}
		}
		a, b := newAgent("c1", "a", 10), newAgent("c2", "b", 20)
		auto := func(who *agent, path string) string {
			t.Helper()
			f.hook(who, api.HookBefore, writes(path))
			for _, c := range f.status(who.Actor).Claims {
				if slices.Equal(c.Scope, []string{"path:" + path}) && c.Own {
					return c.Claim
				}
			}
			t.Fatalf("no claim of %s", path)
			return ""
		}
		clean, released, closed, stays := auto(a, "clean.go"), auto(a, "released.go"), auto(b, "closed.go"), auto(a, "stays.go")
		want("while they are held", clean, released, closed, stays)
		if _, err := f.Release(t.Context(), a.Actor, api.ReleaseRequest{Claims: []string{released}}); err != nil {
			t.Fatal(err)
		}
		want("after a release", clean, closed, stays)
		f.hook(b, api.HookEnd, nil)
		want("after the end of the session", clean, stays)
		a.tree.dirty["stays.go"] = "1"
		f.hook(a, api.HookStop, nil)
		want("after a stop", stays)

		live(f, false) // a daemon that is killed before it has come to it
		f.reopen()
		late := auto(a, "late.go")
		if _, err := f.Release(t.Context(), a.Actor, api.ReleaseRequest{Claims: []string{late}}); err != nil {
			t.Fatal(err)
		}
		want("without Run", late, stays)
		f.live = true
		f.reopen()
		want("after the next start", stays)
	})
}
