package seglog_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/comity-dev/comity/internal/vfs/vfstest"
)

// A loss of power at any operation of any short script, in any state that it may
// leave the disk in, costs nothing that was acknowledged.
func TestEveryCrashPoint(t *testing.T) {
	states, points := 0, 0
	all := scripts()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		s := all[name]
		d := vfstest.New()
		if _, err := s.run(d, true); err != nil {
			t.Fatalf("script %q without a fault: %v", name, err)
		}
		before := 0
		if len(s) > 0 { // what comes before the last step is a script of its own
			m, err := s[:len(s)-1].run(vfstest.New(), true)
			if err != nil {
				t.Fatal(err)
			}
			before = m.ops
		}
		changes := -1
		for n := before; n <= d.Ops(); n++ {
			d, m := crashedAt(s, true, n)
			if d.Changes() == changes {
				continue // the operation before was a read
			}
			changes = d.Changes()
			points++
			states += crashPoint(t, d, m, fmt.Sprintf("script %q, crash at %d", name, n))
		}
	}
	t.Logf("%d states at %d crash points", states, points)
	if states < 1000 {
		t.Errorf("only %d states", states)
	}
}

// crashPoint tries all states that a crash of d may leave. It returns
// how many there were.
func crashPoint(t *testing.T, d *vfstest.Disk, m *model, what string) (states int) {
	vfstest.Every(func(choose func(int) int) bool {
		states++
		c := d.Crash(choose)
		left := c.Clone()
		if _, err := verify(c, m); err != nil {
			fatal(t, left, "%s: %v", what, err)
		}
		return true
	})
	return states
}

func crashedAt(s script, closing bool, n int) (*vfstest.Disk, *model) {
	d := vfstest.New()
	d.PowerOff(n)
	m, _ := s.run(d, closing)
	d.Repair()
	return d, m
}

// A crash at any operation of a recovery, in any state, changes nothing of what
// the recovery is for.
func TestEveryCrashOfARecovery(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, name := range []string{"one ", "two one two ", "one full two ", "full one full ", "two full rewrite "} {
		s := scripts()[name]
		if s == nil {
			t.Fatalf("no script %q", name)
		}
		d := vfstest.New()
		if _, err := s.run(d, false); err != nil {
			t.Fatal(err)
		}
		for n := range d.Ops() + 1 {
			d, m := crashedAt(s, false, n)
			tries := 2
			if long {
				tries = 40
			}
			for range tries {
				c := d.Crash(func(n int) int { return rnd.IntN(n) })
				crashRecovery(t, rnd, c, m, fmt.Sprintf("script %q, crash at %d", name, n))
			}
		}
	}
}

func crashRecovery(t *testing.T, rnd *rand.Rand, c *vfstest.Disk, m *model, what string) {
	for k := 0; ; k++ {
		d := c.Clone()
		d.PowerOff(k)
		_, err := script{}.run(d, false)
		if err == nil {
			return
		}
		d.Repair()
		try := func(choose func(int) int) bool {
			e := d.Crash(choose)
			left := e.Clone()
			if _, err := verify(e, m); err != nil {
				fatal(t, left, "%s, crash of the recovery at %d: %v", what, k, err)
			}
			return true
		}
		if long {
			vfstest.Every(try)
			continue
		}
		for range 3 {
			try(func(n int) int { return rnd.IntN(n) })
		}
	}
}

// The death of the process loses nothing that was written, and recovery makes
// it durable before it shows it.
func TestEveryKill(t *testing.T) {
	for _, name := range []string{"one two one ", "one full two rewrite ", "full full two "} {
		s := scripts()[name]
		d := vfstest.New()
		if _, err := s.run(d, true); err != nil {
			t.Fatal(err)
		}
		for n := range d.Ops() + 1 {
			d, m := crashedAt(s, true, n)
			k := d.Kill()
			r := openAndReport(t, k)
			if _, err := m.check(r); err != nil {
				t.Fatalf("script %q, kill at %d: %v", name, n, err)
			}
			shown := dataOf(r)
			vfstest.Every(func(choose func(int) int) bool { // and now the power goes, while the log is open
				c := k.Crash(choose)
				l := openAndReport(t, c)
				if got := dataOf(l); got != shown {
					t.Fatalf("script %q, kill at %d: shown was\n%s\nafter a crash\n%s", name, n, shown, got)
				}
				l.Close()
				return true
			})
			r.Close()
		}
	}
}
