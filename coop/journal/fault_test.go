package journal_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/journal"
	"github.com/comity-dev/comity/internal/vfs"
	"github.com/comity-dev/comity/internal/vfs/vfstest"
)

func openOn(t testing.TB, fsys vfs.FS) (*journal.Journal, error) {
	cfg := journal.Config{Key: newKey(t, "ada"), Repo: newRepo(t), Dir: "/journal", Machine: "m1",
		Trust: func(n ident.NodeID) bool { return n == newKey(t, "bob").Node() },
		Continue: func(v journal.View) (sids []string) {
			for s := range v.State().OpenSessions() {
				sids = append(sids, s.ID.SID)
			}
			return sids
		}}
	return journal.OpenOn(context.Background(), cfg, fsys, newClock())
}

// told is what the callers of a journal were told of its events.
type told struct {
	acknowledged map[event.Key][]byte
	unknown      map[event.Key][]byte
	absent       map[event.Key][]byte // nothing of it is on disk
	rows         int                  // the last acknowledged value of the row
}

func newTold() *told {
	return &told{map[event.Key][]byte{}, map[event.Key][]byte{}, map[event.Key][]byte{}, 0}
}

func (m *told) note(t *testing.T, all []journal.Appended, err error) {
	t.Helper()
	for _, a := range all {
		var failed *journal.FailedError
		switch k := a.Event.Key(); {
		case a.Durability == journal.Synced:
			m.acknowledged[k] = a.Event.Raw
			delete(m.absent, k)
		case errors.As(err, &failed) && failed.Unknown:
			m.unknown[k] = a.Event.Raw
		case errors.Is(err, journal.ErrNoSpace):
			m.absent[k] = a.Event.Raw
		default:
			t.Errorf("%s: %v, %v", k, a.Durability, err)
		}
	}
}

// bobs are events of another machine's stream, the same on every call.
func bobs(t *testing.T) (all []*event.Event) {
	t.Helper()
	key := newKey(t, "bob")
	h := event.Header{Repo: newRepo(t), Stream: ident.NewStream(key.Node(), key.Runtime(newRepo(t)), "00000000000000bb"), At: 1}
	for range 6 {
		h.Seq, h.Lamport = h.Seq+1, h.Lamport+1
		e, err := event.Seal(key, h, opened(fmt.Sprint("b", h.Seq)))
		if err != nil {
			t.Fatal(err)
		}
		h.Prev = fmt.Sprintf("%x", e.Hash)
		all = append(all, e)
	}
	return all
}

// send hands in events of another machine, and notes what its sender is told.
func (m *told) send(t *testing.T, j *journal.Journal, events []*event.Event) {
	t.Helper()
	var batch [][]byte
	for _, e := range events {
		batch = append(batch, e.Raw)
	}
	r := j.Ingest(t.Context(), batch)
	for i, e := range events {
		var failed *journal.FailedError
		var readOnly *journal.ReadOnlyError
		switch o := r.Outcomes[i]; {
		case o.Status == event.Accepted, o.Status == event.Duplicate:
			m.acknowledged[e.Key()] = e.Raw
			delete(m.absent, e.Key())
		case o.Status != event.NotStored:
			t.Errorf("%s: %v %s", e.Key(), o.Status, o.Reason)
		case errors.As(r.Err, &failed) && failed.Unknown:
			m.unknown[e.Key()] = e.Raw
		case errors.Is(r.Err, journal.ErrNoSpace), errors.As(r.Err, &readOnly):
			if m.unknown[e.Key()] == nil {
				m.absent[e.Key()] = e.Raw
			}
		default:
			t.Errorf("%s: not stored: %v", e.Key(), r.Err)
		}
	}
}

// script is a short life of a journal: opened, written and closed, twice.
func (m *told) script(t *testing.T, fsys vfs.FS) {
	for run := range 2 {
		j, err := openOn(t, fsys)
		if err != nil {
			return
		}
		for i := range 3 {
			row := 10*run + i + 1
			all, err := j.Decide(t.Context(), func(tx *journal.Tx) error {
				tx.PutLocal("row", "k", fmt.Append(nil, row))
				for n := range 2 {
					if _, err := tx.Append(opened(fmt.Sprintf("s%d.%d.%d", run, i, n))); err != nil {
						return err
					}
				}
				return nil
			})
			m.note(t, all, err)
			if err == nil {
				m.rows = row
			}
			m.send(t, j, bobs(t)[:2*i+run+1])
		}
		j.Close(t.Context())
	}
}

