package node

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/room"
	"github.com/comity-dev/comity/internal/httpapi"
	"github.com/comity-dev/comity/internal/proc"
	"github.com/comity-dev/comity/internal/vfs/vfstest"
)

// childOf starts a shell below this process, which has one below it, and returns
// the pid of the latter: a process as a hook is one.
func childOf(t *testing.T) int {
	t.Helper()
	if _, err := exec.LookPath("/bin/sh"); err != nil {
		t.Skip(err)
	}
	cmd := exec.Command("/bin/sh", "-c", `/bin/sh -c 'echo $$; read x; :'; :`)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	var pid int
	if _, err := fmt.Fscan(out, &pid); err != nil {
		t.Fatal(err)
	}
	return pid
}

func hookStart(dir, conversation string) api.HookRequest {
	return api.HookRequest{Where: api.Where{Dir: dir}, Client: "claude-code", Event: api.HookStart, Conversation: conversation}
}

func ownerOf(t *testing.T, n *node, dir, session string) string {
	t.Helper()
	list := mustCall[api.SessionListReply](t, n, nobody, api.OpSessionList, api.SessionListRequest{Where: api.Where{Dir: dir}})
	for _, s := range list.Sessions {
		if s.Session == session {
			return s.Owner
		}
	}
	t.Fatalf("session %s is not open", session)
	return ""
}

// A hook's session lives with its agent, the nearest process above it that is no
// shell, and what the agent runs besides acts in that session.
func TestTheAgentIsTheNearestAncestorThatIsNoShell(t *testing.T) {
	top := newRepo(t)
	n := newTestNode(t, newClock(), vfstest.New())
	hook := httpapi.Caller{PID: childOf(t)}
	if line := ancestors(hook); len(line) < 2 || line[1].PID != os.Getpid() {
		t.Skipf("this system does not tell the ancestors of a process: %v", line)
	}

	rep := mustCall[api.HookReply](t, n, hook, api.OpHook, hookStart(top, "one"))
	if got, want := ownerOf(t, n, top, rep.Session), fmt.Sprintf("process %d", os.Getpid()); got != want {
		t.Errorf("the session lives with %q, want %q: the shell in between is not the agent", got, want)
	}
	claim := mustCall[api.ClaimReply](t, n, httpapi.Caller{PID: childOf(t)}, api.OpClaim, api.ClaimRequest{Where: api.Where{Dir: top}, Scope: []string{"src/"}})
	if claim.Claim.Session != rep.Session {
		t.Errorf("a command of the agent claims as %q, want %q", claim.Claim.Session, rep.Session)
	}
	if _, err := call[api.ClaimReply](t, n, nobody, api.OpClaim, api.ClaimRequest{Where: api.Where{Dir: top}, Scope: []string{"docs/"}}); err == nil {
		t.Error("a caller that is not known claims in somebody's session")
	}
}

// Above the terminal's first process are programs that serve other terminals, all
// of which would act in the session of a hook that took one of them for its agent.
func TestTheAgentIsNotAboveItsTerminal(t *testing.T) {
	top := newRepo(t)
	n := newTestNode(t, newClock(), vfstest.New())
	m, a, err := n.actor(t.Context(), nobody, api.Where{Dir: top})
	if err != nil {
		t.Fatal(err)
	}
	shell, err := proc.Of(childOf(t))
	if err != nil {
		t.Skip(err)
	}
	server, err := proc.Self()
	if err != nil {
		t.Skip(err)
	}
	first := process(shell)
	a.Ancestors, a.Terminal = []room.Process{first, process(server)}, &first
	rep, err := n.hook(m, t.Context(), a, hookStart(top, "three"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := ownerOf(t, n, top, rep.Session), fmt.Sprintf("process %d", shell.PID); got != want {
		t.Errorf("the session lives with %q, want %q: what is above serves other terminals", got, want)
	}
}

func TestAHookWithoutAnAgentLivesForATime(t *testing.T) {
	top := newRepo(t)
	n := newTestNode(t, newClock(), vfstest.New())
	m, a, err := n.actor(t.Context(), nobody, api.Where{Dir: top})
	if err != nil {
		t.Fatal(err)
	}
	shell, err := proc.Of(childOf(t))
	if err != nil {
		t.Skip(err)
	}
	a.Ancestors = []room.Process{process(shell)} // and nothing above it
	rep, err := n.hook(m, t.Context(), a, hookStart(top, "two"))
	if err != nil {
		t.Fatal(err)
	}
	if got := ownerOf(t, n, top, rep.Session); !strings.HasPrefix(got, "time to live") {
		t.Errorf("the session lives with %q, want a time to live", got)
	}
}

func TestNamesOfShells(t *testing.T) {
	for name, want := range map[string]bool{
		"/bin/bash": true, "-zsh": true, "sh": true, "pwsh.exe": true, "comity": true, "env": true,
		"node": false, "claude": false, "/usr/bin/python3": false, "bashful": false, "": false,
	} {
		if got := between[base(name)]; got != want {
			t.Errorf("%q stands between an agent and its hook = %v, want %v", name, got, want)
		}
	}
}

func TestTheHomeFolderInPaths(t *testing.T) {
	home, err := os.UserHomeDir()
	if err != nil {
		t.Skip(err)
	}
	req := api.HookRequest{
		Writes: []string{"~/a", "~bob/a", "a~/b", "~"}, Under: []string{"~/u"}, TreeDir: "~/t",
		Into: []api.HookInto{{Target: "~/i", Names: []string{"~/kept"}}},
	}
	atHome(&req)
	got := fmt.Sprint(req.Writes, req.Under, req.TreeDir, req.Into)
	want := fmt.Sprint([]string{home + "/a", "~bob/a", "a~/b", home}, []string{home + "/u"}, home+"/t", []api.HookInto{{Target: home + "/i", Names: []string{"~/kept"}}})
	if got != want {
		t.Errorf("atHome = %s, want %s", got, want)
	}
}
