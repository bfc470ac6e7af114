package sim

import (
	"fmt"
	"testing"
	"time"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/fold"
	"github.com/comity-dev/comity/coop/journal"
	"github.com/comity-dev/comity/internal/vfs/vfstest"
)

// A daemon that starts finds the claim of a machine on its disk that it has not
// heard yet. Its first command must not fence the living.
func TestRestartFindsALiveClaimOnDisk(t *testing.T) {
	tell(t, func(h *history) {
		h.meet(h.a, h.b)
		h.open(h.a, "a0")
		k := h.claims(h.a, "a0", "src/")
		h.open(h.b, "b0")
		h.wait(time.Minute)
		h.b.kill()
		h.wait(time.Minute)
		h.b.start()
		h.live(h.b, k, journal.Unknown)
		h.refused(h.b, "b0", api.ErrConflict, "src/a.go")
		h.wait(time.Minute)
		h.live(h.b, k, journal.Live)
		h.refused(h.b, "b0", api.ErrConflict, "src/a.go")
	})
}

// Two clocks that move apart by 200 millionths are two minutes apart after a week
// in which one was not heard. Once somebody passes on again what it says, it does
// not look old for it.
func TestDriftOfAWeek(t *testing.T) {
	if testing.Short() {
		t.Skip("a week of heartbeats")
	}
	tell(t, func(h *history) {
		h.limits.Heartbeat, h.limits.Expiry = 40*time.Second, 2*time.Minute // a week has fewer of them
		for _, m := range h.machines {
			m.stop()
			m.start()
		}
		h.a.ppm, h.b.ppm = -100, 100
		h.meet(h.a, h.c)
		h.meet(h.c, h.b)
		h.open(h.a, "a0")
		k := h.claims(h.a, "a0", "src/")
		h.open(h.b, "b0")
		h.wait(10 * time.Minute)
		h.disconnect(h.link(h.c, h.b))
		h.pass(7 * 24 * time.Hour)
		h.meet(h.c, h.b)
		for range 6 {
			h.wait(time.Minute)
			h.refused(h.b, "b0", api.ErrConflict, "src/a.go")
		}
		h.live(h.b, k, journal.Live)
	})
}

// A virtual machine that its host stopped for an hour has lost it from its
// boot-time clock. Once it goes on it is heard as before.
func TestPausedMachineIsHeardAgain(t *testing.T) {
	tell(t, func(h *history) {
		h.meet(h.a, h.b)
		h.open(h.a, "a0")
		k := h.claims(h.a, "a0", "src/")
		h.open(h.b, "b0")
		h.wait(time.Minute)
		h.a.halt(paused)
		h.pass(time.Hour)
		h.a.wake()
		for range 4 {
			h.wait(20 * time.Second)
			h.live(h.b, k, journal.Live)
			h.refused(h.b, "b0", api.ErrConflict, "src/a.go")
		}
	})
}

// The holder sleeps past its expiry, and wakes where nobody tells it that its
// claim was taken and given back. When it hears it, the claim stays lost.
func TestLapsedHolderWakesUnlinked(t *testing.T) {
	tell(t, func(h *history) {
		h.meet(h.a, h.b)
		h.open(h.a, "a0")
		k := h.claims(h.a, "a0", "src/")
		h.open(h.b, "b0")
		h.wait(10 * time.Second)
		h.a.halt(suspended)
		h.disconnect(h.link(h.a, h.b))
		h.wait(time.Minute)
		h.claims(h.b, "b0", "src/a.go")
		h.stands(h.b, k, fold.StandingConflicted)
		h.releases(h.b, "b0")
		h.stands(h.b, k, fold.StandingExpired)
		h.a.wake()
		h.wait(time.Minute)
		if got := h.checks(h.a, "a0", "src/a.go"); got != api.CheckYours {
			h.Errorf("unlinked it is told %s, want yours: it cannot know better", got)
		}
		h.meet(h.a, h.b)
		if got := h.checks(h.a, "a0", "src/a.go"); got == api.CheckYours {
			h.Error("it is told yours of what it lost")
		}
		h.wait(10 * time.Second)
		h.stands(h.b, k, fold.StandingReleased) // in its own stream, by its own runtime
		k2 := h.claims(h.a, "a0", "src/a.go")
		h.wait(time.Second)
		h.stands(h.b, k2, fold.StandingHeld)
	})
}

