package journal_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/journal"
	"github.com/comity-dev/comity/internal/vfs"
	"github.com/comity-dev/comity/internal/vfs/vfstest"
)

// wantImage holds which way a journal was opened.
func wantImage(t testing.TB, j *journal.Journal, want journal.ImageUse) {
	t.Helper()
	if got := j.Health().Image; got != want {
		t.Errorf("image %s, want %s", got, want)
	}
}

// An image serves one start, and each clean stop leaves another one.
func TestCleanStopLeavesAnImageForOneStart(t *testing.T) {
	dir := t.TempDir()
	j := onDisk(t, dir, nil)
	wantImage(t, j, journal.ImageNone)
	mustAppend(t, j, opened("s1"))
	want, all := digest(j), keys(walk(t, j, "", 3))
	mustClose(t, j)
	for range 3 {
		killed := copyDir(t, dir)
		j = onDisk(t, dir, nil)
		wantImage(t, j, journal.ImageTaken)
		if _, err := os.Stat(filepath.Join(dir, "image")); err == nil {
			t.Error("the image is there while the journal is open")
		}
		if got := keys(walk(t, j, "", 3)); digest(j) != want || !slices.Equal(got, all) {
			t.Errorf("it has %v, want %v", got, all)
		}
		wantSound(t, j)
		dead := onDisk(t, copyDir(t, dir), nil) // as after a kill
		wantImage(t, dead, journal.ImageNone)
		if digest(dead) != want {
			t.Error("the state differs without an image")
		}
		mustClose(t, j)
		for range 2 { // the same image comes back, after the log went on
			j = onDisk(t, killed, nil)
			mustAppend(t, j, opened("more"))
			before := digest(j)
			mustClose(t, j)
			image, err := os.ReadFile(filepath.Join(dir, "image"))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(killed, "image"), image, 0o600); err != nil {
				t.Fatal(err)
			}
			j = onDisk(t, killed, nil)
			wantImage(t, j, journal.ImageOtherLog)
			if digest(j) != before {
				t.Error("an old image hid an event")
			}
			mustClose(t, j)
		}
	}
}

func TestJournalInMemoryHasNoImage(t *testing.T) {
	j := inMemory(t, nil)
	mustAppend(t, j, opened("s1"))
	wantImage(t, j, journal.ImageNone)
	mustClose(t, j)
}

// Every byte of the log is read though there is an image, and what is damaged is told.
func TestDamageIsFoundThoughThereIsAnImage(t *testing.T) {
	dir := t.TempDir()
	j := onDisk(t, dir, nil)
	var all []*event.Event
	for i := range 5 {
		all = append(all, mustAppend(t, j, opened(fmt.Sprintf("s%d", i))).Event)
	}
	mustClose(t, j)
	whole := copyDir(t, dir)
	for _, e := range all {
		dir := copyDir(t, whole)
		damage(t, dir, e.Raw)
		j := onDisk(t, dir, nil)
		wantImage(t, j, journal.ImageDamagedLog)
		if h := j.Health(); len(h.Damage) == 0 || h.Reloaded != 5 {
			t.Errorf("event %d: health = %+v", e.Seq, h)
		}
		mustClose(t, j)
		j = onDisk(t, dir, nil)
		wantImage(t, j, journal.ImageNone) // what has damage leaves none
		mustClose(t, j)
	}
}

// imageLife is a disk on which a journal was closed, opened, gone on with and closed;
// it returns the keys that were acknowledged.
func imageLife(t *testing.T, fsys vfs.FS) (acknowledged []event.Key) {
	for run := range 3 {
		j, err := openOn(t, fsys)
		if err != nil {
			return acknowledged
		}
		for i := range 2 {
			a, err := j.Append(t.Context(), opened(fmt.Sprintf("s%d.%d", run, i)))
			if err == nil {
				acknowledged = append(acknowledged, a.Event.Key())
			}
		}
		j.Close(t.Context())
	}
	return acknowledged
}

