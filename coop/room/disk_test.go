package room_test

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/journal"
	"github.com/comity-dev/comity/internal/vfs"
	"github.com/comity-dev/comity/internal/vfs/vfstest"
)

// gated is a disk whose writes to the log and syncs the test lets through, one
// by one or all.
type gated struct {
	vfs.FS
	mu   sync.Mutex
	hold func(kind string) error // nil lets all through
}

func (g *gated) set(hold func(kind string) error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.hold = hold
}

func (g *gated) pass(kind string) error {
	g.mu.Lock()
	hold := g.hold
	g.mu.Unlock()
	if hold == nil {
		return nil
	}
	return hold(kind)
}

func (g *gated) Open(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := g.FS.Open(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &gatedFile{f, g}, nil
}

type gatedFile struct {
	vfs.File
	g *gated
}

func (f *gatedFile) WriteAt(p []byte, off int64) (int, error) {
	if err := f.g.pass("write"); err != nil {
		return 0, err
	}
	return f.File.WriteAt(p, off)
}

func (f *gatedFile) Sync() error {
	if err := f.g.pass("sync"); err != nil {
		return err
	}
	return f.File.Sync()
}

// shutGate stops every sync until it is opened, with what the syncs say then.
func (g *gated) shutGate() (open func(error)) {
	gate := make(chan struct{})
	var result error
	g.set(func(kind string) error {
		if kind != "sync" {
			return nil
		}
		<-gate
		return result
	})
	return func(err error) {
		result = err
		g.set(nil)
		close(gate)
	}
}

// What is written and not yet synced counts: of many that ask at once for scopes
// that meet, one wins, and the others are refused before the disk has answered.
func TestOneWinnerWhileTheDiskIsSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := &gated{FS: vfstest.New()}
		f := newFixtureOn(t, disk, nil)
		const all = 32
		actors := make([]string, all)
		for i := range all {
			actors[i] = fmt.Sprint("s", i)
			f.join(actors[i])
		}
		open := disk.shutGate()
		var mu sync.Mutex
		var won, lost []error
		for i, sid := range actors {
			go func() {
				_, err := f.Claim(t.Context(), actor(sid, "a"), api.ClaimRequest{Scope: []string{[]string{"src/", "src/a.go", "**/a.go", "src/*.go"}[i%4], fmt.Sprintf("own%d", i), "src/a.go"}})
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					won = append(won, err)
				} else {
					lost = append(lost, err)
				}
			}()
		}
		synctest.Wait()
		mu.Lock()
		if len(won) != 0 || len(lost) != all-1 {
			t.Errorf("with the disk stuck %d have won and %d lost, want 0 and %d", len(won), len(lost), all-1)
		}
		for _, err := range lost {
			if e := api.AsError(err); e.Code != api.CodeConflict || !e.Conflicts[0].Pending || !strings.Contains(e.Message, "just taken") {
				t.Errorf("refusal %v, %+v; want a conflict with a pending claim", err, e.Conflicts)
			}
		}
		mu.Unlock()
		for _, c := range f.status(actor("s0", "a")).Claims {
			t.Errorf("claim %+v is shown before it is on disk", c)
		}
		open(nil)
		synctest.Wait()
		if len(won) != 1 || len(f.status(actor("s0", "a")).Claims) != 1 {
			t.Errorf("%d have won, %d claims; want 1", len(won), len(f.status(actor("s0", "a")).Claims))
		}
	})
}

// A process that ends before the opening of its session is synced leaves no
// session that nothing would ever end.
func TestAProcessThatEndsWhileItsSessionIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := &gated{FS: vfstest.New()}
		f := newFixtureOn(t, disk, func(f *fixture) { f.live = true })
		f.join("ada") // the journal is begun
		open := disk.shutGate()
		done := make(chan error)
		go func() {
			_, err := f.SessionOpen(t.Context(), actor("", "a"), api.SessionOpenRequest{Name: "short"}, proc(7))
			done <- err
		}()
		synctest.Wait()
		f.procs.end(*proc(7))
		synctest.Wait()
		open(nil)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		f.wantSession("short", api.SessionClosed, "process_ended")
		f.wantSession("ada", api.SessionOpen, "")
	})
}

// A claim whose write found the disk full is taken out again, and who waited for
// it goes on.
func TestAFullDiskFreesWhatWasPending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := &gated{FS: vfstest.New()}
		f := newFixtureOn(t, disk, nil)
		ada, bob := f.join("ada"), f.join("bob")
		events := len(f.kinds())
		gate := make(chan struct{})
		var once sync.Once
		disk.set(func(kind string) (err error) {
			if kind == "write" {
				once.Do(func() { <-gate; err = vfstest.ENOSPC })
			}
			return err
		})
		first := f.wait(ada, 0, "src/")
		second := f.wait(bob, time.Hour, "src/")
		first.want(t, "waits")
		second.want(t, "waits")
		close(gate)
		synctest.Wait()
		if !first.done || !errors.Is(first.err, api.ErrDiskFull) {
			t.Errorf("ada: %v, want a full disk", first.err)
		}
		second.want(t, "has it")
		if n := len(f.kinds()); n != events+1 {
			t.Errorf("%d events more, want bob's claim", n-events)
		}
		if c := f.status(ada).Claims; len(c) != 1 || c[0].Session != "bob" || c[0].Standing != api.StandingHeld {
			t.Errorf("claims %+v; want bob's", c)
		}
	})
}

// full lets nothing grow: writes into what is there already still work.
func full(kind string) error {
	if kind == "write" {
		return vfstest.ENOSPC
	}
	return nil
}

