package room_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/journal"
	"github.com/comity-dev/comity/internal/clock"
	"github.com/comity-dev/comity/internal/vfs/vfstest"
)

// counted is a clock that counts the timers that a room makes: one each time that
// its Run has looked.
type counted struct {
	clock.Clock
	made *atomic.Int64
}

func (c counted) NewTimer(d time.Duration) clock.Timer {
	c.made.Add(1)
	return c.Clock.NewTimer(d)
}

// pass lets the machine run for d, so that whoever waits for a time is woken at it.
func (f *fixture) pass(d time.Duration) {
	f.Helper()
	for d > 0 {
		synctest.Wait()
		step := d
		if next, ok := f.clock.Next(); ok {
			step = min(d, next)
		}
		f.clock.Advance(step)
		d -= step
	}
	synctest.Wait()
}

// A room in which nothing happens wakes every five minutes and writes nothing, while
// no other machine is known; from then on every heartbeat, and writes no more.
func TestIdleRoomsSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var made atomic.Int64
		disk := vfstest.New()
		f := newFixtureOn(t, disk, func(f *fixture) {
			f.live = true
			f.cfg.Clock = counted{f.clock, &made}
			f.cfg.Journal.Trust = trustAll
		})
		for i := range 50 {
			a := actor(fmt.Sprint("idle", i), "a")
			f.openSession(a, api.SessionOpenRequest{Name: a.Session}, proc(i+1))
			f.claim(a, fmt.Sprintf("f%d.go", i))
		}
		const span = time.Hour
		woken := func() int64 {
			synctest.Wait()
			before, wrote := made.Load(), disk.Changes()
			f.pass(span)
			if n := disk.Changes() - wrote; n != 0 {
				t.Errorf("in %v in which nothing happened %d changes were written, want none", span, n)
			}
			return made.Load() - before
		}
		if n := woken(); n != 12 {
			t.Errorf("alone, the room woke %d times in %v, want 12", n, span)
		}
		far := newPeer(t, 1)
		f.hear(far.opens("zoe"))
		f.pass(20 * time.Minute) // that runs fell silent is noted once
		if n := woken(); n != int64(span/(5*time.Second)) {
			t.Errorf("with another machine known the room woke %d times in %v, want once a heartbeat", n, span)
		}
	})
}

// A machine that falls silent is no event. What its claims kept others from is given
// to who waits, and told, within a heartbeat; and so it is told when it comes back.
func TestLivenessThatChangesWithoutAnEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, far, life := beside(t)
		*life = journal.Live
		f.live = true
		ada, bob := f.join("ada"), f.join("bob")
		for i := range 5 { // stamps rise
			f.claim(ada, fmt.Sprint("pad", i))
		}
		f.claim(ada, "src/")
		f.hear(far.opens("zoe"), far.claims(2, "zoe", "dir:src"), far.claims(3, "zoe", "dir:docs"))
		wantKinds := func(want ...string) {
			t.Helper()
			synctest.Wait()
			if got := kindsOf(f.notices(ada)); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("ada was told %v, want %v", got, want)
			}
		}
		w := f.wait(bob, time.Hour, "docs/a.go")
		f.pass(time.Minute)
		wantKinds(api.NoticeConflicted)
		w.want(t, "waits")

		*life = journal.Unknown // that is no reason for anything
		f.pass(time.Minute)
		wantKinds(api.NoticeConflicted)
		w.want(t, "waits")

		*life = journal.Expired
		f.pass(5 * time.Second)
		wantKinds(api.NoticeConflicted, api.NoticeHeld)
		w.want(t, "has it")
		if len(w.reply.Fenced) != 1 || w.reply.Fenced[0].Session != "zoe" {
			t.Errorf("bob's claim fences %+v, want zoe's", w.reply.Fenced)
		}

		*life = journal.Live
		f.pass(5 * time.Second)
		wantKinds(api.NoticeConflicted, api.NoticeHeld, api.NoticeConflicted)
		f.pass(time.Minute)
		wantKinds(api.NoticeConflicted, api.NoticeHeld, api.NoticeConflicted)
		if n := f.notices(ada); n[1].ID <= n[0].ID || n[2].ID <= n[1].ID {
			t.Errorf("ids %d %d %d do not rise", n[0].ID, n[1].ID, n[2].ID)
		}
	})
}

// What no event caused is told also to who has acknowledged everything, after a
// restart too.
func TestLivenessIsToldBehindWhatWasAcknowledged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, far, life := beside(t)
		*life = journal.Live
		f.live = true
		ada := f.join("ada")
		for i := range 5 {
			f.claim(ada, fmt.Sprint("pad", i))
		}
		f.claim(ada, "src/")
		f.hear(far.opens("zoe"), far.claims(2, "zoe", "dir:src"))
		for range 3 {
			for _, l := range []journal.Liveness{journal.Expired, journal.Live} {
				synctest.Wait()
				*life = l
				f.pass(5 * time.Second)
			}
			n := f.notices(ada)
			if len(n) < 2 || n[len(n)-2].Kind != api.NoticeHeld || n[len(n)-1].Kind != api.NoticeConflicted {
				t.Fatalf("notices %+v; want that the claim was held and then was not", n)
			}
			f.ack(ada, n[len(n)-1].ID)
			if left := f.notices(ada); len(left) != 0 {
				t.Fatalf("after the acknowledgement there is %+v", left)
			}
			f.reopen()
			f.pass(5 * time.Second)
			if left := f.notices(ada); len(left) != 0 {
				t.Fatalf("after a restart there is %+v again", left)
			}
		}
	})
}

