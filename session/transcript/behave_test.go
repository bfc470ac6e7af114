package transcript_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/comity-dev/comity/session/command"
	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/gate"
	"github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/session/transcript"
)

// tree reads a JSON transcript as lines, one for each item, indented as deep as it stands,
// and its warnings.
func tree(t *testing.T, records []journal.JournalRecord) (lines, warnings []string) {
	t.Helper()
	got, _ := write(t, transcript.JSON, nil, records...)
	var doc struct {
		Items []item `json:"items"`
		End   struct {
			State    string              `json:"state"`
			Warnings []map[string]any    `json:"warnings"`
			Waiting  []map[string]string `json:"-"`
		} `json:"end"`
	}
	if err := json.Unmarshal([]byte(got), &doc); err != nil {
		t.Fatalf("%v in %s", err, got)
	}
	for _, it := range doc.Items {
		lines = it.lines(lines, "")
	}
	for _, w := range doc.End.Warnings {
		warnings = append(warnings, w["text"].(string))
	}
	return append(lines, doc.End.State), warnings
}

type item struct {
	Type, Name, Agent, Outcome, Line string
	Late, Part                       bool
	Input, Content, Result           []struct{ Text string }
	Items, Gates, Delegates          []item
}

func (it item) lines(lines []string, indent string) []string {
	line := indent + it.Type
	for _, s := range []string{it.Name, it.Agent, it.Outcome, it.Line} {
		if s != "" {
			line += " " + s
		}
	}
	if it.Late {
		line += " late"
	}
	if it.Part {
		line += " part"
	}
	for _, blocks := range [][]struct{ Text string }{it.Input, it.Content, it.Result} {
		for _, b := range blocks {
			line += " " + b.Text
		}
	}
	lines = append(lines, line)
	for _, below := range [][]item{it.Gates, it.Delegates, it.Items} {
		for _, b := range below {
			lines = b.lines(lines, indent+"  ")
		}
	}
	return lines
}

