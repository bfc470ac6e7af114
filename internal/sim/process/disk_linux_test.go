package process_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/comity-dev/comity/api"
)

// onTmpfs puts the stage's state folder on a file system of its own, which ends
// with the test.
func onTmpfs(t *testing.T, size string) *stage {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can mount a small disk")
	}
	s := newStage(t, 1)
	if err := os.Mkdir(s.home, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("comity-test", s.home, "tmpfs", unix.MS_NODEV, "mode=0700,size="+size); err != nil {
		t.Skipf("a tmpfs cannot be mounted here: %v", err)
	}
	t.Cleanup(func() {
		s.stop()
		s.unmount(s.home)
	})
	return s
}

// unmount waits for the last moments of a daemon that has given up its lock.
func (s *stage) unmount(dir string) {
	s.Helper()
	var err error
	defer func() {
		if err != nil {
			s.Logf("unmount %s: %v", dir, err)
			_ = unix.Unmount(dir, unix.MNT_DETACH)
		}
	}()
	s.eventually(waitLong, "the mount is free", func() bool { err = unix.Unmount(dir, 0); return !errors.Is(err, unix.EBUSY) })
}

// remount waits, as unmount does.
func (s *stage) remount(flags uintptr) {
	s.Helper()
	var err error
	s.eventually(waitLong, "the mount is free", func() bool {
		err = unix.Mount("comity-test", s.home, "tmpfs", unix.MS_REMOUNT|flags, "")
		return !errors.Is(err, unix.EBUSY)
	})
	if err != nil {
		s.Fatalf("remount: %v", err)
	}
}

func TestReadOnlyStateFolder(t *testing.T) {
	t.Parallel()
	s := onTmpfs(t, "16m")
	s.open("s0")
	s.claim("s0", "a.go")
	want := s.events()
	s.halt()
	s.must("status") // lifts the hold: nothing could be lifted below
	s.endDaemon()
	s.remount(unix.MS_RDONLY)
	t.Cleanup(func() { s.remount(0) })

	for _, args := range [][]string{{"status"}, {"claim", "--session", "s0", "b.go"}, {"serve"}} {
		e := s.refused(1, api.CodeReadOnly, args...)
		s.mentions(e, s.home, "COMITY_HOME")
	}
	if rep, code := s.report("doctor"); code != 12 || check(rep, "home").State != api.CheckFail || check(rep, "home").Remedy == "" {
		t.Errorf("doctor: exit %d, %+v", code, rep)
	}

	s.remount(0)
	s.allIn(want, s.events())
	if got := s.holders()["path:a.go"]; got != "s0" {
		t.Errorf("a.go is held by %q, want s0", got)
	}
	s.goesOn("later")
}

// endDaemon ends the daemon with a signal, which leaves no hold.
func (s *stage) endDaemon() {
	s.Helper()
	info, ok := s.daemon()
	if !ok {
		return
	}
	if err := syscall.Kill(info.PID, syscall.SIGTERM); err != nil {
		s.Fatal(err)
	}
	s.eventually(waitLong, "the daemon ends after SIGTERM", func() bool { _, ok := s.daemon(); return !ok })
}

// A folder that others can read could have been changed by them.
func TestStateFolderOpenToOthers(t *testing.T) {
	t.Parallel()
	s := newStage(t, 1)
	s.open("s0")
	s.claim("s0", "a.go")
	s.halt()
	if err := os.Chmod(s.home, 0o755); err != nil {
		t.Fatal(err)
	}
	s.mentions(s.refused(13, api.CodeUnreachable, "status"), s.home, "chmod 700")
	if err := os.Chmod(s.home, 0o700); err != nil {
		t.Fatal(err)
	}
	if got := s.holders()["path:a.go"]; got != "s0" {
		t.Errorf("a.go is held by %q, want s0", got)
	}
}

