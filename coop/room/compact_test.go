package room_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/journal"
	"github.com/comity-dev/comity/internal/vfs/vfstest"
)

// check is one row of the doctor.
func (f *fixture) check(name string) api.Check {
	f.Helper()
	for _, c := range f.Doctor() {
		if c.Name == name {
			return c
		}
	}
	f.Fatalf("doctor has no row %q", name)
	return api.Check{}
}

func (f *fixture) wantCheck(name, state string, says ...string) {
	f.Helper()
	c := f.check(name)
	if c.State != state {
		f.Errorf("%s: %+v, want it %s", name, c, state)
	}
	for _, s := range says {
		if !strings.Contains(c.Detail, s) {
			f.Errorf("%s: %q does not say %q", name, c.Detail, s)
		}
	}
	if (c.Impact == "" || c.Remedy == "") && state != api.CheckOK {
		f.Errorf("%s: %+v, want an impact and a remedy", name, c)
	}
}

// ended is a room whose first run has many events, nothing of which stands, and one
// session of a process whose claim does.
func ended(t *testing.T, disk *vfstest.Disk, events int) *fixture {
	f := newFixtureOn(t, disk, func(f *fixture) { f.cfg.Journal.Limits.Events = events })
	f.join("old")
	for i := range 10 {
		f.claim(actor("old", "a"), fmt.Sprint("f", i))
	}
	f.release(actor("old", "a"))
	if _, err := f.SessionClose(t.Context(), actor("old", "a"), api.SessionCloseRequest{}); err != nil {
		t.Fatal(err)
	}
	f.live = true
	f.reopen()
	f.openSession(actor("", "a"), api.SessionOpenRequest{Name: "ada"}, proc(1))
	f.claim(actor("ada", "a"), "src/")
	return f
}

// What ended runs wrote is dropped when there is too much, and only then; what
// stands is not touched, and doctor says that the log is shorter.
func TestCompaction(t *testing.T) {
	for _, limit := range []int{0, 24, 23} { // 22 events of the ended run, 3 of this one
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				disk := vfstest.New()
				f := ended(t, disk, limit)
				before := len(f.kinds())
				f.wantCheck("compaction", api.CheckOK, "nothing was dropped")
				f.pass(15 * time.Minute)
				if n := len(f.kinds()); n != before {
					t.Errorf("%d of %d events are left while the run may be heard of", n, before)
				}
				f.pass(10 * time.Minute)
				drops := limit != 0 && before > limit
				if n := len(f.kinds()); drops != (n < before) || drops && n > 5 {
					t.Errorf("%d of %d events are left with a limit of %d", n, before, limit)
				}
				if st := f.status(actor("ada", "a")); st.Dropped > 0 != drops || st.Compacted != uint64(before-len(f.kinds())) {
					t.Errorf("status says that %d streams and %d events were dropped", st.Dropped, st.Compacted)
				}
				if drops {
					f.wantCheck("compaction", api.CheckOK, "1 stream of runs that have ended was dropped", "comity log no longer shows them")
				} else {
					f.wantCheck("compaction", api.CheckOK, "nothing was dropped")
				}
				f.reopen()
				st := f.status(actor("ada", "a"))
				if len(st.Claims) != 1 || st.Claims[0].Standing != api.StandingHeld || len(st.Sessions) != 1 {
					t.Errorf("after it %+v and %+v stand, want ada's claim and session", st.Claims, st.Sessions)
				}
				if drops {
					f.wantCheck("compaction", api.CheckOK, "1 stream of runs that have ended was dropped")
				}
			})
		})
	}
}

