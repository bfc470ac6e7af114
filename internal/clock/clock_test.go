package clock_test

import (
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/comity-dev/comity/internal/clock"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// fired returns what t has sent, or the zero time when it has sent nothing.
func fired(t clock.Timer) time.Time {
	select {
	case at := <-t.C():
		return at
	default:
		return time.Time{}
	}
}

func TestSystemBootTimeRises(t *testing.T) {
	c := clock.System()
	last := c.Boot()
	if last <= 0 {
		t.Fatalf("Boot() = %v, want a positive time", last)
	}
	moved := false
	for range 100_000 {
		now := c.Boot()
		if now < last {
			t.Fatalf("Boot() ran back from %v to %v", last, now)
		}
		moved = moved || now > last
		last = now
	}
	if !moved {
		t.Errorf("Boot() stood still at %v over 100,000 calls", last)
	}
}

func TestSystemBootIDIsTheSameForEveryClock(t *testing.T) {
	a, b := clock.System().BootID(), clock.System().BootID()
	if a == "" || a != b {
		t.Errorf("BootID() = %q, then %q: want one value, not empty", a, b)
	}
}

func TestSystemWallHasNoMonotonicReading(t *testing.T) {
	now := clock.System().Now()
	if strings.Contains(now.String(), "m=") {
		t.Errorf("Now() = %v carries a monotonic reading", now)
	}
	if d := time.Since(now); d < -time.Minute || d > time.Minute {
		t.Errorf("Now() is %v away from the wall", d)
	}
}

func TestSystemTimerFiresOnceAndStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clock.System()
		tm, stopped := c.NewTimer(time.Hour), c.NewTimer(time.Hour)
		if !stopped.Stop() {
			t.Error("Stop() of a pending timer = false, want true")
		}
		time.Sleep(time.Hour - 1)
		if at := fired(tm); !at.IsZero() {
			t.Errorf("timer fired at %v, before its time", at)
		}
		time.Sleep(2 * time.Nanosecond)
		if fired(tm).IsZero() {
			t.Error("timer did not fire")
		}
		if at := fired(stopped); !at.IsZero() {
			t.Errorf("stopped timer fired at %v", at)
		}
		if tm.Stop() {
			t.Error("Stop() of a fired timer = true, want false")
		}
	})
}

func TestInBubbleBootTimeIsVirtual(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clock.InBubble("b1")
		time.Sleep(time.Hour)
		if got := c.Boot(); got != time.Hour {
			t.Errorf("Boot() after an hour = %v, want 1h", got)
		}
		if got := c.BootID(); got != "b1" {
			t.Errorf("BootID() = %q, want b1", got)
		}
	})
}

func TestAdvanceMovesEverything(t *testing.T) {
	f := clock.NewFake(start, time.Minute, "b1")
	f.Advance(90 * time.Second)
	if got, want := f.Now(), start.Add(90*time.Second); got != want {
		t.Errorf("Now() = %v, want %v", got, want)
	}
	if got, want := f.Boot(), 150*time.Second; got != want {
		t.Errorf("Boot() = %v, want %v", got, want)
	}
}

func TestTimersFireAtTheirDeadlinesAndNotBefore(t *testing.T) {
	f := clock.NewFake(start, 0, "b1")
	late, early := f.NewTimer(2*time.Second), f.NewTimer(time.Second)

	f.Advance(time.Second - 1)
	if at := fired(early); !at.IsZero() {
		t.Errorf("timer fired at %v, one nanosecond early", at)
	}
	f.Advance(10 * time.Second)
	if got, want := fired(early), start.Add(time.Second); got != want {
		t.Errorf("first timer fired at %v, want %v", got, want)
	}
	if got, want := fired(late), start.Add(2*time.Second); got != want {
		t.Errorf("second timer fired at %v, want %v", got, want)
	}
	f.Advance(time.Hour)
	if !fired(early).IsZero() || !fired(late).IsZero() {
		t.Error("a timer fired twice")
	}
}

func TestSuspensionMovesBootTimeAndDelaysTimers(t *testing.T) {
	f := clock.NewFake(start, 0, "b1")
	tm := f.NewTimer(time.Second)
	f.Suspend(time.Hour)
	if got := f.Boot(); got != time.Hour {
		t.Errorf("Boot() after the suspension = %v, want 1h", got)
	}
	if got, want := f.Now(), start.Add(time.Hour); got != want {
		t.Errorf("Now() after the suspension = %v, want %v", got, want)
	}
	if at := fired(tm); !at.IsZero() {
		t.Errorf("timer fired at %v while the machine slept", at)
	}
	f.Advance(time.Second)
	if got, want := fired(tm), start.Add(time.Hour+time.Second); got != want {
		t.Errorf("timer fired at %v, want %v", got, want)
	}
}

