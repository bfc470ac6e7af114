package clock

import (
	"cmp"
	"math"
	"slices"
	"sync"
	"time"
)

// A Fake is a Clock that moves only when told to, for tests and simulations.
//
// Wall and boot time move apart: [Fake.Advance] is a machine that runs,
// [Fake.Suspend] one that sleeps, [Fake.SetWall] a clock that somebody sets,
// [Fake.Pause] a virtual machine whose boot time stood still. Timers count the
// time that the machine runs. A Fake must come from [NewFake].
type Fake struct {
	mu     sync.Mutex
	wall   time.Time
	boot   time.Duration
	ran    time.Duration // what timers count: boot time without suspensions
	id     string
	made   uint64
	timers []*fakeTimer // by deadline, then by age
}

// NewFake returns a clock whose wall shows wall and whose machine booted boot
// ago, in the boot named id.
func NewFake(wall time.Time, boot time.Duration, id string) *Fake {
	return &Fake{wall: wall.Round(0), boot: boot, id: id}
}

// Now is the wall as it was last moved.
func (f *Fake) Now() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.wall
}

// Boot is the boot time as it was last moved.
func (f *Fake) Boot() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.boot
}

// BootID is the id given to NewFake or to the latest Reboot.
func (f *Fake) BootID() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.id
}

// Advance lets the machine run for d: wall and boot time move by d, and each
// timer that becomes due fires, in the order of the deadlines, with the wall as
// it is at its deadline. A timer that is made meanwhile, by whoever receives,
// counts from the end of the advance: a simulation that needs every step moves
// by what [Fake.Next] says. Negative d is a programming error and panics.
func (f *Fake) Advance(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	notNegative(d)
	end := f.ran + d
	for len(f.timers) > 0 && f.timers[0].at <= end {
		t := f.timers[0]
		f.timers = f.timers[1:]
		f.run(t.at - f.ran)
		t.c <- f.wall
	}
	f.run(end - f.ran)
}

// Suspend puts the machine to sleep for d: wall and boot time move by d and no
// timer counts it, so that a timer fires late by d.
func (f *Fake) Suspend(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	notNegative(d)
	f.wall, f.boot = f.wall.Add(d), f.boot+d
}

// Pause stops the machine from outside for d, as a hypervisor does: the wall
// moves by d once it is set again, boot time and timers do not notice.
func (f *Fake) Pause(d time.Duration) {
	notNegative(d)
	f.SetWall(f.Now().Add(d))
}

// SetWall sets the wall, forward or back. Boot time and timers do not notice.
func (f *Fake) SetWall(t time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.wall = t.Round(0)
}

// Reboot begins the boot named id: boot time starts again at zero, the wall goes
// on, and the timers of the boot before never fire.
func (f *Fake) Reboot(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.id, f.boot, f.timers = id, 0, nil
}

// Next is how far to Advance until the next timer fires; false when none is
// pending.
func (f *Fake) Next() (time.Duration, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.timers) == 0 {
		return 0, false
	}
	return f.timers[0].at - f.ran, true
}

// Pending counts the timers that have neither fired nor been stopped.
func (f *Fake) Pending() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.timers)
}

// NewTimer makes a timer that an Advance fires. With d not positive it has fired
// when NewTimer returns.
func (f *Fake) NewTimer(d time.Duration) Timer {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.made++
	at := f.ran + min(d, math.MaxInt64-f.ran) // a timer for ever does not wrap
	t := &fakeTimer{f: f, at: at, age: f.made, c: make(chan time.Time, 1)}
	if d <= 0 {
		t.c <- f.wall
		return t
	}
	i, _ := slices.BinarySearchFunc(f.timers, t, byDeadline)
	f.timers = slices.Insert(f.timers, i, t)
	return t
}

// run moves everything by d; the caller holds the lock.
func (f *Fake) run(d time.Duration) {
	f.wall, f.boot, f.ran = f.wall.Add(d), f.boot+d, f.ran+d
}

type fakeTimer struct {
	f   *Fake
	at  time.Duration // on f.ran
	age uint64
	c   chan time.Time
}

func byDeadline(a, b *fakeTimer) int {
	return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.age, b.age))
}

func (t *fakeTimer) C() <-chan time.Time { return t.c }

func (t *fakeTimer) Stop() bool {
	t.f.mu.Lock()
	defer t.f.mu.Unlock()
	if i := slices.Index(t.f.timers, t); i >= 0 {
		t.f.timers = slices.Delete(t.f.timers, i, i+1)
		return true
	}
	select { // as Stop of package time: nothing is received after it
	case <-t.c:
	default:
	}
	return false
}

func notNegative(d time.Duration) {
	if d < 0 {
		panic("clock: a fake cannot run back; SetWall moves the wall alone")
	}
}