// Who slept past the expiry asks its peers before it says yours.
func TestWokenHolderAsksFirst(t *testing.T) {
	tell(t, func(h *history) {
		h.meet(h.a, h.b)
		h.open(h.a, "a0")
		h.claims(h.a, "a0", "src/")
		h.open(h.b, "b0")
		h.wait(10 * time.Second)
		h.a.halt(stopped)
		h.wait(time.Minute)
		k2 := h.claims(h.b, "b0", "src/a.go")
		h.wait(time.Second)
		h.a.wake()
		if got := h.checks(h.a, "a0", "src/a.go"); got != string(api.CodeGap) {
			h.Errorf("just woken it is told %s, want gap", got)
		}
		h.refused(h.a, "a0", api.ErrGap, "docs/")
		h.wait(time.Second)
		h.stands(h.b, k2, fold.StandingHeld)
		if got := h.checks(h.a, "a0", "src/a.go"); got == api.CheckYours {
			h.Error("it is told yours of what it lost")
		}
		h.claims(h.a, "a0", "docs/")
	})
}

// The folder of a machine is copied to another one, with its key. Neither writes
// in the other's name, and both learn of it.
func TestClonedStateFolder(t *testing.T) {
	tell(t, func(h *history) {
		h.cloned = true
		h.meet(h.a, h.b)
		h.open(h.a, "a0")
		k := h.claims(h.a, "a0", "src/")
		h.wait(time.Minute)
		h.c.stop()
		h.c.key, h.c.held = h.a.key, newHoldings()
		h.c.disk = &disk{Disk: h.a.disk.Clone(), m: h.c}
		h.c.start()
		h.meet(h.b, h.c)
		h.open(h.c, "c0")
		h.refused(h.c, "c0", api.ErrConflict, "src/a.go")
		h.wait(time.Minute)
		h.refused(h.c, "c0", api.ErrConflict, "src/a.go")
		h.claims(h.c, "c0", "docs/")
		h.wait(20 * time.Second)
		h.stands(h.a, k, fold.StandingHeld)
		h.stands(h.c, k, fold.StandingHeld)
		for _, m := range []*machine{h.a, h.c} {
			if got := m.j.Health().SecondUser(); got == "" {
				h.Errorf("%s does not know that its key has a second user", m.name)
			}
		}
	})
}

// The folder of a machine is set back to what it was. What it wrote since is
// nobody's to write again.
func TestStateFolderSetBack(t *testing.T) {
	tell(t, func(h *history) {
		h.meet(h.a, h.b)
		h.open(h.a, "a0")
		h.claims(h.a, "a0", "src/")
		h.wait(time.Second)
		old := h.a.snapshot()
		h.claims(h.a, "a0", "docs/")
		h.wait(time.Second)
		h.a.setBack(old)
		h.open(h.a, "a1")
		h.claims(h.a, "a1", "@db")
		h.wait(time.Minute)
		h.agree([]*machine{h.a, h.b})
	})
}

// The same, to before a run that has begun since: the run that comes after it in
// truth counts no higher, and what it wrote was dead at once. Found by seed 122.
func TestStateFolderSetBackBehindALaterRun(t *testing.T) {
	tell(t, func(h *history) {
		h.meet(h.a, h.b)
		h.open(h.a, "a0")
		old := h.a.snapshot()
		h.a.kill()
		h.a.start()
		k := h.claims(h.a, "a0", "src/")
		h.wait(time.Second)
		h.disconnect(h.link(h.a, h.b))
		h.a.setBack(old)
		h.open(h.a, "a1")
		h.meet(h.a, h.b)
		h.open(h.a, "a2")
		k2 := h.claims(h.a, "a2", "docs/")
		h.wait(time.Second)
		h.stands(h.b, k2, fold.StandingHeld)
		h.agree([]*machine{h.a, h.b})
		h.wait(time.Minute) // what the lost run has is nobody's, and lapses
		h.open(h.b, "b0")
		k3 := h.claims(h.b, "b0", "src/a.go")
		h.stands(h.b, k, fold.StandingConflicted)
		h.stands(h.b, k3, fold.StandingHeld)
	})
}

