package room_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/room"
	"github.com/comity-dev/comity/internal/vfs/vfstest"
)

func TestRestart(t *testing.T) {
	f := newFixtureOn(t, vfstest.New(), nil)
	for name, p := range map[string]*room.Process{"living": proc(1), "dead": proc(2), "timed": nil} {
		a := actor("", "a")
		f.openSession(a, api.SessionOpenRequest{Name: name, Intent: "i"}, p)
		a.Session = name
		f.claim(a, name+"/x.go")
	}
	f.clock.Advance(time.Minute)
	f.procs.kill(*proc(2))
	f.reopen()
	f.wantSession("living", api.SessionOpen, "")
	f.wantSession("timed", api.SessionOpen, "")
	f.wantSession("dead", api.SessionClosed, "process_ended")
	if s := f.session("living"); s.Owner != "process 1" || s.AgeMS != 60_000 || s.Worktree != "/repoa" {
		t.Errorf("living = %+v; want its owner, its worktree and its age", s)
	}
	living := actor("living", "a")
	st := f.status(living)
	if len(st.Claims) != 2 || st.Notices != 0 {
		t.Errorf("after the restart %d claims, %d notices; want those of the living, and nothing to tell", len(st.Claims), st.Notices)
	}
	for _, c := range st.Claims {
		if c.Standing != api.StandingHeld || !c.Confirmed {
			t.Errorf("claim %+v; want held and confirmed", c)
		}
	}
	f.refused(actor("timed", "a"), api.ClaimRequest{Scope: []string{"living/x.go"}}, api.ErrConflict)
	f.claim(actor("timed", "a"), "dead/x.go")
	events := len(f.kinds())
	f.reopen()
	f.reopen()
	if n := len(f.kinds()); n != events+2 {
		t.Errorf("two more restarts wrote %d events, want one each", n-events)
	}
	f.wantSession("dead", api.SessionClosed, "process_ended")
}

func TestRestartWithoutAnyoneWritesNothing(t *testing.T) {
	f := newFixtureOn(t, vfstest.New(), nil)
	ada := f.join("ada")
	if _, err := f.SessionClose(t.Context(), ada, api.SessionCloseRequest{}); err != nil {
		t.Fatal(err)
	}
	events := len(f.kinds())
	f.reopen()
	if n := len(f.kinds()); n != events {
		t.Errorf("%d events written", n-events)
	}
}

// With more living sessions than a run can carry, the oldest that hold nothing
// are closed, and that says why.
func TestRestartWithTooManySessions(t *testing.T) {
	f := newFixtureOn(t, vfstest.New(), nil)
	const all = event.MaxSessions + 44
	for i := range all {
		a := f.join(fmt.Sprintf("s%03d", i))
		if i < 10 {
			f.claim(a, fmt.Sprintf("f%03d.go", i))
		}
		f.clock.Advance(time.Second)
	}
	f.reopen()
	for i := range all {
		if sid := fmt.Sprintf("s%03d", i); i < 10 || i >= 54 {
			f.wantSession(sid, api.SessionOpen, "")
		} else {
			f.wantSession(sid, api.SessionClosed, "too_many_sessions")
		}
	}
	f.reopen()
	if n := len(f.status(room.Actor{}).Sessions); n != event.MaxSessions {
		t.Errorf("%d sessions after the next restart, want %d", n, event.MaxSessions)
	}
}

// More sessions than one write can close end with the daemon's restart.
func TestRestartAfterManyHaveDied(t *testing.T) {
	f := newFixtureOn(t, vfstest.New(), nil)
	const all = 1500
	for i := range all {
		f.openSession(actor("", "a"), api.SessionOpenRequest{Name: fmt.Sprint("s", i)}, proc(i+1))
	}
	for i := range all {
		f.procs.kill(*proc(i + 1))
	}
	f.reopen()
	list, err := f.SessionList(t.Context(), room.Actor{}, api.SessionListRequest{All: true})
	if err != nil || len(list.Sessions) != all {
		t.Fatalf("%d sessions, %v; want %d", len(list.Sessions), err, all)
	}
	for _, s := range list.Sessions {
		if s.State != api.SessionClosed || s.Reason != "process_ended" {
			t.Fatalf("session %s is %s (%s)", s.Session, s.State, s.Reason)
		}
	}
}

// A state folder copied to another machine does not end what lives on the first.
func TestACopiedFolderEndsNothing(t *testing.T) {
	f := newFixtureOn(t, vfstest.New(), nil)
	a := actor("", "a")
	f.openSession(a, api.SessionOpenRequest{Name: "ada"}, proc(1))
	f.procs.kill(*proc(1)) // unknown on the other machine
	events := len(f.kinds())
	f.shut()
	f.cfg.Journal.Machine = "other"
	f.open()
	if n := len(f.kinds()); n != events {
		t.Errorf("the copy wrote %d events", n-events)
	}
	a.Session = "ada"
	if _, err := f.Claim(t.Context(), a, api.ClaimRequest{Scope: []string{"src/"}}); err == nil {
		t.Error("the copy acts as the other machine's session")
	}
	a.Session = ""
	f.openSession(a, api.SessionOpenRequest{Name: "here"}, nil)
	f.clock.Advance(30 * time.Second)            // the expiry: until then nobody can tell
	f.wantSession("ada", api.SessionExpired, "") // nothing was heard of it here, and nobody closed it
}
