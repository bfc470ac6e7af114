package cli

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/internal/install"
)

// claudeName is what Claude Code's sessions have as their client.
const claudeName = "claude-code"

// probeClaude tells how far the hooks of Claude Code protect in this repository:
// what is installed, whether it can run, what the daemon has seen of it, and what
// no hook can stop. It changes nothing and starts no daemon.
func (a *app) probeClaude(ctx context.Context, w api.Where) []api.Check {
	o, err := a.installOptions(ctx, false)
	if err != nil {
		return []api.Check{fails("home", err.Error(), "no command of comity works", hintOf(err))}
	}
	checks := append(a.probeSettings(ctx, o), probeProgram())
	if c, err := a.connect(true); err == nil {
		checks = append(checks, checkHold(c.Home()))
	}
	checks = append(checks, a.probeSessions(ctx, w)...)
	return append(checks,
		well("stopped", "Write, Edit, MultiEdit, NotebookEdit, and shell commands whose text says what they write (redirections, tee, cp, mv, rm, sed -i, git checkout): before they run, also in sub-agents"),
		well("found after", "what any other shell command changes (scripts, builds, interpreters): told at once to both, not stopped"),
		well("not seen", "writes of MCP servers, of other programs and of people; the git guard still sees them at commit: comity install git"),
	)
}

// probeSettings looks whether the hooks are in the settings.
func (a *app) probeSettings(ctx context.Context, o install.Options) []api.Check {
	scopes := []string{"user"}
	if o.Repo.Top != "" {
		scopes = append(scopes, "project")
	}
	var checks []api.Check
	complete := 0
	for _, scope := range scopes {
		name := "claude-" + scope
		plan, err := install.Claude(ctx, o, scope)
		switch {
		case err != nil:
			checks = append(checks, warns(name, err.Error(), "whether its hooks run is not known", "correct the file"))
			continue
		case plan.Empty():
			complete++
			checks = append(checks, well(name, "every hook is there"))
		default:
			checks = append(checks, a.incomplete(ctx, o, scope))
		}
		for _, n := range plan.Notes() {
			checks = append(checks, warns(name, n, "edits are not checked", "take disableAllHooks out"))
		}
	}
	if complete == 0 {
		checks = append(checks, fails("installed", "no settings have all hooks", "Claude Code works here without comity", "comity install claude"))
	} else if complete > 1 {
		checks = append(checks, warns("installed", "both settings have the hooks", "each runs twice, and takes twice the time", "comity uninstall claude-user, or claude-project"))
	}
	return checks
}

// incomplete tells settings without our hooks from those with some of them.
func (a *app) incomplete(ctx context.Context, o install.Options, scope string) api.Check {
	name := "claude-" + scope
	_, err := install.Uninstall(ctx, o, name)
	if errors.Is(err, install.ErrNotInstalled) {
		return well(name, "not installed")
	}
	return warns(name, "some hooks are missing or changed", "what they would tell or stop is missing", "comity install claude --scope "+scope)
}

// probeProgram looks for the program where a hook looks for it.
func probeProgram() api.Check {
	const name = "program"
	path, err := exec.LookPath("comity")
	if err != nil {
		return fails(name, "comity is not on PATH", "the hooks do nothing, and say nothing", "put comity into a folder of PATH that the agent has, too")
	}
	return well(name, "%s", path)
}

// probeSessions tells what the daemon has seen of the hooks of each session here.
func (a *app) probeSessions(ctx context.Context, w api.Where) []api.Check {
	const name = "sessions"
	a.noStart = true
	ctx, cancel := context.WithTimeout(ctx, doctorPatience)
	defer cancel()
	st, _, err := fetch[api.Status](ctx, a, api.OpStatus, api.StatusRequest{Where: w})
	if err != nil {
		return []api.Check{warns(name, "not known: "+err.Error(), "what the hooks did cannot be told", hintOf(err))}
	}
	var checks []api.Check
	for _, s := range st.Sessions {
		if s.Own && s.Client == claudeName && s.State == api.SessionOpen {
			checks = append(checks, probeSession(s, st.Session))
		}
	}
	if len(checks) == 0 {
		return []api.Check{well(name, "none of Claude Code is open here: the next prompt in it opens one, once its hooks run")}
	}
	return checks
}

func probeSession(s api.Session, acting string) api.Check {
	heard := fmt.Sprintf("opened %s, heard %s", ago(s.AgeMS), ago(s.IdleMS))
	if s.Session == acting {
		heard = "yours, " + heard
	}
	switch s.Protection {
	case api.Guarded:
		return well(s.Session, "guarded: a hook was heard before a write; %s", heard)
	case api.Advisory:
		return warns(s.Session, "advisory: hooks were heard, but none before a write yet; "+heard,
			"once it writes without one, its edits are not stopped", "after an edit of the agent look again; then comity install claude")
	}
	return fails(s.Session, strings.TrimPrefix(s.Protection+": no hook was heard in this run of the daemon; ", ": ")+heard,
		"its edits are not checked", "comity install claude, then start the session anew: hooks are read at its start")
}