// A disk that is full is left alone until it has taken something again.
func TestNoCompactionOnAFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := vfstest.New()
		f := ended(t, disk, 20)
		ada := actor("ada", "a")
		disk.Fail(vfstest.Fault{Forever: true, Err: vfstest.ENOSPC, Kinds: []string{"create"}})
		var err error
		for i := 0; err == nil; i++ { // until the log has no room left
			_, err = f.SessionRenew(t.Context(), ada, api.SessionRenewRequest{Intent: fmt.Sprint(i, strings.Repeat("x", 480))})
		}
		wantCode(t, "renew", err, api.CodeDiskFull)
		f.release(ada) // by the reserve, which says nothing of the room that there is
		wrote := disk.Changes()
		f.pass(time.Hour)
		if n := disk.Changes() - wrote; n != 0 {
			t.Errorf("%d changes on a full disk, want none", n)
		}
		f.wantCheck("compaction", api.CheckWarn, "disk is full")
		before := len(f.kinds())

		disk.Repair()
		f.claim(ada, "lib/")
		f.pass(10 * time.Minute)
		f.wantCheck("compaction", api.CheckOK, "1 stream")
		if n := len(f.kinds()); n >= before {
			t.Errorf("%d of %d events are left", n, before)
		}
	})
}

// A compaction that finds no room for what it writes is the doctor's to tell, and
// nobody else's. It is tried again once the disk has taken something.
func TestCompactionThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := vfstest.New()
		f := ended(t, disk, 20)
		ada := actor("ada", "a")
		disk.Fail(vfstest.Fault{Forever: true, Err: vfstest.ENOSPC, Kinds: []string{"create"}})
		f.pass(20 * time.Minute)
		f.wantCheck("compaction", api.CheckWarn, "failed", "rewrite the log")
		f.wantCheck("journal", api.CheckOK)
		for i := range 5 {
			f.claim(ada, fmt.Sprint("g", i))
			f.pass(5 * time.Minute)
			f.wantCheck("compaction", api.CheckWarn, "failed")
		}
		disk.Repair()
		f.claim(ada, "h")
		f.pass(6 * time.Minute)
		f.wantCheck("compaction", api.CheckOK, "1 stream")
		f.reopen()
		if n := f.session("ada").Claims; n != 7 {
			t.Errorf("ada has %d claims, want 7", n)
		}
	})
}

// A journal that is only read is left as it is.
func TestNoCompactionOfANewerJournal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := vfstest.New()
		f := ended(t, disk, 20)
		f.hearRecord(append([]byte{byte(journal.RecordEvent), 2}, make([]byte, 64)...))
		wrote := disk.Changes()
		f.pass(time.Hour)
		if n := disk.Changes() - wrote; n != 0 {
			t.Errorf("%d changes, want none", n)
		}
		f.wantCheck("compaction", api.CheckOK, "nothing was dropped")
	})
}

// After an error of the disk the log takes nothing until it is opened again, as after
// any other write that failed. Who waits is sent there, and nothing is lost.
func TestCompactionThatBreaksTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := vfstest.New()
		f := ended(t, disk, 20)
		w := f.wait(f.join("bob"), 24*time.Hour, "src/a.go")
		disk.Fail(vfstest.Fault{Forever: true, Err: vfstest.EIO, Kinds: []string{"create"}})
		f.pass(10 * time.Minute)
		w.want(t, "waits")
		f.pass(10 * time.Minute)
		f.wantCheck("compaction", api.CheckWarn, "failed")
		if f.Broken() == nil {
			t.Fatal("the log goes on after an error of the disk")
		}
		w.want(t, "waits")
		wrote := disk.Changes()
		f.pass(time.Hour)
		if n := disk.Changes() - wrote; n != 0 {
			t.Errorf("%d changes at a journal that takes nothing, want none", n)
		}
		disk.Repair()
		f.reopen() // the next command does
		synctest.Wait()
		wantCode(t, "bob's wait", w.err, api.CodeStopping)
		f.claim(actor("ada", "a"), "lib/")
		f.pass(30 * time.Minute)
		f.wantCheck("compaction", api.CheckOK, "1 stream")
		if n := f.session("ada").Claims; n != 2 {
			t.Errorf("ada has %d claims, want 2", n)
		}
	})
}
