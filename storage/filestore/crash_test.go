package filestore_test

import (
	"io"
	"math/rand/v2"
	"testing"

	"github.com/comity-dev/comity/internal/vfs/vfstest"
)

func readFull(r io.Reader, b []byte) (int, error) { return io.ReadFull(r, b) }

// crashes are ways to choose what a loss of power leaves: the most, the least,
// and at random.
func crashes(rnd *rand.Rand) []func(int) int {
	list := []func(int) int{
		func(int) int { return 0 },
		func(n int) int { return n - 1 },
	}
	tries := 4
	if testing.Short() {
		tries = 1
	}
	for range tries {
		list = append(list, func(n int) int { return rnd.IntN(n) })
	}
	return list
}

// A loss of power at any operation costs nothing that was acknowledged, and
// leaves nothing that was refused.
func TestCrashAtEveryOperation(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	whole := vfstest.New()
	newRun().play(whole, true)
	points, states, before := 0, 0, -1
	for n := range whole.Ops() + 1 {
		r := newRun()
		d := vfstest.New()
		d.PowerOff(n)
		r.play(d, true)
		d.Repair()
		if d.Changes() == before {
			continue // the operation before was a read
		}
		before = d.Changes()
		points++
		for i, choose := range crashes(rnd) {
			states++
			epoch := r.epoch
			if err := r.check(d.Crash(choose), true); err != nil {
				t.Fatalf("crash at operation %d, way %d, outcomes %v: %v", n, i, r.outcomes, err)
			}
			r.epoch = epoch
		}
	}
	t.Logf("%d states at %d crash points of %d operations", states, points, whole.Ops())
	if points < 100 {
		t.Errorf("only %d crash points", points)
	}
}

// A loss of power while a store recovers costs nothing either.
func TestCrashOfARecovery(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	whole := vfstest.New()
	newRun().play(whole, true)
	tries := 150
	if testing.Short() {
		tries = 30
	}
	for range tries {
		n := rnd.IntN(whole.Ops())
		r := newRun()
		d := vfstest.New()
		d.PowerOff(n)
		r.play(d, true)
		d.Repair()
		c := d.Crash(func(n int) int { return rnd.IntN(n) })
		again := &run{}
		c.PowerOff(rnd.IntN(40))
		again.play(c, true)
		c.Repair()
		if err := r.check(c.Crash(func(n int) int { return rnd.IntN(n) }), true); err != nil {
			t.Fatalf("crash at operation %d, and another: %v", n, err)
		}
	}
}

// Every operation fails once, lost or kept though reported lost; the script goes
// on over the error; then the process dies, or the power fails.
func TestEveryOperationFails(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	whole := vfstest.New()
	newRun().play(whole, false)
	for n := range whole.Ops() {
		for _, f := range []vfstest.Fault{
			{At: n, Err: vfstest.EIO},
			{At: n, Err: vfstest.EIO, Kept: true},
			{At: n, Err: vfstest.EIO, Short: true},
			{At: n, Err: vfstest.ENOSPC},
			{At: n, Err: vfstest.ENOSPC, Forever: true, Kinds: []string{"write", "create", "mkdir"}},
		} {
			r := newRun()
			d := vfstest.New()
			d.Fail(f)
			r.play(d, false)
			d.Repair()
			left := d.Crash(func(n int) int { return rnd.IntN(n) })
			epoch := r.epoch
			if err := r.check(d.Kill(), false); err != nil {
				t.Fatalf("fault %+v, then the process died, outcomes %v: %v", f, r.outcomes, err)
			}
			r.epoch = epoch
			if err := r.check(left, false); err != nil {
				t.Fatalf("fault %+v, then the power failed, outcomes %v: %v", f, r.outcomes, err)
			}
		}
	}
}
