package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/internal/cli"
	"github.com/comity-dev/comity/internal/home"
	"github.com/comity-dev/comity/internal/hooks"
	"github.com/comity-dev/comity/internal/httpapi"
	"github.com/comity-dev/comity/internal/install"
)

// call is what Claude Code writes to a hook.
func call(conversation, name, more string) string {
	return fmt.Sprintf(`{"session_id":%q,"cwd":"/src","hook_event_name":%q,"transcript_path":"/t","permission_mode":"default"%s}`, conversation, name, more)
}

func writing(conversation string) string {
	return call(conversation, "PreToolUse", `,"tool_name":"Write","tool_input":{"file_path":"/src/a.go","content":"x"},"tool_use_id":"t1"`)
}

// hook is one call of a hook. It is never told to start a daemon.
func (f *fake) hook(in string, args ...string) result {
	f.t.Helper()
	f.stdin = in
	return f.run(append([]string{"hook"}, args...)...)
}

func TestHookPassesOnWhatTheAgentSays(t *testing.T) {
	f := newFake(t).serve()
	if r := f.hook(writing("c-1"), "claude", "pre-tool-use"); r != (result{}) {
		t.Errorf("%+v", r)
	}
	req := request[api.HookRequest](f, api.OpHook)
	if req.Client != "claude-code" || req.Event != api.HookBefore || req.Conversation != "c-1" || req.Dir != "/src" || len(req.Writes) != 1 || req.Writes[0] != "/src/a.go" || req.Session != "" {
		t.Errorf("request %+v", req)
	}
	f.env["COMITY_SESSION"] = "s-7"
	f.hook(writing("c-1"), "claude", "pre-tool-use")
	if req := request[api.HookRequest](f, api.OpHook); req.Session != "s-7" {
		t.Errorf("request %+v: the session that was named is lost", req)
	}
}

func TestHookAnswersInTheDocumentedForm(t *testing.T) {
	f := newFake(t).serve()
	f.replies[api.OpHook] = api.HookReply{Deny: "src/a.go is held by claude-3f2a1c"}
	want := `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"src/a.go is held by claude-3f2a1c"}}` + "\n"
	if r := f.hook(writing("c-1"), "claude", "pre-tool-use"); r.code != 0 || r.out != want || r.errout != "" {
		t.Errorf("%+v", r)
	}
	// What has happened already cannot be denied, and a stop is told nothing.
	for event, name := range map[string]string{"stop": "Stop", "session-end": "SessionEnd"} {
		if r := f.hook(call("c-1", name, ""), "claude", event); r != (result{}) {
			t.Errorf("%s: %+v", event, r)
		}
	}
	f.replies[api.OpHook] = api.HookReply{Tell: "ada is here"}
	want = `{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"ada is here"}}` + "\n"
	if r := f.hook(call("c-1", "SessionStart", `,"source":"startup"`), "claude", "session-start"); r.out != want {
		t.Errorf("%+v", r)
	}
}

// Whatever a hook reads, the agent goes on: exit 0, nothing for the agent, one
// line for a person, and no call.
func TestHookOfBadInputLetsTheAgentGoOn(t *testing.T) {
	f := newFake(t).serve()
	whole := writing("c-1")
	huge := strings.Repeat("x", hooks.MaxInput)
	for name, in := range map[string]string{
		"nothing": "", "no JSON": "hello", "truncated": whole[:len(whole)/2], "binary": "\x00\xff\xfe" + whole, "a list": "[]", "null": "null",
		"another type": `{"session_id":7}`, "no session": `{"cwd":"/src"}`, "another event": call("c-1", "Stop", ""), "too large": `{"session_id":"` + huge + `"}`,
		"deep": strings.Repeat("[", 100_000),
	} {
		r := f.hook(in, "claude", "pre-tool-use")
		if r.code != 0 || r.out != "" || strings.Count(r.errout, "comity: ") != 1 || len(r.errout) > 300 {
			t.Errorf("%s: %d %q %q", name, r.code, r.out, r.errout)
		}
	}
	for _, args := range [][]string{{"claude", "bogus"}, {"bogus", "stop"}, {"claude", ""}, {"git", "bogus"}} {
		if r := f.hook(whole, args...); r.code != 0 || r.out != "" || !strings.HasPrefix(r.errout, "comity: ") {
			t.Errorf("%v: %+v", args, r)
		}
	}
	if len(f.asked) > 0 {
		t.Errorf("the daemon was asked: %v", f.asked)
	}
}

