package room_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/room"
)

func TestSessionLife(t *testing.T) {
	f := newFixture(t)
	ada := f.join("ada")
	f.claim(ada, "src/")
	again := f.openSession(ada, api.SessionOpenRequest{Name: "ada", Issue: "#7"}, nil)
	if s := again.Session; again.Created || s.Intent != "ada's work" || s.Issue != "#7" || s.Client != "cli" || s.Claims != 1 {
		t.Errorf("update = %+v; want the same session, its intent kept, the issue new", again)
	}
	events := len(f.kinds())
	if again := f.openSession(ada, api.SessionOpenRequest{Name: "ada"}, nil); again.Event != "" || len(f.kinds()) != events {
		t.Errorf("an update that says nothing new wrote %+v", again.Written)
	}
	renewed, err := f.SessionRenew(t.Context(), ada, api.SessionRenewRequest{Intent: "more", TTLMS: 60_000})
	if err != nil || renewed.Session.Intent != "more" || renewed.Session.Owner != "time to live 1m0s" {
		t.Errorf("renew = %+v, %v", renewed, err)
	}
	closed, err := f.SessionClose(t.Context(), ada, api.SessionCloseRequest{})
	if err != nil || closed.Already || len(closed.Released) != 1 || closed.Released[0].Standing != api.StandingReleased {
		t.Errorf("close = %+v, %v; want one released claim", closed, err)
	}
	f.wantSession("ada", api.SessionClosed, "done")
	if again, err := f.SessionClose(t.Context(), ada, api.SessionCloseRequest{}); err != nil || !again.Already {
		t.Errorf("second close = %+v, %v; want already", again, err)
	}
	_, err = f.Claim(t.Context(), ada, api.ClaimRequest{Scope: []string{"docs/"}})
	wantCode(t, "claim of a closed session", err, api.CodeSessionClosed)
	_, err = f.Check(t.Context(), ada, api.CheckRequest{Paths: []string{"docs/x"}})
	wantCode(t, "check of a closed session", err, api.CodeSessionClosed)
	f.clock.Advance(time.Minute)
	if back := f.openSession(ada, api.SessionOpenRequest{Name: "ada"}, nil); !back.Created || back.Session.Claims != 0 || back.Session.AgeMS != 0 {
		t.Errorf("opened again = %+v; want created, without claims, of age 0", back)
	}
	if len(f.status(ada).Claims) != 0 {
		t.Error("a claim came back with its session's name")
	}
}

// A terminal is no session until something was written in it: what needs one
// says so, and does not say that there is no terminal.
func TestATerminalWithoutSessionIsToldSo(t *testing.T) {
	f := newFixture(t)
	for _, terminal := range []*room.Process{nil, proc(7)} {
		a := actor("", "a")
		a.Terminal = terminal
		_, closed := f.SessionClose(t.Context(), a, api.SessionCloseRequest{})
		_, released := f.Release(t.Context(), a, api.ReleaseRequest{All: true})
		for _, err := range []error{closed, released} {
			e := wantCode(t, "nothing to end", err, api.CodeNoSession)
			if has := strings.Contains(e.Message, "this terminal has none open"); has != (terminal != nil) {
				t.Errorf("terminal %v: %q", terminal, e.Message)
			}
		}
	}
}

func TestUnknownAndForeignSessions(t *testing.T) {
	f := newFixture(t)
	ghost := actor("ghost", "a")
	_, err := f.Claim(t.Context(), ghost, api.ClaimRequest{Scope: []string{"src/"}})
	wantCode(t, "unknown session", err, api.CodeUnknownSession)
	_, err = f.SessionClose(t.Context(), ghost, api.SessionCloseRequest{})
	wantCode(t, "close of an unknown session", err, api.CodeUnknownSession)
	_, err = f.Claim(t.Context(), actor("", "a"), api.ClaimRequest{Scope: []string{"src/"}})
	wantCode(t, "no session", err, api.CodeNoSession)
	_, err = f.Claim(t.Context(), actor("white space", "a"), api.ClaimRequest{Scope: []string{"src/"}})
	wantCode(t, "no name", err, api.CodeUsage)
	_, err = f.SessionOpen(t.Context(), ghost, api.SessionOpenRequest{TTLMS: -1}, nil)
	wantCode(t, "negative time to live", err, api.CodeBound)
	if n := len(f.kinds()); n != 0 {
		t.Errorf("%d events written", n)
	}
}

