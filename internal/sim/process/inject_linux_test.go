package process_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/comity-dev/comity/api"
)

// inject makes the kernel fail calls of the daemon, as strace says it: for
// instance "fdatasync:error=EIO:when=2", which counts in each thread for itself.
// The function returned ends that, and tells how many calls failed.
func (s *stage) inject(pid int, calls string) (end func() int) {
	s.Helper()
	strace, err := exec.LookPath("strace")
	if err != nil {
		s.Skip("there is no strace to make the kernel fail calls")
	}
	out := filepath.Join(filepath.Dir(s.home), "strace-"+strings.NewReplacer(":", "-", "=", "-").Replace(calls))
	name, _, _ := strings.Cut(calls, ":")
	cmd := exec.Command(strace, "-f", "-q", "-o", out, "-e", "trace="+name, "-e", "inject="+calls, "-p", strconv.Itoa(pid))
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		s.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		cmd.Wait() // how it ends tells nothing: it is interrupted
	}()
	interrupt := func() {
		_ = cmd.Process.Signal(syscall.SIGINT) // it lets go of the daemon; it may have ended
		<-ended
	}
	s.Cleanup(interrupt)
	gone := func() bool {
		select {
		case <-ended:
			return true
		default:
			return false
		}
	}
	s.eventually(waitLong, "strace has the daemon", func() bool { return gone() || traced(pid) })
	if gone() {
		s.Skipf("strace may not look at a process here: %s", &errs)
	}
	return func() int {
		interrupt()
		return s.injected()
	}
}

// injected counts the calls that were made to fail.
func (s *stage) injected() (n int) {
	s.Helper()
	traces, err := filepath.Glob(filepath.Join(filepath.Dir(s.home), "strace-*"))
	if err != nil {
		s.Fatal(err)
	}
	for _, trace := range traces {
		n += bytes.Count(read(s.TB, trace), []byte("INJECTED)"))
	}
	return n
}

// traced tells whether every thread of a process is traced.
func traced(pid int) bool {
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	if err != nil || len(tasks) == 0 {
		return false
	}
	for _, task := range tasks {
		b, err := os.ReadFile(task)
		if err != nil || bytes.Contains(b, []byte("TracerPid:\t0\n")) {
			return false
		}
	}
	return true
}

// The kernel fails calls of the real daemon. What was acknowledged is there
// afterwards, once; what was not is reported, and may be asked for again; after
// each failure the next commands work.
func TestInjectedDiskErrors(t *testing.T) {
	for _, calls := range []string{
		"fdatasync:error=EIO:when=1",
		"fdatasync:error=EIO:when=3",
		"fdatasync:error=EIO:when=2+3",
		"pwrite64:error=ENOSPC:when=1",
		"pwrite64:error=ENOSPC:when=2",
		"pwrite64:error=EIO:when=2",
	} {
		t.Run(calls, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, 1)
			s.open("s0", "s1")
			acknowledged := map[string]string{}
			for i := range 3 {
				acknowledged[s.claim("s0", fmt.Sprintf("before%d.go", i))] = "claim_acquired"
			}
			s.must("session", "open", "--session", "s2", "--pid", strconv.Itoa(os.Getpid()))
			info, _ := s.daemon()
			files := descriptors(t, info.PID)
			end := s.inject(info.PID, calls)
			failures := 0
			for i := range 12 {
				// A claim that failed is asked for again: it is there once then.
				claim, failed := s.untilAcknowledged(acknowledged, "claim", "--session", "s0", fmt.Sprintf("file%d.go", i))
				failures += failed
				if i%4 == 3 {
					_, failed := s.untilAcknowledged(acknowledged, "release", "--session", "s0", claim)
					failures += failed
				}
			}
			injected := end()
			t.Logf("%d calls failed, %d commands", injected, failures)
			if injected == 0 {
				t.Error("no call failed: the test shows nothing")
			}
			if injected > 0 && failures == 0 && strings.HasPrefix(calls, "fdatasync") {
				t.Error("calls failed and every command was acknowledged")
			}
			if now, _ := s.daemon(); now.PID != info.PID {
				t.Errorf("the daemon, pid %d, did not outlive it", info.PID)
			}
			s.afterErrors(acknowledged)
			s.eventually(waitLong, "a journal that was opened anew leaves no file open", func() bool { return descriptors(t, info.PID) <= files })
			s.kill()
			s.afterErrors(acknowledged)
			s.goesOn("later")
		})
	}
}

// descriptors counts the open files of a process, beside one for each segment of
// a log.
func descriptors(t *testing.T, pid int) int {
	t.Helper()
	links, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil {
		t.Fatal(err)
	}
	n, segments := 0, map[string]bool{}
	for _, link := range links {
		name, err := os.Readlink(link)
		switch {
		case err != nil: // closed meanwhile
		case strings.HasSuffix(name, ".seg") && !segments[name]:
			segments[name] = true
		default:
			n++
		}
	}
	return n
}

