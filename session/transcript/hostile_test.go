package transcript_test

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/comity-dev/comity/session/command"
	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/gate"
	"github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/session/transcript"
)

// hostile is what every text of a session may be. Its word is looked for in the output.
var hostile = []string{
	`<script>EVIL</script>`,
	`"><img src=x onerror=EVIL>`,
	`' onmouseover='EVIL`,
	`</pre></details></section></main><h1>EVIL</h1>`,
	`<!-- EVIL`, `]]>EVIL<![CDATA[`, `&lt;EVIL&#0;&amp`, `</title></style><b>EVIL`,
	"```\n# EVIL\n```", "`````` EVIL\n~~~~\n# EVIL", "\n\n# EVIL\n\n---\n", "> EVIL\n\n## EVIL", "``\x1b[0m`\n# EVIL", "`\x1b[1m``\n## EVIL",
	"![EVIL](https://example.invalid/x.png) [EVIL](javascript:alert(1)) <https://example.invalid> http://example.invalid/EVIL",
	"\u202eEVIL\u2066\u2069 \u200b\u200f\ufeff \U000e0041 \u2028\u2029",
	"\x00EVIL\x01\x08\x1b]0;EVIL\x07\x1b[2J\x7f\u0085\r# EVIL", "\r\n# EVIL\r\n```\r\n",
	`{"a":"EVIL <script>","b":{"c":["</pre>"]},"d":"` + "\u202e" + `"}`,
	"$$EVIL$$ | EVIL | :---: | @EVIL #1", strings.Repeat("`", 4000) + "EVIL", "EVIL" + strings.Repeat("*", 99) + "`", "# EVIL `a` **b**",
	"first\nEVIL second", `<script>EVIL ` + "`<code>`" + ` <b>**<i>**<script>`, "{\"# EVIL\":\"x\",\"b\":\"c\\n```\\n# EVIL\"}", `{"<script>EVIL":"x","\"><b>":"</dt>"}`,
}

// session has s as every text.
func session(s string) []journal.JournalRecord {
	short := s
	for len(short) > event.MaxName {
		short = short[:len(short)/2]
	}
	short = strings.ToValidUTF8(short, "")
	sc := newScript()
	content := []event.Block{{Type: event.BlockText, Text: s}, {Type: event.BlockThinking, Text: s}, {Type: event.BlockFile, Name: short, Media: short}}
	by := gate.Decider{Kind: gate.Person, Name: short, Via: short}
	sc.event(event.SessionStarted{Title: s, Program: short, Version: short, Model: short, Workspace: s})
	sc.command(event.Human, command.UserInput{Content: content})
	sc.turn(1).event(event.TurnStarted{Index: 1, Input: content})
	sc.step(1).event(event.MessageAdded{Role: event.RoleAssistant, Content: content})
	sc.event(event.ToolCalled{Call: id(11), Name: short, Use: short, Input: s})
	sc.prepared(id(21), gate.Payload{Permission: &gate.Permission{Tool: short, Description: s, Input: s}})
	sc.event(event.GateOpened{Gate: id(21), Call: id(11), Asks: gate.KindPermission, Subject: short})
	sc.event(event.GateResolved{Gate: id(21), Decision: gate.Decision{Action: gate.Denied, By: by, Reason: s, Audit: s}})
	sc.prepared(id(22), gate.Payload{Form: &gate.Form{Message: s, Fields: []gate.Field{{Name: short, Label: short, Type: gate.FieldChoice, Choices: []gate.Choice{{Value: short}}}}}})
	sc.event(event.GateOpened{Gate: id(22), Asks: gate.KindForm, Subject: short})
	sc.event(event.GateResolved{Gate: id(22), Decision: gate.Decision{Action: gate.Answered, By: by, Answers: []gate.Answer{{Field: short, Values: []string{s}}}}})
	sc.event(event.DelegateStarted{Loop: id(3), Call: id(11), Agent: short, Model: short, Task: content})
	child := event.Coordinates{Session: id(1), Loop: id(3), Turn: id(103), Step: id(203)}
	sc.eventAt(child, event.TurnStarted{Index: 1, Input: content})
	sc.eventAt(child, event.ToolCalled{Call: id(14), Name: short, Input: s})
	sc.eventAt(child, event.ToolFinished{Call: id(14), Outcome: event.ToolDone, Result: content})
	sc.eventAt(child, event.TurnEnded{Outcome: event.Failed, Error: s})
	sc.event(event.DelegateEnded{Loop: id(3), Outcome: event.Failed, Error: s, Result: content})
	sc.event(event.ToolFinished{Call: id(11), Outcome: event.ToolFailed, Result: content})
	sc.event(event.ToolFinished{Call: id(15), Outcome: event.ToolFailed, Result: content})
	sc.event(event.StepDone{Index: 1, Model: short, Stop: short})
	sc.event(event.ConfigurationAdopted{Epoch: 1, By: short, Source: short, Note: s, Drift: []event.Drift{{Field: short, Level: event.DriftWarn, Old: s, New: s}}})
	sc.event(event.ContextCompacted{Summary: content})
	sc.event(event.AuditNoted{Activity: short, Phase: event.PhaseFailed, Note: s, Error: s})
	sc.event(event.WorkspaceCheckpointed{Checkpoint: id(31), Ref: short, Note: s})
	sc.event(event.RestoreFailed{Error: s})
	sc.event(event.InputCancelled{Command: id(9), Reason: s})
	sc.event(own{s})
	sc.command(event.Human, command.Interrupt{Reason: s})
	sc.command(event.Machine, command.ProcessNotification{Process: short, Exit: short, Output: s})
	sc.records = append(sc.records, journal.OpaqueRecord{Kind: "k/" + short, ID: short, Body: []byte(s)})
	sc.event(event.TurnEnded{Outcome: event.Failed, Error: s})
	sc.command(event.Human, command.UserInput{Content: content})
	sc.event(event.SessionStopped{Reason: s, Error: s})
	return sc.records
}

