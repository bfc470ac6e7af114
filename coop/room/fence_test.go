package room_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/journal"
	"github.com/comity-dev/comity/internal/vfs/vfstest"
)

// beside is a room that knows another machine, of whose life the test says what
// it wants.
func beside(t testing.TB) (f *fixture, far *peer, life *journal.Liveness) {
	life = new(journal.Liveness)
	f = newFixtureOn(t, vfstest.New(), func(f *fixture) {
		f.cfg.Journal.Trust = func(ident.NodeID) bool { return true }
		f.cfg.Liveness = func(ident.Stream) (journal.Liveness, time.Duration) { return *life, 17 * time.Second }
	})
	return f, newPeer(t, 1), life
}

func TestClaimsOfAnotherMachine(t *testing.T) {
	f, far, life := beside(t)
	ada := f.join("ada")
	f.hear(far.opens("zoe"), far.claims(1000, "zoe", "dir:src"))

	*life = journal.Live
	e := f.refused(ada, api.ClaimRequest{Scope: []string{"src/a.go"}}, api.ErrConflict)
	if c := e.Conflicts[0]; c.Session != "zoe" || c.Live != api.LiveLive || c.MaybeMS != 0 || c.Intent != "from afar" || c.Client != "far" || c.AgeMS < 0 {
		t.Errorf("conflict = %+v", c)
	}
	*life = journal.Unknown
	e = f.refused(ada, api.ClaimRequest{Scope: []string{"src/a.go"}}, api.ErrConflict)
	if c := e.Conflicts[0]; c.Live != "maybe_live" || c.MaybeMS != 17_000 {
		t.Errorf("conflict = %+v; want maybe_live with the time left", c)
	}
	if got := f.claim(ada, "docs/"); got.Confirmed {
		t.Error("confirmed at once, though another machine is known")
	}

	*life = journal.Expired
	if s := f.session("zoe"); s.State != api.SessionExpired || s.Own {
		t.Errorf("zoe's session = %+v; want expired, not own", s)
	}
	check, err := f.Check(t.Context(), ada, api.CheckRequest{Paths: []string{"src/a.go"}})
	if err != nil || check.Verdict != api.CheckFree {
		t.Errorf("check of what a dead one holds = %+v, %v; want free", check, err)
	}
	got := f.claim(ada, "src/a.go")
	if got.Standing != api.StandingHeld || len(got.Fenced) != 1 || got.Fenced[0].Session != "zoe" || got.Fenced[0].Live != api.LiveExpired || len(got.Fences) != 1 || got.Epoch <= 1000 {
		t.Errorf("claim = %+v; want held over zoe's, which it fences, under a higher epoch", got)
	}
	*life = journal.Live // back from the dead: what is fenced stays so
	st := f.status(ada)
	for _, c := range st.Claims {
		want := api.StandingHeld
		if c.Session == "zoe" {
			want = api.StandingConflicted
		}
		if c.Standing != want {
			t.Errorf("%s's claim on %v is %s, want %s", c.Session, c.Scope, c.Standing, want)
		}
	}
	f.claim(f.join("bob"), "src/b.go") // it was lost as a whole
}

func TestAnotherMachinesSessionsAreNotYours(t *testing.T) {
	f, far, life := beside(t)
	*life = journal.Live
	zoe := far.opens("zoe")
	id, _ := zoe.Session()
	claim := far.claims(0, "zoe", "dir:src")
	f.hear(zoe, claim)
	ada := f.join("ada")
	_, err := f.Claim(t.Context(), actor(id.String(), "a"), api.ClaimRequest{Scope: []string{"x"}})
	wantCode(t, "claim as zoe", err, api.CodeNotOwn)
	_, err = f.SessionClose(t.Context(), ada, api.SessionCloseRequest{Name: id.String()})
	wantCode(t, "close zoe", err, api.CodeNotOwn)
	_, err = f.Claim(t.Context(), actor("zoe", "a"), api.ClaimRequest{Scope: []string{"x"}})
	wantCode(t, "a foreign name without its machine", err, api.CodeUnknownSession)
	_, err = f.Release(t.Context(), ada, api.ReleaseRequest{Claims: []string{claim.Key().String()}, Person: true})
	wantCode(t, "release zoe's claim", err, api.CodeNotOwn)
}

// A fence by another machine is told, and answered by the holder's own release.
func TestAFenceFromAfar(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, far, life := beside(t)
		*life = journal.Live
		ada := f.join("ada")
		c := f.claim(ada, "src/")
		key, err := event.ParseKey(c.Claim.Claim)
		if err != nil {
			t.Fatal(err)
		}
		f.live = true
		f.hear(far.opens("zoe"), far.says(c.Epoch+1, event.ClaimAcquired{Session: "zoe", Scope: scopes(t, "path:src/a.go"), Mode: event.ModeExclusive, Fences: []event.Key{key}}))
		synctest.Wait()
		notes := f.notices(ada)
		if len(notes) != 1 || notes[0].Kind != api.NoticeFenced || notes[0].Claim != c.Claim.Claim || !strings.Contains(notes[0].Text, "zoe") {
			t.Errorf("notices = %+v; want one fence by zoe", notes)
		}
		page, err := f.Log(t.Context(), ada, api.LogRequest{Last: true, Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		if last := page.Events[0]; last.Kind != event.KindClaimReleased || !strings.Contains(last.Text, "fenced") {
			t.Errorf("last event %+v; want ada's own release of what was fenced", last)
		}
		for range 2 {
			f.reopen()
			synctest.Wait()
		}
		n := 0
		for _, k := range f.kinds() {
			if k == event.KindClaimReleased {
				n++
			}
		}
		if n != 1 || len(f.notices(ada)) != 1 {
			t.Errorf("%d releases, %d notices after two restarts; want one each", n, len(f.notices(ada)))
		}
	})
}