func TestPauseMovesTheWallAlone(t *testing.T) {
	f := clock.NewFake(start, time.Minute, "b1")
	tm := f.NewTimer(time.Second)
	f.Pause(time.Hour)
	if got, want := f.Now(), start.Add(time.Hour); got != want {
		t.Errorf("Now() = %v, want %v", got, want)
	}
	if got := f.Boot(); got != time.Minute {
		t.Errorf("Boot() = %v, want 1m: it stood still", got)
	}
	if at := fired(tm); !at.IsZero() {
		t.Errorf("timer fired at %v", at)
	}
}

func TestWallSetBackLeavesBootTimeAndTimersAlone(t *testing.T) {
	f := clock.NewFake(start, time.Minute, "b1")
	tm := f.NewTimer(time.Second)
	f.SetWall(start.Add(-time.Hour))
	if got := f.Boot(); got != time.Minute {
		t.Errorf("Boot() = %v, want 1m", got)
	}
	f.Advance(time.Second)
	if got, want := fired(tm), start.Add(-time.Hour+time.Second); got != want {
		t.Errorf("timer fired at %v, want %v", got, want)
	}
}

func TestRebootStartsBootTimeAgain(t *testing.T) {
	f := clock.NewFake(start, time.Hour, "b1")
	tm := f.NewTimer(time.Second)
	f.Reboot("b2")
	if f.BootID() != "b2" || f.Boot() != 0 {
		t.Errorf("after Reboot: %q at %v, want b2 at 0", f.BootID(), f.Boot())
	}
	f.Advance(time.Minute)
	if at := fired(tm); !at.IsZero() {
		t.Errorf("a timer of the boot before fired at %v", at)
	}
	if got := f.Boot(); got != time.Minute {
		t.Errorf("Boot() = %v, want 1m", got)
	}
}

func TestNextNamesTheNearestTimer(t *testing.T) {
	f := clock.NewFake(start, time.Hour, "b1")
	if d, ok := f.Next(); ok {
		t.Errorf("Next() without timers = %v, true", d)
	}
	f.NewTimer(3 * time.Second)
	near := f.NewTimer(2 * time.Second)
	f.NewTimer(time.Minute)
	f.Advance(time.Second)
	if d, ok := f.Next(); !ok || d != time.Second {
		t.Errorf("Next() = %v, %v, want 1s, true", d, ok)
	}
	if !near.Stop() {
		t.Error("Stop() of a pending timer = false")
	}
	if d, ok := f.Next(); !ok || d != 2*time.Second || f.Pending() != 2 {
		t.Errorf("Next() after Stop = %v, %v with %d pending, want 2s, true with 2", d, ok, f.Pending())
	}
}

func TestStoppedTimerSendsNothing(t *testing.T) {
	f := clock.NewFake(start, 0, "b1")
	tm := f.NewTimer(time.Second)
	f.Advance(time.Second)
	if tm.Stop() {
		t.Error("Stop() of a fired timer = true")
	}
	if at := fired(tm); !at.IsZero() {
		t.Errorf("received %v after Stop", at)
	}
}

func TestTimerExtremes(t *testing.T) {
	f := clock.NewFake(start, 0, "b1")
	f.Advance(time.Hour)
	for _, d := range []time.Duration{0, -1, math.MinInt64} {
		if got := fired(f.NewTimer(d)); got != f.Now() {
			t.Errorf("NewTimer(%d) fired at %v, want at once", d, got)
		}
	}
	forever := f.NewTimer(math.MaxInt64)
	f.Advance(1000 * time.Hour)
	if at := fired(forever); !at.IsZero() {
		t.Errorf("a timer for ever fired at %v", at)
	}
}

func TestFakeDoesNotRunBack(t *testing.T) {
	for name, move := range map[string]func(*clock.Fake){
		"Advance": func(f *clock.Fake) { f.Advance(-1) },
		"Suspend": func(f *clock.Fake) { f.Suspend(-1) },
		"Pause":   func(f *clock.Fake) { f.Pause(-1) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Errorf("%s(-1) returned, want a panic", name)
				}
			}()
			move(clock.NewFake(start, 0, "b1"))
		})
	}
}
