package home_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/comity-dev/comity/internal/home"
)

// located is a home that a started daemon finds by its environment.
func located(t *testing.T) home.Home {
	t.Helper()
	t.Setenv("XDG_RUNTIME_DIR", "")
	h := locate(t, "COMITY_HOME", folder(t, 0o700))
	reap(t, h)
	return h
}

func start(t *testing.T, h home.Home, role string) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	return home.Start(ctx, h, os.Args[0], []string{role})
}

func logged(t *testing.T, h home.Home) string {
	t.Helper()
	b, err := os.ReadFile(h.LogFile())
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestStartedDaemonAnswersAndStays(t *testing.T) {
	h := located(t)
	if err := start(t, h, "role:serve"); err != nil {
		t.Fatal(err)
	}
	first, err := ask(h)
	if err != nil {
		t.Fatal(err)
	}
	if first.Parent == os.Getpid() && runtime.GOOS != "windows" {
		t.Error("the daemon is our child: what ends us with all our children ends it")
	}
	if info := wantRunning(t, h, true); info.PID != first.PID {
		t.Errorf("pid %d answers, and Running names %d", first.PID, info.PID)
	}
	if err := start(t, h, "role:serve"); err != nil {
		t.Fatalf("Start while one serves: %v", err)
	}
	if again, err := ask(h); err != nil || again.PID != first.PID {
		t.Errorf("pid %d answers after a second Start, %v, want %d", again.PID, err, first.PID)
	}
	if got := logged(t, h); got != "serving\n" {
		t.Errorf("the log holds %q, want one daemon that serves", got)
	}
}

// The daemon must outlive whoever started it, and keep nothing of it: a script
// that captures the output, or waits on a pipe or a lock of its own, would hang.
func TestDaemonKeepsNothingOfItsStarter(t *testing.T) {
	h := located(t)
	pipe, inherited, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	client := exec.Command(os.Args[0], "role:start")
	client.Dir = t.TempDir()
	client.Env = append(os.Environ(), "COMITY_HOME="+h.Dir, "XDG_RUNTIME_DIR=", "GIT_DIR=/r/.git", "COMITY_SESSION=s-1", "COMITY_READY_FD=1")
	if runtime.GOOS != "windows" {
		client.ExtraFiles = []*os.File{inherited} // as exec 3>&1 in a script
	}
	var stdout, stderr bytes.Buffer // copied by goroutines until nobody has the pipes open
	client.Stdout, client.Stderr = &stdout, &stderr
	if err := client.Start(); err != nil {
		t.Fatal(err)
	}
	inherited.Close()
	ended := make(chan error, 2)
	go func() { ended <- client.Wait() }()
	go func() { _, err := io.Copy(io.Discard, pipe); ended <- err }()
	for range 2 {
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("%v: %s", err, &stderr)
			}
		case <-time.After(deadline):
			t.Fatal("the daemon holds an output or a pipe of its starter")
		}
	}

	r, err := ask(h)
	if err != nil {
		t.Fatalf("the daemon ended with its starter: %v", err)
	}
	if got := strings.TrimSpace(stdout.String()); got != strconv.Itoa(r.PID) {
		t.Errorf("the starter was answered by pid %s, we by %d", got, r.PID)
	}
	if want := filepath.VolumeName(os.Args[0]) + string(filepath.Separator); r.Dir != want {
		t.Errorf("the daemon stands in %s, want %s", r.Dir, want)
	}
	for _, v := range r.Env {
		for _, bad := range []string{"GIT_", "COMITY_SESSION=", "COMITY_READY_FD="} {
			if strings.HasPrefix(v, bad) {
				t.Errorf("the daemon has %s", v)
			}
		}
	}
	if !slices.Contains(r.Env, "COMITY_HOME="+h.Dir) {
		t.Error("the daemon is not told its state folder")
	}
	if runtime.GOOS == "windows" {
		return
	}
	var mine report
	mine.describe()
	if r.Session == 0 || r.Session == mine.Session {
		t.Errorf("the daemon is in session %d, ours", r.Session)
	}
	for _, file := range r.Files {
		if strings.HasPrefix(file, "pipe:") {
			t.Errorf("the daemon has %s open", file)
		}
	}
}

func TestClientsStartingAtOnceGetOneDaemon(t *testing.T) {
	h := located(t)
	const clients = 6
	said := make(chan string, clients)
	for range clients {
		go func() {
			c := exec.Command(os.Args[0], "role:start")
			c.Env = append(os.Environ(), "COMITY_HOME="+h.Dir, "XDG_RUNTIME_DIR=")
			out, err := c.CombinedOutput()
			if err != nil {
				out = fmt.Append(out, err)
			}
			said <- strings.TrimSpace(string(out))
		}()
	}
	got := map[string]int{}
	for range clients {
		got[<-said]++
	}
	info := wantRunning(t, h, true)
	if len(got) != 1 || got[strconv.Itoa(info.PID)] != clients {
		t.Errorf("clients say %v, want all to say %d", got, info.PID)
	}
	if log := logged(t, h); log != "serving\n" {
		t.Errorf("the log holds %q, want one daemon that was started", log)
	}
}

