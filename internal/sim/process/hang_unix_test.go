//go:build unix

package process_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/comity-dev/comity/api"
)

// suspend stops a process where it is, until resume or the end of the test.
func (s *stage) suspend(pid int) (resume func()) {
	s.Helper()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		s.Fatal(err)
	}
	resume = func() { _ = syscall.Kill(pid, syscall.SIGCONT) } // it may have ended meanwhile
	s.Cleanup(resume)
	return resume
}

// A daemon that hangs keeps nobody for ever: a call ends in time with the exit
// code of an unreachable daemon, doctor names the process, and no second daemon
// takes its place. When it goes on, everything goes on.
func TestHangingDaemon(t *testing.T) {
	t.Parallel()
	s := newStage(t, 1)
	s.open("s0")
	s.claim("s0", "a.go")
	want := s.events()
	info, _ := s.daemon()
	resume := s.suspend(info.PID)

	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := s.client().Claim(ctx, api.ClaimRequest{Where: api.Where{Dir: s.trees[0], Session: "s0"}, Scope: []string{"b.go"}})
	if e := api.AsError(err); !errors.Is(err, api.ErrUnreachable) || e.Code.Exit() != 13 || e.Hint == "" {
		t.Errorf("a call of a hanging daemon: %v", err)
	}
	began := time.Now()
	rep, code := s.report("doctor")
	c := check(rep, "socket")
	if code != 12 || c.State != api.CheckFail || !strings.Contains(c.Detail, fmt.Sprintf("pid %d", info.PID)) || c.Remedy == "" {
		t.Errorf("doctor: exit %d, %+v", code, c)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("doctor took %v", took)
	}
	s.mentions(s.refused(13, api.CodeUnreachable, "serve"), fmt.Sprintf("pid %d", info.PID))
	if long() {
		s.mentions(s.refused(13, api.CodeUnreachable, "status"), "in time", "comity doctor")
	}

	resume()
	s.allIn(want, s.events())
	if now, _ := s.daemon(); now.PID != info.PID {
		t.Errorf("pid %d serves, want %d", now.PID, info.PID)
	}
	s.goesOn("later")
}