func wantTree(t *testing.T, about string, s *script, want []string, warnings ...string) {
	t.Helper()
	got, warned := tree(t, s.records)
	if !slices.Equal(got, want) {
		t.Errorf("%s:\ngot  %s\nwant %s", about, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
	if !slices.EqualFunc(warned, warnings, func(w, prefix string) bool { return strings.HasPrefix(w, prefix) }) {
		t.Errorf("%s: warnings %q, want %q", about, warned, warnings)
	}
}

func say(s string) event.MessageAdded {
	return event.MessageAdded{Role: event.RoleAssistant, Content: event.Text(s)}
}

func called(n int) event.ToolCalled { return event.ToolCalled{Call: id(n), Name: "T"} }

func finished(n int, result string) event.ToolFinished {
	return event.ToolFinished{Call: id(n), Outcome: event.ToolDone, Result: event.Text(result)}
}

func begun() *script {
	return newScript().event(event.SessionStarted{}).turn(1).event(event.TurnStarted{Index: 1})
}

func TestSessionThatStillRuns(t *testing.T) {
	s := begun().event(say("a")).event(called(11)).event(event.GateOpened{Gate: id(21), Call: id(11), Asks: gate.KindPermission})
	s.event(event.DelegateStarted{Loop: id(3), Call: id(11), Agent: "d"})
	s.eventAt(event.Coordinates{Session: id(1), Loop: id(3), Turn: id(103)}, event.TurnStarted{Index: 1})
	wantTree(t, "a running session", s, []string{
		"turn open", "  message a", "  tool_call T open", "    gate open", "    delegate d open", "      turn open", "running",
	})
	for _, f := range formats {
		got, sum := write(t, f, nil, s.records...)
		if sum.Stopped || sum.Turns != 2 || sum.Calls != 1 || sum.Records != 7 || sum.Last != 7 {
			t.Errorf("%s: summary %+v", f, sum)
		}
		if f != transcript.JSON && (!strings.Contains(got, "had not stopped at record 7") || !strings.Contains(got, "no decision yet") || !strings.Contains(got, "no end yet")) {
			t.Errorf("%s does not say that it is not the end:\n%s", f, got)
		}
	}
}

func TestNothing(t *testing.T) {
	for _, f := range formats {
		got, sum := write(t, f, nil)
		if got == "" || sum != (transcript.Summary{}) {
			t.Errorf("%s of nothing = %q, %+v", f, got, sum)
		}
	}
	wantTree(t, "nothing", newScript(), []string{"running"})
}

// The calls of a loop stand in their order, whatever order they end in, and what follows
// them stands behind them.
func TestCallsStandInTheirOrder(t *testing.T) {
	s := begun().event(called(11)).event(called(12)).event(say("meanwhile")).event(finished(12, "two")).event(finished(11, "one"))
	s.event(event.TurnEnded{Outcome: event.Done}).event(event.SessionStopped{})
	wantTree(t, "calls", s, []string{"turn done", "  tool_call T done one", "  tool_call T done two", "  message meanwhile", "note The session stopped.", "stopped"})
}

// A step ends with its last word, or where the next one begins.
func TestSteps(t *testing.T) {
	s := begun().step(1).event(say("a")).step(2).event(say("b")).event(event.StepDone{Index: 2}).step(3).event(say("c"))
	s.event(event.TurnEnded{Outcome: event.Done}).turn(2).event(event.TurnStarted{Index: 2}).step(4).event(say("d"))
	wantTree(t, "steps", s, []string{
		"turn done", "  step", "    message a", "  step", "    message b", "  step", "    message c", "turn open", "  step", "    message d", "running",
	})
}

func TestWhatComesLate(t *testing.T) {
	s := begun().event(called(11)).event(event.GateOpened{Gate: id(21), Call: id(11), Asks: gate.KindPermission, Subject: "T"})
	s.event(event.TurnEnded{Outcome: event.Interrupted})
	s.turn(2).event(event.TurnStarted{Index: 2})
	s.event(event.GateResolved{Gate: id(21), Decision: gate.Decision{Action: gate.Denied, By: ada()}}).event(finished(11, "late"))
	wantTree(t, "late", s, []string{
		"turn interrupted", "  tool_call T open", "    gate open", "turn open", "  gate denied late", "  tool_call T done late late", "running",
	})
	s = begun().event(called(11)).turn(2).event(say("a")).event(finished(11, "late"))
	wantTree(t, "behind a turn that is not there", s, []string{"turn open", "  tool_call T open", "turn open", "  message a", "  tool_call T done late late", "running"},
		"what follows is of a turn whose start")
}

func TestWhatCannotBeBound(t *testing.T) {
	s := begun().event(finished(11, "r")).event(event.GateResolved{Gate: id(21), Decision: gate.Decision{Action: gate.Denied, By: ada()}})
	s.event(event.GateOpened{Gate: id(22), Call: id(12), Asks: gate.KindForm}).event(event.GateResolved{Gate: id(22), Decision: gate.Decision{Action: gate.Cancelled, By: ada()}})
	s.event(event.DelegateEnded{Loop: id(3), Outcome: event.Done})
	s.eventAt(event.Coordinates{Session: id(1), Loop: id(4)}, say("who am I"))
	s.event(event.DelegateStarted{Loop: id(2)})
	wantTree(t, "unbound", s, []string{
		"turn open", "  tool_call done late r", "  gate denied late", "  gate cancelled", "  delegate done", "  delegate open", "    message who am I", "running",
	}, "a result is of a tool call that is not here", "a decision is of a gate that is not here", "a gate is of a tool call that is not open here",
		"a delegate ends that was not started here", "a loop was not started here", "a delegate is started that is the loop itself")
}

func TestRecordsThatDoNotBeginAtTheStart(t *testing.T) {
	s := newScript().turn(1).event(say("a")).event(event.TurnEnded{Outcome: event.Done}).event(event.TurnEnded{Outcome: event.Done})
	wantTree(t, "no start", s, []string{"turn done", "  message a", "note A turn ended that is not open here: done.", "running"},
		"the records do not begin", "what follows is of a turn whose start", "a turn ends that is not open")
	s = begun().turn(2).event(event.TurnStarted{Index: 2}).event(event.SessionStarted{})
	wantTree(t, "a turn without an end", s, []string{"turn open", "turn open", "  note The session started again.", "running"},
		"a turn starts before the one before it has ended", "the session starts again")
}

// Two delegates at once stand each in its own call, whole; one of a delegate stands in it.
func TestDelegatesAtOnce(t *testing.T) {
	s := begun().event(called(11)).event(called(12))
	a, b, c := event.Coordinates{Session: id(1), Loop: id(3)}, event.Coordinates{Session: id(1), Loop: id(4)}, event.Coordinates{Session: id(1), Loop: id(5)}
	s.event(event.DelegateStarted{Loop: a.Loop, Call: id(11), Agent: "a"}).event(event.DelegateStarted{Loop: b.Loop, Call: id(12), Agent: "b"})
	s.eventAt(a, say("a1")).eventAt(b, say("b1")).eventAt(b, event.DelegateStarted{Loop: c.Loop, Agent: "c"}).eventAt(c, say("c1")).eventAt(a, say("a2"))
	s.event(event.DelegateEnded{Loop: b.Loop, Outcome: event.Done}).event(finished(12, "")).event(event.DelegateEnded{Loop: a.Loop, Outcome: event.Failed})
	s.event(finished(11, ""))
	wantTree(t, "delegates", s, []string{
		"turn open", "  tool_call T done ", "    delegate a failed", "      message a1", "      message a2",
		"  tool_call T done ", "    delegate b done", "      message b1", "      delegate c open", "        message c1", "running",
	})
}

func TestDelegateAfterItsEnd(t *testing.T) {
	a := event.Coordinates{Session: id(1), Loop: id(3)}
	s := begun().event(event.DelegateStarted{Loop: a.Loop, Agent: "a"}).eventAt(a, say("1")).event(event.DelegateEnded{Loop: a.Loop, Outcome: event.Done}).eventAt(a, say("2"))
	wantTree(t, "after the end", s, []string{"turn open", "  delegate a done", "    message 1", "  delegate a open", "    message 2", "running"}, "a delegate goes on after its end")
	// One that is heard of before its start is bound when the start comes.
	s = begun().event(called(11)).eventAt(a, say("1")).event(event.DelegateStarted{Loop: a.Loop, Call: id(11), Agent: "a"}).event(event.DelegateEnded{Loop: a.Loop, Outcome: event.Done})
	wantTree(t, "before the start", s, []string{"turn open", "  tool_call T open", "    delegate a done", "      message 1", "running"}, "a loop was not started here", "a delegate is started that is at work")
}

// More delegates than are held are shown in parts, and nothing of them is lost.
func TestMoreDelegatesThanAreHeld(t *testing.T) {
	s := begun()
	const loops = 200
	for round := range 2 {
		for n := range loops {
			if round == 0 {
				s.event(event.DelegateStarted{Loop: id(1000 + n), Agent: "a"})
			}
			s.eventAt(event.Coordinates{Session: id(1), Loop: id(1000 + n)}, say("said"))
		}
	}
	got, warnings := tree(t, s.records)
	all := strings.Join(got, "\n")
	if n := strings.Count(all, "message said"); n != 2*loops {
		t.Errorf("%d messages, want %d", n, 2*loops)
	}
	if !strings.Contains(all, "delegate a open part") || len(warnings) > 0 {
		t.Errorf("no part is said to be one, or there are warnings: %q", warnings)
	}
}

// A loop that is heard of again does not push out the one that it stands in, though that
// was heard of longest ago.
func TestPartsStandInTheirParent(t *testing.T) {
	p, c := event.Coordinates{Session: id(1), Loop: id(3)}, event.Coordinates{Session: id(1), Loop: id(4)}
	s := begun().event(event.DelegateStarted{Loop: p.Loop, Agent: "p"}).eventAt(p, say("p1")).eventAt(p, event.DelegateStarted{Loop: c.Loop, Agent: "c"})
	for n := range 63 {
		s.event(event.DelegateStarted{Loop: id(1000 + n), Agent: "a"})
	}
	s.eventAt(c, say("c1")).eventAt(p, say("p2")).event(event.DelegateEnded{Loop: p.Loop, Outcome: event.Done})
	got, warnings := tree(t, s.records)
	all := strings.Join(got, "\n")
	want := "  delegate p done\n    message p1\n    delegate c open part\n    message p2\n    delegate c open\n      message c1\n"
	if !strings.Contains(all, want) || len(warnings) > 0 {
		t.Errorf("%s\nwant %s, warnings %q", all, want, warnings)
	}
	for _, f := range []transcript.Format{transcript.Markdown, transcript.HTML} {
		if got, _ := write(t, f, nil, s.records...); !strings.Contains(got, "shown in part") {
			t.Errorf("%s does not say that it shows a part", f)
		}
	}
}

func TestWarningsAreCounted(t *testing.T) {
	s := begun()
	for n := range 250 {
		s.event(finished(1000+n, ""))
	}
	if _, warnings := tree(t, s.records); len(warnings) != 100 {
		t.Errorf("%d warnings listed, want 100", len(warnings))
	}
	for _, f := range formats {
		got, sum := write(t, f, nil, s.records...)
		if sum.Warnings != 250 || !strings.Contains(got, "and 150 more") && !strings.Contains(got, `"more_warnings":150`) {
			t.Errorf("%s: %d warnings, want 250, and 150 that are counted", f, sum.Warnings)
		}
	}
}

// Delegates of delegates of delegates stand in one another to a depth.
func TestDeepDelegates(t *testing.T) {
	s := begun()
	const deep = 300
	for n := range deep {
		at := event.Coordinates{Session: id(1), Loop: id(1000 + n - 1)}
		if n == 0 {
			at = s.at
		}
		s.eventAt(at, event.DelegateStarted{Loop: id(1000 + n), Agent: "a"})
		s.eventAt(event.Coordinates{Session: id(1), Loop: id(1000 + n)}, say("said"))
	}
	got, _ := tree(t, s.records)
	if n := strings.Count(strings.Join(got, "\n"), "message said"); n != deep {
		t.Errorf("%d messages, want %d", n, deep)
	}
	for _, f := range formats {
		got, _ := write(t, f, nil, s.records...)
		if f == transcript.HTML {
			if err := nested(got); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestInputsThatNothingCameOf(t *testing.T) {
	s := begun().command(event.Human, command.UserInput{Content: event.Text("first")})
	first := s.records[len(s.records)-1].(journal.CommandRecord).Command().ID
	s.command(event.Human, command.UserInput{Content: event.Text("second")})
	second := s.records[len(s.records)-1].(journal.CommandRecord).Command().ID
	s.command(event.Human, command.UserInput{Content: event.Text("third")})
	folded := event.Event{Header: event.Header{ID: id(77), At: s.at, Cause: event.Cause{Command: first}}, Body: event.MessageAdded{Role: event.RoleUser, Content: event.Text("first")}}
	s.records = append(s.records, journal.NewEventRecord(folded))
	s.event(event.InputCancelled{Command: second})
	got, _ := write(t, transcript.Markdown, nil, s.records...)
	_, waiting, ok := strings.Cut(got, "Inputs that nothing came of yet:")
	if !ok || !strings.Contains(waiting, "third") || strings.Contains(waiting, "first") || strings.Contains(waiting, "second") {
		t.Errorf("waiting: %s", waiting)
	}
}

// What no public view has is in a private transcript alone, and a secret answer in none.
func TestPrivate(t *testing.T) {
	s := newScript().event(event.SessionStarted{Workspace: "/home/PRIVATE"}).turn(1).event(event.TurnStarted{Index: 1})
	s.prepared(id(21), gate.Payload{Permission: &gate.Permission{Tool: "T", Description: "PRIVATE"}})
	s.event(event.GateOpened{Gate: id(21), Asks: gate.KindPermission}).event(event.GateResolved{Gate: id(21), Decision: gate.Decision{Action: gate.Denied, By: ada(), Audit: "PRIVATE"}})
	s.prepared(id(22), gate.Payload{Form: &gate.Form{Fields: []gate.Field{{Name: "a", Type: gate.FieldText}, {Name: "b", Type: gate.FieldText, Secret: true}}}})
	s.event(event.GateOpened{Gate: id(22), Asks: gate.KindForm})
	answers := []gate.Answer{{Field: "a", Values: []string{"PRIVATE"}}, {Field: "b", Values: []string{"SECRET"}}, {Field: "c", Values: []string{"SECRET"}}}
	s.event(event.GateResolved{Gate: id(22), Decision: gate.Decision{Action: gate.Answered, By: ada(), Answers: answers}})
	s.event(event.GateResolved{Gate: id(23), Decision: gate.Decision{Action: gate.Answered, By: ada(), Answers: []gate.Answer{{Field: "a", Values: []string{"SECRET"}}}}})
	s.event(event.AuditNoted{Activity: "PRIVATE", Phase: event.PhaseStarted})
	s.event(event.ConfigurationAdopted{Epoch: 1, Drift: []event.Drift{{Field: "workspace", Level: event.DriftWarn, Old: "/home/PRIVATE"}}})
	for _, f := range formats {
		public, _ := write(t, f, nil, s.records...)
		private, _ := write(t, f, &transcript.Options{Private: true}, s.records...)
		if strings.Contains(public, "PRIVATE") || strings.Contains(public, "SECRET") {
			t.Errorf("%s: the public transcript has what is private:\n%s", f, public)
		}
		if n := strings.Count(private, "PRIVATE"); n < 6 || strings.Contains(private, "SECRET") {
			t.Errorf("%s: the private transcript has %d private texts, want 6, and no secret:\n%s", f, n, private)
		}
	}
}

func TestLongTextsAreCut(t *testing.T) {
	s := begun().event(called(11)).event(finished(11, strings.Repeat("\u00e9", 100)+"END"))
	for _, f := range formats {
		got, _ := write(t, f, &transcript.Options{MaxText: 51}, s.records...)
		if strings.Contains(got, "END") || !strings.Contains(got, strings.Repeat("\u00e9", 25)) || strings.Contains(got, strings.Repeat("\u00e9", 26)) || !strings.Contains(got, "153") {
			t.Errorf("%s: a text of 203 bytes within 51:\n%s", f, got)
		}
	}
}

type badWriter struct{ left int }

func (w *badWriter) Write(b []byte) (int, error) {
	if w.left -= len(b); w.left < 0 {
		return 0, errDisk
	}
	return len(b), nil
}

var errDisk = errors.New("disk")

func TestErrors(t *testing.T) {
	for _, f := range formats {
		full, _ := write(t, f, nil, whole()...)
		for _, left := range []int{0, 1, len(full) / 2, len(full) - 1} {
			if _, err := transcript.Write(t.Context(), &badWriter{left}, tapeOf(whole()), f, nil); !errors.Is(err, errDisk) {
				t.Errorf("%s to a disk with %d bytes left = %v, want %v", f, left, err, errDisk)
			}
		}
		// It reads no further than it can write.
		endless := &tape{next: func(n uint64) journal.JournalRecord {
			if n > 10_000 {
				return nil
			}
			return newScript().turn(1).event(say(strings.Repeat("x", 1000))).records[0]
		}}
		if _, err := transcript.Write(t.Context(), &badWriter{10_000}, endless, f, nil); !errors.Is(err, errDisk) || endless.n > 100 {
			t.Errorf("%s to a full disk = %v after %d records", f, err, endless.n)
		}
		tp := tapeOf(whole()[:7])
		tp.err = errDisk
		var read *transcript.ReadError
		sum, err := transcript.Write(t.Context(), new(strings.Builder), tp, f, nil)
		if !errors.As(err, &read) || read.After != 7 || !errors.Is(err, errDisk) || sum.Records != 7 {
			t.Errorf("%s of what cannot be read = %+v, %v, want a *ReadError after 7", f, sum, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := transcript.Write(ctx, new(strings.Builder), tapeOf(whole()), f, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("%s with an ended context = %v", f, err)
		}
		if _, err := transcript.Write(t.Context(), new(strings.Builder), &tape{next: func(uint64) journal.JournalRecord { return nil }}, "pdf", nil); err == nil {
			t.Error("Write as pdf = nil, want an error")
		}
	}
}

// Files of delegates that waited are gone, also after an error, and a folder that cannot be
// written to is an error.
func TestTemporaryFiles(t *testing.T) {
	a := event.Coordinates{Session: id(1), Loop: id(3)}
	s := begun().event(event.DelegateStarted{Loop: a.Loop, Agent: "a"}).eventAt(a, say(strings.Repeat("long ", 20000))).eventAt(a, say("more"))
	for _, f := range formats {
		dir := t.TempDir()
		got, _ := write(t, f, &transcript.Options{TempDir: dir}, s.records...)
		if !strings.Contains(got, strings.Repeat("long ", 20000)[:99990]) || !strings.Contains(got, "more") {
			t.Errorf("%s: the work of the delegate is not whole", f)
		}
		tp := tapeOf(s.records)
		tp.err = errDisk
		seen := 0
		next := tp.next
		tp.next = func(n uint64) journal.JournalRecord {
			files, _ := os.ReadDir(dir)
			seen = max(seen, len(files))
			return next(n)
		}
		if _, err := transcript.Write(t.Context(), new(strings.Builder), tp, f, &transcript.Options{TempDir: dir}); !errors.Is(err, errDisk) {
			t.Errorf("%s = %v, want %v", f, err, errDisk)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 || seen == 0 {
			t.Errorf("%s: %d files left, %d seen", f, len(left), seen)
		}
		if _, err := transcript.Write(t.Context(), new(strings.Builder), tapeOf(s.records), f, &transcript.Options{TempDir: dir + "/none"}); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s without a folder = %v, want %v", f, err, os.ErrNotExist)
		}
		// The same when it shows only while the delegate is put in its place.
		held := begun().event(event.DelegateStarted{Loop: a.Loop, Agent: "a"}).eventAt(a, called(11)).eventAt(a, say(strings.Repeat("long ", 20000))).event(event.DelegateEnded{Loop: a.Loop, Outcome: event.Done})
		if _, err := transcript.Write(t.Context(), new(strings.Builder), tapeOf(held.records), f, &transcript.Options{TempDir: dir + "/none"}); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s without a folder at the end = %v, want %v", f, err, os.ErrNotExist)
		}
	}
}
