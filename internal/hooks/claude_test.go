package hooks_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/internal/hooks"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// words are the events of an installed command; a golden file is called after
// the word and, behind a dash, what is special.
var words = []string{
	hooks.SessionStart, hooks.Prompt, hooks.PreToolUse, hooks.PostToolUseFailure, hooks.PostToolUse,
	hooks.Stop, hooks.SubagentStart, hooks.SubagentStop, hooks.SessionEnd,
}

func wordOf(t testing.TB, file string) string {
	t.Helper()
	name := strings.TrimSuffix(filepath.Base(file), ".json")
	for _, w := range words {
		if name == w || strings.HasPrefix(name, w+"-") {
			return w
		}
	}
	t.Fatalf("%s is called after no event", file)
	return ""
}

// Each documented input becomes the request beside it.
func TestClaudeGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/claude/*.json")
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for _, file := range files {
		word := wordOf(t, file)
		seen[word] = true
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			in, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			req, err := hooks.Read(hooks.Claude, word, iotest.HalfReader(bytes.NewReader(in)))
			if err != nil {
				t.Fatal(err)
			}
			got, err := json.MarshalIndent(req, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, '\n')
			golden := strings.TrimSuffix(file, ".json") + ".want"
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), string(got)); d != "" {
				t.Errorf("Read: -want +got\n%s", d)
			}
		})
	}
	for _, w := range words {
		if !seen[w] {
			t.Errorf("no golden file for %s", w)
		}
	}
}

// input is a documented input with fields replaced; nil takes one away.
func input(t testing.TB, word string, with map[string]any) string {
	t.Helper()
	file := map[string]string{hooks.PreToolUse: "pre-tool-use-write"}[word]
	if file == "" {
		file = word
	}
	b, err := os.ReadFile("testdata/claude/" + file + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var v map[string]any
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	for k, x := range with {
		if x == nil {
			delete(v, k)
		} else {
			v[k] = x
		}
	}
	if b, err = json.Marshal(v); err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func tool(name string, in any) map[string]any {
	return map[string]any{"tool_name": name, "tool_input": in}
}

func TestBadInput(t *testing.T) {
	write := func(in map[string]any) string { return input(t, hooks.PreToolUse, in) }
	whole := write(nil)
	for _, tt := range []struct {
		name, client, word, in string
		reason                 hooks.Reason
		field                  string
	}{
		{"unknown client", "clod", hooks.Stop, "{}", hooks.UnknownClient, ""},
		{"unknown event", hooks.Claude, "pre-compact", whole, hooks.UnknownEvent, ""},
		{"the client's own name of an event", hooks.Claude, "PreToolUse", whole, hooks.UnknownEvent, ""},
		{"nothing", hooks.Claude, hooks.Stop, "", hooks.Empty, ""},
		{"blanks", hooks.Claude, hooks.Stop, " \n\t\r\n ", hooks.Empty, ""},
		{"text", hooks.Claude, hooks.Stop, "hello", hooks.NotJSON, ""},
		{"binary", hooks.Claude, hooks.Stop, "\x7fELF\x02\x01\x01\x00\xff\xfe", hooks.NotJSON, ""},
		{"bytes that are no text", hooks.Claude, hooks.PreToolUse, strings.Replace(whole, "new.go", "\xff.go", 1), hooks.NotJSON, ""},
		{"two values", hooks.Claude, hooks.PreToolUse, whole + whole, hooks.NotJSON, ""},
		{"an array", hooks.Claude, hooks.PreToolUse, "[" + whole + "]", hooks.WrongType, "the whole input"},
		{"null", hooks.Claude, hooks.PreToolUse, "null", hooks.Missing, "tool_name"},
		{"no session", hooks.Claude, hooks.PreToolUse, write(map[string]any{"session_id": nil}), hooks.Missing, "session_id"},
		{"a number for the session", hooks.Claude, hooks.PreToolUse, write(map[string]any{"session_id": 7}), hooks.WrongType, "session_id"},
		{"a long session", hooks.Claude, hooks.PreToolUse, write(map[string]any{"session_id": strings.Repeat("x", 257)}), hooks.OutOfBounds, "session_id"},
		{"no folder", hooks.Claude, hooks.Stop, input(t, hooks.Stop, map[string]any{"cwd": nil}), hooks.Missing, "cwd"},
		{"a folder with a NUL", hooks.Claude, hooks.Stop, input(t, hooks.Stop, map[string]any{"cwd": "/a\x00b"}), hooks.OutOfBounds, "cwd"},
		{"a list of folders", hooks.Claude, hooks.Stop, input(t, hooks.Stop, map[string]any{"cwd": []string{"/a"}}), hooks.WrongType, "cwd"},
		{"input of another event", hooks.Claude, hooks.PostToolUse, whole, hooks.OtherEvent, ""},
		{"a prompt that is no text", hooks.Claude, hooks.Prompt, input(t, hooks.Prompt, map[string]any{"prompt": []any{1}}), hooks.WrongType, "prompt"},
		{"a source that is no text", hooks.Claude, hooks.SessionStart, input(t, hooks.SessionStart, map[string]any{"source": true}), hooks.WrongType, "source"},
		{"an agent that is no text", hooks.Claude, hooks.SubagentStop, input(t, hooks.SubagentStop, map[string]any{"agent_id": 1}), hooks.WrongType, "agent_id"},
		{"a reason that is no text", hooks.Claude, hooks.SessionEnd, input(t, hooks.SessionEnd, map[string]any{"reason": 1}), hooks.WrongType, "reason"},
		{"no tool", hooks.Claude, hooks.PreToolUse, write(map[string]any{"tool_name": nil}), hooks.Missing, "tool_name"},
		{"no input of the tool", hooks.Claude, hooks.PreToolUse, write(map[string]any{"tool_input": nil}), hooks.Missing, "tool_input"},
		{"a tool's input that is text", hooks.Claude, hooks.PreToolUse, write(map[string]any{"tool_input": "x"}), hooks.WrongType, "tool_input"},
		{"no path", hooks.Claude, hooks.PreToolUse, write(tool("Edit", map[string]any{})), hooks.Missing, "tool_input.file_path"},
		{"a path that is no text", hooks.Claude, hooks.PreToolUse, write(tool("Edit", map[string]any{"file_path": 1})), hooks.WrongType, "tool_input.file_path"},
		{"the path of another tool", hooks.Claude, hooks.PreToolUse, write(tool("NotebookEdit", map[string]any{"file_path": "a"})), hooks.Missing, "tool_input.notebook_path"},
		{"no command", hooks.Claude, hooks.PreToolUse, write(tool("Bash", map[string]any{"cmd": "rm a"})), hooks.Missing, "tool_input.command"},
		{"a command in pieces", hooks.Claude, hooks.PreToolUse, write(tool("Bash", map[string]any{"command": []string{"rm", "a"}})), hooks.WrongType, "tool_input.command"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			req, err := hooks.Read(tt.client, tt.word, strings.NewReader(tt.in))
			bad := refusal(t, req, err)
			if bad.Reason != tt.reason || bad.Field != tt.field {
				t.Errorf("Read = %v; want reason %q, field %q", err, tt.reason, tt.field)
			}
			if bad.Client != tt.client || bad.Event != tt.word {
				t.Errorf("Read = %#v, does not name the hook", bad)
			}
		})
	}
}

func refusal(t testing.TB, req api.HookRequest, err error) *hooks.InputError {
	t.Helper()
	var bad *hooks.InputError
	if !errors.As(err, &bad) {
		t.Fatalf("Read = %v, %v; want an InputError", req, err)
	}
	if d := cmp.Diff(api.HookRequest{}, req); d != "" {
		t.Errorf("Read gave something with its error: %s", d)
	}
	return bad
}

// However early the input ends, it is said to be cut, not misread.
func TestTruncatedInput(t *testing.T) {
	whole := input(t, hooks.PreToolUse, tool("Write", map[string]any{"file_path": "/r/\u00e9\U0001F600", "content": "x"}))
	for n := 1; n < len(whole); n++ {
		req, err := hooks.Read(hooks.Claude, hooks.PreToolUse, strings.NewReader(whole[:n]))
		if bad := refusal(t, req, err); bad.Reason != hooks.Truncated {
			t.Fatalf("Read of the first %d of %d bytes = %v", n, len(whole), err)
		}
	}
}

func TestHugeInput(t *testing.T) {
	empty := len(input(t, hooks.PreToolUse, tool("Write", map[string]any{"file_path": "/r/a", "content": ""})))
	sized := func(n int) string {
		return input(t, hooks.PreToolUse, tool("Write", map[string]any{"file_path": "/r/a", "content": strings.Repeat("x", n-empty)}))
	}
	req, err := hooks.Read(hooks.Claude, hooks.PreToolUse, strings.NewReader(sized(hooks.MaxInput)))
	if err != nil || len(req.Writes) != 1 {
		t.Errorf("Read of the largest input = %v, %v", req, err)
	}
	req, err = hooks.Read(hooks.Claude, hooks.PreToolUse, strings.NewReader(sized(hooks.MaxInput+1)))
	if bad := refusal(t, req, err); bad.Reason != hooks.TooLarge {
		t.Errorf("Read of one byte more = %v", err)
	}
	endless := &counter{}
	req, err = hooks.Read(hooks.Claude, hooks.PreToolUse, endless)
	if bad := refusal(t, req, err); bad.Reason != hooks.TooLarge || endless.n > hooks.MaxInput+1 {
		t.Errorf("Read of an endless input = %v after %d bytes", err, endless.n)
	}
}

// counter is an endless input that counts what is taken from it.
type counter struct{ n int }

func (c *counter) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = ' '
	}
	c.n += len(b)
	return len(b), nil
}

func TestUnreadableInput(t *testing.T) {
	broken := errors.New("the pipe broke")
	req, err := hooks.Read(hooks.Claude, hooks.Stop, iotest.ErrReader(broken))
	if bad := refusal(t, req, err); bad.Reason != hooks.Unreadable || !errors.Is(err, broken) {
		t.Errorf("Read = %v", err)
	}
}

// An error goes where people and logs see it.
func TestErrorsDoNotQuoteTheInput(t *testing.T) {
	const secret = "hunter2-secret"
	for _, in := range []string{
		secret,
		`{"session_id": ` + secret,
		`{"session_id": "` + secret,
		`{"session_id": {"` + secret + `": 1}}`,
		`{"session_id": "s", "cwd": "/r", "hook_event_name": "` + secret + `"}`,
		`{"session_id": "s", "cwd": "/r", "tool_name": "Write", "tool_input": "` + secret + `"}`,
	} {
		req, err := hooks.Read(hooks.Claude, hooks.PreToolUse, strings.NewReader(in))
		refusal(t, req, err)
		if s := fmt.Sprintf("%v %+v %#v", err, err, err); strings.Contains(s, secret) {
			t.Errorf("error of %s quotes it: %s", in, s)
		}
	}
}

func TestPrompt(t *testing.T) {
	long := strings.Repeat("\u20ac", 300) // 3 bytes each
	req, err := hooks.Read(hooks.Claude, hooks.Prompt, strings.NewReader(input(t, hooks.Prompt, map[string]any{"prompt": long})))
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.Repeat("\u20ac", 170); req.Prompt != want {
		t.Errorf("prompt of 900 bytes became %d bytes: %q", len(req.Prompt), req.Prompt)
	}
}

// A tool takes a name as it is: nothing in it is expanded or cleaned.
func TestToolPaths(t *testing.T) {
	for _, tt := range []struct{ path, want string }{
		{"/r/a b$(x)*.go", "/r/a b$(x)*.go"},
		{"../x/../y", "../x/../y"},
		{"~/a", "./~/a"},
		{"", ""},
		{"/r/\x00", ""},
		{"/" + strings.Repeat("a", 4096), ""},
		{"/" + strings.Repeat("a", 4095), "/" + strings.Repeat("a", 4095)},
		{`C:\r\a.go`, `C:\r\a.go`},
	} {
		req, err := hooks.Read(hooks.Claude, hooks.PreToolUse, strings.NewReader(input(t, hooks.PreToolUse, tool("Write", map[string]any{"file_path": tt.path}))))
		if err != nil {
			t.Errorf("Read of path %q: %v", tt.path, err)
			continue
		}
		if got := strings.Join(req.Writes, " "); got != tt.want || req.Whole {
			t.Errorf("path %.20q is told as %.20q, want %.20q", tt.path, got, tt.want)
		}
	}
}