// wantWhole opens what a disk has been left with, and holds that all is there, and
// the same by the image as without it.
func wantWhole(t *testing.T, what string, d *vfstest.Disk, acknowledged []event.Key) {
	t.Helper()
	without := d.Clone()
	without.Remove("/journal/image")
	j, err := openOn(t, d)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	defer mustClose(t, j)
	k, err := openOn(t, without)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	defer mustClose(t, k)
	got, want := keys(walk(t, j, "", 100)), keys(walk(t, k, "", 100))
	if digest(j) != digest(k) || !slices.Equal(got, want) {
		t.Errorf("%s: with the image (%s) it has %v, without %v", what, j.Health().Image, got, want)
	}
	for _, key := range acknowledged {
		if !slices.Contains(got, key) {
			t.Errorf("%s: %s is lost", what, key)
		}
	}
}

// The power goes, or an operation fails, at each step of closing and opening: what was
// acknowledged is there, and no half image counts.
func TestImageAtEachOperationOfTheDisk(t *testing.T) {
	whole := vfstest.New()
	whole.Trace = true
	imageLife(t, whole)
	n := whole.Ops()
	random := rand.New(rand.NewPCG(5, 6))
	for at := range n {
		d := vfstest.New()
		d.PowerOff(at)
		all := imageLife(t, d)
		for try := range 3 {
			wantWhole(t, fmt.Sprintf("power off at %d, state %d", at, try), d.Crash(random.IntN), all)
		}
		d = vfstest.New()
		d.Fail(vfstest.Fault{At: at, Err: vfstest.EIO, Kept: at%2 == 0})
		all = imageLife(t, d)
		wantWhole(t, fmt.Sprintf("error at %d", at), d.Kill(), all)
		if t.Failed() {
			t.Fatalf("of %s", whole.Log()[at])
		}
	}
}

// That the image cannot be written, for want of room or whatever else, is no failure of
// closing, and leaves nothing behind that counts.
func TestImageThatCannotBeWrittenFailsNothing(t *testing.T) {
	plain := vfstest.New()
	plain.Trace = true
	j, err := openOn(t, plain)
	if err != nil {
		t.Fatal(err)
	}
	mustAppend(t, j, opened("s1"))
	before := plain.Ops()
	mustClose(t, j)
	tried := 0
	for at, line := range plain.Log() {
		if at < before || !strings.Contains(line, "/journal/image") {
			continue
		}
		for _, f := range []vfstest.Fault{
			{At: at, Err: vfstest.ENOSPC, Short: true}, {At: at, Err: vfstest.EIO}, {At: at, Err: vfstest.EIO, Kept: true},
		} {
			tried++
			d := vfstest.New()
			j, err := openOn(t, d)
			if err != nil {
				t.Fatal(err)
			}
			a := mustAppend(t, j, opened("s1"))
			d.Fail(f)
			if err := j.Close(t.Context()); err != nil {
				t.Errorf("%s failed: Close = %v", line, err)
			}
			wantWhole(t, line+" failed", d.Kill(), []event.Key{a.Event.Key()})
		}
	}
	if tried < 3*4 { // create, write, sync, rename
		t.Errorf("the image is written in %d operations", tried/3)
	}
}

// On a full disk there is no image, and closing and opening go on without.
func TestFullDiskLeavesNoImage(t *testing.T) {
	d := vfstest.New()
	j, err := openOn(t, d)
	if err != nil {
		t.Fatal(err)
	}
	a := mustAppend(t, j, opened("s1"))
	d.Fail(vfstest.Fault{At: d.Ops(), Forever: true, Err: vfstest.ENOSPC, Kinds: []string{"create"}})
	mustClose(t, j)
	killed := d.Kill()
	if _, err := killed.Stat("/journal/image"); err == nil {
		t.Error("there is an image")
	}
	wantWhole(t, "full", killed, []event.Key{a.Event.Key()})
}