// A machine that started again is heard through somebody who has not passed on
// its first event: what it left is neither live nor gone.
func TestBeatsOfASuccessorBeforeItsFirstEvent(t *testing.T) {
	tell(t, func(h *history) {
		h.meet(h.a, h.b)
		h.open(h.a, "a0")
		k := h.claims(h.a, "a0", "src/")
		h.open(h.b, "b0")
		h.wait(10 * time.Second)
		h.disconnect(h.link(h.a, h.b))
		h.a.kill()
		h.a.start()
		h.open(h.a, "a1") // the run begins
		for range 6 {
			h.wait(20 * time.Second)
			h.a.sync()
			h.b.sync()
			b := h.a.beat()
			h.b.hear(event.Marks{b.Stream: {Beat: b}})
			h.live(h.b, k, journal.Unknown)
			h.refused(h.b, "b0", api.ErrConflict, "src/a.go")
		}
		h.meet(h.a, h.b)
		h.live(h.b, k, journal.Live)
	})
}

// An event whose own signature is not good is its author's when the next one
// names it: in one batch with it or alone before it.
func TestBadSignatureAloneAndInABatch(t *testing.T) {
	tell(t, func(h *history) {
		o := h.hostile
		first := garble(o.next(0, o.opening()).Raw)
		e, err := event.Parse(first)
		if err != nil {
			h.Fatal(err)
		}
		o.at.Prev = hexOf(e.Hash)
		second := o.next(0, o.claim("dir:src")).Raw
		if r := h.a.ingest("mallory", [][]byte{first}); r.Pending != 1 {
			h.Errorf("alone it is not waiting: %+v", r)
		}
		if r := h.a.ingest("mallory", [][]byte{second}); r.Accepted != 1 || r.Released != 1 {
			h.Errorf("with the next one it is not taken: %+v", r)
		}
		if r := h.b.ingest("mallory", [][]byte{first, second}); r.Accepted != 2 {
			h.Errorf("in a batch it is not taken: %+v", r)
		}
		other := o.at
		other.Seq, other.Lamport, other.Prev = 1, 1, ""
		forged := garble(o.seal(other, o.claim("dir:docs")).Raw)
		if r := h.c.ingest("mallory", [][]byte{forged}); r.Pending != 1 {
			h.Errorf("a forged one alone: %+v", r)
		}
		if r := h.c.ingest("mallory", [][]byte{second}); r.Accepted != 0 {
			h.Errorf("behind a forged one: %+v", r)
		}
		if r := h.c.ingest("mallory", [][]byte{first, second}); r.Accepted == 0 {
			h.Errorf("the true one does not take the forged one's place: %+v", r)
		}
		if a, b, c := h.a.sight().history, h.b.sight().history, h.c.sight().history; a != b || b != c {
			h.Errorf("three ways to hear it, histories %s, %s, %s", a, b, c)
		}
	})
}

// A machine that was forgotten, and lives and is linked, comes back with all that it
// ever wrote: whoever dropped it takes it from the beginning. Found by seed 388.
func TestForgottenMachineComesBackOverItsLink(t *testing.T) {
	tell(t, func(h *history) {
		h.meet(h.a, h.b)
		h.open(h.a, "a0")
		for range 10 { // more than may wait
			h.claims(h.a, "a0", "src/")
			h.releases(h.a, "a0")
		}
		h.wait(time.Second)
		h.b.forget(h.a)
		k := h.claims(h.a, "a0", "docs/")
		h.wait(time.Minute)
		h.stands(h.b, k, fold.StandingHeld)
		h.agree([]*machine{h.a, h.b})
	})
}