// A claim of another machine that was made before ours, and is heard of after,
// wins; the loser is told.
func TestALateClaimFromAfarWins(t *testing.T) {
	f, far, life := beside(t)
	*life = journal.Live
	ada := f.join("ada")
	for i := range 5 { // stamps rise
		f.claim(ada, fmt.Sprint("pad", i))
	}
	mine := f.claim(ada, "src/")
	f.hear(far.opens("zoe"), far.claims(2, "zoe", "dir:src"))
	notes := f.notices(ada)
	if len(notes) != 1 || notes[0].Kind != api.NoticeConflicted || !strings.Contains(notes[0].Text, "zoe") {
		t.Errorf("notices = %+v; want one of the conflict with zoe", notes)
	}
	check, err := f.Check(t.Context(), ada, api.CheckRequest{Paths: []string{"src/a.go"}, Claim: mine.Claim.Claim, Epoch: mine.Epoch})
	if err != nil || check.Verdict != api.CheckTaken {
		t.Errorf("check = %+v, %v; want taken", check, err)
	}
	*life = journal.Expired // what is read back is judged by events alone
	f.reopen()
	again := f.notices(ada)
	if len(again) != 2 || again[0].ID != notes[0].ID || again[0].Kind != notes[0].Kind || again[1].Kind != api.NoticeHeld {
		t.Errorf("after a restart %+v, want the same %+v, and that zoe's claim lapsed", again, notes)
	}
}

func TestAtMostSoManyFences(t *testing.T) {
	for _, n := range []int{event.MaxFences, event.MaxFences + 1} {
		f, far, life := beside(t)
		*life = journal.Expired
		heard := []*event.Event{far.opens("zoe")}
		for i := range n {
			heard = append(heard, far.claims(0, "zoe", fmt.Sprintf("path:src/f%03d.go", i)))
		}
		f.hear(heard...)
		ada := f.join("ada")
		events := len(f.kinds())
		got, err := f.Claim(t.Context(), ada, api.ClaimRequest{Scope: []string{"src/"}})
		if n <= event.MaxFences {
			if err != nil || len(got.Fences) != n || got.Standing != api.StandingHeld {
				t.Errorf("%d lapsed claims: %d fenced, %v; want all", n, len(got.Fences), err)
			}
			continue
		}
		wantCode(t, "one more than can be fenced", err, api.CodeBound)
		if len(f.kinds()) != events {
			t.Error("a refused claim was written")
		}
		f.claim(ada, "src/f000.go") // a part of it
	}
}

func TestBreakManyAtOnce(t *testing.T) {
	for _, n := range []int{2, event.MaxFences, event.MaxFences + 1} {
		f := newFixture(t)
		ada, bob := f.join("ada"), f.join("bob")
		for i := range n {
			f.claim(ada, fmt.Sprintf("src/f%03d.go", i))
		}
		got, err := f.Claim(t.Context(), bob, api.ClaimRequest{Scope: []string{"src/"}, Break: true, Reason: "all of it"})
		if n > event.MaxFences {
			wantCode(t, "break of more than fits", err, api.CodeBound)
			if c := f.session("ada").Claims; c != n {
				t.Errorf("ada holds %d of %d claims after a refused break", c, n)
			}
			continue
		}
		if err != nil || len(got.Fences) != n || got.Standing != api.StandingHeld || !got.Confirmed {
			t.Errorf("break of %d = %+v, %v", n, got, err)
		}
		if c := f.session("ada").Claims; c != 0 {
			t.Errorf("ada still has %d claims", c)
		}
		if notes := f.notices(ada); len(notes) != min(n, 256) {
			t.Errorf("%d notices, want one for each of %d claims", len(notes), n)
		}
	}
}

func TestGap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var until time.Duration
		f := newFixtureOn(t, nil, nil)
		f.shut()
		f.cfg.Gap = func() time.Duration { return max(0, until-f.clock.Boot()) }
		f.open()
		ada := f.join("ada")
		until = f.clock.Boot() + 20*time.Second
		_, err := f.Claim(t.Context(), ada, api.ClaimRequest{Scope: []string{"src/"}})
		e := wantCode(t, "claim in the gap", err, api.CodeGap)
		if !strings.Contains(e.Hint, "20s") {
			t.Errorf("hint %q does not say how long", e.Hint)
		}
		_, err = f.Check(t.Context(), ada, api.CheckRequest{Paths: []string{"src/a.go"}})
		wantCode(t, "check in the gap", err, api.CodeGap)
		if _, err := f.SessionRenew(t.Context(), ada, api.SessionRenewRequest{Intent: "x"}); err != nil {
			t.Errorf("renew in the gap: %v", err) // only claims have to wait
		}
		done := make(chan error, 1)
		go func() {
			_, err := f.Claim(t.Context(), ada, api.ClaimRequest{Scope: []string{"src/"}, WaitMS: 60_000})
			done <- err
		}()
		synctest.Wait()
		f.clock.Advance(19 * time.Second)
		synctest.Wait()
		if len(done) != 0 {
			t.Error("admitted before the gap was over")
		}
		f.clock.Advance(time.Second)
		if err := <-done; err != nil {
			t.Errorf("after the gap: %v", err)
		}
	})
}
