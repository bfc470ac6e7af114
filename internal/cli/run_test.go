package cli_test

import (
	"strings"
	"testing"

	"github.com/comity-dev/comity/api"
)

// A mistake in the arguments is exit 2 with a next step, and asks no daemon.
func TestMistakesInTheArguments(t *testing.T) {
	f := newFake(t).serve()
	for _, args := range [][]string{
		{"bogus"}, {"--bogus"}, {"staus"}, {"session"}, {"session", "bogus"}, {"handover", "bogus"}, {"review"},
		{"claim"}, {"claim", "a", "--bogus"}, {"claim", "a", "--wait", "soon"}, {"claim", "a", "--advisory", "--checkout"},
		{"claim", "a", "--break"}, {"claim", "a", "--wait", "25h"}, {"claim", "a", "--wait", "-1s"}, {"claim", "a", "--confirm", "25h"},
		{"check"}, {"check", "a", "--epoch", "-1"}, {"status", "x"}, {"status", "--repo", "/no/such/folder"},
		{"session", "open", "--pid", "1", "--ttl", "1h"}, {"session", "open", "--pid", "0"}, {"session", "open", "--pid", "x"}, {"session", "open", "--ttl", "0s"},
		{"session", "renew", "--ttl", "-1s"}, {"session", "close", "a", "b"},
		{"log", "--limit", "0"}, {"log", "--limit", "1001"}, {"log", "x"}, {"notices", "x"},
		{"handover", "publish"}, {"handover", "publish", "/no/such/file"}, {"handover", "take"}, {"handover", "show", "a", "b"}, {"handover", "decline"},
		{"review", "request"}, {"review", "answer", "a"}, {"review", "answer", "a", "--approve", "--changes"}, {"review", "close"},
		{"verify", "x"}, {"doctor", "x"}, {"stop", "x"}, {"version", "x"}, {"serve", "--idle", "x"},
		{"claim", "a\xff"}, {"claim", "a", "--intent", "\xff"}, {"status", "--session", ""}, {"status", "--repo", ""},
		{"status", "--repo", "run_test.go"}, {"handover", "publish", "."}, {"claim", "a", "--break", "--reason", " "},
	} {
		r := f.run(args...)
		if r.code != 2 || r.out != "" || !strings.HasPrefix(r.errout, "comity: ") {
			t.Errorf("%v: %+v", args, r)
		}
		if !strings.Contains(r.errout, "\ncomity: hint: ") {
			t.Errorf("%v: no hint in %q", args, r.errout)
		}
		if j := f.run(append(args, "--json")...); j.code != 2 || !strings.HasPrefix(j.out, `{"error":{"code":"`) || j.errout != "" {
			t.Errorf("%v --json: %+v", args, j)
		}
	}
	if len(f.asked) > 0 {
		t.Errorf("the daemon was asked: %v", f.asked)
	}
}

func TestMisspeltNamesAreGuessed(t *testing.T) {
	f := newFake(t)
	for _, tt := range []struct{ args, guess string }{
		{"staus", "did you mean comity status?"},
		{"handover lst", "did you mean comity handover list?"},
		{"claim a --intnt x", "did you mean --intent?"},
		{"log --afer x", "did you mean --after?"},
		{"status --sesion x", "did you mean --session?"},
	} {
		if r := f.run(strings.Fields(tt.args)...); !strings.Contains(r.errout, tt.guess) {
			t.Errorf("%s: %+v, want %q", tt.args, r, tt.guess)
		}
	}
	if r := f.run("status", "--zzzzzz"); strings.Contains(r.errout, "did you mean") {
		t.Errorf("a guess at what is like nothing: %+v", r)
	}
}

// A word that nobody reads to its end is cut; JSON has it whole.
func TestALongWordIsCut(t *testing.T) {
	f := newFake(t)
	word := strings.Repeat("x", 5000)
	if r := f.run(word); r.code != 2 || len(r.errout) > 500 {
		t.Errorf("%d bytes: %+v", len(r.errout), r)
	}
	if r := f.run(word, "--json"); r.code != 2 || !strings.Contains(r.out, word) {
		t.Errorf("%+v", r)
	}
}

