package cli_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/comity-dev/comity/api"
	"github.com/google/go-cmp/cmp"
)

func TestClaimPrintsKeyEpochStanding(t *testing.T) {
	f := newFake(t).serve()
	f.replies[api.OpClaim] = api.ClaimReply{
		Claim:   api.Claim{Claim: keyA, Short: "972572/4", Epoch: 4, Standing: api.StandingHeld, Confirmed: true, Scope: []string{"dir:src", "res:port/3000"}, Mode: api.ModeExclusive},
		Written: api.Written{OpenedSession: "s-1"},
	}
	r := f.run("claim", "src/", "@port/3000")
	if r.code != 0 || r.out != "972572/4  epoch 4  held  confirmed  src/ @port/3000\n" {
		t.Errorf("%d, out %q", r.code, r.out)
	}
	if r.errout != "comity: opened session s-1 for this terminal\n" {
		t.Errorf("errout %q", r.errout)
	}
}

func TestClaimFlagsBecomeTheRequest(t *testing.T) {
	f := newFake(t).serve()
	f.env["COMITY_SESSION"] = "s-env"
	dir := t.TempDir()
	for _, tt := range []struct {
		args []string
		want api.ClaimRequest
	}{
		{[]string{"a", "b/"}, api.ClaimRequest{Where: api.Where{Session: "s-env"}, Scope: []string{"a", "b/"}}},
		{[]string{"a", "--advisory", "--intent", "x y", "--issue", "I-1"}, api.ClaimRequest{Where: api.Where{Session: "s-env"}, Scope: []string{"a"}, Mode: api.ModeAdvisory, Intent: "x y", Issue: "I-1"}},
		{[]string{"a[0]", "--checkout", "--literal", "--session", "s-flag"}, api.ClaimRequest{Where: api.Where{Session: "s-flag"}, Scope: []string{"a[0]"}, Mode: api.ModeCheckout, Literal: true}},
		{[]string{"a", "--wait", "10m", "--confirm", "2s"}, api.ClaimRequest{Where: api.Where{Session: "s-env"}, Scope: []string{"a"}, WaitMS: 600_000, ConfirmMS: 2000}},
		{[]string{"a", "--break", "--reason", "gone home"}, api.ClaimRequest{Where: api.Where{Session: "s-env"}, Scope: []string{"a"}, Break: true, Reason: "gone home"}},
		{[]string{"--", "-odd"}, api.ClaimRequest{Where: api.Where{Session: "s-env"}, Scope: []string{"-odd"}}},
	} {
		tt.want.Dir = dir
		if r := f.run(append([]string{"--repo", dir, "claim"}, tt.args...)...); r.code != 0 {
			t.Errorf("%v: %d %s", tt.args, r.code, r.errout)
			continue
		}
		if diff := cmp.Diff(tt.want, request[api.ClaimRequest](f, api.OpClaim)); diff != "" {
			t.Errorf("%v: request (-want +got)\n%s", tt.args, diff)
		}
	}
}

// A refusal says who holds what, where it meets, since when, whether they live,
// and what to do next.
func TestRefusedClaimSaysWhoAndWhy(t *testing.T) {
	f := newFake(t).serve()
	e := api.Errorf(api.CodeConflict, "held by s-77").WithHint("wait for it")
	maybe := conflict()
	maybe.Live, maybe.MaybeMS, maybe.Session = "maybe_live", 11_400, "s-78"
	e.Conflicts = []api.Conflict{conflict(), maybe}
	f.errs[api.OpClaim] = e
	r := f.run("claim", "src/")
	want := `comity: claim src/: held by s-77
  972572/4  exclusive  epoch 4  src/
    held by s-77 (claude, ada)  3m ago  live
    meets src/a.go
    intent: split the lexer
  972572/4  exclusive  epoch 4  src/
    held by s-78 (claude, ada)  3m ago  maybe live, judged in 12s
    meets src/a.go
    intent: split the lexer
comity: hint: wait for it
`
	if r.code != 10 || r.out != "" {
		t.Errorf("%d, out %q", r.code, r.out)
	}
	if diff := cmp.Diff(want, r.errout); diff != "" {
		t.Errorf("errout (-want +got)\n%s", diff)
	}
}

func TestRefusalAsJSON(t *testing.T) {
	f := newFake(t).serve()
	e := api.Errorf(api.CodeConflict, "src/ is held <here>").WithHint("wait")
	e.Conflicts = []api.Conflict{conflict()}
	f.errs[api.OpClaim] = e
	r := f.run("--json", "claim", "src/")
	var got api.Failure
	if err := json.Unmarshal([]byte(r.out), &got); err != nil || r.code != 10 || r.errout != "" {
		t.Fatalf("%d, out %q, errout %q, %v", r.code, r.out, r.errout, err)
	}
	if diff := cmp.Diff(e, got.Error); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if strings.Count(r.out, "\n") != 1 || strings.Contains(r.out, `\u003c`) {
		t.Errorf("out %q", r.out)
	}
}

func TestJSONIsTheReplyAsItCame(t *testing.T) {
	f := newFake(t).serve()
	f.replies[api.OpClaim] = map[string]any{"claim": keyA, "field_of_a_newer_daemon": 1}
	if r := f.run("claim", "a", "--json"); r.code != 0 || r.out != `{"claim":"`+keyA+`","field_of_a_newer_daemon":1}`+"\n" || r.errout != "" {
		t.Errorf("%+v", r)
	}
}

