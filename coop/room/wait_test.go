package room_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/room"
)

// A waiter is a claim that waits, under way.
type waiter struct {
	who   string
	reply api.ClaimReply
	err   error
	done  bool
	stop  context.CancelFunc
}

// wait begins a claim that waits and lets it come to rest; its fields may be
// read after the next synctest.Wait.
func (f *fixture) wait(a room.Actor, limit time.Duration, words ...string) *waiter {
	f.Helper()
	ctx, cancel := context.WithCancel(f.Context())
	w := &waiter{who: a.Session, stop: cancel}
	go func() {
		w.reply, w.err = f.Claim(ctx, a, api.ClaimRequest{Scope: words, WaitMS: limit.Milliseconds()})
		w.done = true
		cancel()
	}()
	synctest.Wait()
	return w
}

func (w *waiter) want(t *testing.T, state string) {
	t.Helper()
	synctest.Wait()
	got := "waits"
	switch {
	case w.done && w.err == nil:
		got = "has it"
	case w.done:
		got = w.err.Error()
	}
	if got != state {
		t.Fatalf("%s: %s, want: %s", w.who, got, state)
	}
}

func (f *fixture) release(a room.Actor, words ...string) {
	f.Helper()
	if _, err := f.Release(f.Context(), a, api.ReleaseRequest{Claims: words, All: len(words) == 0}); err != nil {
		f.Fatalf("%s releases %v: %v", a.Session, words, err)
	}
}

// bubble runs a test of waits.
func bubble(t *testing.T, test func(*testing.T, *fixture)) {
	synctest.Test(t, func(t *testing.T) { test(t, newLive(t)) })
}

func TestAWaitRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		f := newFixtureOn(t, nil, func(f *fixture) {
			f.cfg.Gap = func() time.Duration { tries++; return 0 }
		})
		ada, bob := f.join("ada"), f.join("bob")
		f.claim(ada, "src/")
		w := f.wait(bob, time.Hour, "src/a.go")
		tries = 0
		for i := range 10 {
			f.claim(ada, fmt.Sprintf("other%d.go", i))
			synctest.Wait()
		}
		if tries != 10 {
			t.Errorf("%d tries while nothing that meets it changed, want ada's 10", tries)
		}
		f.release(ada)
		w.want(t, "has it")
		if w.reply.Standing != api.StandingHeld {
			t.Errorf("granted %+v", w.reply)
		}
	})
}

func TestWaitsAreServedInTurn(t *testing.T) {
	bubble(t, func(t *testing.T, f *fixture) {
		ada := f.join("ada")
		f.claim(ada, "src/a.go")
		wide := f.wait(f.join("wide"), time.Hour, "src/")
		narrow := f.wait(f.join("narrow"), time.Hour, "src/b.go") // free, but behind wide
		aside := f.wait(f.join("aside"), time.Hour, "docs/")
		aside.want(t, "has it")
		wide.want(t, "waits")
		narrow.want(t, "waits")
		e := f.refused(f.join("new"), api.ClaimRequest{Scope: []string{"src/c.go"}}, api.ErrConflict)
		if e.Conflicts[0].Mode != "queued" || !strings.Contains(e.Message, "wide is first in the queue") {
			t.Errorf("refusal %q %+v; want that wide is first", e.Message, e.Conflicts)
		}
		f.claim(ada, "src/d.go") // ada is waited for, and may go on
		f.release(ada, "src/d.go")
		wide.want(t, "waits")
		f.clock.Advance(time.Minute)
		f.release(ada)
		wide.want(t, "has it")
		if wide.reply.WaitedMS != 60_000 {
			t.Errorf("waited %d ms, want a minute", wide.reply.WaitedMS)
		}
		narrow.want(t, "waits")
		waits := f.status(ada).Waits
		if len(waits) != 1 || waits[0].Session != "narrow" || !slices.Equal(waits[0].For, []string{"wide"}) || waits[0].AgeMS != 60_000 {
			t.Errorf("waits = %+v; want narrow for wide, since a minute", waits)
		}
		f.release(room.Actor{Session: "wide", Tree: tree{}})
		narrow.want(t, "has it")
	})
}

// Who gives up makes way for those behind it, though no claim has changed.
func TestGivingUpMakesWay(t *testing.T) {
	bubble(t, func(t *testing.T, f *fixture) {
		f.claim(f.join("ada"), "src/a.go")
		wide := f.wait(f.join("wide"), time.Hour, "src/")
		narrow := f.wait(f.join("narrow"), time.Hour, "src/b.go")
		narrow.want(t, "waits")
		wide.stop()
		narrow.want(t, "has it")
	})
}

