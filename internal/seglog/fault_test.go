package seglog_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/comity-dev/comity/internal/seglog"
	"github.com/comity-dev/comity/internal/vfs/vfstest"
)

// faultScript goes on after a step that failed.
var faultScript = [][]string{{"alpha"}, {"beta", "gamma"}, {big}, {"delta"}, {"rewrite"}, {"epsilon", "zeta"}, {big}, {"eta"}}

// runFaulty plays faultScript on d, whatever fails.
func runFaulty(d *vfstest.Disk) (*model, error) {
	m := new(model)
	l, _, err := seglog.Open(d, logDir, &small)
	if err != nil {
		return m, nil // not to open is an answer
	}
	defer l.Close()
	var poison error
	for _, recs := range faultScript {
		if recs[0] == "rewrite" {
			if err := rewriteStep(l, m); err != nil && errors.Is(err, seglog.ErrPoisoned) {
				poison = err
			}
			continue
		}
		err := appendStep(recs...)(l, m)
		switch {
		case poison != nil && !errors.Is(err, seglog.ErrPoisoned):
			return m, fmt.Errorf("append after the log was poisoned (%v) = %v", poison, err)
		case err == nil:
		case errors.Is(err, seglog.ErrNoSpace):
			m.batches = m.batches[:len(m.batches)-1] // nothing of it is there, ever
		case errors.Is(err, seglog.ErrPoisoned) && poison != nil:
			m.batches = m.batches[:len(m.batches)-1] // never came near the disk
		case errors.Is(err, seglog.ErrPoisoned):
			if !errors.Is(err, vfstest.EIO) && !errors.Is(err, vfstest.ENOSPC) || !errors.Is(l.Err(), seglog.ErrPoisoned) {
				return m, fmt.Errorf("the cause is missing: %v, %v", err, l.Err())
			}
			poison = err
		default:
			return m, fmt.Errorf("append = %v", err)
		}
	}
	d.Repair()
	if _, err := m.check(l); err != nil {
		return m, fmt.Errorf("reading on: %w", err)
	}
	if poison != nil {
		if _, err := l.Append(context.Background(), []byte("x")); !errors.Is(err, seglog.ErrPoisoned) {
			return m, fmt.Errorf("append once the disk is well again = %v, want ErrPoisoned", err)
		}
	}
	return m, nil
}

// Every operation fails, in each way, once and for good. What was acknowledged
// is there: at once, after the death of the process, and after a loss of power.
func TestEveryOperationFails(t *testing.T) {
	d := vfstest.New()
	if m, err := runFaulty(d); err != nil || m.acked != len(faultScript)-1 {
		t.Fatalf("without a fault: %v, %d acknowledged", err, m.acked)
	}
	rnd := rand.New(rand.NewPCG(3, 4))
	runs, acked := 0, 0
	for n := range d.Ops() {
		for way := range 12 {
			f := vfstest.Fault{At: n, Err: vfstest.EIO, Forever: way&1 != 0}
			if way&2 != 0 {
				f.Err = vfstest.ENOSPC
			}
			f.Kept, f.Short = way/4 == 1, way/4 == 2
			d := vfstest.New()
			d.Fail(f)
			m, err := runFaulty(d)
			d.Repair()
			if err != nil {
				fatal(t, d, "%+v: %v", f, err)
			}
			runs, acked = runs+1, acked+m.acked
			tries := 3
			if long {
				tries = 100
			}
			for range tries {
				c := d.Crash(func(n int) int { return rnd.IntN(n) })
				left := c.Clone()
				if _, err := verify(c, m); err != nil {
					fatal(t, left, "%+v, after a crash: %v", f, err)
				}
			}
			k := d.Kill()
			left := k.Clone()
			if _, err := verify(k, m); err != nil {
				fatal(t, left, "%+v, after a kill: %v", f, err)
			}
		}
	}
	t.Logf("%d runs, %d appends acknowledged", runs, acked)
}

// A disk that is full refuses, keeps what it has, and takes appends again once
// there is room.
func TestFullDisk(t *testing.T) {
	d := vfstest.New()
	l, _, err := seglog.Open(d, logDir, &small)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	turn := l.Turn()
	d.Fail(vfstest.Fault{At: d.Ops(), Forever: true, Err: vfstest.ENOSPC, Kinds: []string{"create", "write"}, Short: true})
	stored := 0
	var failed error
	for range 40 {
		if _, err := l.Append(t.Context(), []byte(big)); err == nil {
			stored++
		} else {
			failed = err
		}
	}
	if !errors.Is(failed, seglog.ErrNoSpace) || !errors.Is(failed, vfstest.ENOSPC) || l.Err() != nil {
		t.Fatalf("append on a full disk = %v, log %v", failed, l.Err())
	}
	if l.Turn() == turn {
		t.Error("the turn did not end")
	}
	if _, err := l.Enqueue(turn, false, []byte("x")).Wait(t.Context()); !errors.Is(err, seglog.ErrNoSpace) {
		t.Errorf("Enqueue under the old turn = %v, want ErrNoSpace", err)
	}
	d.Repair()
	if first, err := l.Append(t.Context(), []byte(big)); err != nil || first != uint64(stored+1) {
		t.Errorf("append once there is room = %d, %v, want %d", first, err, stored+1)
	}
	if got := len(contents(t, l.From(1))); got != stored+1 {
		t.Errorf("%d records, want %d", got, stored+1)
	}
}
