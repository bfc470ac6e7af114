package process_test

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/comity-dev/comity/api"
)

// BenchmarkFiftyIdleSessions is what a daemon with 50 attached sessions that do
// nothing takes of a machine in a minute: the processor's time in percent of one
// core, and the times that it wrote. Run it with -benchtime 3x: it lasts three minutes, and tells of the last.
func BenchmarkFiftyIdleSessions(b *testing.B) {
	const sessions, watch = 50, time.Minute
	s := newStage(b, 1)
	c := s.client()
	for i := range sessions {
		owner := exec.Command("sleep", "3600")
		if err := owner.Start(); err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() {
			owner.Process.Kill() // of our own making
			owner.Wait()
		})
		name := fmt.Sprint("idle", i)
		where := api.Where{Dir: s.trees[0], Session: name}
		if _, err := c.SessionOpen(b.Context(), api.SessionOpenRequest{Where: where, Name: name, PID: owner.Process.Pid}); err != nil {
			b.Fatal(err)
		}
		if _, err := c.Claim(b.Context(), api.ClaimRequest{Where: where, Scope: []string{name + ".go"}, Literal: true}); err != nil {
			b.Fatal(err)
		}
	}
	info, _ := s.daemon()
	for b.Loop() {
		before, wrote := s.usedBy(info.PID), s.writesOf(info.PID)
		began := time.Now()
		<-time.After(watch)
		after := s.usedBy(info.PID)
		b.ReportMetric(100*(after-before).Seconds()/time.Since(began).Seconds(), "%-of-a-core")
		b.ReportMetric(float64(s.writesOf(info.PID)-wrote), "KiB-written")
	}
}

// usedBy is the processor's time that a process took, of the program and of the
// system, in ticks of a hundredth of a second.
func (s *stage) usedBy(pid int) time.Duration {
	s.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		s.Fatal(err)
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(after)
	user, err1 := strconv.Atoi(fields[11])
	system, err2 := strconv.Atoi(fields[12])
	if err1 != nil || err2 != nil {
		s.Fatal(err1, err2)
	}
	return time.Duration(user+system) * 10 * time.Millisecond
}

// writesOf is how much a process caused to be written to disk, in KiB.
func (s *stage) writesOf(pid int) int {
	s.Helper()
	io, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid))
	if err != nil {
		s.Fatal(err)
	}
	for line := range strings.Lines(string(io)) {
		if n, ok := strings.CutPrefix(line, "write_bytes: "); ok {
			bytes, err := strconv.Atoi(strings.TrimSpace(n))
			if err != nil {
				s.Fatal(err)
			}
			return bytes / 1024
		}
	}
	s.Fatal("no write_bytes")
	return 0
}