// Pauses that are each too short to tell from a wall clock that was set add up: who
// hears the machine through another one must not take it for gone.
func TestManyShortPauses(t *testing.T) {
	tell(t, func(h *history) {
		h.meet(h.a, h.c)
		h.meet(h.c, h.b)
		h.open(h.a, "a0")
		k := h.claims(h.a, "a0", "src/")
		h.open(h.b, "b0")
		h.wait(time.Minute)
		for range 15 {
			h.a.halt(paused)
			h.pass(4 * time.Second)
			h.a.wake()
			h.wait(8 * time.Second)
			h.refused(h.b, "b0", api.ErrConflict, "src/a.go")
		}
		h.live(h.b, k, journal.Live)
	})
}

// Who did not run for nearly an expiry did not listen either: with the heartbeat
// before it, that is longer than an expiry. What it did not hear meanwhile lies in
// its socket.
func TestAwayForNearlyAnExpiry(t *testing.T) {
	tell(t, func(h *history) {
		h.meet(h.a, h.b)
		h.open(h.a, "a0")
		k := h.claims(h.a, "a0", "src/")
		h.open(h.b, "b0")
		h.wait(64 * time.Second)
		h.b.halt(stopped)
		h.pass(28 * time.Second)
		h.b.wake()
		h.live(h.b, k, journal.Unknown)
		h.refused(h.b, "b0", api.ErrGap, "src/a.go")
		h.wait(time.Second)
		h.refused(h.b, "b0", api.ErrConflict, "src/a.go")
	})
}

// Others count the silence of a machine from its last beat. One that looked at its
// clocks right before it slept, for a command, was away for less than an expiry by
// that, and may have lost what it has all the same: it asks first.
func TestAwayFromTheLastBeatOn(t *testing.T) {
	tell(t, func(h *history) {
		h.meet(h.a, h.b)
		h.open(h.a, "a0")
		h.open(h.b, "b0")
		taken := 0
		for n := range 10 { // between two heartbeats, at every half second
			h.wait(40 * time.Second)
			path := fmt.Sprintf("src/%d.go", n)
			h.claims(h.a, "a0", path)
			h.pass(time.Duration(n) * time.Second / 2)
			h.checks(h.a, "a0", path)
			h.a.halt(suspended)
			h.pass(27500 * time.Millisecond)
			before := taken
			h.at(h.b, func() {
				if _, err := h.b.claim(h.b.actor("b0"), api.ClaimRequest{Scope: []string{path}}); err == nil {
					taken++
				}
			})
			h.a.wake()
			if got := h.checks(h.a, "a0", path); got == api.CheckYours && taken > before {
				h.Errorf("%d: it is told yours of what was taken while it was away", n)
			}
		}
		if taken == 0 {
			h.Error("nothing was taken while it was away")
		}
	})
}

// Who slept and wakes with a full disk hears that its claim was taken, and cannot
// take it in: it has not finished its round, and does not say yours. Once there is
// space it learns what it lost. Found by seed 1673.
func TestWokenHolderWithAFullDisk(t *testing.T) {
	tell(t, func(h *history) {
		h.meet(h.a, h.b)
		h.open(h.a, "a0")
		k := h.claims(h.a, "a0", "src/")
		h.open(h.b, "b0")
		h.wait(10 * time.Second)
		h.a.halt(suspended)
		h.wait(time.Minute)
		h.claims(h.b, "b0", "src/a.go")
		h.wait(time.Second)
		h.a.disk.failing = true
		h.a.disk.Fail(vfstest.Fault{At: h.a.disk.Ops(), Err: vfstest.ENOSPC, Kinds: []string{"write"}, Forever: true})
		h.a.wake()
		for range 25 { // one expiry bounds it
			if got := h.checks(h.a, "a0", "src/a.go"); got != string(api.CodeGap) {
				h.Fatalf("with a full disk it is told %s, want gap", got)
			}
			h.pass(time.Second)
		}
		h.a.repair()
		h.wait(30 * time.Second)
		if got := h.checks(h.a, "a0", "src/a.go"); got == api.CheckYours {
			h.Error("it is told yours of what it lost")
		}
		h.stands(h.a, k, fold.StandingReleased)
		h.agree([]*machine{h.a, h.b})
	})
}