// check opens what is left and holds it against what was told.
func (m *told) check(t *testing.T, what string, fsys vfs.FS) {
	t.Helper()
	j, err := openOn(t, fsys)
	if err != nil {
		t.Errorf("%s: reopen: %v", what, err)
		return
	}
	defer j.Close(t.Context())
	held := map[event.Key][]byte{}
	for _, a := range walk(t, j, "", 100) {
		k := a.Event.Key()
		if held[k] != nil {
			t.Errorf("%s: %s is there twice", what, k)
		}
		held[k] = a.Event.Raw
		_, first := a.Event.Body.(event.StreamSucceeded)
		if !first && !bytes.Equal(m.acknowledged[k], a.Event.Raw) && !bytes.Equal(m.unknown[k], a.Event.Raw) {
			t.Errorf("%s: %s was never written, or is said to be absent", what, k)
		}
	}
	for k, raw := range m.acknowledged {
		if !bytes.Equal(held[k], raw) {
			t.Errorf("%s: %s was acknowledged and is lost", what, k)
		}
	}
	var row int
	fmt.Sscan(string(j.Local("row")["k"]), &row)
	if row < m.rows {
		t.Errorf("%s: row = %d, acknowledged %d", what, row, m.rows)
	}
	h := j.Health()
	// A place that held no record (the mark of a close whose sync failed) may be
	// found bad: nothing is lost with it.
	lost := slices.ContainsFunc(h.Damage, func(d journal.Damage) bool { return d.Records.First > 0 })
	if lost || len(h.Damaged)+len(h.Suspects)+len(h.Refused) > 0 || h.SecondUser() != "" {
		t.Errorf("%s: health = %+v", what, h)
	}
	if r, err := j.Verify(t.Context()); err != nil || !r.OK() {
		t.Errorf("%s: Verify = %+v, %v", what, r, err)
	}
	if _, err := j.Append(t.Context(), opened("after")); err != nil {
		t.Errorf("%s: append after the reopening: %v", what, err)
	}
}

func scriptOps(t *testing.T) int {
	d := vfstest.New()
	newTold().script(t, d)
	return d.Ops()
}

// sparsely is the step of an exhaustive loop: 1, or less often where that takes
// long.
func sparsely(step int) int {
	if raceDetector || testing.Short() {
		return step
	}
	return 1
}

// Each operation of the disk fails once or from then on, lost or kept though
// reported lost, and then the power goes.
func TestEachFailureOfTheDisk(t *testing.T) {
	n, step := scriptOps(t), sparsely(5)
	random := rand.New(rand.NewPCG(1, 2))
	for _, f := range []vfstest.Fault{
		{Err: vfstest.ENOSPC},
		{Err: vfstest.ENOSPC, Short: true},
		{Err: vfstest.ENOSPC, Forever: true, Kinds: []string{"write", "create", "mkdir"}},
		{Err: vfstest.EIO},
		{Err: vfstest.EIO, Kept: true},
		{Err: vfstest.EIO, Forever: true},
	} {
		for at := 0; at < n; at += step {
			f.At = at
			d := vfstest.New()
			d.Fail(f)
			m := newTold()
			m.script(t, d)
			what := fmt.Sprintf("fault %+v", f)
			m.check(t, what+", power lost", d.Crash(random.IntN))
			m.check(t, what+", process killed", d.Kill())
			if t.Failed() {
				return
			}
		}
	}
}

// The power goes before each operation, and the disk keeps any part of what was
// not synced.
func TestPowerLossAtEachOperation(t *testing.T) {
	n, step := scriptOps(t), sparsely(3)
	random := rand.New(rand.NewPCG(3, 4))
	for at := 0; at < n; at += step {
		d := vfstest.New()
		d.PowerOff(at)
		m := newTold()
		m.script(t, d)
		for try := range 3 {
			m.check(t, fmt.Sprintf("power off at %d, state %d", at, try), d.Crash(random.IntN))
		}
		if t.Failed() {
			return
		}
	}
}

// full is a disk on which files cannot grow while it is full.
type full struct {
	vfs.FS
	is atomic.Bool
}

type fullFile struct {
	vfs.File
	disk *full
}