// COMITY=off silences everything, whatever is asked.
// A path that has no room on a line is broken there, and no space gets into it.
func TestAWordIsOnlyBrokenAtTheEndOfALine(t *testing.T) {
	word := strings.Repeat("p", 73)
	for n := range 12 {
		f := newFake(t)
		long := word + "/" + strings.Repeat("q", n)
		f.errs[api.OpStatus] = api.Errorf(api.CodeInternal, "open %s: is a directory", long)
		r := f.serve().run("status")
		if strings.ReplaceAll(r.errout, "\n  ", "") == r.errout || !strings.Contains(strings.ReplaceAll(r.errout, "\n  ", ""), long) {
			t.Errorf("%q does not show %q", r.errout, long)
		}
	}
}

func TestOff(t *testing.T) {
	f := newFake(t).serve()
	f.env["COMITY"] = "off"
	for _, args := range [][]string{{}, {"status"}, {"claim", "a"}, {"bogus"}, {"--json", "check"}, {"version"}, {"stop"}} {
		if r := f.run(args...); r != (result{}) {
			t.Errorf("%v: %+v", args, r)
		}
	}
	if len(f.asked) > 0 {
		t.Errorf("the daemon was asked: %v", f.asked)
	}
}

// `export COMITY_SESSION=$(comity session open)` needs the id and nothing else.
func TestSessionOpenPrintsOnlyTheID(t *testing.T) {
	f := newFake(t).serve()
	f.env["COMITY_SESSION"] = "another"
	f.replies[api.OpSessionOpen] = api.SessionOpenReply{Session: api.Session{Session: "s-12", ID: "n-r/s-12", Owner: "process 7"}, Created: true}
	r := f.run("session", "open", "--pid", "7", "--intent", "i", "--client", "codex")
	if r.code != 0 || r.out != "s-12\n" || r.errout != "" {
		t.Errorf("%+v", r)
	}
	req := request[api.SessionOpenRequest](f, api.OpSessionOpen)
	if req.PID != 7 || req.Intent != "i" || req.Client != "codex" || req.Name != "" || req.Session != "" {
		t.Errorf("request %+v", req)
	}
	f.run("session", "open", "--session", "ada", "--ttl", "90m")
	if req := request[api.SessionOpenRequest](f, api.OpSessionOpen); req.Name != "ada" || req.TTLMS != 5_400_000 {
		t.Errorf("request %+v", req)
	}
}

func TestSessionRenewAndClose(t *testing.T) {
	f := newFake(t).serve()
	f.replies[api.OpSessionRenew] = api.SessionOpenReply{Session: api.Session{Session: "s-1", Owner: "time to live 1h0m0s"}}
	if r := f.run("session", "renew", "--ttl", "1h"); r.out != "s-1  renewed  time to live 1h0m0s\n" {
		t.Errorf("%+v", r)
	}
	f.replies[api.OpSessionClose] = api.SessionCloseReply{Session: api.Session{Session: "s-1"}, Released: []api.Claim{{Short: "972572/4", Scope: []string{"path:a"}, Session: "s-1"}}}
	if r := f.run("session", "close", "s-1"); r.out != "s-1  closed  1 claim released\n972572/4  released  a  s-1  held 0s\n" {
		t.Errorf("%+v", r)
	}
	if req := request[api.SessionCloseRequest](f, api.OpSessionClose); req.Name != "s-1" {
		t.Errorf("request %+v", req)
	}
}