// Every code has its exit code, for people and for programs.
func TestExitCodes(t *testing.T) {
	f := newFake(t).serve()
	for _, tt := range []struct {
		code api.Code
		want int
	}{
		{api.CodeUsage, 2}, {api.CodeScope, 2}, {api.CodeOutside, 2}, {api.CodeBound, 2}, {api.CodeNoSession, 2},
		{api.CodeConflict, 10}, {api.CodeNotOwn, 10}, {api.CodeFenced, 10}, {api.CodeUntrusted, 10}, {api.CodeSessionClosed, 10},
		{api.CodeWaitedOut, 10}, {api.CodeCycle, 10}, {api.CodeGap, 10},
		{api.CodeUnknownSession, 11}, {api.CodeUnknownClaim, 11}, {api.CodeUnknownHandover, 11}, {api.CodeUnknownReview, 11},
		{api.CodeNotFound, 11}, {api.CodeExists, 10}, {api.CodeDamaged, 12},
		{api.CodeNoRepository, 1}, {api.CodeEmptyRepository, 1}, {api.CodeShallow, 1}, {api.CodeDamagedKey, 1}, {api.CodeDiskFull, 1},
		{api.CodeReadOnly, 1}, {api.CodeNewerFormat, 1}, {api.CodePoisoned, 1}, {api.CodeInternal, 1},
		{api.CodeHeld, 13}, {api.CodeSocketPath, 13}, {api.CodeNetworkHome, 13}, {"code_of_a_newer_daemon", 1},
	} {
		f.errs[api.OpClaim] = api.Errorf(tt.code, "m")
		for _, args := range [][]string{{"claim", "a"}, {"claim", "a", "--json"}} {
			if r := f.run(args...); r.code != tt.want {
				t.Errorf("%s with %v: exit %d, want %d", tt.code, args, r.code, tt.want)
			}
		}
	}
}

func TestWithoutADaemon(t *testing.T) {
	f := newFake(t)
	if r := f.run("status"); r.code != 13 || r.out != "" || !strings.Contains(r.errout, "comity: hint: ") {
		t.Errorf("%+v", r)
	}
	if r := f.run("status", "--json"); r.code != 13 || !strings.HasPrefix(r.out, `{"error":{"code":"unreachable"`) {
		t.Errorf("%+v", r)
	}
}

func TestCheckExitsByItsVerdict(t *testing.T) {
	f := newFake(t).serve()
	for _, tt := range []struct {
		verdict string
		want    int
	}{
		{api.CheckFree, 0}, {api.CheckYours, 0}, {api.CheckAdvisory, 12}, {api.CheckLapsed, 12}, {api.CheckTaken, 10}, {"verdict_of_a_newer_daemon", 1}, {"", 1},
	} {
		f.replies[api.OpCheck] = api.CheckReply{Verdict: tt.verdict, Paths: []api.CheckPath{{Path: "src/a.go", Verdict: tt.verdict}}}
		for _, args := range [][]string{{"check", "src/a.go"}, {"check", "src/a.go", "--json"}} {
			if r := f.run(args...); r.code != tt.want {
				t.Errorf("%q with %v: exit %d, want %d", tt.verdict, args, r.code, tt.want)
			}
		}
	}
}

func TestCheckPrintsEachPath(t *testing.T) {
	f := newFake(t).serve()
	f.replies[api.OpCheck] = api.CheckReply{Verdict: api.CheckTaken, Paths: []api.CheckPath{
		{Path: "mine", Verdict: api.CheckYours, Claim: keyB, Epoch: 9},
		{Path: "src/a.go", Verdict: api.CheckTaken, Others: []api.Conflict{conflict()}},
		{Path: "free", Verdict: api.CheckFree},
	}}
	r := f.run("check", "mine", "src/a.go", "free", "--claim", "0aaf17/17", "--epoch", "9")
	want := `yours     mine  0aaf17/17  epoch 9
taken     src/a.go
  972572/4  exclusive  epoch 4  src/
    held by s-77 (claude, ada)  3m ago  live
    meets src/a.go
    intent: split the lexer
free      free
`
	if diff := cmp.Diff(want, r.out); diff != "" || r.errout != "" || r.code != 10 {
		t.Errorf("%d %q (-want +got)\n%s", r.code, r.errout, diff)
	}
	if req := request[api.CheckRequest](f, api.OpCheck); req.Claim != "0aaf17/17" || req.Epoch != 9 || len(req.Paths) != 3 {
		t.Errorf("request %+v", req)
	}
}

func TestRelease(t *testing.T) {
	f := newFake(t).serve()
	f.replies[api.OpRelease] = api.ReleaseReply{
		Released: []api.Claim{{Short: "972572/4", Scope: []string{"dir:."}, Session: "s-1", AgeMS: 3_700_000}},
		Already:  []api.Claim{{Short: "972572/9", Standing: api.StandingReleased}},
	}
	r := f.run("release", "972572/4", "972572/9", "--reason", "merged", "--person")
	if r.code != 0 || r.out != "972572/4  released  .  s-1  held 1h\n" || r.errout != "comity: 972572/9 had ended already: released\n" {
		t.Errorf("%+v", r)
	}
	req := request[api.ReleaseRequest](f, api.OpRelease)
	if !req.Person || req.Reason != "merged" || req.All || len(req.Claims) != 2 {
		t.Errorf("request %+v", req)
	}
	for _, args := range [][]string{{"release"}, {"release", "--all", "a"}} {
		if r := f.run(args...); r.code != 2 || !strings.Contains(r.errout, "comity: hint: ") {
			t.Errorf("%v: %+v", args, r)
		}
	}
}
