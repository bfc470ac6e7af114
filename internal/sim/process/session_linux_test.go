package process_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/comity-dev/comity/api"
)

// A process that is stopped is not dead: its session and its claims stay, also
// over a restart of the daemon. They end when it does.
func TestStoppedProcessKeepsItsSession(t *testing.T) {
	t.Parallel()
	s := newStage(t, 1)
	owner := exec.Command("sleep", "600")
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		owner.Process.Kill() // of our own making; it may have ended
		owner.Wait()
	})
	s.must("session", "open", "--session", "agent", "--pid", strconv.Itoa(owner.Process.Pid))
	s.claim("agent", "a.go")
	s.suspend(owner.Process.Pid)
	kept := func(when string) {
		t.Helper()
		if state, reason := s.state("agent"); state != api.SessionOpen {
			t.Errorf("%s the session is %s: %s", when, state, reason)
		}
		if got := s.holders()["path:a.go"]; got != "agent" {
			t.Errorf("%s a.go is held by %q", when, got)
		}
	}
	kept("while its process is stopped,")
	s.kill()
	kept("after a crash of the daemon,")
	s.halt()
	kept("after another daemon took over,")
	if err := owner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	owner.Wait()
	s.closedSoon("agent")
	if got := s.holders()["path:a.go"]; got != "" {
		t.Errorf("a.go is still held by %q", got)
	}
}

// A terminal is a shell in a pseudoterminal of its own.
type terminal struct {
	*player
	s *stage
}

func (s *stage) terminal() *terminal {
	s.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		s.Skipf("no pseudoterminal can be had here: %v", err)
	}
	s.Cleanup(func() { master.Close() })
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		s.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		s.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		s.Fatal(err)
	}
	defer slave.Close()
	cmd := s.playerCommand("shell", s.trees[0])
	cmd.ExtraFiles = []*os.File{slave}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 3}
	return &terminal{s.start(cmd), s}
}

// run runs the program in the terminal.
func (x *terminal) run(args ...string) result {
	x.s.Helper()
	var r printed
	if err := x.ask(args, &r); err != nil {
		x.s.Fatal(err)
	}
	return result{r.Out, r.Err, r.Code}
}

func (x *terminal) claim(path string) api.ClaimReply {
	x.s.Helper()
	r := x.run("claim", path, "--json")
	var reply api.ClaimReply
	if err := json.Unmarshal([]byte(r.out), &reply); err != nil || r.code != 0 {
		x.s.Fatalf("claim %s in a terminal: exit %d\n%s%s", path, r.code, r.out, r.err)
	}
	return reply
}

// The first command of a terminal opens its session and says so, later ones find
// it, another terminal has another, and it is closed when the process that leads
// the terminal ends.
func TestTerminalHasItsSession(t *testing.T) {
	t.Parallel()
	s := newStage(t, 1)
	x, y := s.terminal(), s.terminal()
	first := x.claim("a.go")
	if first.OpenedSession == "" || first.OpenedSession != first.Session {
		t.Errorf("the first command opened %q and claimed as %q", first.OpenedSession, first.Session)
	}
	if second := x.claim("b.go"); second.OpenedSession != "" || second.Session != first.Session {
		t.Errorf("the second command opened %q and claimed as %q, want %q", second.OpenedSession, second.Session, first.Session)
	}
	if r := y.run("claim", "c.go"); r.code != 0 || !strings.Contains(r.err, "opened session") {
		t.Errorf("the first command of another terminal: exit %d, %q", r.code, r.err)
	}
	if third := y.claim("d.go"); third.Session == first.Session {
		t.Error("two terminals have one session")
	}
	if r := y.run("claim", "a.go", "--json"); r.code != 10 {
		t.Errorf("a claim that meets the other terminal's: exit %d\n%s", r.code, r.out)
	}
	s.kill() // the terminal is still there after it
	if again := x.claim("e.go"); again.Session != first.Session || again.OpenedSession != "" {
		t.Errorf("after a restart of the daemon the terminal has session %q (opened %q), want %q", again.Session, again.OpenedSession, first.Session)
	}

	if err := x.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	x.Wait() // its exit is the kill's
	s.closedSoon(first.Session)
	held := s.holders()
	if held["path:a.go"] != "" || held["path:c.go"] == "" {
		t.Errorf("held after one terminal's end: %v", held)
	}
}
