package process_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/comity-dev/comity/api"
)

// shell is a player that runs the program with the arguments it is told, as a
// shell does in its terminal.
func shell(args []string) error {
	return lines(func(words []string) printed {
		cmd := exec.Command(os.Getenv("COMITY_TEST_PROGRAM"), words...)
		cmd.Dir = args[0]
		var out, errs strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &errs
		_ = cmd.Run() // its exit code tells
		return printed{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
	})
}

// A printed is a result on its way between two processes.
type printed struct {
	Out, Err string
	Code     int
}

// state is what a session is now, and why.
func (s *stage) state(name string) (state, reason string) {
	s.Helper()
	var list api.SessionListReply
	s.decode(&list, "session", "list", "--all")
	for _, se := range list.Sessions {
		if se.Session == name {
			return se.State, se.Reason
		}
	}
	return "", ""
}

func TestSessionNamesThatCannotAct(t *testing.T) {
	t.Parallel()
	s := newStage(t, 1)
	s.open("open", "closed")
	s.claim("open", "a.go")
	s.must("session", "close", "--session", "closed")
	other := strings.Repeat("0a", 16) + "-" + strings.Repeat("0b", 8) + "/theirs"
	for _, tt := range []struct {
		name  string
		exit  int
		code  api.Code
		words []string
	}{
		{"nobody", 11, api.CodeUnknownSession, []string{"nobody", "session open"}},
		{"closed", 10, api.CodeSessionClosed, []string{"closed", "session open"}},
		{other, 10, api.CodeNotOwn, []string{"theirs", "another machine"}},
		{"no such name", 2, api.CodeUsage, nil},
	} {
		for _, args := range [][]string{{"claim", "b.go"}, {"release", "--all"}, {"session", "renew"}, {"handover", "publish", "--derive"}} {
			s.mentions(s.refused(tt.exit, tt.code, append(args, "--session", tt.name)...), tt.words...)
		}
		r := s.runIn(s.trees[0], []string{"COMITY_SESSION=" + tt.name}, "claim", "b.go", "--json")
		s.mentions(s.refusal(r, tt.exit, tt.code, []string{"claim", "b.go"}), tt.words...)
	}
	if got := s.holders(); len(got) != 1 || got["path:a.go"] != "open" {
		t.Errorf("held: %v", got)
	}
}

func TestNoSessionAndNoTerminal(t *testing.T) {
	t.Parallel()
	s := newStage(t, 1)
	for _, args := range [][]string{{"claim", "a.go"}, {"release", "--all"}, {"session", "renew"}, {"session", "close"}, {"notices"}} {
		s.mentions(s.refused(2, api.CodeNoSession, args...), "no terminal", "session open")
	}
	if st := s.status(); len(st.Sessions) != 0 || st.Session != "" {
		t.Errorf("a session came of it: %+v", st.Sessions)
	}
}

// closedSoon waits for the close of a session whose owner has ended.
func (s *stage) closedSoon(name string) {
	s.Helper()
	s.eventually(5*time.Second, "session "+name+" is closed with its owner", func() bool {
		state, reason := s.state(name)
		return state == api.SessionClosed && strings.Contains(reason, "process_ended")
	})
}
