package hooks_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/internal/hooks"
)

func write(t testing.TB, word string, rep api.HookReply) (string, error) {
	t.Helper()
	var out strings.Builder
	err := hooks.Write(hooks.Claude, word, rep, &out)
	return out.String(), err
}

func TestNothingToSayIsEmptyOutput(t *testing.T) {
	for _, w := range words {
		out, err := write(t, w, api.HookReply{Session: "s", Tell: " \n", Conflicts: []api.Conflict{{Claim: "c"}}})
		if out != "" || err != nil {
			t.Errorf("Write at %s = %q, %v; want nothing", w, out, err)
		}
	}
}

func TestDeny(t *testing.T) {
	out, err := write(t, hooks.PreToolUse, api.HookReply{Deny: "src/a.go is held by amber <2 min>", Conflicts: []api.Conflict{{Claim: "c"}}})
	const want = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"src/a.go is held by amber <2 min>"}}` + "\n"
	if out != want || err != nil {
		t.Errorf("Write = %s, %v; want %s", out, err, want)
	}
	out, err = write(t, hooks.PreToolUse, api.HookReply{Deny: "held", Tell: "news"})
	const both = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"held\nnews"}}` + "\n"
	if out != both || err != nil {
		t.Errorf("Write = %s, %v; want %s", out, err, both)
	}
}

func TestTell(t *testing.T) {
	for word, event := range map[string]string{
		hooks.SessionStart:       "SessionStart",
		hooks.Prompt:             "UserPromptSubmit",
		hooks.PreToolUse:         "PreToolUse",
		hooks.PostToolUse:        "PostToolUse",
		hooks.PostToolUseFailure: "PostToolUseFailure",
		hooks.SubagentStart:      "SubagentStart",
	} {
		out, err := write(t, word, api.HookReply{Tell: "two sessions are here"})
		want := `{"hookSpecificOutput":{"hookEventName":"` + event + `","additionalContext":"two sessions are here"}}` + "\n"
		if out != want || err != nil {
			t.Errorf("Write at %s = %s, %v; want %s", word, out, err, want)
		}
	}
}

// What an event cannot say is not lost in silence, nor said in a form that
// would mean something else there.
func TestNoPlace(t *testing.T) {
	for _, w := range words {
		if w != hooks.PreToolUse {
			if out, err := write(t, w, api.HookReply{Deny: "no"}); out != "" || !errors.Is(err, hooks.ErrNoPlace) {
				t.Errorf("Write of a denial at %s = %q, %v", w, out, err)
			}
		}
	}
	for _, w := range []string{hooks.Stop, hooks.SubagentStop, hooks.SessionEnd} {
		if out, err := write(t, w, api.HookReply{Tell: "news"}); out != "" || !errors.Is(err, hooks.ErrNoPlace) {
			t.Errorf("Write of news at %s = %q, %v", w, out, err)
		}
	}
}

func TestWriteToNobody(t *testing.T) {
	var bad *hooks.InputError
	if err := hooks.Write("clod", hooks.Stop, api.HookReply{}, nil); !errors.As(err, &bad) || bad.Reason != hooks.UnknownClient {
		t.Errorf("Write for an unknown client = %v", err)
	}
	if err := hooks.Write(hooks.Claude, "later", api.HookReply{}, nil); !errors.As(err, &bad) || bad.Reason != hooks.UnknownEvent {
		t.Errorf("Write for an unknown event = %v", err)
	}
}

func TestTextsAreBounded(t *testing.T) {
	text := func(out string) string {
		var v struct {
			HookSpecificOutput struct{ AdditionalContext, PermissionDecisionReason string }
		}
		if err := json.Unmarshal([]byte(out), &v); err != nil {
			t.Fatal(err)
		}
		return v.HookSpecificOutput.AdditionalContext + v.HookSpecificOutput.PermissionDecisionReason
	}
	long := strings.Repeat("\u20ac", hooks.MaxText)
	for _, rep := range []api.HookReply{{Tell: long}, {Deny: long}, {Deny: long, Tell: long}} {
		out, err := write(t, hooks.PreToolUse, rep)
		if err != nil {
			t.Fatal(err)
		}
		got := text(out)
		if len(got) > hooks.MaxText || len(got) < hooks.MaxText-50 || !utf8.ValidString(got) || !strings.HasSuffix(got, "left out)") {
			t.Errorf("a text of %d bytes became %d bytes, ending in %q", len(long), len(got), got[len(got)-40:])
		}
	}
	for n, want := range map[int]int{hooks.MaxText: hooks.MaxText, hooks.MaxText + 1: hooks.MaxText} {
		out, err := write(t, hooks.PreToolUse, api.HookReply{Tell: strings.Repeat("a", n)})
		if got := text(out); err != nil || len(got) != want || (got == strings.Repeat("a", n)) != (n == want) {
			t.Errorf("a text of %d bytes became %d bytes, %v", n, len(got), err)
		}
	}
	out, err := write(t, hooks.PreToolUse, api.HookReply{Tell: "a\x1b[31mb\x00c\xffd\te\nf\r\u009bg"})
	if got, want := text(out), "a[31mbc\ufffdd\te\nfg"; got != want || err != nil {
		t.Errorf("a text with controls became %q, %v; want %q", got, err, want)
	}
}
