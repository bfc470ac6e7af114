package process_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/comity-dev/comity/api"
)

// wait queues a claim in a process of its own, and returns once it has its place.
func (s *stage) wait(session, path, d string) *waiter {
	s.Helper()
	before := len(s.waits())
	cmd := s.command(s.trees[0], nil, "claim", "--session", session, path, "--wait", d, "--json")
	w := &waiter{done: s.inBackground(cmd), kill: func() {
		if err := cmd.Process.Kill(); err != nil {
			s.Fatal(err)
		}
	}}
	s.eventually(waitLong, session+" waits for "+path, func() bool { return len(s.waits()) > before })
	return w
}

type waiter struct {
	done <-chan result
	kill func()
}

// granted is the claim that a wait ended with.
func (s *stage) granted(w *waiter) (reply api.ClaimReply) {
	s.Helper()
	r := s.ended(w)
	if err := json.Unmarshal([]byte(r.out), &reply); r.code != 0 || err != nil || reply.Standing != api.StandingHeld {
		s.Fatalf("a wait ended with exit %d\n%s%s", r.code, r.out, r.err)
	}
	return reply
}

func (s *stage) ended(w *waiter) (r result) {
	s.Helper()
	select {
	case r = <-w.done:
	case <-time.After(3 * waitLong):
		s.Fatal("a wait does not end")
	}
	return r
}

func (s *stage) stillWaits(w *waiter) {
	s.Helper()
	select {
	case r := <-w.done:
		s.Errorf("a wait has ended: exit %d\n%s%s", r.code, r.out, r.err)
	default:
	}
}

func (s *stage) queued(n int) {
	s.Helper()
	s.eventually(waitLong, fmt.Sprintf("%d claims are in the queue", n), func() bool { return len(s.waits()) == n })
}

func TestWaitsAreGrantedInTheOrderOfArrival(t *testing.T) {
	t.Parallel()
	s := newStage(t, 1)
	s.open("s0", "s1", "s2", "s3", "s4")
	s.claim("s0", "src/")
	waiters := map[string]*waiter{}
	for i, path := range []string{"src/", "src/a.go", "."} { // of which every two meet
		name := fmt.Sprintf("s%d", i+1)
		waiters[name] = s.wait(name, path, "1m")
	}
	// One who comes later may not overtake, though it does not meet the holder's.
	if e := s.refused(10, api.CodeConflict, "claim", "--session", "s4", "docs/"); len(e.Conflicts) != 1 || e.Conflicts[0].Session != "s3" {
		t.Errorf("a claim that meets one in the queue: %+v", e)
	}
	holder := "s0"
	for _, next := range []string{"s1", "s2", "s3"} {
		s.must("release", "--session", holder, "--all")
		if got := s.granted(waiters[next]); got.Session != next || got.WaitedMS <= 0 {
			t.Errorf("granted: %+v, want to %s", got, next)
		}
		delete(waiters, next)
		for _, w := range waiters {
			s.stillWaits(w)
		}
		holder = next
	}
	s.queued(0)
}

func TestCycleOfWaitsIsRefusedAndNamed(t *testing.T) {
	t.Parallel()
	s := newStage(t, 1)
	s.open("s0", "s1", "s2")
	for i := range 3 {
		s.claim(fmt.Sprintf("s%d", i), fmt.Sprintf("%d.go", i))
	}
	first := s.wait("s0", "1.go", "1m")
	second := s.wait("s1", "2.go", "1m")
	e := s.refused(10, api.CodeCycle, "claim", "--session", "s2", "0.go", "--wait", "1m")
	s.mentions(e, "s2 waits for s0 waits for s1 waits for s2", "release")
	s.queued(2)
	s.must("release", "--session", "s2", "--all") // the way out that the hint names
	s.granted(second)
	s.stillWaits(first)
	s.must("release", "--session", "s1", "--all")
	s.granted(first)
}

func TestWaitRunsOut(t *testing.T) {
	t.Parallel()
	s := newStage(t, 1)
	s.open("s0", "s1")
	s.claim("s0", "a.go")
	e := s.refused(10, api.CodeWaitedOut, "claim", "--session", "s1", "a.go", "--wait", "100ms")
	s.mentions(e, "100ms", "s0")
	if len(e.Conflicts) != 1 || e.Conflicts[0].Session != "s0" {
		t.Errorf("conflicts: %+v", e.Conflicts)
	}
	s.queued(0)
	if got := s.holders()["path:a.go"]; got != "s0" {
		t.Errorf("a.go is held by %q", got)
	}
}

