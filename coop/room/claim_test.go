package room_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/comity-dev/comity/api"
)

func TestOnlyOneSessionHoldsAScope(t *testing.T) {
	f := newFixture(t)
	ada, bob := f.join("ada"), f.joinAt("bob", "b")
	got := f.claim(ada, "src/")
	if got.Standing != api.StandingHeld || got.Epoch == 0 || got.Durability != api.Memory || !got.Confirmed {
		t.Errorf("claim = %+v; want held, with an epoch, confirmed, in memory", got)
	}
	e := f.refused(bob, api.ClaimRequest{Scope: []string{"src/**/*.go"}}, api.ErrConflict)
	if len(e.Conflicts) != 1 {
		t.Fatalf("conflicts = %+v, want one", e.Conflicts)
	}
	c := e.Conflicts[0]
	if c.Session != "ada" || c.Intent != "ada's work" || c.Claim != got.Claim.Claim || c.Live != api.LiveLive || !strings.HasPrefix(c.Meets, "src/") {
		t.Errorf("conflict = %+v; want ada's claim with its intent, live, and a witness below src/", c)
	}
	if e.Hint == "" {
		t.Error("a refusal without a next step")
	}
	f.claim(bob, "docs/") // what does not meet is free
	if n := len(f.status(ada).Claims); n != 2 {
		t.Errorf("status shows %d claims, want 2: the refused one is nowhere", n)
	}
}

func TestClaimingWhatIsHeldAlreadyWritesNothing(t *testing.T) {
	f := newFixture(t)
	ada := f.join("ada")
	first := f.claim(ada, "src/")
	events := len(f.kinds())
	again := f.claim(ada, "src/api.go")
	if !again.Already || again.Claim.Claim != first.Claim.Claim {
		t.Errorf("claim of a part = %+v, want the first claim again", again)
	}
	if n := len(f.kinds()); n != events {
		t.Errorf("%d events after it, want %d", n, events)
	}
	if wider := f.claim(ada, "docs/"); wider.Already {
		t.Error("docs/ counts as held, and is not")
	}
}

func TestReleaseIsIdempotentAndOwn(t *testing.T) {
	f := newFixture(t)
	ada, bob := f.join("ada"), f.join("bob")
	c := f.claim(ada, "src/")
	if _, err := f.Release(t.Context(), bob, api.ReleaseRequest{Claims: []string{c.Short}}); api.AsError(err) == nil || api.AsError(err).Code != api.CodeNotOwn {
		t.Errorf("bob releases ada's claim: %v, want not_own", err)
	}
	for i, want := range []struct{ released, already int }{{1, 0}, {0, 1}} {
		reply, err := f.Release(t.Context(), ada, api.ReleaseRequest{Claims: []string{c.Short}})
		if err != nil || len(reply.Released) != want.released || len(reply.Already) != want.already {
			t.Errorf("release %d = %+v, %v; want %+v", i, reply, err, want)
		}
	}
	// By its scope too, as who never saw the answer would ask.
	if reply, err := f.Release(t.Context(), ada, api.ReleaseRequest{Claims: []string{"src/"}}); err != nil || len(reply.Already) != 1 {
		t.Errorf("release of a scope again = %+v, %v; want it released already", reply, err)
	}
	f.claim(bob, "src/")
	if _, err := f.Release(t.Context(), actor("ada", "a"), api.ReleaseRequest{Claims: []string{"docs/"}}); !errors.Is(err, api.ErrUnknownClaim) {
		t.Errorf("release of what was never claimed: %v, want unknown", err)
	}
	f.claim(bob, "docs/")
	if _, err := f.Release(t.Context(), actor("ada", "a"), api.ReleaseRequest{Claims: []string{"docs/"}}); !errors.Is(err, api.ErrNotOwn) {
		t.Errorf("release of another's scope: %v, want not own", err)
	}
}