func TestOneOfManyIsServed(t *testing.T) {
	bubble(t, func(t *testing.T, f *fixture) {
		ada := f.join("ada")
		f.claim(ada, "src/")
		var all []*waiter
		for i := range 20 {
			all = append(all, f.wait(f.join(fmt.Sprint("w", i)), time.Hour, "src/"))
		}
		for i, w := range all {
			if i == 0 {
				f.release(ada)
			} else {
				f.release(actor(all[i-1].who, "a"))
			}
			w.want(t, "has it")
			for _, later := range all[i+1:] {
				later.want(t, "waits")
			}
		}
	})
}

func TestWhatEndsAWait(t *testing.T) {
	for name, tt := range map[string]struct {
		do   func(f *fixture, w *waiter, ada, bob room.Actor)
		want error
	}{
		"time":       {func(f *fixture, _ *waiter, _, _ room.Actor) { f.clock.Advance(time.Hour) }, api.ErrWaitedOut},
		"its caller": {func(_ *fixture, w *waiter, _, _ room.Actor) { w.stop() }, context.Canceled},
		"its session": {func(f *fixture, _ *waiter, _, bob room.Actor) {
			f.SessionClose(f.Context(), bob, api.SessionCloseRequest{})
		}, api.ErrSessionClosed},
		"the daemon": {func(f *fixture, _ *waiter, _, _ room.Actor) { f.shut() }, api.ErrStopping},
		"a release":  {func(f *fixture, _ *waiter, ada, _ room.Actor) { f.release(ada) }, nil},
		"a close": {func(f *fixture, _ *waiter, ada, _ room.Actor) {
			f.SessionClose(f.Context(), ada, api.SessionCloseRequest{})
		}, nil},
		"a dead holder": {func(f *fixture, _ *waiter, _, _ room.Actor) { f.procs.end(*proc(1)) }, nil},
		"a break": {func(f *fixture, _ *waiter, _, _ room.Actor) {
			eve := f.join("eve")
			if _, err := f.Claim(f.Context(), eve, api.ClaimRequest{Scope: []string{"src/x.go"}, Break: true, Reason: "now"}); err != nil {
				f.Fatal(err)
			}
			f.release(eve)
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, f *fixture) {
				f.openSession(actor("", "a"), api.SessionOpenRequest{Name: "ada"}, proc(1))
				ada, bob := actor("ada", "a"), f.join("bob")
				f.claim(ada, "src/")
				w := f.wait(bob, time.Hour, "src/x.go")
				w.want(t, "waits")
				tt.do(f, w, ada, bob)
				synctest.Wait()
				if !w.done || !errors.Is(w.err, tt.want) {
					t.Fatalf("done %v, %v; want %v", w.done, w.err, tt.want)
				}
				if f.down {
					return
				}
				if n := len(f.status(room.Actor{}).Waits); n != 0 {
					t.Errorf("%d waits are left", n)
				}
				if tt.want != nil {
					f.release(ada)
					f.claim(f.join("carl"), "src/") // nobody is ahead any more
				}
			})
		})
	}
}

// A session whose command waits has not fallen silent.
func TestAWaitKeepsItsSessionAlive(t *testing.T) {
	bubble(t, func(t *testing.T, f *fixture) {
		f.openSession(actor("", "a"), api.SessionOpenRequest{Name: "ada"}, proc(1))
		ada := actor("ada", "a")
		f.openSession(actor("", "a"), api.SessionOpenRequest{Name: "bob", TTLMS: 60_000}, nil)
		f.claim(ada, "src/")
		w := f.wait(actor("bob", "a"), time.Hour, "src/")
		f.clock.Advance(30 * time.Minute)
		w.want(t, "waits")
		f.release(ada)
		w.want(t, "has it")
		f.clock.Advance(59 * time.Second)
		synctest.Wait()
		f.wantSession("bob", api.SessionOpen, "")
		f.clock.Advance(time.Second)
		synctest.Wait()
		f.wantSession("bob", api.SessionClosed, "time_to_live_over")
	})
}

func TestCycles(t *testing.T) {
	for _, n := range []int{2, 3} {
		bubble(t, func(t *testing.T, f *fixture) {
			var who []room.Actor
			for i := range n {
				who = append(who, f.join(fmt.Sprint("s", i)))
				f.claim(who[i], fmt.Sprintf("f%d.go", i))
			}
			var waits []*waiter
			for i := range n - 1 {
				waits = append(waits, f.wait(who[i], time.Hour, fmt.Sprintf("f%d.go", i+1)))
			}
			last := f.wait(who[n-1], time.Hour, "f0.go")
			if !errors.Is(last.err, api.ErrCycle) {
				t.Fatalf("%d sessions: %v, want a cycle", n, last.err)
			}
			want := []string{"nobody could go on: s1 waits for s0 waits for s1", "nobody could go on: s2 waits for s0 waits for s1 waits for s2"}[n-2]
			if last.err.Error() != want {
				t.Errorf("%q, want %q", last.err, want)
			}
			for _, w := range waits {
				w.want(t, "waits")
			}
			f.release(who[n-1])
			waits[n-2].want(t, "has it")
		})
	}
}