// What is too large is read to its end: the agent that writes it is not cut off.
func TestHookReadsWhatIsTooLarge(t *testing.T) {
	f := newFake(t)
	in := strings.NewReader(strings.Repeat("x", hooks.MaxInput+5<<20))
	var out, errout bytes.Buffer
	if code := cli.Run(patient(t), []string{"hook", "claude", "stop"}, in, &out, &errout, f.getenv); code != 0 || in.Len() > 0 || !strings.Contains(errout.String(), "over 10 MB") {
		t.Errorf("exit %d, %d bytes left, %q", code, in.Len(), errout.String())
	}
}

// 10 MB that make sense are read.
func TestHookOfALargeFile(t *testing.T) {
	size := hooks.MaxInput - 1000
	f := newFake(t).serve()
	in := call("c-1", "PreToolUse", `,"tool_name":"Write","tool_input":{"file_path":"/src/a.go","content":"`+strings.Repeat("x", size)+`"}`)
	if r := f.hook(in, "claude", "pre-tool-use"); r != (result{}) {
		t.Errorf("%d %q", r.code, r.errout)
	}
	if req := request[api.HookRequest](f, api.OpHook); len(req.Writes) != 1 {
		t.Errorf("request %+v", req)
	}
}

// A hook called wrongly is no refusal to an agent: that is what exit 2 means there.
func TestHookNeverExitsWith2(t *testing.T) {
	f := newFake(t)
	for _, args := range [][]string{{"hook"}, {"hook", "claude"}, {"hook", "--bogus", "x"}, {"hook", "claude", "stop", "--bogus"}, {"hook", "claude", "stop", "x", "y"}} {
		var out, errout bytes.Buffer
		if code := cli.Run(t.Context(), args, strings.NewReader(""), &out, &errout, f.getenv); code == 2 || out.Len() > 0 || errout.Len() == 0 {
			t.Errorf("%v: exit %d, %q, %q", args, code, out.String(), errout.String())
		}
	}
}

const unreachable = "comity is not reachable: edits are not checked against the claims of others until it is."

func context1(event, text string) string {
	return fmt.Sprintf(`{"hookSpecificOutput":{"hookEventName":%q,"additionalContext":%q}}`+"\n", event, text)
}

// Without a daemon each write is allowed, and each conversation is told once.
func TestHookWithoutADaemonSaysSoOnce(t *testing.T) {
	f := newFake(t)
	if r := f.hook(call("c-1", "Stop", ""), "claude", "stop"); r != (result{}) {
		t.Errorf("at a stop, where nobody listens: %+v", r)
	}
	want := result{out: context1("PreToolUse", unreachable)}
	for _, conversation := range []string{"c-1", "c-2"} {
		if r := f.hook(writing(conversation), "claude", "pre-tool-use"); r != want {
			t.Errorf("%s: %+v", conversation, r)
		}
		for range 3 {
			if r := f.hook(writing(conversation), "claude", "pre-tool-use"); r != (result{}) {
				t.Errorf("%s again: %+v", conversation, r)
			}
		}
	}
}

// Of several hooks of a conversation that fail at once, one says so.
func TestHooksAtOnceSayItOnce(t *testing.T) {
	f := newFake(t)
	outs := make(chan string)
	for range 8 {
		go func() {
			var out bytes.Buffer
			cli.Run(patient(t), []string{"--no-start", "hook", "claude", "pre-tool-use"}, strings.NewReader(writing("c-1")), &out, io.Discard, f.getenv)
			outs <- out.String()
		}()
	}
	said := 0
	for range 8 {
		if out := <-outs; out != "" {
			said++
		}
	}
	if said != 1 {
		t.Errorf("it was said %d times", said)
	}
}

// What is remembered for it never grows, and is in the temporary folder when the
// state folder is not to be had.
func TestWhatWasToldIsBounded(t *testing.T) {
	f := newFake(t)
	f.env["TMPDIR"] = t.TempDir()
	told := filepath.Join(f.env["COMITY_HOME"], "told")
	for i := range 300 {
		f.hook(writing(fmt.Sprint("c-", i)), "claude", "pre-tool-use")
	}
	if names, err := os.ReadDir(told); err != nil || len(names) != 256 {
		t.Errorf("%d, %v", len(names), err)
	}
	old := time.Now().Add(-8 * 24 * time.Hour)
	names, _ := filepath.Glob(filepath.Join(told, "*"))
	for _, name := range names {
		if err := os.Chtimes(name, old, old); err != nil {
			t.Fatal(err)
		}
	}
	f.hook(writing("another"), "claude", "pre-tool-use")
	if names, err := os.ReadDir(told); err != nil || len(names) != 1 {
		t.Errorf("after a week %d, %v", len(names), err)
	}
	if names, _ := os.ReadDir(f.env["TMPDIR"]); len(names) > 0 {
		t.Errorf("in the temporary folder: %v", names)
	}
}

