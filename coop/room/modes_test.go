package room_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/room"
)

// Every pair of modes, in one checkout and in two: who excludes whom, and who is
// told.
func TestModes(t *testing.T) {
	modes := []string{api.ModeExclusive, api.ModeCheckout, api.ModeAdvisory}
	for _, first := range modes {
		for _, second := range modes {
			for _, same := range []bool{true, false} {
				excludes := first == api.ModeExclusive && second == api.ModeExclusive ||
					same && first != api.ModeAdvisory && second != api.ModeAdvisory
				t.Run(fmt.Sprintf("%s then %s, same checkout %v", first, second, same), func(t *testing.T) {
					f := newFixture(t)
					where := map[bool]string{true: "a", false: "b"}[same]
					ada, bob := f.join("ada"), f.joinAt("bob", where)
					if _, err := f.Claim(t.Context(), ada, api.ClaimRequest{Scope: []string{"src/"}, Mode: first}); err != nil {
						t.Fatal(err)
					}
					req := api.ClaimRequest{Scope: []string{"src/a.go"}, Mode: second}
					told := 0
					if excludes {
						f.refused(bob, req, api.ErrConflict)
					} else {
						got, err := f.Claim(t.Context(), bob, req)
						if err != nil || got.Standing != api.StandingHeld || len(got.Overlaps) != 1 || got.Overlaps[0].Session != "ada" {
							t.Fatalf("claim = %+v, %v; want held, overlapping ada's", got, err)
						}
						told = 1
					}
					if n := f.notices(ada); len(n) != told {
						t.Errorf("ada is told %+v, want %d notices", n, told)
					}
					check, err := f.Check(t.Context(), bob, api.CheckRequest{Paths: []string{"src/b.go"}})
					want := api.CheckAdvisory
					if first != api.ModeAdvisory && (same || first == api.ModeExclusive) {
						want = api.CheckTaken
					}
					if err != nil || check.Verdict != want {
						t.Errorf("bob's check of what only ada claims = %s, %v; want %s", check.Verdict, err, want)
					}
					if !excludes {
						f.release(bob)
					}
					// A session is never in its own way.
					if got, err := f.Claim(t.Context(), ada, req); err != nil || got.Standing != api.StandingHeld || got.Already != (rank(first) >= rank(second)) {
						t.Errorf("ada's own second claim = %+v, %v", got, err)
					}
				})
			}
		}
	}
}

func rank(mode string) int {
	return map[string]int{api.ModeAdvisory: 0, api.ModeCheckout: 1, api.ModeExclusive: 2}[mode]
}

// A session's claims count for the checkout that its opening names, on every
// machine: one that claims elsewhere says first that it has moved.
func TestASessionMovesToWhereItClaims(t *testing.T) {
	f := newFixture(t)
	ada, bob := f.joinAt("ada", "a"), f.joinAt("bob", "b")
	take := api.ClaimRequest{Scope: []string{"src/a.go"}, Mode: api.ModeCheckout}
	if _, err := f.Claim(t.Context(), ada, take); err != nil {
		t.Fatal(err)
	}
	there := ada
	there.Checkout, there.Top = bob.Checkout, bob.Top
	check, err := f.Check(t.Context(), there, api.CheckRequest{Paths: []string{"src/a.go"}})
	if err != nil || check.Verdict == api.CheckYours {
		t.Errorf("check in another checkout = %+v, %v; want that her claim protects the first one only", check, err)
	}
	got, err := f.Claim(t.Context(), there, take)
	if err != nil || got.Already || got.Checkout != string(bob.Checkout) {
		t.Fatalf("claim = %+v, %v; want a claim of her own in the other checkout", got, err)
	}
	if s := f.session("ada"); s.Checkout != string(bob.Checkout) || s.Worktree != bob.Top || s.Claims != 2 {
		t.Errorf("session = %+v; want moved, with both claims", s)
	}
	f.refused(bob, take, api.ErrConflict)
	f.refused(f.joinAt("carl", "a"), take, api.ErrConflict)
	if n := len(f.kinds()); n != 7 {
		t.Errorf("events %v; want one for the move", f.kinds())
	}
}

func TestAlreadyHeld(t *testing.T) {
	f := newFixture(t)
	ada := f.join("ada")
	f.claim(ada, "src/", "@port/3000")
	for word, already := range map[string]bool{
		"src/": true, "src/x.go": true, "src/api/": true, "@port/3000": true, "@port/3001": false, ".": false, "srcs": false,
	} {
		if got := f.claim(ada, word); got.Already != already {
			t.Errorf("claim of %s: already %v, want %v", word, got.Already, already)
		}
		if !already {
			f.Release(t.Context(), ada, api.ReleaseRequest{Claims: []string{word}})
		}
	}
	if got := f.claim(ada, "src/y.go", "elsewhere.go"); got.Already {
		t.Error("a scope of which only a part is held counts as held")
	}
}

func TestBadScopesAreRefusedWhole(t *testing.T) {
	f := newFixture(t)
	ada := f.join("ada")
	for _, words := range [][]string{nil, {""}, {"src/", "../up"}, {"src/[a"}, {"\xff"}} {
		if _, err := f.Claim(t.Context(), ada, api.ClaimRequest{Scope: words}); err == nil || api.AsError(err).Code.Exit() != 2 {
			t.Errorf("claim of %q: %v, want a refusal of the words", words, err)
		}
	}
	if n := len(f.kinds()); n != 2 {
		t.Errorf("%d events, want 2", n)
	}
}

// hasty is a tree whose caller has gone before it could look.
type hasty struct{ tree }

func (hasty) Kind(string) (room.Kind, error) { return 0, fmt.Errorf("look: %w", context.Canceled) }

func TestWordsThatNobodyCouldLookAtAreNotBad(t *testing.T) {
	f := newFixture(t)
	ada := f.join("ada")
	ada.Tree = hasty{}
	_, err := f.Claim(t.Context(), ada, api.ClaimRequest{Scope: []string{"src/x.go"}})
	var known *api.Error
	if !errors.Is(err, context.Canceled) || errors.As(err, &known) {
		t.Errorf("claim: %v, want what ended the caller", err)
	}
}
