package cli_test

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/internal/home"
	"github.com/comity-dev/comity/internal/httpapi"
)

func stopping(lock io.Closer) httpapi.Func {
	return func(context.Context, httpapi.Caller, []byte) (any, error) {
		return api.Empty{}, lock.Close()
	}
}

func TestCompletionAsksADaemonThatRuns(t *testing.T) {
	f := newFake(t).serve()
	f.replies[api.OpStatus] = picture()
	f.replies[api.OpSessionList] = api.SessionListReply{Sessions: picture().Sessions}
	f.replies[api.OpHandoverList] = api.HandoverListReply{Handovers: picture().Handovers}
	f.replies[api.OpReviewList] = api.ReviewListReply{Reviews: picture().Reviews}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"release", ""}, "972572/4\tsrc/\n:4\n"},
		{[]string{"handover", "take", ""}, "145b99cb\tthe parser is half done\n:4\n"},
		{[]string{"handover", "take", "x", ""}, ":4\n"},
		{[]string{"review", "answer", ""}, "0aaf17/19\tlook at the fold\n:4\n"},
		{[]string{"session", "close", ""}, "s-1\tclaude (split the lexer)\n:4\n"},
		{[]string{"status", "--session", ""}, "s-1\tclaude (split the lexer)\n:4\n"},
	} {
		if r := f.run(append([]string{"__complete"}, tt.args...)...); r.out != tt.want {
			t.Errorf("%v: %+v", tt.args, r)
		}
	}
}

// A shell that completes must not start anything, nor lift the hold of a stop.
func TestCompletionWithoutADaemonIsNone(t *testing.T) {
	f := newFake(t)
	h, err := home.Locate(f.getenv)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.SetHeld(true); err != nil {
		t.Fatal(err)
	}
	// Open to others, so that a start that is tried all the same stops early.
	if err := os.Chmod(h.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if out := f.runPlain("__complete", "release", ""); out != ":4\n" {
		t.Errorf("completions %q", out)
	}
	if held, err := h.Held(); !held || err != nil {
		t.Errorf("held = %v, %v: completing counted as a person's command", held, err)
	}
	if _, running, err := h.Running(); running || err != nil {
		t.Errorf("running = %v, %v", running, err)
	}
}

func TestCompletionScripts(t *testing.T) {
	f := newFake(t)
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		var out strings.Builder
		out.WriteString(f.runPlain("completion", shell))
		if !strings.Contains(out.String(), "__complete") {
			t.Errorf("%s: %.200q", shell, out.String())
		}
	}
}