// Who waits and is killed is out of the queue at once; the one behind is next.
func TestKilledWaiterLeavesTheQueue(t *testing.T) {
	t.Parallel()
	s := newStage(t, 1)
	s.open("s0", "s1", "s2")
	s.claim("s0", "a.go")
	first := s.wait("s1", "a.go", "1m")
	second := s.wait("s2", "a.go", "1m")
	first.kill()
	s.queued(1)
	s.must("release", "--session", "s0", "--all")
	if got := s.granted(second); got.Session != "s2" {
		t.Errorf("granted to %s, want s2", got.Session)
	}
	if got := s.holders()["path:a.go"]; got != "s2" {
		t.Errorf("a.go is held by %q, want s2", got)
	}
}

// A wait is not lost with the daemon: its client takes a place at the next one.
func TestWaitSurvivesCrashesOfTheDaemon(t *testing.T) {
	t.Parallel()
	s := newStage(t, 1)
	s.open("s0", "s1")
	s.claim("s0", "a.go")
	w := s.wait("s1", "a.go", "1m")
	for range 3 {
		before, _ := s.daemon()
		s.kill()
		s.queued(1)
		if now, _ := s.daemon(); now.PID == before.PID {
			t.Fatal("the daemon was not killed")
		}
		s.stillWaits(w)
	}
	s.must("release", "--session", "s0", "--all")
	if got := s.granted(w); got.Session != "s1" {
		t.Errorf("granted to %s", got.Session)
	}
	if n := len(s.claimsOf("s1")); n != 1 {
		t.Errorf("s1 holds %d claims, want 1", n)
	}
}

func (s *stage) claimsOf(session string) (claims []string) {
	s.Helper()
	for _, c := range s.status().Claims {
		if c.Session == session {
			claims = append(claims, c.Claim)
		}
	}
	return claims
}

// The time that was waited at one daemon counts at the next.
func TestCrashDoesNotProlongAWait(t *testing.T) {
	t.Parallel()
	s := newStage(t, 1)
	s.open("s0", "s1")
	s.claim("s0", "a.go")
	began := time.Now()
	w := s.wait("s1", "a.go", "5s")
	s.eventually(waitLong, "most of five seconds are over", func() bool {
		waits := s.waits()
		return len(waits) == 1 && waits[0].AgeMS >= 3500
	})
	s.kill()
	s.refusal(s.ended(w), 10, api.CodeWaitedOut, []string{"claim", "--wait"})
	if took := time.Since(began); took < 5*time.Second || took >= 8*time.Second {
		t.Errorf("a wait of 5s took %v", took)
	}
}

// A person who stops the daemon ends the waits too: they are told, and nothing is
// started again behind that person's back.
func TestStopEndsWaits(t *testing.T) {
	t.Parallel()
	s := newStage(t, 1)
	s.open("s0", "s1")
	s.claim("s0", "a.go")
	w := s.wait("s1", "a.go", "1m")
	s.halt()
	s.mentions(s.refusal(s.ended(w), 13, api.CodeHeld, []string{"claim", "--wait"}), "stopped by a person")
	if info, runs := s.daemon(); runs {
		t.Errorf("daemon pid %d was started", info.PID)
	}
	if got := s.holders()["path:a.go"]; got != "s0" {
		t.Errorf("a.go is held by %q", got)
	}
}

// A wait ends with its session, whoever closes that.
func TestWaitEndsWithItsSession(t *testing.T) {
	t.Parallel()
	s := newStage(t, 1)
	s.open("s0", "s1")
	s.claim("s0", "a.go")
	w := s.wait("s1", "a.go", "1m")
	s.must("session", "close", "--session", "s1")
	s.refusal(s.ended(w), 10, api.CodeSessionClosed, []string{"claim", "--wait"})
	s.queued(0)
	s.must("release", "--session", "s0", "--all")
	if got := s.holders(); len(got) != 0 {
		t.Errorf("held: %v", got)
	}
}

// Who follows the log over crashes of the daemon is told every event once, in
// order.
func TestFollowingTheLogSurvivesCrashes(t *testing.T) {
	t.Parallel()
	s := newStage(t, 1)
	s.open("s0")
	cmd := s.command(s.trees[0], nil, "log", "--follow", "--json")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill() // of our own making
		cmd.Wait()
	})
	told := json.NewDecoder(out)
	next := func() (e api.LogEvent) {
		t.Helper()
		if err := told.Decode(&e); err != nil {
			t.Fatalf("the log is followed no more: %v", err)
		}
		return e
	}
	var got []string
	for round := range 4 {
		last := s.claim("s0", fmt.Sprintf("file%d.go", round))
		for len(got) == 0 || got[len(got)-1] != last {
			got = append(got, next().Event)
		}
		s.kill()
	}
	var want []string
	for _, e := range s.log() {
		want = append(want, e.Event)
	}
	want = want[:len(got)] // a run that began since is told later
	if !slices.Equal(got, want) {
		t.Errorf("told %v\nthe log has %v", got, want)
	}
}