func TestNothingIsAcknowledgedThatIsNotOnDisk(t *testing.T) {
	for name, tt := range map[string]struct {
		hold func(kind string) error
		code api.Code
		then api.Code // of the next write
	}{
		"full":          {full, api.CodeDiskFull, api.CodeDiskFull},
		"a failed sync": {func(kind string) error { return map[string]error{"sync": vfstest.EIO}[kind] }, api.CodePoisoned, api.CodeReadOnly},
	} {
		t.Run(name, func(t *testing.T) {
			disk := &gated{FS: vfstest.New()}
			f := newFixtureOn(t, disk, nil)
			ada := f.join("ada")
			held := f.claim(ada, "held.go")
			before := f.status(ada)
			disk.set(tt.hold)
			ops := map[string]func() error{
				"claim": func() error {
					_, err := f.Claim(t.Context(), ada, api.ClaimRequest{Scope: []string{"src/"}})
					return err
				},
				"renew": func() error {
					_, err := f.SessionRenew(t.Context(), ada, api.SessionRenewRequest{Intent: "x", TTLMS: 7000})
					return err
				},
				"open": func() error {
					_, err := f.SessionOpen(t.Context(), actor("", "a"), api.SessionOpenRequest{Name: "new"}, nil)
					return err
				},
				"publish": func() error {
					_, err := f.HandoverPublish(t.Context(), ada, api.HandoverPublishRequest{Body: "b"})
					return err
				},
				"request": func() error {
					_, err := f.ReviewRequest(t.Context(), ada, api.ReviewRequestRequest{Subject: "s"})
					return err
				},
			}
			wantCode(t, "claim", ops["claim"](), tt.code)
			for name, op := range ops {
				wantCode(t, name, op(), tt.then)
			}
			after := f.status(ada)
			if after.Digest != before.Digest || after.Events != before.Events || after.Sessions[0].Owner != before.Sessions[0].Owner || len(after.Sessions) != 1 {
				t.Errorf("state after = %+v, before = %+v; want the same", after, before)
			}
			if (f.Broken() != nil) != (tt.then == api.CodeReadOnly) || (after.ReadOnly != "") != (tt.then == api.CodeReadOnly) {
				t.Errorf("Broken() = %v, read-only %q", f.Broken(), after.ReadOnly)
			}
			check, err := f.Check(t.Context(), ada, api.CheckRequest{Paths: []string{"held.go"}})
			if err != nil || check.Verdict != api.CheckYours {
				t.Errorf("check meanwhile = %+v, %v; want that memory still serves", check, err)
			}
			disk.set(nil)
			f.reopen()
			if got := f.claim(ada, "held.go"); !got.Already || got.Claim.Claim != held.Claim.Claim {
				t.Errorf("after reopening %+v; want the claim of before", got)
			}
			f.claim(ada, "docs/")
		})
	}
}

// On a full disk what makes room for others still works.
func TestReleasesAndClosesOnAFullDisk(t *testing.T) {
	disk := vfstest.New()
	f := newFixtureOn(t, disk, nil)
	ada, bob := f.join("ada"), f.join("bob")
	f.claim(ada, "src/")
	f.claim(bob, "docs/")
	disk.Fail(vfstest.Fault{Forever: true, Err: vfstest.ENOSPC, Kinds: []string{"create"}})
	var err error
	for i := 0; err == nil; i++ { // until the log has no room left
		_, err = f.SessionRenew(t.Context(), ada, api.SessionRenewRequest{Intent: fmt.Sprint(i, strings.Repeat("x", 480))})
	}
	wantCode(t, "renew", err, api.CodeDiskFull)
	f.release(ada)
	if _, err := f.SessionClose(t.Context(), bob, api.SessionCloseRequest{}); err != nil {
		t.Errorf("close: %v", err)
	}
	if n := len(f.status(ada).Claims); n != 0 {
		t.Errorf("%d claims are left", n)
	}
}

// A session whose process ended is closed as soon as the disk takes it; till
// then nobody acts as it.
func TestACloseThatTheDiskRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := &gated{FS: vfstest.New()}
		f := newFixtureOn(t, disk, func(f *fixture) { f.live = true })
		f.openSession(actor("", "a"), api.SessionOpenRequest{Name: "ada"}, proc(1))
		ada := actor("ada", "a")
		f.claim(ada, "src/")
		disk.set(full)
		f.procs.end(*proc(1))
		synctest.Wait()
		f.wantSession("ada", api.SessionClosed, "process_ended")
		f.refused(ada, api.ClaimRequest{Scope: []string{"docs/"}}, api.ErrSessionClosed)
		disk.set(nil)
		bob := f.join("bob")
		f.refused(bob, api.ClaimRequest{Scope: []string{"src/"}}, api.ErrConflict) // not yet written
		f.clock.Advance(5 * time.Second)
		synctest.Wait()
		f.claim(bob, "src/")
		f.wantSession("ada", api.SessionClosed, "process_ended")
	})
}

func TestAJournalOfANewerFormatIsOnlyRead(t *testing.T) {
	f := newFixtureOn(t, vfstest.New(), nil)
	ada := f.join("ada")
	f.claim(ada, "src/")
	f.hearRecord(append([]byte{byte(journal.RecordEvent), 2}, make([]byte, 64)...))
	if f.Broken() == nil {
		t.Fatal("a newer record does not show")
	}
	_, err := f.Claim(t.Context(), ada, api.ClaimRequest{Scope: []string{"docs/"}})
	wantCode(t, "claim", err, api.CodeNewerFormat)
	if n := len(f.status(ada).Claims); n != 1 {
		t.Errorf("%d claims are shown, want 1", n)
	}
	if r := api.NewReport(f.Doctor()); r.OK {
		t.Error("doctor finds nothing")
	}
}