// fill leaves no byte free on the state folder's disk, beside what is reserved
// there already, and returns what frees it again.
func (s *stage) fill() (free func()) {
	s.Helper()
	name := filepath.Join(s.home, "ballast")
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		s.Fatal(err)
	}
	defer f.Close()
	if _, err := io.Copy(f, zeros{}); !errors.Is(err, syscall.ENOSPC) {
		s.Fatalf("fill the disk: %v", err)
	}
	return func() {
		s.Helper()
		if err := os.Remove(name); err != nil {
			s.Fatal(err)
		}
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// tooMuch publishes handovers until the disk is full, and returns the events of
// those that were acknowledged.
func (s *stage) tooMuch(session string) (acknowledged []string) {
	s.Helper()
	body := filepath.Join(filepath.Dir(s.home), "body.md")
	for i := range 400 {
		s.write(body, fmt.Appendln(nil, i, strings.Repeat("what was done and what is left\n", 1000)), 0o600)
		r := s.run("handover", "publish", "--session", session, body, "--json")
		if r.code != 0 {
			e := s.refusal(r, 1, api.CodeDiskFull, []string{"handover", "publish"})
			s.mentions(e, "full", "free")
			return acknowledged
		}
		acknowledged = append(acknowledged, s.lastEvent())
	}
	s.Fatal("the disk takes everything")
	return nil
}

// claimUntilFull takes up what a refused handover did not need, and returns the
// path whose claim was refused.
func (s *stage) claimUntilFull(session string) string {
	s.Helper()
	for i := range 100 {
		path := fmt.Sprintf("c%d.go", i)
		if r := s.run("claim", "--session", session, path, "--json"); r.code != 0 {
			s.mentions(s.refusal(r, 1, api.CodeDiskFull, []string{"claim", path}), "full", "free")
			return path
		}
	}
	s.Fatal("the disk takes every claim")
	return ""
}

func (s *stage) lastEvent() string {
	s.Helper()
	all := s.log()
	return all[len(all)-1].Event
}

func TestFullDisk(t *testing.T) {
	t.Parallel()
	s := onTmpfs(t, "8m")
	s.open("s0", "s1", "s2")
	s.claim("s0", "a.go")
	s.claim("s1", "b.go")
	free := s.fill()
	acknowledged := s.tooMuch("s0")
	want := s.events()
	for _, e := range acknowledged {
		if want[e] != "handover_published" {
			t.Errorf("acknowledged %s is in the log as %q", e, want[e])
		}
	}

	// Refused is what takes room; reading, release and close go on.
	refused := s.claimUntilFull("s2")
	if got := s.holders(); got["path:a.go"] != "s0" || got["path:"+refused] != "" {
		t.Errorf("held: %v", got)
	}
	if rep, _ := s.report("doctor"); len(rep.Checks) == 0 {
		t.Error("doctor says nothing on a full disk")
	}
	s.must("release", "--session", "s0", "--all")
	s.must("session", "close", "--session", "s1")
	if got := s.holders(); got["path:a.go"] != "" || got["path:b.go"] != "" {
		t.Errorf("held after release and close: %v", got)
	}
	want = s.events()

	// A daemon that starts on the full disk has all of it, and can still release.
	s.endDaemon()
	s.allIn(want, s.events())
	if len(s.status().Sessions) != 2 {
		t.Errorf("sessions on a full disk: %+v", s.status().Sessions)
	}
	s.must("session", "close", "--session", "s2")
	want = s.events()

	free()
	s.eventually(waitLong, "the freed room is used", func() bool { return s.run("session", "open", "--session", "later", "--ttl", "1h").code == 0 })
	s.goesOn("later")
	s.claim("s0", "a.go")
	s.kill()
	s.allIn(want, s.events())
	if rep, code := s.report("verify"); code != 0 {
		t.Errorf("verify: exit %d, %+v", code, rep)
	}
	s.goesOn("latest")
}

// The very first start needs room for the key.
func TestFirstStartOnAFullDisk(t *testing.T) {
	t.Parallel()
	s := onTmpfs(t, "4m")
	free := s.fill()
	s.mentions(s.refused(1, api.CodeDiskFull, "status"), "full")
	free()
	if key, err := os.Stat(filepath.Join(s.home, "node.key")); err == nil && key.Size() == 0 {
		t.Error("an empty key was left behind")
	}
	s.open("s0")
}