// A disk that fails for good acknowledges nothing, and says so each time; what
// was acknowledged before is there when it works again.
func TestDiskThatFailsForGood(t *testing.T) {
	t.Parallel()
	s := newStage(t, 1)
	s.open("s0")
	s.claim("s0", "a.go")
	want := s.events()
	info, _ := s.daemon()
	files := descriptors(t, info.PID)
	end := s.inject(info.PID, "fdatasync,fsync:error=EIO")
	for i := range 5 {
		args := []string{"claim", "--session", "s0", fmt.Sprintf("b%d.go", i), "--json"}
		var f api.Failure
		r := s.run(args...)
		if err := json.Unmarshal([]byte(r.out), &f); err != nil || f.Error == nil || r.code != 1 || f.Error.Hint == "" {
			t.Errorf("comity %v: exit %d: %s%s", args, r.code, r.out, r.err)
		}
	}
	if end() == 0 {
		t.Error("no call failed: the test shows nothing")
	}
	s.allIn(want, s.events())
	if got := s.holders()["path:a.go"]; got != "s0" {
		t.Errorf("a.go is held by %q, want s0", got)
	}
	s.goesOn("later")
	s.eventually(waitLong, "failed openings leave no file open", func() bool { return descriptors(t, info.PID) <= files })
}

// untilAcknowledged repeats a command that the disk refused, and returns the claim
// that it made and how often it was refused.
func (s *stage) untilAcknowledged(acknowledged map[string]string, args ...string) (claim string, failed int) {
	s.Helper()
	for ; failed < 20; failed++ {
		r := s.run(append(args, "--json")...)
		if r.code == 0 {
			return s.take(acknowledged, r.out), failed
		}
		var f api.Failure
		if err := json.Unmarshal([]byte(r.out), &f); err != nil || f.Error == nil {
			s.Fatalf("comity %v: exit %d: %q, %q", args, r.code, r.out, r.err)
		}
		if r.code != 1 || f.Error.Hint == "" {
			s.Errorf("comity %v: exit %d, %s: %s (hint %q)", args, r.code, f.Error.Code, f.Error.Message, f.Error.Hint)
		}
		switch f.Error.Code {
		case api.CodePoisoned, api.CodeDiskFull, api.CodeReadOnly, api.CodeInternal:
		default:
			s.Errorf("comity %v: code %s: %s", args, f.Error.Code, f.Error.Message)
		}
	}
	s.Fatalf("comity %v is refused for ever", args)
	return "", failed
}

// take notes the events that a reply acknowledges, and returns its claim.
func (s *stage) take(acknowledged map[string]string, out string) (claim string) {
	s.Helper()
	var reply struct {
		Event  string
		Claim  string
		Events []api.Written
	}
	if err := json.Unmarshal([]byte(out), &reply); err != nil {
		s.Fatal(err)
	}
	if reply.Event != "" {
		acknowledged[reply.Event] = "claim_acquired"
	}
	if reply.Claim != "" { // also of one that was found held already
		acknowledged[reply.Claim] = "claim_acquired"
	}
	for _, w := range reply.Events {
		acknowledged[w.Event] = "claim_released"
	}
	return reply.Claim
}

func (s *stage) afterErrors(acknowledged map[string]string) {
	s.Helper()
	s.allIn(acknowledged, s.events())
	held := map[string]int{}
	for _, c := range s.status().Claims {
		if c.Standing == api.StandingHeld && c.Session == "s0" {
			held[strings.Join(c.Scope, " ")]++
		}
	}
	for i := range 12 {
		want := 1
		if i%4 == 3 {
			want = 0
		}
		if n := held[fmt.Sprintf("path:file%d.go", i)]; n != want {
			s.Errorf("file%d.go is held %d times, want %d", i, n, want)
		}
	}
	if rep, code := s.report("verify"); code != 0 {
		s.Errorf("verify: exit %d, %+v", code, rep)
	}
}

// A claim that waits goes on waiting when a disk error has the journal opened
// anew under it.
func TestWaitSurvivesADiskError(t *testing.T) {
	t.Parallel()
	s := newStage(t, 1)
	s.open("s0", "s1", "s2")
	s.claim("s0", "a.go")
	w := s.wait("s1", "a.go", "1m")
	info, _ := s.daemon()
	// The failed call returns so late that no other can fail.
	end := s.inject(info.PID, "fdatasync:error=EIO:delay_exit=60000000")
	failing := s.inBackground(s.command(s.trees[0], nil, "claim", "--session", "s2", "b.go"))
	s.eventually(waitLong, "the disk is asked", func() bool { return s.injected() > 0 })
	end()
	if r := <-failing; r.code != 1 {
		t.Errorf("a claim on the failing disk: exit %d\n%s", r.code, r.err)
	}
	s.claim("s2", "c.go")
	s.queued(1)
	s.stillWaits(w)
	s.must("release", "--session", "s0", "--all")
	if got := s.granted(w); got.Session != "s1" {
		t.Errorf("granted to %s", got.Session)
	}
}
