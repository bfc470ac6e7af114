package proc_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/comity-dev/comity/internal/proc"
)

// The test binary is also the processes that the tests look at: roleEnv says
// which one it is to be.
const roleEnv = "PROC_TEST_ROLE"

func TestMain(m *testing.M) {
	switch role := os.Getenv(roleEnv); role {
	case "":
		os.Exit(m.Run())
	case "wait":
		fmt.Println("up")
		io.Copy(io.Discard, os.Stdin)
	case "parent":
		runParent()
	default:
		runRole(role)
	}
}

// runParent starts a waiting child, prints its pid, and ends with its input.
func runParent() {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleEnv+"=wait")
	in, err := cmd.StdinPipe()
	if err != nil {
		panic(err)
	}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	fmt.Println(cmd.Process.Pid)
	io.Copy(io.Discard, os.Stdin)
	in.Close()
	cmd.Wait()
}

// deadline bounds waits that a right implementation ends at once.
const deadline = 20 * time.Second

type child struct {
	*exec.Cmd
	stdin io.Closer
	line  string // the first line it printed
}

func start(t *testing.T, exe, role string) *child {
	t.Helper()
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), roleEnv+"="+role)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // a second Wait is harmless
		in.Close()
		cmd.Process.Kill()
		cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("child %s says %q, %v", role, line, err)
	}
	return &child{Cmd: cmd, stdin: in, line: strings.TrimSpace(line)}
}

func identity(t *testing.T, pid int) proc.ID {
	t.Helper()
	id, err := proc.Of(pid)
	if err != nil {
		t.Fatalf("Of(%d): %v", pid, err)
	}
	return id
}

func wantAlive(t *testing.T, id proc.ID, want bool) {
	t.Helper()
	if got, err := id.Alive(); err != nil || got != want {
		t.Errorf("%+v.Alive() = %v, %v, want %v", id, got, err, want)
	}
}

func ended(t *testing.T, w *proc.Watcher) {
	t.Helper()
	select {
	case <-w.Done():
	case <-time.After(deadline):
		t.Fatal("the process has ended and Done is still open")
	}
}

func stillOpen(t *testing.T, w *proc.Watcher) {
	t.Helper()
	select {
	case <-w.Done():
		t.Error("Done is closed and the process has not ended")
	default:
	}
}