// The journal's own judgement is looked at too: a machine that is not heard of expires
// without anybody saying so.
func TestSilentMachineExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixtureOn(t, vfstest.New(), func(f *fixture) {
			f.live = true
			f.cfg.Journal.Trust = trustAll
		})
		far := newPeer(t, 1)
		ada := f.join("ada")
		f.pass(time.Minute) // alone, there are no heartbeats
		f.take(far.opens("zoe"), far.claims(2, "zoe", "dir:docs"))
		w := f.wait(ada, time.Hour, "docs/a.go")
		f.pass(25 * time.Second)
		w.want(t, "waits")
		f.pass(10 * time.Second)
		w.want(t, "has it")
	})
}

// A virtual machine that was paused has not heard the others for as long as they take
// for gone: a command that comes before the next heartbeat ends nobody's claim.
func TestCommandRightAfterAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixtureOn(t, vfstest.New(), func(f *fixture) {
			f.live = true
			f.cfg.Journal.Trust = trustAll
		})
		far := newPeer(t, 1)
		ada := f.join("ada")
		f.take(far.opens("zoe"), far.claims(2, "zoe", "dir:docs"))
		f.pass(29 * time.Second)
		f.clock.Pause(time.Minute)
		f.clock.Advance(4 * time.Second) // no goroutine has run yet
		f.refused(ada, api.ClaimRequest{Scope: []string{"docs/a.go"}}, api.ErrConflict)
		f.pass(31 * time.Second)
		f.claim(ada, "docs/a.go")
	})
}

// What was heard is written once a minute, and not again.
func TestBeatsAreSaved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := vfstest.New()
		f := newFixtureOn(t, disk, func(f *fixture) {
			f.live = true
			f.cfg.Journal.Trust = trustAll
		})
		f.join("ada")
		far := newPeer(t, 1)
		first := far.opens("zoe")
		f.take(first)
		f.pass(2 * time.Minute)
		for n := range 3 {
			wrote := disk.Changes()
			f.pass(2 * time.Minute)
			if got := disk.Changes() - wrote; got != 0 {
				t.Errorf("%d changes while nothing is heard, want none", got)
			}
			beat, err := event.SealBeat(far.key, event.BeatHeader{
				Repo: first.Repo, Stream: first.Stream, Seq: 1, Head: first.Hash, Lamport: first.Lamport, Uptime: time.Duration(n+1) * 10 * time.Minute,
			})
			if err != nil {
				t.Fatal(err)
			}
			if f.j.MergeMarks(event.Marks{first.Stream: {Seq: 1, Beat: beat}}) != 1 {
				t.Fatal("the beat is not taken")
			}
			f.pass(time.Minute)
			if disk.Changes() == wrote {
				t.Error("a minute after a beat nothing is on disk")
			}
		}
	})
}

// Whoever was away for longer than what it wrote is kept elsewhere begins anew: its
// sessions end, by name, before any of them is answered again.
func TestAwayForTooLong(t *testing.T) {
	const away = 31 * 24 * time.Hour
	for name, leave := range map[string]func(*fixture){
		"asleep":     func(f *fixture) { f.clock.Suspend(away) },
		"switch off": func(f *fixture) { f.shut(); f.clock.Suspend(away); f.open() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixtureOn(t, vfstest.New(), func(f *fixture) {
					f.live = true
					f.cfg.Journal.Trust = trustAll
				})
				ada, bob, eve := actor("ada", "a"), actor("bob", "a"), actor("eve", "a")
				for i, a := range []string{"ada", "bob", "eve"} {
					f.openSession(actor("", "a"), api.SessionOpenRequest{Name: a}, proc(i+1))
				}
				f.claim(ada, "src/")
				f.hear(newPeer(t, 1).opens("zoe"))
				f.pass(time.Minute)
				var w *waiter
				if name == "asleep" {
					w = f.wait(bob, 24*time.Hour, "src/a.go")
				}
				leave(f)
				_, err := f.Claim(t.Context(), ada, api.ClaimRequest{Scope: []string{"docs/"}})
				if e := wantCode(t, "claim of a session from before", err, api.CodeSessionClosed); e.Message != "session ada is closed: away too long" {
					t.Errorf("it is told %q", e.Message)
				}
				if w != nil {
					synctest.Wait()
					wantCode(t, "wait of a session from before", w.err, api.CodeSessionClosed)
				}
				f.pass(10 * time.Second)
				for _, sid := range []string{"ada", "bob", "eve"} {
					f.wantSession(sid, api.SessionClosed, "away_too_long")
				}
				check, err := f.Check(t.Context(), eve, api.CheckRequest{Paths: []string{"src/a.go"}})
				if err == nil && check.Verdict == api.CheckTaken {
					t.Error("the claim of a session that has ended is in the way")
				}
				f.openSession(actor("", "a"), api.SessionOpenRequest{Name: "new"}, proc(9))
				f.claim(actor("new", "a"), "src/")
				f.reopen()
				f.wantSession("new", api.SessionOpen, "")
				f.wantSession("ada", api.SessionClosed, "away_too_long")
			})
		})
	}
}

// One that is alone may be away for as long as it likes.
func TestAloneAndAwayForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixtureOn(t, vfstest.New(), func(f *fixture) { f.live = true })
		f.openSession(actor("", "a"), api.SessionOpenRequest{Name: "ada"}, proc(1))
		ada := actor("ada", "a")
		f.claim(ada, "src/")
		f.clock.Suspend(100 * 24 * time.Hour)
		f.pass(time.Hour)
		f.claim(ada, "docs/")
		if st := f.status(ada); len(st.Claims) != 2 || len(st.Sessions) != 1 {
			t.Errorf("%+v and %+v; want both claims and the session", st.Claims, st.Sessions)
		}
		if kinds := f.kinds(); kinds[len(kinds)-1] != event.KindClaimAcquired {
			t.Errorf("the last event is a %s", kinds[len(kinds)-1])
		}
	})
}