func TestBreakFencesTheHolder(t *testing.T) {
	f := newFixture(t)
	ada, bob := f.join("ada"), f.join("bob")
	old := f.claim(ada, "src/")
	f.refused(bob, api.ClaimRequest{Scope: []string{"src/"}, Break: true}, api.ErrUsage) // without a reason
	won, err := f.Claim(t.Context(), bob, api.ClaimRequest{Scope: []string{"src/a.go"}, Break: true, Reason: "ada is on holiday"})
	if err != nil || won.Standing != api.StandingHeld || won.Epoch <= old.Epoch {
		t.Fatalf("break = %+v, %v; want held under a higher epoch than %d", won, err, old.Epoch)
	}
	check, err := f.Check(t.Context(), ada, api.CheckRequest{Paths: []string{"src/z.go"}, Claim: old.Claim.Claim, Epoch: old.Epoch})
	if err != nil || check.Verdict != api.CheckLapsed {
		t.Errorf("ada checks with her old token: %+v, %v; want lapsed", check, err)
	}
	notes := f.notices(ada)
	if len(notes) != 1 || notes[0].Kind != api.NoticeFenced || !strings.Contains(notes[0].Text, "holiday") {
		t.Errorf("ada's notices = %+v, want one fence with the reason", notes)
	}
	if _, err := f.Release(t.Context(), bob, api.ReleaseRequest{All: true}); err != nil {
		t.Fatal(err)
	}
	for _, c := range f.status(ada).Claims {
		if c.Session == "ada" && c.Standing == api.StandingHeld {
			t.Errorf("a fenced claim came back: %+v", c)
		}
	}
}

func TestCheckoutModeExcludesWithinOneCheckout(t *testing.T) {
	f := newFixture(t)
	here, there := f.joinAt("ada", "a"), f.joinAt("far", "b")
	also := f.joinAt("bob", "a")
	if _, err := f.Claim(t.Context(), here, api.ClaimRequest{Scope: []string{"src/a.go"}, Mode: api.ModeCheckout}); err != nil {
		t.Fatal(err)
	}
	f.refused(also, api.ClaimRequest{Scope: []string{"src/a.go"}, Mode: api.ModeCheckout}, api.ErrConflict)
	f.refused(also, api.ClaimRequest{Scope: []string{"src/"}}, api.ErrConflict)
	far, err := f.Claim(t.Context(), there, api.ClaimRequest{Scope: []string{"src/a.go"}, Mode: api.ModeCheckout})
	if err != nil || len(far.Overlaps) != 1 {
		t.Errorf("claim in another checkout = %+v, %v; want admitted with one overlap", far, err)
	}
	if n := f.notices(here); len(n) != 1 || n[0].Kind != api.NoticeOverlapped {
		t.Errorf("notices of the first = %+v, want one overlap", n)
	}
}

func TestAdvisoryClaimsAreToldAndNeverRefused(t *testing.T) {
	f := newFixture(t)
	ada, bob := f.join("ada"), f.join("bob")
	f.claim(ada, "src/")
	got, err := f.Claim(t.Context(), bob, api.ClaimRequest{Scope: []string{"src/a.go"}, Mode: api.ModeAdvisory})
	if err != nil || len(got.Overlaps) != 1 {
		t.Errorf("advisory claim = %+v, %v; want admitted with one overlap", got, err)
	}
}

func TestCheckAnswersForEachPath(t *testing.T) {
	f := newFixture(t)
	ada, bob := f.join("ada"), f.join("bob")
	c := f.claim(ada, "src/")
	if _, err := f.Claim(t.Context(), bob, api.ClaimRequest{Scope: []string{"docs/"}, Mode: api.ModeAdvisory}); err != nil {
		t.Fatal(err)
	}
	events := len(f.kinds())
	for _, tt := range []struct {
		who  string
		path string
		want string
	}{
		{"ada", "src/a.go", api.CheckYours},
		{"bob", "src/a.go", api.CheckTaken},
		{"", "src/a.go", api.CheckTaken},
		{"ada", "docs/x.md", api.CheckAdvisory},
		{"ada", "README.md", api.CheckFree},
		{"bob", "README.md", api.CheckFree},
	} {
		got, err := f.Check(t.Context(), actor(tt.who, "a"), api.CheckRequest{Paths: []string{tt.path}})
		if err != nil || got.Verdict != tt.want {
			t.Errorf("check of %s by %q = %s, %v; want %s", tt.path, tt.who, got.Verdict, err, tt.want)
		}
	}
	if _, err := f.Check(t.Context(), ada, api.CheckRequest{Paths: []string{"src/a.go"}, Claim: c.Short, Epoch: c.Epoch + 1}); api.AsError(err) == nil || api.AsError(err).Code != api.CodeFenced {
		t.Errorf("check with another epoch: %v, want fenced", err)
	}
	if n := len(f.kinds()); n != events {
		t.Errorf("checks wrote %d events", n-events)
	}
}