// startRefused calls Start, and returns once the daemon that it started was refused for
// d, which has the lock. What Start returns comes out of the channel.
func startRefused(t *testing.T, h home.Home, d *slowDaemon) <-chan error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- start(t, h, "role:serve") }()
	refused := "pid " + strconv.Itoa(d.Process.Pid)
	for began := time.Now(); ; runtime.Gosched() {
		if b, _ := os.ReadFile(h.LogFile()); strings.Contains(string(b), refused) {
			break
		}
		if time.Since(began) > deadline {
			t.Fatalf("the log never says that %s holds the lock", refused)
		}
	}
	return done
}

// A person's daemon in a terminal has the lock and does not answer yet: ours is
// refused, and theirs is as good.
func TestStartFindsTheDaemonThatWasFaster(t *testing.T) {
	h := located(t)
	d := startDaemon(t, h)
	done := startRefused(t, h, d)
	select {
	case err := <-done:
		t.Fatalf("Start = %v before the other daemon answers", err)
	default:
	}
	d.serve.Close()
	if err := <-done; err != nil {
		t.Errorf("Start: %v", err)
	}
	if r, err := ask(h); err != nil || r.PID != d.Process.Pid {
		t.Errorf("pid %d answers, %v, want %d", r.PID, err, d.Process.Pid)
	}
}

// A daemon that is on its way out has the lock and never answers: ours is refused,
// and takes the place once it is free.
func TestStartTakesThePlaceOfADaemonThatEnds(t *testing.T) {
	h := located(t)
	d := startDaemon(t, h)
	done := startRefused(t, h, d)
	if err := d.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	d.Wait()
	if err := <-done; err != nil {
		t.Errorf("Start: %v", err)
	}
	if r, err := ask(h); err != nil || r.PID == d.Process.Pid {
		t.Errorf("pid %d answers, %v, want another than %d", r.PID, err, d.Process.Pid)
	}
}

func TestStartSaysWhyTheDaemonEnded(t *testing.T) {
	h := located(t)
	for _, tt := range []struct{ role, line, says string }{
		{"role:fail", "the last line", "daemon ended before it served: the last line (log: " + h.LogFile() + ")"},
		{"role:mute", "", "left no message; its log is " + h.LogFile()}, // and not the line before
	} {
		err := start(t, h, tt.role)
		var e *home.StartError
		if !errors.As(err, &e) || e.Line != tt.line || e.Log != h.LogFile() {
			t.Errorf("Start(%s) = %v, want a StartError with line %q", tt.role, err, tt.line)
		}
		if err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("Start(%s) says %v, want %q", tt.role, err, tt.says)
		}
		wantRunning(t, h, false)
	}
	if got := logged(t, h); got != "first line\nthe last line\n" {
		t.Errorf("the log holds %q", got)
	}
}

func TestStartWithoutAProgram(t *testing.T) {
	h := located(t)
	plain := filepath.Join(h.Dir, "plain")
	if err := os.WriteFile(plain, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, exe := range []string{filepath.Join(h.Dir, "none"), plain, h.Dir} {
		err := home.Start(t.Context(), h, exe, nil)
		if err == nil || !strings.Contains(err.Error(), exe) {
			t.Errorf("Start(%s) = %v, want an error that names it", exe, err)
		}
	}
}

func TestStartInAFolderThatCannotBeUsed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := start(t, home.Home{Dir: file}, "role:serve"); !errors.Is(err, home.ErrNotFolder) {
		t.Errorf("Start = %v, want ErrNotFolder", err)
	}
}

// Who cannot wait is let go, and the daemon goes on.
func TestStartEndsWithItsContext(t *testing.T) {
	h := located(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- home.Start(ctx, h, os.Args[0], []string{"role:hang"}) }()
	var pid int
	for began := time.Now(); ; runtime.Gosched() {
		if b, _ := os.ReadFile(h.LogFile()); bytes.HasSuffix(b, []byte("\n")) {
			pid, _ = strconv.Atoi(strings.TrimSpace(string(b)))
			break
		}
		if time.Since(began) > deadline {
			t.Fatal("the daemon says nothing")
		}
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("Start = %v, want context.Canceled", err)
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		t.Fatalf("daemon pid %d: %v", pid, err)
	}
	if err := p.Kill(); err != nil {
		t.Errorf("the daemon did not go on: %v", err)
	}
}

func TestStartBeginsALongLogAnew(t *testing.T) {
	h := located(t)
	if err := os.WriteFile(h.LogFile(), bytes.Repeat([]byte("old\n"), home.MaxLog/4+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := start(t, h, "role:serve"); err != nil {
		t.Fatal(err)
	}
	if got := logged(t, h); got != "serving\n" {
		t.Errorf("the log holds %.40q", got)
	}
	if got := size(t, h.LogFile()+".1"); got != home.MaxLog {
		t.Errorf("the log before has %d bytes, want %d", got, home.MaxLog)
	}
}

// The variable may come from anywhere; only a pipe is written to.
func TestReadyWritesToNoOtherFile(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, v := range []string{fmt.Sprint(f.Fd()), "", "x", "-1", "0", "1", "2", "99999"} {
		t.Setenv("COMITY_READY_FD", v)
		home.Ready()
	}
	if got := size(t, f.Name()); got != 0 {
		t.Errorf("Ready wrote %d bytes into a file", got)
	}
}
