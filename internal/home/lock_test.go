package home_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/comity-dev/comity/internal/home"
	"github.com/comity-dev/comity/internal/proc"
	"github.com/comity-dev/comity/internal/vfs"
)

func prepared(t *testing.T) home.Home {
	t.Helper()
	h := home.Home{Dir: folder(t, 0o700)}
	h.Socket = filepath.Join(h.Dir, "daemon.sock")
	if err := h.Prepare(vfs.OS()); err != nil {
		t.Fatal(err)
	}
	return h
}

func lock(t *testing.T, h home.Home, info home.Info) *home.Lock {
	t.Helper()
	l, err := h.Lock(vfs.OS(), info)
	if err != nil {
		t.Fatalf("Lock: %v", err)
	}
	return l
}

func wantRunning(t *testing.T, h home.Home, want bool) home.Info {
	t.Helper()
	info, running, err := h.Running()
	if err != nil || running != want {
		t.Fatalf("Running = %+v, %v, %v, want %v", info, running, err, want)
	}
	return info
}

func TestLockSaysWhoHoldsIt(t *testing.T) {
	h := prepared(t)
	wantRunning(t, h, false)
	l := lock(t, h, home.Info{PID: 1, Build: "build 1", Socket: "/s", API: 1})
	self, err := proc.Self()
	if err != nil {
		t.Fatal(err)
	}
	want := home.Info{PID: self.PID, Start: self.Start, Boot: self.Boot, Build: "build 1", Socket: "/s", API: 1}
	if got := wantRunning(t, h, true); got != want {
		t.Errorf("Running = %+v, want %+v", got, want)
	}

	_, err = h.Lock(vfs.OS(), home.Info{Build: "build 2"})
	var e *home.LockedError
	if !errors.As(err, &e) || e.Info != want || !errors.Is(err, vfs.ErrLocked) {
		t.Errorf("second Lock = %v, want a LockedError with %+v", err, want)
	}
	if err != nil && !strings.Contains(err.Error(), "pid "+strconv.Itoa(self.PID)) {
		t.Errorf("second Lock says %q, without the pid of the first", err)
	}
	if got := wantRunning(t, h, true); got != want {
		t.Errorf("Running after a refused Lock = %+v, want %+v", got, want)
	}

	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	wantRunning(t, h, false)
	if _, err := os.Stat(filepath.Join(h.Dir, "daemon.json")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("daemon.json after a clean stop: %v", err)
	}
	lock(t, h, home.Info{}).Close()
}

// A daemon that closes twice must not take away what the next one says.
func TestCloseAgainLeavesTheNextHolderAlone(t *testing.T) {
	h := prepared(t)
	first := lock(t, h, home.Info{Build: "first"})
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	next := lock(t, h, home.Info{Build: "next"})
	defer next.Close()
	if err := first.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	if got := wantRunning(t, h, true); got.Build != "next" {
		t.Errorf("Running = %+v, want the next holder", got)
	}
}