// A pause that is shorter than an expiry, and with the time around it longer: no
// beat went out in all of it, and who was silent for so long hears the others for a
// whole expiry before it takes any for gone. Found by seed 3859.
func TestPauseThatIsAGapWithTheTimeAroundIt(t *testing.T) {
	tell(t, func(h *history) {
		h.meet(h.a, h.b)
		h.open(h.a, "a0")
		k := h.claims(h.a, "a0", "src/")
		h.open(h.b, "b0")
		h.wait(9 * time.Second)
		h.disconnect(h.link(h.a, h.b))
		h.wait(19 * time.Second) // to just before a heartbeat
		h.b.halt(paused)
		h.pass(28 * time.Second)
		h.b.wake()
		h.wait(15 * time.Second) // it has run for longer than an expiry since it heard the other
		h.live(h.b, k, journal.Unknown)
		h.refused(h.b, "b0", api.ErrConflict, "src/a.go")
		h.wait(18 * time.Second)
		h.claims(h.b, "b0", "src/a.go")
	})
}

// What fences a claim counts as long as its author is believed: not any more in an
// older state folder that is put back when that has ended. Found by seed 3049.
func TestSetBackToWhenTheFencerWasBelieved(t *testing.T) {
	tell(t, func(h *history) {
		h.meet(h.a, h.b)
		h.meet(h.a, h.c)
		h.meet(h.b, h.c)
		h.open(h.c, "c0")
		k := h.claims(h.c, "c0", "src/")
		h.open(h.b, "b0")
		h.wait(time.Second)
		h.c.kill()
		h.wait(time.Minute)
		h.claims(h.b, "b0", "src/a.go")
		h.wait(time.Second)
		h.stands(h.a, k, fold.StandingConflicted)
		old := h.a.snapshot()
		h.disconnect(h.link(h.a, h.b))
		h.a.distrust(h.b, true)
		h.a.setBack(old)
		h.wait(time.Second)
		h.stands(h.a, k, fold.StandingHeld)
		h.a.distrust(h.b, false)
		h.meet(h.a, h.b)
		h.wait(10 * time.Second)
		h.stands(h.a, k, fold.StandingConflicted)
	})
}

// Who was away learns of a fence through somebody who believes its author; who does
// not believe it has lost nothing, until it does. Found by seed 3907.
func TestWokenHolderDoesNotBelieveTheFencer(t *testing.T) {
	tell(t, func(h *history) {
		h.a.distrust(h.b, true)
		h.meet(h.a, h.c)
		h.meet(h.b, h.c)
		h.open(h.a, "a0")
		h.claims(h.a, "a0", "src/")
		h.open(h.b, "b0")
		h.wait(10 * time.Second)
		h.a.halt(stopped)
		h.wait(time.Minute)
		h.claims(h.b, "b0", "src/a.go")
		h.wait(time.Second)
		h.a.wake()
		h.checks(h.a, "a0", "src/a.go")
		h.wait(5 * time.Second)
		if got := h.checks(h.a, "a0", "src/a.go"); got != api.CheckYours {
			h.Errorf("it is told %s of what nobody took whom it believes", got)
		}
		h.a.distrust(h.b, false)
		h.wait(10 * time.Second)
		if got := h.checks(h.a, "a0", "src/a.go"); got == api.CheckYours {
			h.Error("it is told yours of what it lost")
		}
	})
}

// A pause right behind a beat is no gap when the machine was silent for less than an
// expiry with it: it takes for gone whom it did not hear for one in which it ran.
func TestPauseRightBehindABeat(t *testing.T) {
	tell(t, func(h *history) {
		h.meet(h.a, h.b)
		h.open(h.a, "a0")
		h.claims(h.a, "a0", "src/")
		h.open(h.b, "b0")
		h.wait(9 * time.Second)
		h.disconnect(h.link(h.a, h.b))
		h.wait(19 * time.Second)
		h.b.sync()
		h.b.beat()
		h.b.halt(paused)
		h.pass(27 * time.Second)
		h.b.wake()
		h.wait(15 * time.Second)
		h.claims(h.b, "b0", "src/a.go")
	})
}
