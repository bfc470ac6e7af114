package proc_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/comity-dev/comity/internal/proc"
)

func runRole(role string) {
	switch role {
	case "headless":
		runHeadless()
	case "renamed":
		// What prctl sets may hold anything, also what looks like the fields that follow.
		name, _ := unix.ByteSliceFromString("x) Z 1\n2 (y) R ")
		runtime.LockOSThread()
		if err := os.WriteFile("/proc/self/comm", name[:len(name)-1], 0); err != nil {
			panic(err)
		}
		fmt.Println("up")
		io.Copy(io.Discard, os.Stdin)
	default:
		panic("unknown role " + role)
	}
}

// init locks the main goroutine to the process's first thread, which is the
// one that runHeadless has to end.
func init() {
	if os.Getenv(roleEnv) == "headless" {
		runtime.LockOSThread()
	}
}

// runHeadless ends the first thread of the process and goes on in others.
func runHeadless() {
	go func() {
		for firstThreadRuns() {
			runtime.Gosched()
		}
		fmt.Println("up")
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	syscall.RawSyscall(syscall.SYS_EXIT, 0, 0, 0)
}

func firstThreadRuns() bool {
	b, err := os.ReadFile("/proc/self/task/" + strconv.Itoa(os.Getpid()) + "/status")
	if err != nil {
		panic(err)
	}
	return !containsLine(b, "State:\tZ")
}

func containsLine(b []byte, prefix string) bool {
	for i := 0; i+len(prefix) <= len(b); i++ {
		if (i == 0 || b[i-1] == '\n') && string(b[i:i+len(prefix)]) == prefix {
			return true
		}
	}
	return false
}

// A process whose first thread has returned is shown as a zombie, and works.
func TestProcessWithoutItsFirstThreadIsAlive(t *testing.T) {
	c := start(t, os.Args[0], "headless")
	id := identity(t, c.Process.Pid)
	wantAlive(t, id, true)
	w := watch(t, id)
	stillOpen(t, w)
	c.stdin.Close()
	ended(t, w)
	wantAlive(t, id, false)
}

func TestNameThatLooksLikeFields(t *testing.T) {
	c := start(t, os.Args[0], "renamed")
	wantAlive(t, identity(t, c.Process.Pid), true)
	if got, err := proc.Parent(c.Process.Pid); err != nil || got != os.Getpid() {
		t.Errorf("Parent = %d, %v, want %d", got, err, os.Getpid())
	}
	if got, err := proc.Name(c.Process.Pid); err != nil || got != "x) Z 1\n2 (y) R " {
		t.Errorf("Name = %q, %v", got, err)
	}
}

func TestTerminalIsTheLeaderOfItsSession(t *testing.T) {
	tty := openTerminal(t)
	// setsid makes the shell the leader; what it starts shares the terminal.
	sh := exec.Command("/bin/sh", "-c", `"$0" & echo $!; wait`, os.Args[0])
	sh.Env = append(os.Environ(), roleEnv+"=wait")
	sh.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
	sh.Stdin = tty
	out, err := sh.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := sh.Start(); err != nil {
		t.Fatal(err)
	}
	var below int
	_, err = fmt.Fscan(out, &below)
	t.Cleanup(func() { // the shell first: its end leaves the child, whose pid stays ours to kill
		syscall.Kill(below, syscall.SIGKILL)
		sh.Process.Kill()
		sh.Wait()
	})
	if err != nil {
		t.Fatal(err)
	}
	want := identity(t, sh.Process.Pid)
	for _, pid := range []int{sh.Process.Pid, below} {
		if got, ok, err := proc.Terminal(pid); err != nil || !ok || got != want {
			t.Errorf("Terminal(%d) = %+v, %v, %v, want %+v", pid, got, ok, err, want)
		}
	}
}

func TestDetachedProcessHasNoTerminal(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleEnv+"=wait")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); cmd.Wait() })
	if id, ok, err := proc.Terminal(cmd.Process.Pid); err != nil || ok {
		t.Errorf("Terminal = %+v, %v, %v, want none", id, ok, err)
	}
}

// openTerminal makes a pseudo terminal and returns the side that a shell sits at.
func openTerminal(t *testing.T) *os.File {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission) {
		t.Skipf("no pseudo terminals here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { master.Close() })
	fd := int(master.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tty.Close() })
	return tty
}
