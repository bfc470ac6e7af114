package node

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/journal"
	"github.com/comity-dev/comity/internal/clock"
	"github.com/comity-dev/comity/internal/vfs"
	"github.com/comity-dev/comity/internal/vfs/vfstest"
)

// A failing disk refuses its syncs while it is told to.
type failing struct {
	vfs.FS
	mu    sync.Mutex
	fails bool
}

func (f *failing) set(fails bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fails = fails
}

func (f *failing) Open(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	file, err := f.FS.Open(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &failingFile{file, f}, nil
}

type failingFile struct {
	vfs.File
	disk *failing
}

func (f *failingFile) Sync() error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if f.disk.fails {
		return vfstest.EIO
	}
	return f.File.Sync()
}

// A disk that failed once costs the write that it failed, and nothing else: the
// next command opens the journal anew, and who waits goes on waiting there.
func TestARoomThatTheDiskBrokeIsOpenedAnew(t *testing.T) {
	top := newRepo(t)
	synctest.Test(t, func(t *testing.T) {
		disk := &failing{FS: vfstest.New()}
		n := newTestNode(t, clock.InBubble("boot"), disk)
		claim := func(session, scope string, wait time.Duration) (api.ClaimReply, error) {
			return call[api.ClaimReply](t, n, nobody, api.OpClaim, api.ClaimRequest{
				Where: api.Where{Dir: top, Session: session}, Scope: []string{scope}, WaitMS: wait.Milliseconds(),
			})
		}
		openSession(t, n, top, "ada")
		openSession(t, n, top, "bob")
		held, err := claim("ada", "src/", 0)
		if err != nil {
			t.Fatal(err)
		}
		first, err := n.rooms.get(t.Context(), mustFind(t, n, top).repo)
		if err != nil {
			t.Fatal(err)
		}
		type result struct {
			rep api.ClaimReply
			err error
		}
		bob := make(chan result, 1)
		go func() {
			rep, err := claim("bob", "src/x.go", time.Hour)
			bob <- result{rep, err}
		}()
		synctest.Wait()

		disk.set(true)
		if _, err := claim("ada", "docs/", 0); !errors.Is(err, api.ErrPoisoned) {
			t.Fatalf("claim on a failing disk = %v, want that it is not known whether it is stored", err)
		}
		disk.set(false)
		again, err := claim("ada", "src/", 0)
		if err != nil || !again.Already || again.Claim.Claim != held.Claim.Claim {
			t.Errorf("claim of what was held before = %+v, %v; want that claim", again, err)
		}
		second, err := n.rooms.get(t.Context(), mustFind(t, n, top).repo)
		if err != nil || second == first || first.Broken() == nil || second.Broken() != nil {
			t.Errorf("the room was not opened anew: %v", err)
		}
		synctest.Wait()
		select {
		case r := <-bob:
			t.Fatalf("bob's wait ended with %+v, %v; want that it goes on", r.rep, r.err)
		default:
		}
		if _, err := call[api.ReleaseReply](t, n, nobody, api.OpRelease, api.ReleaseRequest{Where: api.Where{Dir: top, Session: "ada"}, Claims: []string{"src/"}}); err != nil {
			t.Fatal(err)
		}
		if r := <-bob; r.err != nil || r.rep.Claim.Session != "bob" {
			t.Errorf("bob's claim = %+v, %v; want it once ada has released", r.rep, r.err)
		}
		n.rooms.stop()
	})
}

// While the disk stays broken each command is answered, and none is acknowledged.
func TestARoomThatCannotBeOpenedSaysSo(t *testing.T) {
	top := newRepo(t)
	disk := &failing{FS: vfstest.New(), fails: true}
	n := newTestNode(t, newClock(), disk)
	for range 3 {
		if _, err := call[api.SessionOpenReply](t, n, nobody, api.OpSessionOpen, api.SessionOpenRequest{Where: api.Where{Dir: top}, Name: "ada"}); err == nil {
			t.Fatal("a session was opened on a disk that does not sync")
		}
	}
	disk.set(false)
	openSession(t, n, top, "ada")
}

// A disk that takes what opening writes and nothing after it: the journal is not
// opened again and again for as long as its caller waits.
func TestARoomThatStopsAgainEachTimeSaysSo(t *testing.T) {
	top := newRepo(t)
	disk := &failing{FS: vfstest.New()}
	n := newTestNode(t, newClock(), disk)
	openSession(t, n, top, "ada")
	opened, open := 0, n.openJournal
	n.openJournal = func(ctx context.Context, cfg journal.Config) (*journal.Journal, error) {
		opened++
		if opened > 100 {
			t.Fatal("the journal is opened for ever")
		}
		disk.set(false)
		defer disk.set(true)
		return open(ctx, cfg)
	}
	disk.set(true)
	renew := func() error {
		_, err := call[api.SessionOpenReply](t, n, nobody, api.OpSessionRenew, api.SessionRenewRequest{Where: api.Where{Dir: top, Session: "ada"}, Intent: "x"})
		return err
	}
	if err := renew(); !errors.Is(err, api.ErrPoisoned) {
		t.Fatalf("the write that breaks the journal = %v", err)
	}
	if err := renew(); err == nil || errors.Is(err, api.ErrStopping) {
		t.Errorf("while the disk is broken = %v, want what is wrong with it", err)
	}
	n.openJournal = open
	disk.set(false)
	if err := renew(); err != nil {
		t.Errorf("once the disk works: %v", err)
	}
}

func TestNoRoomIsOpenedAfterTheStop(t *testing.T) {
	top := newRepo(t)
	n := newTestNode(t, newClock(), vfstest.New())
	openSession(t, n, top, "ada")
	n.rooms.stop()
	if _, err := n.rooms.get(context.Background(), mustFind(t, n, top).repo); !errors.Is(err, api.ErrStopping) {
		t.Errorf("get after the stop = %v, want that the daemon is stopping", err)
	}
}
