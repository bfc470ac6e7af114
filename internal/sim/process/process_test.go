// Package process_test plays against real daemons: processes that race, are
// killed, and come back. The program is built once; the players are this test
// binary run again.
package process_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/client"
	"github.com/comity-dev/comity/internal/home"
)

// program is the comity that the tests run.
var program string

func TestMain(m *testing.M) {
	if role := os.Getenv("COMITY_TEST_ROLE"); role != "" {
		os.Exit(play(role))
	}
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "comity-process-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "comity")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	build := exec.Command("go", "build", "-o", program, "github.com/comity-dev/comity/cmd/comity")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the program: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// long tells whether the high counts are wanted.
func long() bool { return os.Getenv("COMITY_LONG") != "" }

// A stage is a state folder and a repository with worktrees, of one test.
type stage struct {
	testing.TB
	home  string
	trees []string // folders of the worktrees
}

func newStage(t testing.TB, worktrees int) *stage {
	t.Helper()
	dir, err := os.MkdirTemp("", "cp") // short: a socket's path has few bytes
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{TB: t, home: filepath.Join(dir, "h")}
	t.Cleanup(func() {
		s.stop()
		os.RemoveAll(dir)
	})
	main := filepath.Join(dir, "main")
	s.git(dir, "init", "--quiet", "--initial-branch=main", main)
	for _, name := range []string{"src/a.go", "src/b.go", "src/api/c.go", "docs/x.md"} {
		path := filepath.Join(main, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.git(main, "add", ".")
	s.git(main, "commit", "--quiet", "--message=first")
	s.trees = []string{main}
	for i := 1; i < worktrees; i++ {
		tree := filepath.Join(dir, fmt.Sprintf("w%d", i))
		s.git(main, "worktree", "add", "--quiet", "-b", fmt.Sprintf("b%d", i), tree)
		s.trees = append(s.trees, tree)
	}
	return s
}

func (s *stage) git(dir string, args ...string) {
	s.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = s.env("GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@localhost", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@localhost")
	if out, err := cmd.CombinedOutput(); err != nil {
		s.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// env is the environment of everything that a test starts.
func (s *stage) env(more ...string) []string {
	var env []string
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(name, "COMITY") && !strings.HasPrefix(name, "GIT_") && name != "XDG_RUNTIME_DIR" {
			env = append(env, kv)
		}
	}
	return append(append(env, "COMITY_HOME="+s.home, "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1"), more...)
}

// client is a client of the stage's daemon, which it starts when none runs.
func (s *stage) client() *client.Client {
	s.Helper()
	c, err := client.New(&client.Options{Getenv: getenv(s.home), Person: true, Exe: program})
	if err != nil {
		s.Fatal(err)
	}
	return c
}

func getenv(state string) func(string) string {
	return func(name string) string {
		switch name {
		case "COMITY_HOME":
			return state
		case "XDG_RUNTIME_DIR":
			return ""
		}
		return os.Getenv(name)
	}
}

// daemon is the process that holds the stage's state folder.
func (s *stage) daemon() (home.Info, bool) {
	s.Helper()
	h, err := home.Locate(getenv(s.home))
	if err != nil {
		s.Fatal(err)
	}
	info, ok, err := h.Running()
	if err != nil {
		s.Fatal(err)
	}
	return info, ok
}

// kill ends the daemon as a crash does; it reports whether one ran.
func (s *stage) kill() bool {
	s.Helper()
	info, ok := s.daemon()
	if !ok || info.PID == 0 {
		return false
	}
	p, err := os.FindProcess(info.PID)
	if err != nil {
		return false
	}
	return p.Kill() == nil
}

func (s *stage) stop() {
	cmd := exec.Command(program, "stop")
	cmd.Env = s.env()
	if out, err := cmd.CombinedOutput(); err != nil {
		s.Errorf("stop the daemon: %v\n%s", err, out)
	}
}

// log reads the whole journal by pages.
func (s *stage) log() []api.LogEvent {
	s.Helper()
	var all []api.LogEvent
	for after := ""; ; {
		page, err := s.client().Log(s.Context(), api.LogRequest{Where: api.Where{Dir: s.trees[0]}, After: after, Limit: 1000})
		if err != nil {
			s.Fatalf("read the log: %v", err)
		}
		all = append(all, page.Events...)
		if !page.More {
			return all
		}
		after = page.Next
	}
}

// A player is a child process that gets lines and answers with lines.
type player struct {
	*exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

func (s *stage) player(role string, args ...string) *player {
	s.Helper()
	return s.start(s.playerCommand(role, args...))
}

func (s *stage) playerCommand(role string, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = s.env("COMITY_TEST_ROLE="+role, "COMITY_TEST_PROGRAM="+program, "COMITY_TEST_ARGS="+strings.Join(args, "\n"))
	cmd.Stderr = os.Stderr
	return cmd
}

func (s *stage) start(cmd *exec.Cmd) *player {
	s.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		s.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		s.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.Fatal(err)
	}
	p := &player{cmd, in, bufio.NewScanner(out)}
	p.out.Buffer(nil, 1<<20)
	s.Cleanup(func() {
		in.Close()
		cmd.Process.Kill() // of our own making; it may have ended
		cmd.Wait()
	})
	return p
}

// ask sends a value and reads the answer.
func (p *player) ask(send, answer any) error {
	if err := p.tell(send); err != nil {
		return err
	}
	return p.hear(answer)
}

func (p *player) tell(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = p.in.Write(append(b, '\n'))
	return err
}

func (p *player) hear(v any) error {
	if !p.out.Scan() {
		return fmt.Errorf("the player is gone: %w", io.ErrUnexpectedEOF)
	}
	return json.Unmarshal(p.out.Bytes(), v)
}

// play is a player's side.
func play(role string) int {
	args := strings.Split(os.Getenv("COMITY_TEST_ARGS"), "\n")
	c, err := client.New(&client.Options{Exe: os.Getenv("COMITY_TEST_PROGRAM")})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	ctx := context.Background()
	switch role {
	case "racer":
		err = race(ctx, c, args)
	case "writer":
		err = write(ctx, c, args)
	case "shell":
		err = shell(args)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", role, err)
		return 1
	}
	return 0
}

// lines calls f for each line of standard input and answers with what it
// returns.
func lines[In, Out any](f func(In) Out) error {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var v In
		if err := json.Unmarshal(in.Bytes(), &v); err != nil {
			return err
		}
		b, err := json.Marshal(f(v))
		if err != nil {
			return err
		}
		if _, err := os.Stdout.Write(append(b, '\n')); err != nil {
			return err
		}
	}
	return in.Err()
}

// eventually waits for something that another process brings about.
func (s *stage) eventually(within time.Duration, what string, cond func() bool) {
	s.Helper()
	deadline := time.After(within)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-deadline:
			s.Fatalf("not within %v: %s", within, what)
		case <-tick.C:
		}
	}
}
