package process_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/comity-dev/comity/api"
)

// waitLong bounds what takes milliseconds, on a machine that does much else.
const waitLong = 10 * time.Second

// A result is what a run of the program left.
type result struct {
	out, err string
	code     int
}

// run runs the program in the first worktree.
func (s *stage) run(args ...string) result {
	s.Helper()
	return s.runIn(s.trees[0], nil, args...)
}

// runIn runs the program in dir, with more in its environment.
func (s *stage) runIn(dir string, env []string, args ...string) result {
	s.Helper()
	cmd := s.command(dir, env, args...)
	var out, err bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &err
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		s.Fatal(err)
	}
	return result{out.String(), err.String(), cmd.ProcessState.ExitCode()}
}

// command is the program, ready to be started, without a terminal: whoever runs
// the tests may have one.
func (s *stage) command(dir string, env []string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	withoutTerminal(cmd)
	cmd.Dir, cmd.Env = dir, s.env(env...)
	return cmd
}

// must runs a command that has to succeed and returns its standard output.
func (s *stage) must(args ...string) string {
	s.Helper()
	r := s.run(args...)
	if r.code != 0 {
		s.Fatalf("comity %v: exit %d\n%s%s", args, r.code, r.out, r.err)
	}
	return strings.TrimSpace(r.out)
}

// refused runs a command that has to fail with this exit code and reason, and
// to name a next step.
func (s *stage) refused(exit int, code api.Code, args ...string) *api.Error {
	s.Helper()
	return s.refusal(s.run(append(args, "--json")...), exit, code, args)
}

func (s *stage) refusal(r result, exit int, code api.Code, args []string) *api.Error {
	s.Helper()
	var f api.Failure
	if err := json.Unmarshal([]byte(r.out), &f); err != nil || f.Error == nil {
		s.Fatalf("comity %v: exit %d, no failure in %q, %q", args, r.code, r.out, r.err)
	}
	if r.code != exit || f.Error.Code != code {
		s.Errorf("comity %v: exit %d, code %s (%s); want exit %d, code %s", args, r.code, f.Error.Code, f.Error.Message, exit, code)
	}
	if f.Error.Message == "" || f.Error.Hint == "" {
		s.Errorf("comity %v: message %q with hint %q: want both", args, f.Error.Message, f.Error.Hint)
	}
	return f.Error
}

// mentions checks that an error names each of the words, in its message or hint.
func (s *stage) mentions(e *api.Error, words ...string) {
	s.Helper()
	for _, w := range words {
		if !strings.Contains(e.Message+"\n"+e.Hint, w) {
			s.Errorf("%q, hint %q: does not name %q", e.Message, e.Hint, w)
		}
	}
}

// open opens a session that lives for an hour, whatever process asks.
func (s *stage) open(names ...string) {
	s.Helper()
	for _, name := range names {
		s.must("session", "open", "--session", name, "--ttl", "1h")
	}
}

// claim claims path for a session and returns the event.
func (s *stage) claim(session string, args ...string) string {
	s.Helper()
	var reply api.ClaimReply
	s.decode(&reply, append([]string{"claim", "--session", session}, args...)...)
	if reply.Standing != api.StandingHeld || reply.Written.Event != "" && reply.Durability != api.Synced {
		s.Errorf("claim %v by %s: standing %q, durability %q", args, session, reply.Standing, reply.Durability)
	}
	return reply.Claim.Claim
}

// decode runs a command with --json that has to succeed and decodes its reply.
func (s *stage) decode(v any, args ...string) {
	s.Helper()
	out := s.must(append(args, "--json")...)
	if err := json.Unmarshal([]byte(out), v); err != nil {
		s.Fatalf("comity %v: %v in %q", args, err, out)
	}
}

func (s *stage) status() (st api.Status) {
	s.Helper()
	s.decode(&st, "status")
	return st
}

// holders are the scopes that are held, by the name of who holds them.
func (s *stage) holders() map[string]string {
	s.Helper()
	held := map[string]string{}
	for _, c := range s.status().Claims {
		if c.Standing == api.StandingHeld {
			held[strings.Join(c.Scope, " ")] = c.Session
		}
	}
	return held
}

// report runs doctor or verify.
func (s *stage) report(args ...string) (rep api.Report, code int) {
	s.Helper()
	r := s.run(append(args, "--json")...)
	if err := json.Unmarshal([]byte(r.out), &rep); err != nil {
		s.Fatalf("comity %v: exit %d: %v in %q, %q", args, r.code, err, r.out, r.err)
	}
	return rep, r.code
}

// check finds a check by name, the worst one of that name.
func check(rep api.Report, name string) (found api.Check) {
	rank := map[string]int{api.CheckOK: 1, api.CheckWarn: 2, api.CheckFail: 3}
	for _, c := range rep.Checks {
		if (c.Name == name || strings.HasPrefix(c.Name, name+" ")) && rank[c.State] > rank[found.State] {
			found = c
		}
	}
	return found
}

// events are the names of all events of the log, each mapped to its kind.
func (s *stage) events() map[string]string {
	s.Helper()
	all := map[string]string{}
	for _, e := range s.log() {
		if _, twice := all[e.Event]; twice {
			s.Errorf("event %s is in the log twice", e.Event)
		}
		all[e.Event] = e.Kind
	}
	return all
}

// segments are the files of the only repository's journal, in order.
func (s *stage) segments() []string {
	s.Helper()
	files, err := filepath.Glob(filepath.Join(s.home, "repos", "*", "journal", "*.seg"))
	if err != nil || len(files) == 0 {
		s.Fatalf("no segment: %v, %v", files, err)
	}
	return files
}

// edit changes the last segment that holds text: f gets its content and the
// place of text in it.
func (s *stage) edit(text string, f func(b []byte, at int) []byte) {
	s.Helper()
	files := s.segments()
	for i := len(files) - 1; i >= 0; i-- {
		b, err := os.ReadFile(files[i])
		if err != nil {
			s.Fatal(err)
		}
		if at := bytes.LastIndex(b, []byte(text)); at >= 0 {
			if err := os.WriteFile(files[i], f(b, at), 0o600); err != nil {
				s.Fatal(err)
			}
			return
		}
	}
	s.Fatalf("no segment holds %q", text)
}

// halt stops the daemon in order and waits for its end.
func (s *stage) halt() {
	s.Helper()
	s.must("stop")
	if info, ok := s.daemon(); ok {
		s.Fatalf("daemon pid %d runs on after stop", info.PID)
	}
}