func watch(t *testing.T, id proc.ID) *proc.Watcher {
	t.Helper()
	w, err := proc.Watch(id)
	if err != nil {
		t.Fatalf("Watch(%+v): %v", id, err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

func TestSelfIsTheProcessOfItsPid(t *testing.T) {
	self, err := proc.Self()
	if err != nil {
		t.Fatal(err)
	}
	if again := identity(t, os.Getpid()); again != self {
		t.Errorf("Of(getpid) = %+v, Self = %+v, want the same", again, self)
	}
	wantAlive(t, self, true)
}

func TestProcessesStartedApartDiffer(t *testing.T) {
	a, b := start(t, os.Args[0], "wait"), start(t, os.Args[0], "wait")
	ida, idb := identity(t, a.Process.Pid), identity(t, b.Process.Pid)
	if ida == idb {
		t.Errorf("two processes have one identity %+v", ida)
	}
	if ida.Boot != idb.Boot {
		t.Errorf("two processes of one boot have boots %q and %q", ida.Boot, idb.Boot)
	}
}

// A pid that was handed out again, or that was noted before a reboot, is
// another process, for Alive as for Watch.
func TestSamePidIsNotTheSameProcess(t *testing.T) {
	c := start(t, os.Args[0], "wait")
	id := identity(t, c.Process.Pid)
	for _, tt := range []struct {
		name  string
		other proc.ID
	}{
		{"started at another time", proc.ID{PID: id.PID, Start: id.Start + "1", Boot: id.Boot}},
		{"in another boot", proc.ID{PID: id.PID, Start: id.Start, Boot: "0" + id.Boot}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			wantAlive(t, tt.other, false)
			ended(t, watch(t, tt.other))
		})
	}
	wantAlive(t, id, true)
	stillOpen(t, watch(t, id))
}

func TestIncompleteIdentityIsAnErrorAndNotAnEnd(t *testing.T) {
	self, err := proc.Self()
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []proc.ID{
		{},
		{Start: self.Start, Boot: self.Boot},
		{PID: self.PID, Boot: self.Boot},
		{PID: self.PID, Start: self.Start},
		{PID: -1, Start: self.Start, Boot: self.Boot},
	} {
		if alive, err := id.Alive(); !errors.Is(err, proc.ErrIncomplete) {
			t.Errorf("%+v.Alive() = %v, %v, want ErrIncomplete", id, alive, err)
		}
		if _, err := proc.Watch(id); !errors.Is(err, proc.ErrIncomplete) {
			t.Errorf("Watch(%+v) = %v, want ErrIncomplete", id, err)
		}
	}
}

func TestPidOfNobodyIsGone(t *testing.T) {
	c := start(t, os.Args[0], "wait")
	c.Process.Kill()
	c.Wait()
	for _, pid := range []int{c.Process.Pid, 0, -1, -c.Process.Pid, 1<<31 - 1} {
		if id, err := proc.Of(pid); !errors.Is(err, proc.ErrGone) {
			t.Errorf("Of(%d) = %+v, %v, want ErrGone", pid, id, err)
		}
		if _, err := proc.Parent(pid); !errors.Is(err, proc.ErrGone) {
			t.Errorf("Parent(%d) = %v, want ErrGone", pid, err)
		}
		if _, err := proc.Ancestors(pid); !errors.Is(err, proc.ErrGone) {
			t.Errorf("Ancestors(%d) = %v, want ErrGone", pid, err)
		}
		if _, err := proc.Name(pid); !errors.Is(err, proc.ErrGone) {
			t.Errorf("Name(%d) = %v, want ErrGone", pid, err)
		}
		if _, _, err := proc.Terminal(pid); !errors.Is(err, proc.ErrGone) {
			t.Errorf("Terminal(%d) = %v, want ErrGone", pid, err)
		}
	}
}

// The parent of a killed child that was not reaped keeps the pid busy; the
// process has ended all the same.
func TestZombieIsGone(t *testing.T) {
	c := start(t, os.Args[0], "wait")
	id := identity(t, c.Process.Pid)
	w := watch(t, id)
	stillOpen(t, w)
	c.Process.Kill() // and no Wait
	ended(t, w)
	wantAlive(t, id, false)
	if got, err := proc.Of(id.PID); !errors.Is(err, proc.ErrGone) {
		t.Errorf("Of(zombie) = %+v, %v, want ErrGone", got, err)
	}
	ended(t, watch(t, id))
}

func TestEndIsWatched(t *testing.T) {
	for _, tt := range []struct {
		name string
		end  func(*child)
	}{
		{"killed", func(c *child) { c.Process.Kill() }},
		{"returned", func(c *child) { c.stdin.Close() }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := start(t, os.Args[0], "wait")
			id := identity(t, c.Process.Pid)
			first, second := watch(t, id), watch(t, id)
			stillOpen(t, first)
			tt.end(c)
			ended(t, first)
			ended(t, second)
			c.Wait()
			wantAlive(t, id, false)
		})
	}
}

func TestCloseIsNoEnd(t *testing.T) {
	c := start(t, os.Args[0], "wait")
	w := watch(t, identity(t, c.Process.Pid))
	for range 3 {
		if err := w.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	c.Process.Kill()
	c.Wait()
	stillOpen(t, w) // the goroutine that could close it has returned
}

// Close from several goroutines while the process ends.
func TestCloseRacesWithTheEnd(t *testing.T) {
	c := start(t, os.Args[0], "wait")
	id := identity(t, c.Process.Pid)
	var all []*proc.Watcher
	for range 20 {
		all = append(all, watch(t, id))
	}
	closed := make(chan struct{})
	for _, w := range all {
		for range 2 {
			go func() { w.Close(); closed <- struct{}{} }()
		}
	}
	c.Process.Kill()
	for range 2 * len(all) {
		<-closed
	}
}

func TestAncestorsLeadToTheCaller(t *testing.T) {
	p := start(t, os.Args[0], "parent")
	var grandchild int
	if _, err := fmt.Sscan(p.line, &grandchild); err != nil {
		t.Fatalf("parent says %q: %v", p.line, err)
	}
	if got, err := proc.Parent(grandchild); err != nil || got != p.Process.Pid {
		t.Errorf("Parent(grandchild) = %d, %v, want %d", got, err, p.Process.Pid)
	}
	line, err := proc.Ancestors(grandchild)
	if err != nil {
		t.Fatal(err)
	}
	want := []proc.ID{identity(t, p.Process.Pid), identity(t, os.Getpid())}
	if len(line) < 2 || line[0] != want[0] || line[1] != want[1] {
		t.Errorf("Ancestors(grandchild) = %+v, want it to begin with %+v", line, want)
	}
	for i, id := range line {
		if id.PID == grandchild {
			t.Errorf("Ancestors(grandchild)[%d] is the grandchild itself", i)
		}
	}
}

func TestNameIsTheProgram(t *testing.T) {
	for _, name := range []string{"short", "a program with a very long name", "odd) S 1 (name"} {
		t.Run(name, func(t *testing.T) {
			if runtime.GOOS == "windows" {
				name += ".exe"
			}
			exe := filepath.Join(t.TempDir(), name)
			copyProgram(t, exe)
			c := start(t, exe, "wait")
			want := strings.TrimSuffix(name, ".exe")
			if got, err := proc.Name(c.Process.Pid); err != nil || got != want {
				t.Errorf("Name = %q, %v, want %q", got, err, want)
			}
			wantAlive(t, identity(t, c.Process.Pid), true)
			if got, err := proc.Parent(c.Process.Pid); err != nil || got != os.Getpid() {
				t.Errorf("Parent = %d, %v, want %d", got, err, os.Getpid())
			}
		})
	}
}

func copyProgram(t *testing.T, to string) {
	t.Helper()
	if err := os.Link(os.Args[0], to); err == nil {
		return
	}
	b, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, b, 0o700); err != nil {
		t.Fatal(err)
	}
}

func BenchmarkAlive(b *testing.B) {
	self, err := proc.Self()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if alive, err := self.Alive(); !alive || err != nil {
			b.Fatal(alive, err)
		}
	}
}

func BenchmarkAncestors(b *testing.B) {
	for b.Loop() {
		if _, err := proc.Ancestors(os.Getpid()); err != nil {
			b.Fatal(err)
		}
	}
}