func TestWhatWasToldWithoutAStateFolder(t *testing.T) {
	f := newFake(t)
	f.env["TMPDIR"] = t.TempDir()
	for name, value := range map[string]string{"missing": filepath.Join(t.TempDir(), "none"), "relative": "x", "a file": "/dev/null/x"} {
		f.env["COMITY_HOME"] = value
		if r := f.hook(writing(name), "claude", "pre-tool-use"); r.code != 0 || !strings.Contains(r.out, "edits are not checked") {
			t.Errorf("%s: %+v", name, r)
		}
		if r := f.hook(writing(name), "claude", "pre-tool-use"); r != (result{}) {
			t.Errorf("%s again: %+v", name, r)
		}
	}
	// With no place to remember it is said where a turn begins, and only there.
	f.env["TMPDIR"] = "/dev/null"
	if r := f.hook(writing("c-9"), "claude", "pre-tool-use"); r != (result{}) {
		t.Errorf("%+v", r)
	}
	if r := f.hook(call("c-9", "UserPromptSubmit", `,"prompt":"go"`), "claude", hooks.Prompt); !strings.Contains(r.out, "edits are not checked") {
		t.Errorf("%+v", r)
	}
}

func TestHookWithoutAHome(t *testing.T) {
	f := newFake(t)
	f.env = map[string]string{"TMPDIR": t.TempDir()}
	if r := f.hook(writing("c-1"), "claude", "pre-tool-use"); r.code != 0 || !strings.Contains(r.out, unreachable) {
		t.Errorf("%+v", r)
	}
}

// Where there is no repository there is nothing to check and nothing to say; a
// folder that is gone is said.
func TestHookSaysWhyNothingIsChecked(t *testing.T) {
	f := newFake(t).serve()
	gone := filepath.Join(t.TempDir(), "gone")
	for i, tt := range []struct {
		dir  string
		code api.Code
		want string
	}{
		{"/", api.CodeNoRepository, ""},
		{"/", api.CodeEmptyRepository, ""},
		{gone, api.CodeNoRepository, "is gone: edits are not checked"},
		{"/", api.CodeHeld, "comity was stopped by a person: edits are not checked"},
		{"/", api.CodeReadOnly, "Reason: the reason."},
		{"/", api.CodeUsage, "Reason: the reason."}, // as an older daemon says of what it does not know
	} {
		f.errs[api.OpHook] = api.Errorf(tt.code, "the reason")
		in := strings.ReplaceAll(writing(fmt.Sprint("c-", i)), `"/src"`, fmt.Sprintf("%q", tt.dir))
		r := f.hook(in, "claude", "pre-tool-use")
		if r.code != 0 || r.errout != "" || (tt.want == "") != (r.out == "") || !strings.Contains(r.out, tt.want) {
			t.Errorf("%s: %+v, want %q", tt.code, r, tt.want)
		}
	}
}

