package transcript_test

import (
	"strings"
	"testing"

	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/transcript"
)

func TestInputThatIsCutIsShownAsItIs(t *testing.T) {
	got, _ := write(t, transcript.HTML, &transcript.Options{MaxText: 7}, begun().event(event.ToolCalled{Call: id(11), Name: "T", Input: `{"a":1}      `}).records...)
	if !strings.Contains(got, "6 more bytes are left out") {
		t.Errorf("nothing is said to be left out: %s", got)
	}
}

// An input that is an object is shown by its members, texts as what they say; every other
// one as it is written.
func TestInputsOfTools(t *testing.T) {
	many := `{"a0":1`
	for i := range 70 {
		many += `,"b` + strings.Repeat("x", i) + `":1`
	}
	for _, tt := range []struct {
		input string
		want  []string // in this order
	}{
		{`{"command":"ls -l","n":0.5}`, []string{"<code>ls -l</code>", "<dt>command</dt><dd><code>ls -l</code>", "<dt>n</dt><dd><code>0.5</code>"}},
		{`{"content":"a\n<b>\n"}`, []string{"<code>a</code>", "<dt>content</dt><dd><pre>\na\n&lt;b&gt;\n</pre>"}},
		{` {"a":1}`, []string{"<pre>\n {&#34;a&#34;:1}</pre>"}},
		{`{"a":1}x`, []string{"<pre>\n{&#34;a&#34;:1}x</pre>"}},
		{`{"a":1,"a":2}`, []string{"<pre>\n{&#34;a&#34;:1,&#34;a&#34;:2}</pre>"}},
		{`{"a":"\ud800"}`, []string{"<pre>\n{&#34;a&#34;:&#34;\\ud800&#34;}</pre>"}},
		{`{"a":1`, []string{"<pre>\n{&#34;a&#34;:1</pre>"}},
		{`{}`, []string{"<pre>\n{}</pre>"}},
		{`[1]`, []string{"<pre>\n[1]</pre>"}},
		{`free text`, []string{"<code>free text</code>", "<pre>\nfree text</pre>"}},
		{many + "}", []string{"<pre>\n{&#34;a0&#34;:1,"}},
	} {
		got, _ := write(t, transcript.HTML, nil, begun().event(event.ToolCalled{Call: id(11), Name: "T", Input: tt.input}).records...)
		_, rest, _ := strings.Cut(got, "<details")
		for _, want := range tt.want {
			at := strings.Index(rest, want)
			if at < 0 {
				t.Errorf("%s: %q is not there, or not in its place, in %s", tt.input, want, rest)
				break
			}
			rest = rest[at:]
		}
	}
}

// In Markdown too, once one of them has lines.
func TestInputsOfToolsInMarkdown(t *testing.T) {
	for input, want := range map[string]string{
		`{"path":"a*","n":1}`:                          "```json\n{\"path\":\"a*\",\"n\":1}\n```\n",
		`{"path":"a*","content":"b\n` + "```" + `\n"}`: "- path: a\\*\n\n- content:\n\n````text\nb\n```\n````\n",
		"": "**Tool call: T** — no end yet — 2026-01-01 00:00:02 UTC\n\n*Turn",
	} {
		got, _ := write(t, transcript.Markdown, nil, begun().event(event.ToolCalled{Call: id(11), Name: "T", Input: input}).records...)
		if !strings.Contains(got, want) {
			t.Errorf("%s: %q is not in %s", input, want, got)
		}
	}
}