// own is an event of a harness's own kind.
type own struct {
	Text string `json:"text"`
}

func (own) Kind() string { return "acme.note" }

// A harness says what of its own events is public; without Private, no more of them is
// shown, and of a kind that is not known nothing.
func TestOwnEventsAreShownInTheirPublicForm(t *testing.T) {
	kinds, err := event.NewKinds(event.NewKind(event.Rules[own]{Public: func(_ event.Header, o own) own { return own{o.Text[:8]} }}))
	if err != nil {
		t.Fatal(err)
	}
	records := newScript().event(own{"harmless, and hunter2"}).records
	for _, f := range formats {
		for _, tt := range []struct {
			o         transcript.Options
			some, all bool
			warnings  uint64
		}{
			{transcript.Options{}, false, false, 2},
			{transcript.Options{Kinds: kinds}, true, false, 1},
			{transcript.Options{Private: true}, true, true, 1},
		} {
			got, sum := write(t, f, &tt.o, records...)
			if strings.Contains(got, "harmless") != tt.some || strings.Contains(got, "hunter2") != tt.all || !strings.Contains(got, "note") || sum.Warnings != tt.warnings {
				t.Errorf("%s, private %v, kinds known %v, %d warnings:\n%s", f, tt.o.Private, tt.o.Kinds != nil, sum.Warnings, got)
			}
		}
	}
}

// raw reports characters that are nowhere in an output.
func raw(s string) bool {
	return !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool {
		return r < 0x20 && r != '\n' && r != '\t' || 0x7f <= r && r < 0xa0 || 0x2028 <= r && r <= 0x202e || 0x2060 <= r && r <= 0x206f ||
			r == 0x200b || r == 0x200e || r == 0x200f || r == 0xfeff || 0xe0000 <= r && r <= 0xe0fff
	})
}

func TestHostileTextsInHTML(t *testing.T) {
	tags := regexp.MustCompile(`<(/?)([a-zA-Z!][a-zA-Z0-9]*)([^>]*)>`)
	plain := regexp.MustCompile(`^( (lang|charset|content|http-equiv|name|class|id|datetime)="[^"<>]*")*$`)
	known := " !doctype html head meta title style body header h1 h2 h3 h4 h5 dl dt dd main section article details summary p b pre code span div time footer ul li "
	for _, s := range hostile {
		got, _ := write(t, transcript.HTML, &transcript.Options{Private: true}, session(s)...)
		if raw(got) {
			t.Errorf("%q: the page has a hidden character", s)
		}
		if !strings.Contains(got, "EVIL") {
			t.Errorf("%q: the text is not in the page: the test shows nothing", s)
		}
		for _, tag := range tags.FindAllStringSubmatch(got, -1) {
			if !strings.Contains(known, " "+strings.ToLower(tag[2])+" ") {
				t.Fatalf("%q: the page has the tag %q", s, tag[0])
			}
			if !plain.MatchString(tag[3]) && tag[0] != "<!doctype html>" || strings.Contains(tag[3], "EVIL") {
				t.Fatalf("%q: the page has the tag %q", s, tag[0])
			}
		}
		if err := nested(got); err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		if title := regexp.MustCompile(`<title>(.*)</title>`).FindStringSubmatch(got); title == nil || strings.Contains(title[1], "<") {
			t.Errorf("%q: the title of the page is %q: a browser shows markup in it as text", s, title)
		}
	}
}

