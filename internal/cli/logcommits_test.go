package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/internal/httpapi"
)

const fencer = "12192c67b19625a46849b8487b314522-84040c0a9c0d9bba-5555552093d36a0e/9"

// journalOf answers the log with two pages of events: keyA was claimed and then
// fenced at 2000, keyB was claimed and is held still.
func journalOf(f *fake) {
	events := []map[string]any{
		{"event": keyA, "at": 1000, "body": map[string]any{"scope": []string{"dir:src"}}},
		{"event": keyB, "at": 1000, "body": map[string]any{"scope": []string{"dir:docs"}}},
		{"event": "other/1", "at": 1500, "body": map[string]any{"fences": "something else in a newer kind"}},
		{"event": "other/2", "at": 3000, "body": map[string]any{"fences": []string{keyA}}},
		{"event": fencer, "at": 2000, "body": map[string]any{"fences": []string{keyA}}},
	}
	f.ops[api.OpLog] = func(_ context.Context, _ httpapi.Caller, body []byte) (any, error) {
		var req api.LogRequest
		if err := json.Unmarshal(body, &req); err != nil {
			return nil, err
		}
		if req.Limit != 1000 || req.Last {
			return nil, fmt.Errorf("request %+v", req)
		}
		if req.After == "" {
			return map[string]any{"events": events[:3], "next": "c3", "more": true}, nil
		}
		return map[string]any{"events": events[3:], "next": "c5"}, nil
	}
}

func TestLogOfCommitsUnderALostClaim(t *testing.T) {
	f := newFake(t)
	repo := repository(t)
	commit := func(subject string, written, at int, trailers ...string) string {
		t.Helper()
		message := subject + "\n"
		for _, tr := range trailers {
			message += "\nComity-Claim: " + tr
		}
		cmd := exec.Command("git", "-c", "user.name=ada", "-c", "user.email=a@example.org", "-c", "commit.gpgSign=false", "commit", "-q", "--allow-empty", "-m", message)
		cmd.Dir = repo
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, fmt.Sprintf("GIT_AUTHOR_DATE=@%d +0000", written), fmt.Sprintf("GIT_COMMITTER_DATE=@%d +0000", at))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatal(err, string(out))
		}
		rev := exec.Command("git", "rev-parse", "HEAD")
		rev.Dir = repo
		oid, err := rev.Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(oid))
	}
	run := func(args ...string) result {
		return f.run(append([]string{"log", "--commits", "--repo", repo}, args...)...)
	}

	journalOf(f)
	f.serve()
	if r := run(); r.code != 0 || r.out != "" || !strings.Contains(r.errout, "0 commits with a claim looked at, 0 made") || f.asked[api.OpLog] != nil {
		t.Errorf("without trailers: %+v", r)
	}
	commit("in time", 1500, 1500, keyA+" 4")
	commit("in the same second", 2000, 2000, keyA+" 4")
	commit("held still", 5000, 5000, keyB+" 17")
	commit("unknown", 5000, 5000, "elsewhere/7 1")
	commit("nonsense", 5000, 5000, "bogus")
	if r := run(); r.code != 0 || r.out != "" || !strings.Contains(unwrapped(r.errout), "5 commits with a claim looked at, 0 made") || !strings.Contains(unwrapped(r.errout), "2 commits with a claim that this journal does not have") {
		t.Errorf("%+v", r)
	}
	late := commit("too late", 2001, 2001, keyA+" 4", keyB+" 17")
	again := commit("rebased", 1500, 2500, keyA+" 4")
	r := run()
	if r.code != 12 || strings.Index(r.out, again[:12]) != 0 || !strings.Contains(r.out, "\n"+late[:12]) || strings.Count(r.out, "was lost") != 2 ||
		strings.Count(r.out, "committed again since") != 1 || !strings.Contains(r.out, "972572/4, epoch 4, was lost") || !strings.Contains(r.out, "to 555555/9") {
		t.Errorf("%+v", r)
	}
	var rep struct {
		Commits, Unknown int
		Lost             []struct {
			Commit, Claim, By string
			Epoch             uint64
			At                int64
			FencedAt          int64 `json:"fenced_at"`
		}
	}
	if err := json.Unmarshal([]byte(run("--json").out), &rep); err != nil || rep.Commits != 7 || len(rep.Lost) != 2 {
		t.Fatalf("%+v, %v", rep, err)
	}
	if l := rep.Lost[1]; l.Commit != late || l.Claim != keyA || l.By != fencer || l.Epoch != 4 || l.At != 2001 || l.FencedAt != 2000 {
		t.Errorf("%+v", l)
	}
	if r := run("--limit", "1"); strings.Count(r.out, "was lost") != 1 {
		t.Errorf("%+v", r)
	}
}

func TestLogOfCommitsOutsideOfARepository(t *testing.T) {
	if r := newFake(t).run("log", "--commits", "--repo", t.TempDir()); r.code == 0 || !strings.Contains(unwrapped(r.errout), "not in a repository") {
		t.Errorf("%+v", r)
	}
}