// A daemon that a person stopped stays stopped.
func TestHookDoesNotLiftAHold(t *testing.T) {
	f := newFake(t)
	held := filepath.Join(f.env["COMITY_HOME"], "held")
	if err := os.WriteFile(held, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errout bytes.Buffer
	code := cli.Run(t.Context(), []string{"hook", "claude", "pre-tool-use"}, strings.NewReader(writing("c-1")), &out, &errout, f.getenv)
	if code != 0 || !strings.Contains(out.String(), "stopped by a person") {
		t.Errorf("exit %d %q %q", code, out.String(), errout.String())
	}
	if _, err := os.Stat(held); err != nil {
		t.Error(err)
	}
}

// A daemon that starts and ends at once is one that is not there.
func TestHookWhoseDaemonDoesNotStart(t *testing.T) {
	f := newFake(t)
	var out, errout bytes.Buffer
	code := 0
	took := lasts(func() {
		code = cli.Run(t.Context(), []string{"hook", "claude", "pre-tool-use"}, strings.NewReader(writing("c-1")), &out, &errout, f.getenv)
	})
	if code != 0 || !strings.Contains(out.String(), "edits are not checked") || took > time.Second {
		t.Errorf("exit %d %q %q after %v", code, out.String(), errout.String(), took)
	}
}

// lasts is how long f takes, less what this machine is late by just then: by which a
// timer that f may wait for is late too.
func lasts(f func()) time.Duration {
	const limit = 900 * time.Millisecond
	late := make(chan time.Duration, 1)
	began := time.Now()
	go func() {
		<-time.After(limit)
		late <- time.Since(began) - limit
	}()
	f()
	return time.Since(began) - <-late
}

// Whatever hangs, an agent waits less than a second.
func TestHookIsOverInASecond(t *testing.T) {
	for _, tt := range []struct {
		name  string
		in    func(t *testing.T) io.Reader
		setUp func(t *testing.T, f *fake)
		out   string
	}{
		{"a daemon that takes the call and never answers", nil, func(t *testing.T, f *fake) {
			f.ops[api.OpHook] = func(ctx context.Context, _ httpapi.Caller, _ []byte) (any, error) {
				<-ctx.Done()
				return nil, errors.New("late")
			}
			f.serve()
		}, unreachable},
		{"a socket that nobody reads", nil, deaf, unreachable},
		{"a socket that is dead", nil, func(t *testing.T, f *fake) {
			l := listen(t, f)
			l.(*net.UnixListener).SetUnlinkOnClose(false)
			l.Close()
		}, unreachable},
		{"input without an end", func(t *testing.T) io.Reader {
			r, w := io.Pipe()
			t.Cleanup(func() { w.Close() })
			return io.MultiReader(strings.NewReader(`{"session_id":"c-1",`), r)
		}, func(t *testing.T, f *fake) { f.serve() }, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFake(t)
			tt.setUp(t, f)
			var in io.Reader = strings.NewReader(writing("c-1"))
			if tt.in != nil {
				in = tt.in(t)
			}
			var out, errout bytes.Buffer
			code := 0
			took := lasts(func() {
				code = cli.Run(t.Context(), []string{"--no-start", "hook", "claude", "pre-tool-use"}, in, &out, &errout, f.getenv)
			})
			if code != 0 || took >= time.Second {
				t.Errorf("exit %d after %v", code, took)
			}
			want := ""
			if tt.out != "" {
				want = context1("PreToolUse", tt.out)
			}
			if out.String() != want || (errout.Len() > 0) != (want == "") {
				t.Errorf("%q, %q; want %q", out.String(), errout.String(), want)
			}
		})
	}
}

func listen(t *testing.T, f *fake) net.Listener {
	t.Helper()
	place, err := home.Locate(f.getenv)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", place.Socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// deaf is a daemon that was stopped in the middle of everything.
func deaf(t *testing.T, f *fake) { listen(t, f) }

// A fault of our own is not the agent's.
func TestHookThatPanicsLetsTheAgentGoOn(t *testing.T) {
	f := newFake(t)
	var out, errout bytes.Buffer
	code := cli.Run(patient(t), []string{"hook", "claude", "pre-tool-use"}, panics{}, &out, &errout, f.getenv)
	if code != 0 || out.Len() > 0 || !strings.Contains(errout.String(), "internal error") {
		t.Errorf("exit %d %q %q", code, out.String(), errout.String())
	}
}

type panics struct{}

func (panics) Read([]byte) (int, error) { panic("out of order") }

func TestHookOff(t *testing.T) {
	f := newFake(t).serve()
	f.env["COMITY"] = "off"
	if r := f.hook(writing("c-1"), "claude", "pre-tool-use"); r != (result{}) || len(f.asked) > 0 {
		t.Errorf("%+v %v", r, f.asked)
	}
}

// Every command that install writes is one that the hooks understand.
func TestWhatIsInstalledIsUnderstood(t *testing.T) {
	f := newFake(t).serve()
	dir := t.TempDir()
	plan, err := install.Claude(t.Context(), install.Options{Home: dir, State: t.TempDir()}, "user")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plan.Apply(t.Context()); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, ".claude", "settings.json"))
	if err != nil {
		t.Fatal(err)
	}
	var settings struct {
		Hooks map[string][]struct {
			Hooks []struct {
				Command string
				Timeout float64
			}
		}
	}
	if err := json.Unmarshal(b, &settings); err != nil || len(settings.Hooks) < 8 {
		t.Fatalf("%v\n%s", err, b)
	}
	for name, groups := range settings.Hooks {
		_, words, ok := strings.Cut(groups[0].Hooks[0].Command, "exec comity hook ")
		if !ok {
			t.Fatalf("%s: %q", name, groups[0].Hooks[0].Command)
		}
		delete(f.asked, api.OpHook)
		r := f.hook(call("c-1", name, `,"tool_name":"Write","tool_input":{"file_path":"/src/a.go"}`), strings.Fields(words)...)
		if r != (result{}) || f.asked[api.OpHook] == nil {
			t.Errorf("%s: comity hook %s: %+v", name, words, r)
		}
		if groups[0].Hooks[0].Timeout < 2 {
			t.Errorf("%s: the client waits only %vs", name, groups[0].Hooks[0].Timeout)
		}
	}
}