func (d *full) Open(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := d.FS.Open(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return fullFile{f, d}, nil
}

func (f fullFile) room(end int64) error {
	size, err := f.Size()
	if err == nil && f.disk.is.Load() && end > size {
		return syscall.ENOSPC
	}
	return err
}

func (f fullFile) WriteAt(p []byte, off int64) (int, error) {
	if err := f.room(off + int64(len(p))); err != nil {
		return 0, err
	}
	return f.File.WriteAt(p, off)
}

func (f fullFile) Preallocate(off, n int64) error {
	if err := f.room(off + n); err != nil {
		return err
	}
	return f.File.Preallocate(off, n)
}

func handover(i int) event.Body {
	text := fmt.Sprint(i, strings.Repeat(" word", 6000))
	return event.HandoverPublished{Session: "s1", Handover: event.Handover{ID: event.HandoverID(text), Body: text}}
}

func small(i int) event.Body { return opened(fmt.Sprintf("small%d", i)) }

// A full disk refuses claims and the like, says so, and still takes releases
// and closes; with room again it goes on as if nothing had been.
func TestFullDiskTakesReleasesAndGoesOn(t *testing.T) {
	disk := &full{FS: vfstest.New()}
	j, err := openOn(t, disk)
	if err != nil {
		t.Fatal(err)
	}
	m := newTold()
	all, err := j.Decide(t.Context(), func(tx *journal.Tx) error { _, err := tx.Append(opened("s1")); return err })
	m.note(t, all, err)

	disk.is.Store(true)
	var next uint64 // the number that the full disk gave back
	for _, body := range []func(i int) event.Body{handover, small} {
		for i, err := 0, error(nil); err == nil; i++ { // until not even that fits
			var all []journal.Appended
			all, err = j.Decide(t.Context(), func(tx *journal.Tx) error { _, err := tx.Append(body(i)); return err })
			m.note(t, all, err)
			if err != nil && (!errors.Is(err, journal.ErrNoSpace) || j.Health().ReadOnly != nil) || i > 1000 {
				t.Fatalf("append %d on a full disk: %v, read-only: %v", i, err, j.Health().ReadOnly)
			}
			next = all[0].Event.Seq
		}
	}

	all, err = j.Decide(t.Context(), func(tx *journal.Tx) error {
		tx.Reserve()
		_, err := tx.Append(event.SessionClosed{Session: "s1", Reason: "done"})
		return err
	})
	m.note(t, all, err)
	if err != nil || all[0].Event.Seq != next {
		t.Fatalf("close on a full disk = %+v, %v; want seq %d, given back", all, err, next)
	}
	if _, err := j.Append(t.Context(), opened("s2")); !errors.Is(err, journal.ErrNoSpace) {
		t.Errorf("append into the reserve = %v, want no space", err)
	}

	disk.is.Store(false)
	mustClose(t, j)
	if j, err = openOn(t, disk); err != nil {
		t.Fatal(err)
	}
	all, err = j.Decide(t.Context(), func(tx *journal.Tx) error { _, err := tx.Append(opened("s3")); return err })
	m.note(t, all, err)
	if err != nil {
		t.Errorf("append with room again: %v", err)
	}
	mustClose(t, j)
	m.check(t, "at last", disk)
}

// Many writers share the batches that fail: what each was told is true.
func TestManyWritersOnAFailingDisk(t *testing.T) {
	n := scriptOps(t)
	random := rand.New(rand.NewPCG(5, 6))
	for round := range 60 / sparsely(6) {
		d := vfstest.New()
		j, err := openOn(t, d)
		if err != nil {
			t.Fatal(err)
		}
		f := vfstest.Fault{At: d.Ops() + random.IntN(n/2), Err: vfstest.ENOSPC, Short: round%4 == 0, Kept: round%3 == 1}
		if round%3 == 2 {
			f.Err = vfstest.EIO
		}
		d.Fail(f)
		m := newTold()
		var mu sync.Mutex
		var group sync.WaitGroup
		for w := range 16 {
			group.Go(func() {
				for i := range 4 {
					all, err := j.Decide(t.Context(), func(tx *journal.Tx) error {
						if w%4 == 0 {
							tx.Reserve()
						}
						_, err := tx.Append(opened(fmt.Sprintf("s%d.%d", w, i)))
						return err
					})
					mu.Lock()
					m.note(t, all, err)
					mu.Unlock()
				}
			})
		}
		group.Wait()
		m.check(t, fmt.Sprintf("fault %+v, power lost", f), d.Clone().Crash(random.IntN))
		j.Close(t.Context())
		m.check(t, fmt.Sprintf("fault %+v, closed", f), d.Kill())
		if t.Failed() {
			return
		}
	}
}
