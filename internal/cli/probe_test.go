package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/comity-dev/comity/api"
)

// probed is what doctor --probe claude tells, by name.
func probed(t *testing.T, f *fake, repo string) (map[string]api.Check, int) {
	t.Helper()
	r := f.run("doctor", "--probe", "claude", "--repo", repo, "--json")
	var rep api.Report
	if err := json.Unmarshal([]byte(r.out), &rep); err != nil || r.errout != "" {
		t.Fatalf("%+v: %v", r, err)
	}
	all := make(map[string]api.Check)
	for _, c := range rep.Checks {
		all[c.Name] = c
		if c.State != api.CheckOK && (c.Impact == "" || c.Remedy == "") {
			t.Errorf("%s without impact or remedy: %+v", c.Name, c)
		}
	}
	return all, r.code
}

func TestProbeClaude(t *testing.T) {
	f, home, repo := newInstaller(t)
	bin := t.TempDir()
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	checks, code := probed(t, f, repo)
	if code != 12 || checks["installed"].State != api.CheckFail || checks["program"].State != api.CheckFail || checks["sessions"].State != api.CheckWarn {
		t.Errorf("with nothing: exit %d, %+v", code, checks)
	}
	for _, name := range []string{"stopped", "found after", "not seen"} {
		if checks[name].Detail == "" {
			t.Errorf("%s is not told", name)
		}
	}
	f.run("install", "claude", "--repo", repo)
	for _, name := range []string{"comity", "comity.exe"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	f.replies[api.OpStatus] = api.Status{Session: "claude-000001", Sessions: []api.Session{
		{Session: "claude-000001", Own: true, Client: "claude-code", State: api.SessionOpen, Protection: api.Guarded, OpenedAt: 1_795_968_017, AgeMS: 60_000, IdleMS: 4000},
		{Session: "claude-000002", Own: true, Client: "claude-code", State: api.SessionOpen, Protection: api.Advisory},
		{Session: "claude-000003", Own: true, Client: "claude-code", State: api.SessionOpen, Protection: api.Unguarded},
		{Session: "s-4", Own: true, Client: "cli", State: api.SessionOpen}, {Session: "claude-000005", Client: "claude-code", State: api.SessionOpen},
		{Session: "claude-000006", Own: true, Client: "claude-code", State: api.SessionClosed},
	}}
	f.serve()
	checks, code = probed(t, f, repo)
	for name, want := range map[string]string{
		"claude-user": api.CheckOK, "claude-project": api.CheckOK, "program": api.CheckOK, "hold": api.CheckOK,
		"claude-000001": api.CheckOK, "claude-000002": api.CheckWarn, "claude-000003": api.CheckFail,
		"installed": "", "sessions": "", "s-4": "", "claude-000005": "", "claude-000006": "",
	} {
		if checks[name].State != want {
			t.Errorf("%s: %+v, want %q", name, checks[name], want)
		}
	}
	if d := checks["claude-000001"].Detail; !strings.Contains(d, "yours, opened 1m ago, heard 4s ago") || code != 12 {
		t.Errorf("%q, exit %d", d, code)
	}

	// Settings that somebody has cut, and hooks that are switched off.
	settings := filepath.Join(home, ".claude", "settings.json")
	b, err := os.ReadFile(settings)
	if err != nil {
		t.Fatal(err)
	}
	cut := strings.Replace(string(b), "comity hook claude stop", "comity hook claude top", 1)
	if err := os.WriteFile(settings, []byte(cut), 0o600); err != nil {
		t.Fatal(err)
	}
	if checks, _ = probed(t, f, repo); checks["claude-user"].State != api.CheckWarn {
		t.Errorf("cut: %+v", checks["claude-user"])
	}
	if err := os.WriteFile(settings, []byte(strings.Replace(string(b), "{", `{"disableAllHooks": true,`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if checks, _ = probed(t, f, repo); checks["claude-user"].State != api.CheckWarn || !strings.Contains(checks["claude-user"].Detail, "disableAllHooks") {
		t.Errorf("switched off: %+v", checks["claude-user"])
	}
	f.run("doctor", "--probe", "claude", "--repo", repo) // for people, it fits
}

func TestStatusShowsProtection(t *testing.T) {
	f := newFake(t).serve()
	f.replies[api.OpStatus] = api.Status{Sessions: []api.Session{
		{Session: "claude-3f2a1c", Own: true, Client: "claude-code", State: api.SessionOpen, Protection: api.Guarded, OpenedAt: 1_795_968_017, AgeMS: 60_000},
		{Session: "s-1", Own: true, Client: "cli", State: api.SessionOpen, Protection: api.Unguarded, OpenedAt: 1_795_968_017, AgeMS: 60_000},
	}}
	want := "sessions 2\n   claude-3f2a1c  claude-code  0 claims  guarded  opened 1m ago\n   s-1            cli  0 claims  unguarded  opened 1m ago\n"
	if r := f.run("status"); r.out != want {
		t.Errorf("%q, want %q", r.out, want)
	}
}
