package journal_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/fold"
	"github.com/comity-dev/comity/coop/journal"
	"github.com/comity-dev/comity/internal/vfs"
)

// onDisk opens the journal in dir; close is idempotent.
func onDisk(t testing.TB, dir string, change func(*journal.Config)) *journal.Journal {
	t.Helper()
	j, err := tryDisk(t, dir, change)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func tryDisk(t testing.TB, dir string, change func(*journal.Config)) (*journal.Journal, error) {
	cfg := journal.Config{Key: newKey(t, "ada"), Repo: newRepo(t), Dir: dir, Machine: "m1"}
	if change != nil {
		change(&cfg)
	}
	j, err := journal.OpenOn(t.Context(), cfg, vfs.OS(), newClock())
	if err == nil {
		t.Cleanup(func() { j.Close(context.Background()) })
	}
	return j, err
}

func mustClose(t testing.TB, j *journal.Journal) {
	t.Helper()
	if err := j.Close(t.Context()); err != nil {
		t.Fatalf("Close: %v", err)
	}
}

func goOn(sids ...string) func(*journal.Config) {
	return func(cfg *journal.Config) {
		cfg.Continue = func(journal.View) []string { return sids }
	}
}

// sids are those of the session_opened events, in the order of arrival.
func sids(t testing.TB, j *journal.Journal) (found []string) {
	t.Helper()
	for _, a := range walk(t, j, "", 3) {
		if b, ok := a.Event.Body.(event.SessionOpened); ok {
			found = append(found, b.Info.Session)
		}
	}
	return found
}

func wantSids(t testing.TB, j *journal.Journal, want ...string) {
	t.Helper()
	if d := cmp.Diff(want, sids(t, j)); d != "" {
		t.Errorf("sessions (-want +got):\n%s", d)
	}
}

func wantSound(t testing.TB, j *journal.Journal) {
	t.Helper()
	r, err := j.Verify(t.Context())
	if err != nil || !r.OK() {
		t.Errorf("Verify = %+v, %v", r, err)
	}
}

func digest(j *journal.Journal) (d string) {
	j.View(func(v journal.View) { d = v.State().Digest(nil) })
	return d
}

func TestRunsOnDiskFollowEachOther(t *testing.T) {
	dir := t.TempDir()
	var all []string
	var before []event.Key
	for run := range 4 {
		j := onDisk(t, dir, goOn(all...))
		if got := keys(walk(t, j, "", 4)); !slices.Equal(got, before) {
			t.Fatalf("run %d begins with %v, want %v", run+1, got, before)
		}
		for i := range 3 {
			sid := fmt.Sprintf("s%d.%d", run, i)
			all = append(all, sid)
			if a := mustAppend(t, j, opened(sid)); a.Durability != journal.Synced {
				t.Errorf("appended = %+v, want it synced", a)
			}
		}
		wantSids(t, j, all...)
		wantSound(t, j)
		if h := j.Health(); h.Run != uint64(run+1) || h.ReadOnly != nil || h.SecondUser() != "" || len(h.Refused) != 0 {
			t.Errorf("health = %+v", h)
		}
		before = keys(walk(t, j, "", 4))
		d := digest(j)
		mustClose(t, j)
		again := onDisk(t, dir, nil)
		if digest(again) != d {
			t.Errorf("run %d: the state differs after the reload", run+1)
		}
		mustClose(t, again)
	}
}

func TestManyWritersShareOneOrderOnDisk(t *testing.T) {
	dir := t.TempDir()
	var seen []journal.Arrival
	j := onDisk(t, dir, func(cfg *journal.Config) {
		cfg.Observe = func(_ journal.View, a journal.Arrival, _ fold.Changes) { seen = append(seen, a) }
	})
	checkOneOrder(t, j, 16, 20)
	j.View(func(journal.View) {
		if d := cmp.Diff(keys(walkUnlocked(t, seen)), keys(seen)); d != "" {
			t.Error(d)
		}
	})
	wantSound(t, j)
	before := keys(walk(t, j, "", 50))
	mustClose(t, j)
	j = onDisk(t, dir, nil)
	if d := cmp.Diff(before, keys(walk(t, j, "", 50))); d != "" {
		t.Errorf("after the restart (-want +got):\n%s", d)
	}
}

func walkUnlocked(t *testing.T, seen []journal.Arrival) []journal.Arrival {
	for i, a := range seen {
		if a.Event.Seq != uint64(i+1) || i > 0 && a.Index <= seen[i-1].Index {
			t.Fatalf("observed %d: seq %d at %d", i, a.Event.Seq, a.Index)
		}
	}
	return seen
}

func TestSecondOpenerIsRefused(t *testing.T) {
	dir := t.TempDir()
	j := onDisk(t, dir, nil)
	if _, err := tryDisk(t, dir, nil); !errors.Is(err, vfs.ErrLocked) {
		t.Errorf("second Open = %v, want locked", err)
	}
	mustAppend(t, j, opened("s1"))
	mustClose(t, j)
	mustClose(t, onDisk(t, dir, nil))
}

// copyDir is the folder as a crash at this moment leaves it, when all writes
// that were made reached the disk.
func copyDir(t testing.TB, dir string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(filepath.Join(to, "copy"), os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(to, "copy")
}

// A crash when a batch is on disk and the fold has none of it, or half of it.
func TestCrashBetweenSyncAndApplyLosesNothing(t *testing.T) {
	dir := t.TempDir()
	var images []string
	j := onDisk(t, dir, func(cfg *journal.Config) {
		cfg.Observe = func(journal.View, journal.Arrival, fold.Changes) { images = append(images, copyDir(t, dir)) }
	})
	_, err := j.Decide(t.Context(), func(tx *journal.Tx) error {
		tx.PutLocal("told", "s1", []byte("7"))
		for _, sid := range []string{"s1", "s2", "s3"} {
			if _, err := tx.Append(opened(sid)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || len(images) != 4 {
		t.Fatalf("Decide: %v, %d events", err, len(images))
	}
	for i, image := range images {
		j := onDisk(t, image, nil)
		wantSids(t, j, "s1", "s2", "s3")
		if got := string(j.Local("told")["s1"]); got != "7" {
			t.Errorf("image %d: row = %q, want it with its batch", i, got)
		}
		wantSound(t, j)
		mustClose(t, j)
	}
}

func TestFolderCopiedToAnotherMachine(t *testing.T) {
	dir := t.TempDir()
	j := onDisk(t, dir, nil)
	mustAppend(t, j, opened("s1"))
	old := j.Stream()
	there := copyDir(t, dir)
	mustClose(t, j)

	j = onDisk(t, there, func(cfg *journal.Config) {
		cfg.Machine = "m2"
		goOn("s1")(cfg)
	})
	mustAppend(t, j, opened("s2"))
	if h := j.Health(); h.SecondUser() != "a second user of this key" || h.Run != 1 || !slices.Contains(h.SecondUsers, old) {
		t.Errorf("health there = %+v", h)
	}
	mustClose(t, j)

	j = onDisk(t, dir, goOn("s1")) // here it goes on
	mustAppend(t, j, opened("s3"))
	if h := j.Health(); h.SecondUser() != "" || h.Run != 2 {
		t.Errorf("health here = %+v", h)
	}
}

// damage changes one byte in the middle of what, which is in a segment once.
func damage(t *testing.T, dir string, what []byte) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.seg"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if at := bytes.Index(b, what); at >= 0 {
			b[at+len(what)/2] ^= 1
			if err := os.WriteFile(name, b, 0o600); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatal("the bytes are in no segment")
}

func TestFlippedByteCostsOneEvent(t *testing.T) {
	dir := t.TempDir()
	j := onDisk(t, dir, nil)
	var all []*event.Event
	for i := range 5 {
		all = append(all, mustAppend(t, j, opened(fmt.Sprintf("s%d", i))).Event)
	}
	mustClose(t, j)
	damage(t, dir, all[2].Raw)

	for range 2 { // the second time the damage is known
		j = onDisk(t, dir, goOn("s0", "s1", "s3", "s4"))
		wantSids(t, j, "s0", "s1", "s3", "s4")
		h := j.Health()
		if d := cmp.Diff([]journal.Range{{First: 4, Last: 4}}, h.Damaged[all[2].Stream]); d != "" || len(h.Damage) == 0 {
			t.Errorf("damaged (-want +got):\n%s\ndamage: %v", d, h.Damage)
		}
		r, err := j.Verify(t.Context())
		if err != nil || len(r.Findings) != 1 || r.Findings[0].Stream != all[2].Stream || r.Findings[0].Seq != 4 {
			t.Errorf("Verify = %+v, %v; want the lost event found", r, err)
		}
		mustClose(t, j)
	}

	j = onDisk(t, dir, goOn("s0"))
	e := mustAppend(t, j, opened("new")).Event
	if e.Stream == all[0].Stream || e.Lamport <= all[4].Lamport {
		t.Errorf("event after the damage = %s, stamp %d; want a new stream, stamped above %d", e.Key(), e.Lamport, all[4].Lamport)
	}
	mustClose(t, j)
	wantSids(t, onDisk(t, dir, nil), "s0", "s1", "s3", "s4", "new")
}

func TestFlippedByteInTheLastEventShowsItsStream(t *testing.T) {
	dir := t.TempDir()
	j := onDisk(t, dir, nil)
	mustAppend(t, j, opened("s1"))
	last := mustAppend(t, j, opened("s2")).Event
	mustClose(t, j)
	damage(t, dir, last.Raw)

	j = onDisk(t, dir, goOn("s1"))
	wantSids(t, j, "s1")
	h := j.Health()
	if from, ok := h.Suspects[last.Stream]; !ok || from != last.Seq || len(h.Damage) == 0 {
		t.Errorf("suspects = %v, damage %v; want the stream from %d on", h.Suspects, h.Damage, last.Seq)
	}
	if e := mustAppend(t, j, opened("s3")).Event; e.Lamport <= last.Lamport {
		t.Errorf("stamp %d was given out again", e.Lamport)
	}
}

// Whoever writes while the journal is closed is either acknowledged, and then
// it is on disk, or refused.
func TestClosingUnderLoad(t *testing.T) {
	dir := t.TempDir()
	j := onDisk(t, dir, nil)
	var mu sync.Mutex
	var acknowledged []event.Key
	var group sync.WaitGroup
	started := make(chan struct{}, 100)
	for w := range 16 {
		group.Go(func() {
			for i := 0; ; i++ {
				a, err := j.Append(t.Context(), opened(fmt.Sprintf("s%d.%d", w, i)))
				if errors.Is(err, journal.ErrClosed) {
					return
				}
				if err != nil {
					t.Errorf("Append: %v", err)
					return
				}
				mu.Lock()
				acknowledged = append(acknowledged, a.Event.Key())
				mu.Unlock()
				select {
				case started <- struct{}{}:
				default:
				}
			}
		})
	}
	for range 50 {
		<-started
	}
	mustClose(t, j)
	group.Wait()
	j = onDisk(t, dir, nil)
	held := keys(walk(t, j, "", 100))
	if len(held) != len(acknowledged)+1 {
		t.Errorf("%d events on disk, %d acknowledged and the run's first", len(held), len(acknowledged))
	}
	for _, k := range acknowledged {
		if !slices.Contains(held, k) {
			t.Errorf("%s was acknowledged and is lost", k)
		}
	}
}