// nested reads a page as a tree and says where a tag does not close what is open.
func nested(s string) error {
	s = regexp.MustCompile(`(?m)^(<meta [^>]*>|<!doctype html>)$`).ReplaceAllString(s, "") // they have no end
	d := xml.NewDecoder(strings.NewReader(s))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// Nothing in the page makes a browser ask anybody for anything, and its policy would forbid
// it.
func TestPageNeedsNoNetwork(t *testing.T) {
	got, _ := write(t, transcript.HTML, nil, whole()...)
	if !strings.Contains(got, `http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'`) {
		t.Error("the page has no policy")
	}
	for _, bad := range []string{"<script", "<link", "<img", "<iframe", "<object", "src=", "href=", "url(", "@import", "http://", "https://", "onload", "style="} {
		if strings.Contains(got, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	for _, want := range []string{"prefers-color-scheme: dark", "<details class=\"call", "<meta charset=\"utf-8\">"} {
		if !strings.Contains(got, want) {
			t.Errorf("the page has no %q", want)
		}
	}
}

// All that is not ours stands in a fence or is escaped in a line of ours.
func TestHostileTextsInMarkdown(t *testing.T) {
	marked := regexp.MustCompile("(^|[^\\\\])(\\\\\\\\)*[`<>\\[\\]#|&$]")
	for _, s := range hostile {
		got, _ := write(t, transcript.Markdown, &transcript.Options{Private: true}, session(s)...)
		if raw(got) {
			t.Errorf("%q: the text has a hidden character", s)
		}
		fence, inside := "", 0
		for n, line := range strings.Split(got, "\n") {
			for fence == "" && strings.HasPrefix(line, ">") || fence != "" && inside > 0 && strings.HasPrefix(line, ">") {
				line = strings.TrimPrefix(strings.TrimPrefix(line, ">"), " ")
				if fence == "" {
					inside++
				}
				if fence != "" {
					break
				}
			}
			ticks := line[:len(line)-len(strings.TrimLeft(line, "`"))]
			switch {
			case fence == "" && len(ticks) >= 3:
				if info := line[len(ticks):]; info != "text" && info != "json" {
					t.Fatalf("%q: line %d opens a fence that is not ours: %q", s, n+1, line)
				}
				fence = ticks
			case fence != "" && len(ticks) >= len(fence) && strings.TrimSpace(line[len(ticks):]) == "":
				if line != fence {
					t.Fatalf("%q: line %d closes a fence that is not its own: %q", s, n+1, line)
				}
				fence, inside = "", 0
			case fence == "":
				inside = 0
				own := strings.TrimLeft(line, "#")
				if n > 0 && strings.HasPrefix(strings.TrimSpace(own), "EVIL") { // the first is the title
					t.Fatalf("%q: line %d begins with the text: %q", s, n+1, line)
				}
				if marked.MatchString(own) {
					t.Fatalf("%q: line %d has a mark that is not escaped: %q", s, n+1, line)
				}
			}
		}
		if fence != "" {
			t.Fatalf("%q: a fence stays open", s)
		}
	}
}

func TestHostileTextsInJSON(t *testing.T) {
	for _, s := range hostile {
		got, _ := write(t, transcript.JSON, &transcript.Options{Private: true}, session(s)...)
		if raw(got) {
			t.Errorf("%q: the JSON has a hidden character", s)
		}
		var doc map[string]any
		if err := json.Unmarshal([]byte(got), &doc); err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		turn := doc["items"].([]any)[0].(map[string]any)
		input := turn["input"].([]any)[0].(map[string]any)["text"]
		if input != s {
			t.Errorf("input = %q, want %q as it was", input, s)
		}
	}
}

// However the texts are, the three formats are whole.
func FuzzText(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) || len(s) > 4000 {
			return
		}
		records := session(s)
		page, _ := write(t, transcript.HTML, nil, records...)
		if err := nested(page); err != nil || raw(page) {
			t.Errorf("page of %q: %v", s, err)
		}
		doc, _ := write(t, transcript.JSON, nil, records...)
		if !json.Valid([]byte(doc)) || raw(doc) {
			t.Errorf("JSON of %q is not whole", s)
		}
		if md, _ := write(t, transcript.Markdown, nil, records...); raw(md) || !strings.Contains(md, "\n---\n\nThe session stopped.") {
			t.Errorf("Markdown of %q is not whole", s)
		}
	})
}
