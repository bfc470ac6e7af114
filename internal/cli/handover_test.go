package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/comity-dev/comity/api"
	"github.com/google/go-cmp/cmp"
)

func TestHandoverPublish(t *testing.T) {
	f := newFake(t).serve()
	f.replies[api.OpHandoverPublish] = api.HandoverReply{Handover: api.Handover{Short: "145b99cb", To: "bob", Summary: "half done"}, Redacted: []string{"github-token"}}
	file := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(file, []byte("from a file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f.stdin = "from stdin\n"
	for _, tt := range []struct {
		args []string
		want api.HandoverPublishRequest
	}{
		{[]string{file, "--to", "bob", "--name", "n"}, api.HandoverPublishRequest{Body: "from a file\n", To: "bob", Name: "n"}},
		{[]string{"-", "--task", "t", "--issue", "i", "--milestone", "m"}, api.HandoverPublishRequest{Body: "from stdin\n", Task: "t", Issue: "i", Milestone: "m"}},
		{[]string{"--derive"}, api.HandoverPublishRequest{Derive: true}},
		{[]string{"--derive", "-"}, api.HandoverPublishRequest{Derive: true, Body: "from stdin\n"}},
	} {
		r := f.run(append([]string{"handover", "publish"}, tt.args...)...)
		if r.code != 0 || r.out != "145b99cb  offered  to bob  half done\n" || r.errout != "comity: taken out of it: github-token\n" {
			t.Errorf("%v: %+v", tt.args, r)
		}
		got := request[api.HandoverPublishRequest](f, api.OpHandoverPublish)
		got.Where = api.Where{}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%v: (-want +got)\n%s", tt.args, diff)
		}
	}
	f.stdin = "\xff"
	if r := f.run("handover", "publish", "-"); r.code != 2 {
		t.Errorf("a text that is not UTF-8: %+v", r)
	}
	f.stdin = strings.Repeat("x", 300<<10)
	if r := f.run("handover", "publish", "-"); r.code != 2 {
		t.Errorf("a text that is too long: %+v", r)
	}
}

func TestHandoverCommands(t *testing.T) {
	f := newFake(t).serve()
	h := api.Handover{Short: "145b99cb", State: "offered", From: "s-2", Branch: "dev", Head: "abc", Summary: "half done", Body: "half done\n\n- the fold\n", Files: []string{"a.go"}, AgeMS: 90_000}
	for _, op := range []string{api.OpHandoverShow, api.OpHandoverTake, api.OpHandoverDecline, api.OpHandoverWithdraw} {
		f.replies[op] = api.HandoverReply{Handover: h}
	}
	f.replies[api.OpHandoverList] = api.HandoverListReply{Handovers: []api.Handover{h}}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"list"}, "   145b99cb  offered  from s-2  dev  1m ago\n     half done\n"},
		{[]string{"show", "145b"}, "   145b99cb  offered  from s-2  dev  1m ago\n     half done\n    head         abc\n    file         a.go\n\nhalf done\n\n- the fold\n"},
		{[]string{"take", "145b"}, "145b99cb  taken  half done\n\nhalf done\n\n- the fold\n"},
		{[]string{"decline", "145b", "--reason", "no time"}, "145b99cb  declined  half done\n"},
		{[]string{"withdraw", "145b"}, "145b99cb  withdrawn  half done\n"},
	} {
		r := f.run(append([]string{"handover"}, tt.args...)...)
		if diff := cmp.Diff(tt.want, r.out); diff != "" || r.code != 0 || r.errout != "" {
			t.Errorf("%v: %d %q (-want +got)\n%s", tt.args, r.code, r.errout, diff)
		}
	}
	if req := request[api.HandoverRequest](f, api.OpHandoverDecline); req.Handover != "145b" || req.Reason != "no time" {
		t.Errorf("request %+v", req)
	}
	f.errs[api.OpHandoverTake] = api.Errorf(api.CodeUnknownHandover, "no handover 9")
	if r := f.run("handover", "take", "9"); r.code != 11 || r.errout != "comity: handover take 9: no handover 9\n" {
		t.Errorf("%+v", r)
	}
}

func TestReviewCommands(t *testing.T) {
	f := newFake(t).serve()
	v := api.Review{Short: "972572/7", State: "answered", Verdict: api.Approved, Subject: "the fold", Session: "s-1", Branch: "dev", AgeMS: 1000,
		Answers: []api.Answer{{Session: "s-2", Client: "codex", Verdict: api.Approved, Note: "reads well", Stale: true}}}
	for _, op := range []string{api.OpReviewRequest, api.OpReviewAnswer, api.OpReviewClose} {
		f.replies[op] = api.ReviewReply{Review: v}
	}
	f.replies[api.OpReviewList] = api.ReviewListReply{Reviews: []api.Review{v}}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"request", "the fold", "--scope", "fold/", "--scope", "a.go", "--commit", "HEAD"}, "972572/7  asked for  the fold  approved\n"},
		{[]string{"answer", "972572/7", "--approve", "--note", "reads well"}, "972572/7  answered  the fold  approved\n"},
		{[]string{"close", "972572/7"}, "972572/7  closed  the fold  approved\n"},
		{[]string{"list", "--all"}, `   972572/7  answered  approved  by s-1  dev  1s ago
     the fold
     approved  by s-2 (codex)  stale: the branch has changed since
       reads well
`},
	} {
		r := f.run(append([]string{"review"}, tt.args...)...)
		if diff := cmp.Diff(tt.want, r.out); diff != "" || r.code != 0 || r.errout != "" {
			t.Errorf("%v: %d %q (-want +got)\n%s", tt.args, r.code, r.errout, diff)
		}
	}
	if req := request[api.ReviewRequestRequest](f, api.OpReviewRequest); req.Subject != "the fold" || len(req.Scope) != 2 || req.Commit != "HEAD" {
		t.Errorf("request %+v", req)
	}
	if req := request[api.ReviewAnswerRequest](f, api.OpReviewAnswer); req.Verdict != api.Approved || req.Note != "reads well" {
		t.Errorf("request %+v", req)
	}
	for flag, want := range map[string]string{"--changes": api.ChangesRequested, "--comment": api.Commented} {
		f.run("review", "answer", "x", flag)
		if req := request[api.ReviewAnswerRequest](f, api.OpReviewAnswer); req.Verdict != want {
			t.Errorf("%s: verdict %q", flag, req.Verdict)
		}
	}
}