// What nobody typed never stops a session.
func TestFactsAreMadeFit(t *testing.T) {
	f := newFixture(t)
	a := actor("", "a")
	a.By = "Zoë\x1b[31m \xff" + string(make([]byte, 200))
	s := f.openSession(a, api.SessionOpenRequest{Name: "zoe"}, nil).Session
	if len(s.By) > 128 || s.By[:5] != "Zoë " {
		t.Errorf("by = %q", s.By)
	}
}

func TestTimeToLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newLive(t)
		a := actor("", "a")
		f.openSession(a, api.SessionOpenRequest{Name: "ada", TTLMS: time.Hour.Milliseconds()}, nil)
		a.Session = "ada"
		f.claim(a, "src/")
		for name, command := range map[string]func(){
			"check":   func() { f.Check(t.Context(), a, api.CheckRequest{Paths: []string{"x"}}) },
			"status":  func() { f.status(a) },
			"log":     func() { f.Log(t.Context(), a, api.LogRequest{}) },
			"notices": func() { f.notices(a) },
			"list":    func() { f.HandoverList(t.Context(), a, api.HandoverListRequest{}) },
		} {
			f.clock.Advance(59 * time.Minute)
			synctest.Wait()
			command()
			if s := f.session("ada"); s.State != api.SessionOpen || s.IdleMS != 0 {
				t.Fatalf("after %s: %+v; want open and just heard of", name, s)
			}
		}
		f.clock.Advance(59 * time.Minute)
		synctest.Wait()
		f.wantSession("ada", api.SessionOpen, "")
		f.clock.Advance(time.Minute)
		synctest.Wait()
		f.wantSession("ada", api.SessionClosed, "time_to_live_over")
		f.claim(f.join("bob"), "src/")
	})
}

// A machine that sleeps past the time to live comes back to a session that is
// over, whatever the timers think; a clock that somebody sets ends nothing and
// makes nothing younger or older.
func TestClocksThatJump(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newLive(t)
		ada := f.join("ada")
		f.claim(ada, "src/")
		f.clock.Advance(time.Minute)
		for _, years := range []time.Duration{10, -20, 15} {
			f.clock.SetWall(f.clock.Now().Add(years * 365 * 24 * time.Hour))
			synctest.Wait()
			s := f.session("ada")
			if c := f.status(ada).Claims[0]; s.State != api.SessionOpen || s.AgeMS != 60_000 || c.AgeMS != 60_000 {
				t.Errorf("wall moved by %d years: session %+v, claim %+v; want open, both a minute old", years, s, c)
			}
		}
		f.clock.Suspend(room.DefaultTTL)
		e := f.refused(ada, api.ClaimRequest{Scope: []string{"docs/"}}, api.ErrSessionClosed)
		if e.Message != "session ada is closed: time to live over" {
			t.Errorf("message %q", e.Message)
		}
		synctest.Wait() // the refusal had it looked at
		f.wantSession("ada", api.SessionClosed, "time_to_live_over")
		ada = f.join("ada") // the name begins anew
		if len(f.status(ada).Claims) != 0 {
			t.Error("a claim came back")
		}
	})
}

func TestASleepIsNoticedWithoutACommand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newLive(t)
		f.join("ada")
		synctest.Wait()
		f.clock.Suspend(room.DefaultTTL)
		f.clock.Advance(time.Minute)
		synctest.Wait()
		events := f.kinds()
		if last := events[len(events)-1]; last != event.KindSessionClosed {
			t.Errorf("events %v; want a close", events)
		}
	})
}

func TestReopenAfterTheEndClosesFirst(t *testing.T) {
	f := newFixture(t) // Run does not run: nothing is closed but by what is called
	ada := f.join("ada")
	f.claim(ada, "src/")
	f.clock.Suspend(room.DefaultTTL)
	back := f.openSession(ada, api.SessionOpenRequest{Name: "ada"}, nil)
	if !back.Created || back.Session.Claims != 0 || back.Session.State != api.SessionOpen {
		t.Errorf("opened again = %+v; want a new life without claims", back)
	}
	f.claim(f.join("bob"), "src/")
	f.claim(ada, "docs/") // its owner is the new one
}

func TestASessionEndsWithItsProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newLive(t)
		a := actor("", "a")
		f.openSession(a, api.SessionOpenRequest{Name: "ada"}, proc(7))
		a.Session = "ada"
		f.claim(a, "src/")
		f.clock.Advance(30 * 24 * time.Hour) // silence is no sign of death
		synctest.Wait()
		if s := f.session("ada"); s.State != api.SessionOpen || s.Owner != "process 7" {
			t.Fatalf("session %+v; want open with process 7", s)
		}
		f.procs.end(*proc(7))
		synctest.Wait()
		f.wantSession("ada", api.SessionClosed, "process_ended")
		f.claim(f.join("bob"), "src/")
		if _, err := f.Claim(t.Context(), a, api.ClaimRequest{Scope: []string{"x"}}); !errors.Is(err, api.ErrSessionClosed) {
			t.Errorf("claim after the end: %v", err)
		}
	})
}

func TestATerminalIsASession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newLive(t)
		a := actor("", "a")
		a.Terminal = proc(9)
		if s := f.status(a).Session; s != "" {
			t.Errorf("reading opened session %s", s)
		}
		var opened, sessions sync.Map
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				reply, err := f.Claim(t.Context(), a, api.ClaimRequest{Scope: []string{fmt.Sprint("f", i)}})
				if err != nil {
					t.Error(err)
				}
				sessions.Store(reply.Session, true)
				if reply.OpenedSession != "" {
					opened.Store(i, true)
				}
			})
		}
		wg.Wait()
		count := func(m *sync.Map) (n int) {
			m.Range(func(any, any) bool { n++; return true })
			return n
		}
		if count(&sessions) != 1 || count(&opened) != 1 {
			t.Errorf("%d sessions, %d callers told that they opened one; want 1 and 1", count(&sessions), count(&opened))
		}
		sid := f.status(a).Session
		f.procs.end(*proc(9))
		synctest.Wait()
		f.wantSession(sid, api.SessionClosed, "process_ended")
		if f.status(a).Session != "" {
			t.Error("the terminal still has a session")
		}
	})
}

// A session lives with one process: two agents are never one session.
func TestWhoMayTakeAName(t *testing.T) {
	ttl := api.SessionOpenRequest{Name: "ada", TTLMS: 60_000}
	plain := api.SessionOpenRequest{Name: "ada", Intent: "else"}
	for _, tt := range []struct {
		name  string
		first *room.Process
		dead  bool
		req   api.SessionOpenRequest
		by    *room.Process
		code  api.Code // "" when it is taken
		owner string
		anew  bool
	}{
		{name: "its own process again", first: proc(1), req: plain, by: proc(1), owner: "process 1"},
		{name: "another process", first: proc(1), req: plain, by: proc(2), code: api.CodeNotOwn, owner: "process 1"},
		{name: "a time to live", first: proc(1), req: ttl, code: api.CodeNotOwn, owner: "process 1"},
		{name: "new words and no owner", first: proc(1), req: plain, owner: "process 1"},
		{name: "another process when the first has ended", first: proc(1), dead: true, req: plain, by: proc(2), owner: "process 2", anew: true},
		{name: "a process for one that lived by time", req: plain, by: proc(2), owner: "process 2"},
		{name: "another time", req: ttl, owner: "time to live 1m0s"},
		{name: "new words by time", req: plain, owner: "time to live 12h0m0s"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t)
			a := actor("", "a")
			f.openSession(a, api.SessionOpenRequest{Name: "ada"}, tt.first)
			a.Session = "ada"
			f.claim(a, "src/")
			if tt.dead {
				f.procs.kill(*tt.first)
			}
			reply, err := f.SessionOpen(t.Context(), a, tt.req, tt.by)
			if tt.code != "" {
				wantCode(t, "open", err, tt.code)
			} else if err != nil || reply.Created != tt.anew {
				t.Errorf("open = %+v, %v; want created %v", reply, err, tt.anew)
			}
			s := f.session("ada")
			if s.Owner != tt.owner || (s.Claims == 0) != tt.anew {
				t.Errorf("session %+v; want owner %s, a new life %v", s, tt.owner, tt.anew)
			}
		})
	}
}

func TestRenewOfASessionWithAProcess(t *testing.T) {
	f := newFixture(t)
	a := actor("", "a")
	f.openSession(a, api.SessionOpenRequest{Name: "ada"}, proc(1))
	_, err := f.SessionRenew(t.Context(), a, api.SessionRenewRequest{Name: "ada", TTLMS: 1000})
	wantCode(t, "a time to live for a process", err, api.CodeUsage)
}