func TestLockSweepsWhatACrashLeft(t *testing.T) {
	h := prepared(t)
	left := []string{"daemon.json.0a.tmp", "settings.json.0b.tmp", "machine.0c.tmp", "node.key.0e.tmp"}
	kept := []string{"held.0d.tmp", "node.key", "daemon.log", "settings.json", "mine.tmp"} // others write them, or we do
	for _, name := range append(left, kept...) {
		if err := os.WriteFile(filepath.Join(h.Dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	defer lock(t, h, home.Info{}).Close()
	for _, name := range left {
		if _, err := os.Stat(filepath.Join(h.Dir, name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is still there: %v", name, err)
		}
	}
	for _, name := range kept {
		if _, err := os.Stat(filepath.Join(h.Dir, name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNobodyRunsWithoutAFolder(t *testing.T) {
	h := home.Home{Dir: filepath.Join(t.TempDir(), "none")}
	wantRunning(t, h, false)
	if _, err := os.Stat(h.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Running made the folder: %v", err)
	}
}

// A daemon that was killed leaves its info; it is no holder, and the next
// daemon does not wait for it.
func TestKilledDaemonIsNoHolder(t *testing.T) {
	h := prepared(t)
	d := startDaemon(t, h)
	killed := wantRunning(t, h, true)
	if killed.PID != d.Process.Pid {
		t.Errorf("Running names pid %d, want %d", killed.PID, d.Process.Pid)
	}
	var e *home.LockedError
	if _, err := h.Lock(vfs.OS(), home.Info{}); !errors.As(err, &e) || e.Info.PID != d.Process.Pid {
		t.Errorf("Lock = %v, want a LockedError with pid %d", err, d.Process.Pid)
	}

	d.Process.Kill()
	d.Wait()
	if _, err := os.Stat(filepath.Join(h.Dir, "daemon.json")); err != nil {
		t.Fatalf("the killed daemon left no info, so this test shows nothing: %v", err)
	}
	wantRunning(t, h, false)
	l := lock(t, h, home.Info{Build: "next"})
	defer l.Close()
	if got := wantRunning(t, h, true); got.PID != os.Getpid() || got.Build != "next" {
		t.Errorf("Running = %+v, want the next daemon", got)
	}
}

// While the lock is held, what lies beside it may still be from an earlier
// holder, or damaged: then the holder has not said who it is.
func TestInfoOfAnotherIsNotBelieved(t *testing.T) {
	h := prepared(t)
	l := lock(t, h, home.Info{Build: "b"})
	defer l.Close()
	mine := wantRunning(t, h, true)
	reused := mine
	reused.Start += "1" // the same pid, another process
	earlier := mine
	earlier.Boot = "an earlier boot"
	for _, tt := range []struct{ name, text string }{
		{"half", text(t, mine)[:20]},
		{"empty", ""},
		{"no JSON", "pid 4711"},
		{"no pid", "{}"},
		{"pid used again", text(t, reused)},
		{"before a reboot", text(t, earlier)},
		{"too large", text(t, mine) + strings.Repeat(" ", 64<<10)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := os.WriteFile(filepath.Join(h.Dir, "daemon.json"), []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := wantRunning(t, h, true); got != (home.Info{}) {
				t.Errorf("Running = %+v, want nothing about the holder", got)
			}
		})
	}
	_, err := h.Lock(vfs.OS(), home.Info{})
	var e *home.LockedError
	if !errors.As(err, &e) || e.Info != (home.Info{}) || !strings.Contains(err.Error(), "does not say who it is") {
		t.Errorf("Lock = %v, want a LockedError without a holder", err)
	}
}

func text(t *testing.T, info home.Info) string {
	t.Helper()
	b, err := json.Marshal(info)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Clients look all the time. They must neither keep a daemon from its lock nor
// ever read half of what it says.
func TestLookingDoesNotDisturb(t *testing.T) {
	h := prepared(t)
	want := home.Info{Build: strings.Repeat("b", 2000), Socket: "/s", API: 1}
	var stop atomic.Bool
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for !stop.Load() {
				info, _, err := h.Running()
				if err != nil {
					t.Errorf("Running: %v", err)
					return
				}
				if info != (home.Info{}) && (info.Build != want.Build || info.PID != os.Getpid() || info.API != 1) {
					t.Errorf("Running = pid %d, build of %d bytes", info.PID, len(info.Build))
					return
				}
			}
		})
	}
	for range 30 {
		l, err := h.Lock(vfs.OS(), want)
		if err != nil {
			t.Errorf("Lock: %v", err)
			break
		}
		if err := l.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	stop.Store(true)
	wg.Wait()
}

// Two who look must not take each other for a daemon.
func TestWhoLooksFindsNobodyElseWhoLooks(t *testing.T) {
	h := prepared(t)
	lock(t, h, home.Info{}).Close() // the lock file is there
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 500 {
				if info, running, err := h.Running(); err != nil || running {
					t.Errorf("Running = %+v, %v, %v, and nobody holds the lock", info, running, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestHold(t *testing.T) {
	h := prepared(t)
	for _, want := range []bool{false, false, true, true, false} {
		if err := h.SetHeld(want); err != nil {
			t.Fatalf("SetHeld(%v): %v", want, err)
		}
		if got, err := h.Held(); err != nil || got != want {
			t.Errorf("Held = %v, %v, want %v", got, err, want)
		}
	}
	none := home.Home{Dir: filepath.Join(h.Dir, "none")}
	if got, err := none.Held(); err != nil || got {
		t.Errorf("Held without a folder = %v, %v, want false", got, err)
	}
	if err := none.SetHeld(false); err != nil {
		t.Errorf("SetHeld(false) without a folder: %v", err)
	}
	if err := none.SetHeld(true); err == nil {
		t.Error("SetHeld(true) without a folder = nil, and nothing is held")
	}
}