// ann waits for carl and, once bob has taken what she also wants, for bob: bob
// cannot wait for her then.
func TestACycleThatArisesAfterAGrant(t *testing.T) {
	bubble(t, func(t *testing.T, f *fixture) {
		ann, bob, carl := f.join("ann"), f.join("bob"), f.join("carl")
		f.claim(ann, "a")
		f.claim(bob, "z")
		f.claim(carl, "x")
		waitsForBob := f.wait(carl, time.Hour, "z")
		waitsForCarl := f.wait(ann, time.Hour, "x", "y")
		f.claim(bob, "y") // bob is waited for, and may go on
		f.release(bob, "z")
		waitsForBob.want(t, "has it")
		waitsForCarl.want(t, "waits")
		w := f.wait(bob, time.Hour, "a")
		if !errors.Is(w.err, api.ErrCycle) {
			t.Fatalf("bob waits for ann, who waits for him: %v", w.err)
		}
		waitsForCarl.want(t, "waits")
		f.release(bob)
		f.release(carl)
		waitsForCarl.want(t, "has it")
	})
}

// Who comes to be waited for while it waits behind another may overtake it.
func TestOvertakingBecomesPossible(t *testing.T) {
	bubble(t, func(t *testing.T, f *fixture) {
		ann, bob, carl := f.join("ann"), f.join("bob"), f.join("carl")
		f.claim(carl, "x")
		waitsForBob := f.wait(carl, time.Hour, "never/held")
		waitsForBob.want(t, "has it")
		first := f.wait(ann, time.Hour, "x", "y", "w")
		second := f.wait(bob, time.Hour, "y") // free, but behind ann
		second.want(t, "waits")
		// carl is waited for, so it may take w, and give it to bob by release.
		f.claim(carl, "w")
		if _, err := f.Claim(t.Context(), bob, api.ClaimRequest{Scope: []string{"w"}, Break: true, Reason: "test"}); err != nil {
			t.Fatal(err)
		}
		second.want(t, "has it") // ann waits for bob now
		first.want(t, "waits")
		f.release(bob)
		f.release(carl)
		first.want(t, "has it")
	})
}

func TestSoManyWaitsAndNoMore(t *testing.T) {
	bubble(t, func(t *testing.T, f *fixture) {
		ada, bob := f.join("ada"), f.join("bob")
		f.claim(ada, "src/")
		for i := range room.MaxWaits {
			go f.Claim(t.Context(), bob, api.ClaimRequest{Scope: []string{fmt.Sprintf("src/f%d.go", i)}, WaitMS: 1000})
		}
		synctest.Wait()
		if n := len(f.status(ada).Waits); n != room.MaxWaits {
			t.Fatalf("%d waits, want %d", n, room.MaxWaits)
		}
		_, err := f.Claim(t.Context(), bob, api.ClaimRequest{Scope: []string{"src/more.go"}, WaitMS: 1000})
		wantCode(t, "one more", err, api.CodeBound)
		f.release(ada)
		synctest.Wait()
		if n := f.session("bob").Claims; n != room.MaxWaits {
			t.Errorf("bob got %d of %d", n, room.MaxWaits)
		}
	})
}

func TestBoundsOfAWait(t *testing.T) {
	f := newFixture(t)
	ada := f.join("ada")
	for _, req := range []api.ClaimRequest{
		{WaitMS: -1}, {WaitMS: room.MaxWait.Milliseconds() + 1}, {ConfirmMS: -1}, {ConfirmMS: room.MaxWait.Milliseconds() + 1},
	} {
		req.Scope = []string{"src/"}
		_, err := f.Claim(t.Context(), ada, req)
		wantCode(t, fmt.Sprintf("%+v", req), err, api.CodeBound)
	}
	_, err := f.Claim(t.Context(), ada, api.ClaimRequest{Scope: []string{"src/"}, WaitMS: 1, Break: true, Reason: "x"})
	wantCode(t, "break and wait", err, api.CodeUsage)
	if n := len(f.kinds()); n != 2 {
		t.Errorf("%d events, want 2", n)
	}
}