// Nothing that others wrote reaches the terminal as an order to it, wherever it
// stands.
func TestForeignTextIsHarmless(t *testing.T) {
	evil := "\x1b]0;owned\x07\x1b[2J\u202egpj.exe\u009b31m\rX"
	f := newFake(t).serve()
	e := api.Errorf(api.CodeConflict, "held by %s", evil).WithHint("ask %s", evil)
	c := conflict()
	c.Session, c.Client, c.By, c.Intent, c.Meets, c.Scope, c.Short, c.Live = evil, evil, evil, evil, evil, []string{"path:" + evil}, evil, evil
	e.Conflicts = []api.Conflict{c}
	f.errs[api.OpClaim] = e
	f.run("claim", evil)
	f.replies[api.OpStatus] = api.Status{
		Sessions:  []api.Session{{Session: evil, Client: evil, By: evil, Host: evil, Branch: evil, Intent: evil, State: evil, Live: evil}},
		Claims:    []api.Claim{{Short: evil, By: evil, Scope: []string{evil}, Mode: evil, Session: evil, Intent: evil, Standing: evil}},
		Handovers: []api.Handover{{Short: evil, State: evil, From: evil, To: evil, Branch: evil, Summary: evil}},
		Reviews:   []api.Review{{Short: evil, State: evil, Subject: evil, Session: evil, Reviewer: evil, Branch: evil, Scope: []string{evil}}},
		Waits:     []api.Wait{{Session: evil, Scope: []string{evil}, For: []string{evil}}},
		Streams:   []api.Stream{{Stream: evil, Damaged: true}},
		ReadOnly:  evil,
	}
	f.run("status")
	f.replies[api.OpLog] = api.LogPage{Events: []api.LogEvent{{Text: evil, Short: evil}}, More: true, Next: evil}
	f.run("log")
	f.replies[api.OpNotices] = api.Notices{Session: evil, Notices: []api.Notice{{ID: 1, Kind: evil, Text: evil, Claim: evil}}}
	f.run("notices")
	f.replies[api.OpHandoverShow] = api.HandoverReply{Handover: api.Handover{Short: evil, Body: evil + "\nsecond\tline", Files: []string{evil}, Declines: []api.Taking{{Session: evil, Reason: evil}}}}
	if r := f.run("handover", "show", "x"); !strings.Contains(r.out, "\nsecond\tline\n") {
		t.Errorf("the lines of a text are lost: %q", r.out)
	}
	f.replies[api.OpReviewList] = api.ReviewListReply{Reviews: []api.Review{{Short: evil, Subject: evil, Answers: []api.Answer{{Session: evil, Note: evil, Verdict: evil}}}}}
	f.run("review", "list")
	f.replies[api.OpVerify] = api.NewReport([]api.Check{{Name: evil, State: api.CheckFail, Detail: evil, Impact: evil, Remedy: evil}})
	f.run("verify")
	f.replies[api.OpSessionOpen] = api.SessionOpenReply{Session: api.Session{Session: evil}}
	f.run("session", "open")
}

// Lines fit 80 columns with the longest names that there can be; keys stay whole.
func TestLongNamesAreCutInTheMiddle(t *testing.T) {
	long := strings.Repeat("very-long-name/", 20) + "end.go"
	wide := strings.Repeat("漢字", 60)
	f := newFake(t).serve()
	f.replies[api.OpStatus] = api.Status{
		Sessions:  []api.Session{{Session: strings.Repeat("s", 64), Client: long, By: wide, Host: long, Branch: long, Intent: wide, State: api.SessionOpen, Live: api.LiveUnknown, Claims: 12, AgeMS: 1e9, IdleMS: 1e9}},
		Claims:    []api.Claim{{Short: "972572/123456", By: keyB, Standing: api.StandingConflicted, Mode: api.ModeCheckout, Scope: []string{"path:" + long, "glob:" + wide}, Session: long, Client: long, Epoch: 1 << 40, Intent: long}},
		Handovers: []api.Handover{{Short: "145b99cb", State: "withdrawn", From: long, Client: long, To: wide, Branch: long, Summary: long}},
		Reviews:   []api.Review{{Short: "972572/7", State: "answered", Verdict: api.ChangesRequested, Session: long, Client: long, Reviewer: wide, Branch: long, Scope: []string{long}, Subject: wide}},
		Waits:     []api.Wait{{Session: long, Scope: []string{long}, For: []string{long, wide}, Place: 3}},
		Streams:   []api.Stream{{Stream: long, Opaque: 3}},
	}
	r := f.run("status")
	for _, want := range []string{"972572/123456", "0aaf17/17", "145b99cb", "972572/7", strings.Repeat("s", 64), "…"} {
		if !strings.Contains(r.out, want) {
			t.Errorf("no %q in\n%s", want, r.out)
		}
	}
	c := conflict()
	c.Session, c.Client, c.By, c.Intent, c.Meets, c.Scope = long, long, wide, wide, long, []string{long}
	e := api.Errorf(api.CodeConflict, "held by %s %s", long, wide)
	e.Conflicts = []api.Conflict{c}
	f.errs[api.OpClaim] = e
	if r := f.run("claim", long); !strings.Contains(r.errout, "972572/4") {
		t.Errorf("%s", r.errout)
	}
}

func TestNothingIsColouredOutsideATerminal(t *testing.T) {
	f := newFake(t).serve()
	f.replies[api.OpStatus] = api.Status{Claims: []api.Claim{{Short: "972572/4", Standing: api.StandingHeld}}}
	if r := f.run("status"); strings.Contains(r.out, "\x1b") {
		t.Errorf("%q", r.out)
	}
}
