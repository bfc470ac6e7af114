package process_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/comity-dev/comity/api"
)

// olderProgram is the same program under a build id that sorts before every
// other; it is built on first need.
var olderProgram = sync.OnceValues(func() (string, error) {
	path := filepath.Join(filepath.Dir(program), "older-"+filepath.Base(program))
	build := exec.Command("go", "build", "-o", path,
		"-ldflags", "-X github.com/comity-dev/comity/internal/cli.stamped="+olderBuild, "github.com/comity-dev/comity/cmd/comity")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the older program: %w\n%s", err, out)
	}
	return path, nil
})

const olderBuild = "20200101T000000-older"

func TestSecondDaemonNamesTheFirst(t *testing.T) {
	t.Parallel()
	s := newStage(t, 1)
	s.open("s0")
	first, _ := s.daemon()
	e := s.refused(13, api.CodeUnreachable, "serve")
	s.mentions(e, fmt.Sprintf("pid %d", first.PID), "comity stop")
	if now, ok := s.daemon(); !ok || now.PID != first.PID {
		t.Errorf("the first daemon, pid %d, gave way to %+v", first.PID, now)
	}
	s.goesOn("later")
}

// A client of a newer build replaces the daemon once. Sessions, claims, and a
// claim that waits through a client of the older build go on; the older client
// then uses the newer daemon.
func TestNewerBuildTakesOver(t *testing.T) {
	t.Parallel()
	older, err := olderProgram()
	if err != nil {
		t.Fatal(err)
	}
	s := newStage(t, 1)
	oldRun := func(args ...string) *exec.Cmd {
		cmd := s.command(s.trees[0], nil, args...)
		cmd.Path = older
		return cmd
	}
	for _, args := range [][]string{
		{"session", "open", "--session", "s0", "--ttl", "1h"},
		{"session", "open", "--session", "s1", "--ttl", "1h"},
		{"claim", "--session", "s0", "a.go"},
	} {
		if out, err := oldRun(args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	old, _ := s.daemon()
	if old.Build != olderBuild {
		t.Fatalf("the older daemon is build %s", old.Build)
	}
	waiting := oldRun("claim", "--session", "s1", "--wait", "1m", "a.go", "--json")
	granted := s.inBackground(waiting)
	s.eventually(waitLong, "the older client waits", func() bool { return len(s.waits()) == 1 })
	if now, _ := s.daemon(); now.PID != old.PID {
		t.Fatalf("a client without a build replaced the daemon")
	}

	if got := s.holders(); got["path:a.go"] != "s0" {
		t.Errorf("held after the exchange: %v", got)
	}
	now, _ := s.daemon()
	if now.PID == old.PID || now.Build == olderBuild {
		t.Fatalf("the daemon is still %+v", now)
	}
	s.eventually(waitLong, "the older client waits at the newer daemon", func() bool { return len(s.waits()) == 1 })
	s.must("release", "--session", "s0", "--all")
	if r := <-granted; r.code != 0 {
		t.Errorf("the waiting claim: exit %d\n%s%s", r.code, r.out, r.err)
	}
	if got := s.holders(); got["path:a.go"] != "s1" {
		t.Errorf("held after the release: %v", got)
	}
	if out, err := oldRun("status").CombinedOutput(); err != nil {
		t.Errorf("the older program with the newer daemon: %v\n%s", err, out)
	}
	if last, _ := s.daemon(); last.PID != now.PID {
		t.Errorf("the daemon was replaced again: %+v, then %+v", now, last)
	}
}

// waits are the claims in the queue, as a client without a build sees them: it
// replaces no daemon.
func (s *stage) waits() []api.Wait {
	s.Helper()
	st, err := s.client().Status(s.Context(), api.StatusRequest{Where: api.Where{Dir: s.trees[0]}})
	if err != nil {
		s.Fatal(err)
	}
	return st.Waits
}

// inBackground starts cmd and tells how it ended. A command that still runs when
// the test ends is killed.
func (s *stage) inBackground(cmd *exec.Cmd) <-chan result {
	s.Helper()
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		s.Fatal(err)
	}
	done, ended := make(chan result, 1), make(chan struct{})
	go func() {
		defer close(ended)
		cmd.Wait() // its exit code tells
		done <- result{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
	}()
	s.Cleanup(func() {
		cmd.Process.Kill() // of our own making; it may have ended
		<-ended
	})
	return done
}

// Ten first commands at once end with one daemon, and each is answered.
func TestConcurrentFirstStart(t *testing.T) {
	t.Parallel()
	s := newStage(t, 1)
	results := make([]result, 10)
	var wg sync.WaitGroup
	for i := range results {
		wg.Go(func() {
			results[i] = s.run("session", "open", "--session", fmt.Sprintf("s%d", i), "--ttl", "1h")
		})
	}
	wg.Wait()
	for i, r := range results {
		if r.code != 0 {
			t.Errorf("client %d: exit %d\n%s", i, r.code, r.err)
		}
	}
	if got := len(s.status().Sessions); got != len(results) {
		t.Errorf("%d sessions are open, want %d", got, len(results))
	}
	if n := strings.Count(string(read(t, filepath.Join(s.home, "daemon.log"))), "msg=serving"); n != 1 {
		t.Errorf("%d daemons served, want 1", n)
	}
}

// What a killed daemon leaves (its lock file, who it was, its socket) stops
// nobody, also when another process has its pid now.
func TestRemainsOfADeadDaemon(t *testing.T) {
	t.Parallel()
	s := newStage(t, 1)
	s.open("s0")
	s.claim("s0", "a.go")
	info, _ := s.daemon()
	s.kill()
	for _, name := range []string{info.Socket, filepath.Join(s.home, "daemon.lock"), filepath.Join(s.home, "daemon.json")} {
		if _, err := os.Lstat(name); err != nil {
			t.Fatalf("a killed daemon left no %s: %v", name, err)
		}
	}
	name := filepath.Join(s.home, "daemon.json")
	stolen := strings.Replace(string(read(t, name)), fmt.Sprintf(`"pid":%d`, info.PID), fmt.Sprintf(`"pid":%d`, os.Getpid()), 1)
	s.write(name, []byte(stolen), 0o600)
	if got := s.holders()["path:a.go"]; got != "s0" {
		t.Errorf("a.go is held by %q, want s0", got)
	}
	now, ok := s.daemon()
	if !ok || now.PID == info.PID || now.PID == os.Getpid() {
		t.Errorf("the next daemon is %+v", now)
	}
	s.goesOn("later")
}

func TestStopHoldsAgainstNoStart(t *testing.T) {
	t.Parallel()
	s := newStage(t, 1)
	s.open("s0")
	s.claim("s0", "a.go")
	s.halt()
	e := s.refused(13, api.CodeUnreachable, "status", "--no-start")
	s.mentions(e, "no daemon", "--no-start")
	if _, runs := s.daemon(); runs {
		t.Error("--no-start started a daemon")
	}
	s.must("stop") // again is no error
	if got := s.holders()["path:a.go"]; got != "s0" {
		t.Errorf("a.go is held by %q, want s0", got)
	}
	s.must("status", "--no-start")
}

// The runtime folder is a convenience: without a usable one the socket lies in
// the state folder, and whoever has another environment still finds the daemon.
func TestRuntimeFolderIsOptional(t *testing.T) {
	t.Parallel()
	good := filepath.Join(shortDir(t), "run")
	open := filepath.Join(shortDir(t), "open")
	file := filepath.Join(shortDir(t), "file")
	for dir, mode := range map[string]os.FileMode{good: 0o700, open: 0o777} {
		if err := os.Mkdir(dir, mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, mode); err != nil { // whatever the umask
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, dir string
		used      bool
	}{
		{"good", good, true},
		{"not set", "", false},
		{"not there", filepath.Join(good, "missing"), false},
		{"open to others", open, false},
		{"a file", file, false},
		{"relative", "run", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newStage(t, 1)
			env := []string{"XDG_RUNTIME_DIR=" + tt.dir}
			if r := s.runIn(s.trees[0], env, "session", "open", "--session", "s0", "--ttl", "1h"); r.code != 0 {
				t.Fatalf("exit %d\n%s", r.code, r.err)
			}
			info, _ := s.daemon()
			if used := tt.dir != "" && strings.HasPrefix(info.Socket, tt.dir); used != tt.used {
				t.Errorf("socket %s: in the runtime folder: %v, want %v", info.Socket, used, tt.used)
			}
			if mode := mustStat(t, info.Socket).Mode().Perm(); mode != 0o600 {
				t.Errorf("socket mode %04o", mode)
			}
			s.claim("s0", "a.go") // from an environment without the variable
			if now, _ := s.daemon(); now.PID != info.PID {
				t.Errorf("a second daemon, pid %d, serves beside pid %d", now.PID, info.PID)
			}
		})
	}
}

func mustStat(t *testing.T, name string) os.FileInfo {
	t.Helper()
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "cs")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// Where the state folder's path is too long for a socket, the temporary folder
// serves; where that is too, the command says what to change.
func TestSocketPathTooLong(t *testing.T) {
	t.Parallel()
	s := newStage(t, 1)
	s.home = filepath.Join(filepath.Dir(s.home), strings.Repeat("long", 20), strings.Repeat("longer", 10))
	s.open("s0")
	info, _ := s.daemon()
	t.Cleanup(func() {
		s.stop()
		os.Remove(filepath.Dir(info.Socket)) // empty, in the temporary folder
	})
	s.claim("s0", "a.go")

	long := filepath.Join(filepath.Dir(s.home), strings.Repeat("temporary", 5))
	args := []string{"status", "--json"}
	e := s.refusal(s.runIn(s.trees[0], []string{"TMPDIR=" + long}, args...), 13, api.CodeSocketPath, args)
	s.mentions(e, long, "COMITY_HOME", "TMPDIR")
	if got := s.holders()["path:a.go"]; got != "s0" {
		t.Errorf("a.go is held by %q, want s0", got)
	}
}

// A socket that somebody else answers at is not taken away.
func TestForeignSocketIsNotTaken(t *testing.T) {
	t.Parallel()
	s := newStage(t, 1)
	if err := os.Mkdir(s.home, 0o700); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(s.home, "daemon.sock")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	e := s.refused(13, api.CodeUnreachable, "serve")
	s.mentions(e, socket)
	if _, err := os.Lstat(socket); err != nil {
		t.Errorf("the foreign socket: %v", err)
	}
	l.Close()
	s.open("s0")
}
