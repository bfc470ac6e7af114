package room_test

import (
	"context"
	"strings"
	"testing"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/room"
)

// An agent is a conversation of an agent's process in a checkout.
type agent struct {
	room.Actor
	conversation string
	tree         *worktree
}

// worktree is what is dirty in a checkout, as the test says.
type worktree struct{ dirty map[string]string }

func (w *worktree) Dirty(context.Context) (map[string]string, error) {
	out := map[string]string{}
	for p, s := range w.dirty {
		out[p] = s
	}
	return out, nil
}

func newAgent(conversation, checkout string, pid int) *agent {
	a := &agent{Actor: actor("", checkout), conversation: conversation, tree: &worktree{dirty: map[string]string{}}}
	a.Agent, a.Work = proc(pid), a.tree
	a.Ancestors = []room.Process{*proc(pid)}
	return a
}

func (f *fixture) hook(a *agent, event string, change func(*api.HookRequest)) api.HookReply {
	f.Helper()
	req := api.HookRequest{Client: "claude-code", Event: event, Conversation: a.conversation}
	if change != nil {
		change(&req)
	}
	reply, err := f.Hook(f.Context(), a.Actor, req)
	if err != nil {
		f.Fatalf("hook %s of %s: %v", event, a.conversation, err)
	}
	return reply
}

func writes(paths ...string) func(*api.HookRequest) {
	return func(r *api.HookRequest) { r.Tool, r.Writes = "Write", paths }
}

// quiet fails unless a reply says nothing.
func (f *fixture) quiet(what string, reply api.HookReply) {
	f.Helper()
	if reply.Deny != "" || reply.Tell != "" {
		f.Errorf("%s: %+v, want nothing said", what, reply)
	}
}

func TestALoneAgentHearsNothing(t *testing.T) {
	f := newFixture(t)
	a := newAgent("c1", "a", 10)
	f.quiet("start", f.hook(a, api.HookStart, nil))
	f.quiet("prompt", f.hook(a, api.HookPrompt, func(r *api.HookRequest) { r.Prompt = "fix the parser\nplease" }))
	f.quiet("before", f.hook(a, api.HookBefore, writes("src/a.go")))
	f.quiet("after", f.hook(a, api.HookAfter, writes("src/a.go")))
	events := len(f.kinds())
	f.quiet("before again", f.hook(a, api.HookBefore, writes("src/a.go")))
	f.quiet("outside", f.hook(a, api.HookBefore, writes("/tmp/x", "../y")))
	if n := len(f.kinds()); n != events {
		t.Errorf("%d events for what is held already and for what is outside", n-events)
	}
	s := f.status(a.Actor)
	if len(s.Sessions) != 1 || s.Sessions[0].Intent != "fix the parser" || s.Sessions[0].Protection != api.Guarded {
		t.Errorf("sessions = %+v; want one, about what was asked, guarded", s.Sessions)
	}
	if len(s.Claims) != 1 || s.Claims[0].Mode != api.ModeCheckout {
		t.Errorf("claims = %+v, want one in mode checkout", s.Claims)
	}
}

func TestTwoAgentsInOneCheckout(t *testing.T) {
	f := newFixture(t)
	a, b := newAgent("c1", "a", 10), newAgent("c2", "a", 20)
	f.hook(a, api.HookStart, nil)
	f.hook(a, api.HookBefore, writes("src/a.go"))
	if start := f.hook(b, api.HookStart, nil); !strings.Contains(start.Tell, "same checkout") || !strings.Contains(start.Tell, "src/a.go") {
		t.Errorf("the second is told %q, want who is in its checkout and what is held", start.Tell)
	}
	denied := f.hook(b, api.HookBefore, writes("src/a.go"))
	if denied.Deny == "" || denied.Tell != "" || len(denied.Conflicts) != 1 || !strings.Contains(denied.Deny, "src/a.go") {
		t.Errorf("the second writes: %+v, want it denied with the holder", denied)
	}
	f.quiet("another file", f.hook(b, api.HookBefore, writes("src/b.go")))

	a.tree.dirty["src/a.go"] = "1"
	f.hook(a, api.HookStop, nil)
	if f.hook(b, api.HookBefore, writes("src/a.go")).Deny == "" {
		t.Error("a dirty path was given up at the end of a turn")
	}
	delete(a.tree.dirty, "src/a.go") // committed
	f.hook(a, api.HookStop, nil)
	if got := f.hook(b, api.HookBefore, writes("src/a.go")); got.Deny != "" {
		t.Errorf("the path is clean again, and still denied: %s", got.Deny)
	}
	f.hook(b, api.HookEnd, nil)
	f.quiet("after the end of the other", f.hook(a, api.HookBefore, writes("src/a.go", "src/b.go")))
}

func TestTwoAgentsInTwoCheckouts(t *testing.T) {
	f := newFixture(t)
	a, b := newAgent("c1", "a", 10), newAgent("c2", "b", 20)
	f.hook(a, api.HookStart, nil)
	f.hook(b, api.HookStart, nil)
	f.hook(a, api.HookBefore, writes("src/a.go"))
	first := f.hook(b, api.HookBefore, writes("src/a.go"))
	if first.Deny != "" || !strings.Contains(first.Tell, "another checkout") {
		t.Errorf("across checkouts: %+v, want it told and not stopped", first)
	}
	f.quiet("told once", f.hook(b, api.HookBefore, writes("src/a.go")))

	explicit := a.Actor
	if reply, err := f.Claim(t.Context(), explicit, api.ClaimRequest{Scope: []string{"docs/"}}); err != nil || reply.Session != f.hook(a, api.HookAfter, nil).Session {
		t.Fatalf("a command below the agent = %+v, %v; want it in the agent's session", reply, err)
	}
	if got := f.hook(b, api.HookBefore, writes("docs/x.md")); got.Deny == "" {
		t.Error("an explicit claim does not stop a write in another checkout")
	}
}

func TestConversationsOfOneProcessDoNotBlockEachOther(t *testing.T) {
	f := newFixture(t)
	a, b := newAgent("c1", "a", 10), newAgent("c2", "a", 10)
	f.hook(a, api.HookBefore, writes("src/a.go"))
	f.quiet("the other conversation", f.hook(b, api.HookBefore, writes("src/a.go")))
	if c := f.status(a.Actor).Claims; len(c) != 1 {
		t.Errorf("claims = %+v, want the first one only", c)
	}
}

func TestAConversationIsKnownAgain(t *testing.T) {
	f := newFixture(t)
	a := newAgent("c1", "a", 10)
	first := f.hook(a, api.HookStart, nil).Session
	f.hook(a, api.HookEnd, nil)
	resumed := newAgent("c1", "a", 11)
	if got := f.hook(resumed, api.HookStart, nil).Session; got != first {
		t.Errorf("resumed as %s, want %s", got, first)
	}
	twice := newAgent("c1", "a", 12) // while process 11 lives
	if got := f.hook(twice, api.HookStart, nil).Session; got == first || got == "" {
		t.Errorf("one conversation in two processes is %s in both", got)
	}
	if got := f.hook(newAgent("c9", "a", 13), api.HookStop, nil); got.Session != "" {
		t.Errorf("the stop of what never began opened %s", got.Session)
	}
}

func TestNoticesAreToldOnceAndCountWhenTheyArrived(t *testing.T) {
	f := newFixture(t)
	a := newAgent("c1", "a", 10)
	bob := f.join("bob")
	f.hook(a, api.HookBefore, writes("src/a.go"))
	sid := f.hook(a, api.HookPrompt, nil).Session
	if _, err := f.Claim(t.Context(), bob, api.ClaimRequest{Scope: []string{"src/"}, Mode: api.ModeAdvisory, Intent: "reading"}); err != nil {
		t.Fatal(err)
	}
	if got := f.hook(a, api.HookAfter, nil); !strings.Contains(got.Tell, "bob") {
		t.Errorf("after a tool: %q, want the notice", got.Tell)
	}
	named := a.Actor
	named.Session = sid
	if n := len(f.notices(named)); n != 1 {
		t.Errorf("%d unread notices while it is not known that the answer arrived, want 1", n)
	}
	f.quiet("the next call", f.hook(a, api.HookAfter, nil))
	if n := len(f.notices(named)); n != 0 {
		t.Errorf("%d unread notices after the next call, want 0", n)
	}
}

func TestWhatACommandWroteIsFoundAfterwards(t *testing.T) {
	f := newFixture(t)
	a, b := newAgent("c1", "a", 10), newAgent("c2", "a", 20)
	b.tree = a.tree // one checkout
	b.Work = a.tree
	f.hook(a, api.HookStart, nil)
	f.hook(b, api.HookBefore, writes("src/b.go"))
	a.tree.dirty["src/b.go"] = "1"
	whole := func(r *api.HookRequest) { r.Tool, r.Whole = "Bash", true }
	f.quiet("a command", f.hook(a, api.HookBefore, whole))
	a.tree.dirty["src/b.go"] = "2" // under b's claim
	a.tree.dirty["src/c.go"] = "1" // free
	got := f.hook(a, api.HookAfter, whole)
	if !strings.Contains(got.Tell, "src/b.go") || strings.Contains(got.Tell, "src/c.go") {
		t.Errorf("after the command: %q, want the trespass on src/b.go alone", got.Tell)
	}
	if got := f.hook(b, api.HookAfter, nil); !strings.Contains(got.Tell, "src/b.go") {
		t.Errorf("the holder is told %q", got.Tell)
	}
	if got := f.hook(b, api.HookBefore, writes("src/c.go")); got.Deny == "" {
		t.Error("what the command wrote was not claimed")
	}
}

// Of a file that changed while a command ran, nobody is accused who need not have
// done it: its holder's own tools and commands write too.
func TestACommandIsNotBlamedForWhatTheHolderWrote(t *testing.T) {
	whole := func(r *api.HookRequest) { r.Tool, r.Whole = "Bash", true }
	for name, tt := range map[string]struct {
		meanwhile func(f *fixture, b *agent)
		told      bool
	}{
		"a tool of the holder": {func(f *fixture, b *agent) { f.hook(b, api.HookBefore, writes("src/b.go")) }, false},
		"a command of the holder that began later": {func(f *fixture, b *agent) {
			f.hook(b, api.HookBefore, whole)
		}, false},
		"a tool of the holder elsewhere": {func(f *fixture, b *agent) { f.hook(b, api.HookBefore, writes("src/other.go")) }, true},
		"nothing of the holder":          {func(*fixture, *agent) {}, true},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			a, b := newAgent("c1", "a", 10), newAgent("c2", "a", 20)
			b.tree = a.tree // one checkout
			b.Work = a.tree
			f.hook(a, api.HookStart, nil)
			f.hook(b, api.HookBefore, writes("src/b.go"))
			f.hook(a, api.HookBefore, whole)
			tt.meanwhile(f, b)
			a.tree.dirty["src/b.go"] = "1"
			a.tree.dirty["src/free.go"] = "1"
			got := f.hook(a, api.HookAfter, whole)
			if strings.Contains(got.Tell, "src/b.go") != tt.told {
				t.Errorf("after the command: %q, want the file of the other in it = %v", got.Tell, tt.told)
			}
			if got := f.hook(b, api.HookAfter, nil); strings.Contains(got.Tell, "src/b.go") != tt.told {
				t.Errorf("the holder is told %q, want its file in it = %v", got.Tell, tt.told)
			}
		})
	}
}

// What was dirty before an earlier command, or before another's, says nothing of
// this one.
func TestEachCommandIsJudgedFromItsOwnBegin(t *testing.T) {
	whole := func(r *api.HookRequest) { r.Tool, r.Whole = "Bash", true }
	f := newFixture(t)
	a, b := newAgent("c1", "a", 10), newAgent("c2", "a", 20)
	b.tree = a.tree // one checkout
	b.Work = a.tree
	f.hook(a, api.HookStart, nil)
	f.hook(b, api.HookStart, nil)
	f.hook(a, api.HookBefore, whole)
	f.hook(a, api.HookAfter, whole)
	f.hook(b, api.HookBefore, writes("src/b.go"))
	a.tree.dirty["src/b.go"] = "1" // between two commands
	f.quiet("after nothing began", f.hook(a, api.HookAfter, whole))
	f.hook(a, api.HookBefore, whole)
	f.hook(a, api.HookBefore, whole) // two at once
	f.quiet("the first of two", f.hook(a, api.HookAfter, whole))
	a.tree.dirty["src/b.go"] = "2"
	if got := f.hook(a, api.HookAfter, whole); !strings.Contains(got.Tell, "src/b.go") {
		t.Errorf("after the second of two: %q, want what it wrote", got.Tell)
	}
	a.tree.dirty["src/b.go"] = "3"
	f.quiet("none runs any more", f.hook(a, api.HookAfter, whole))
}

func TestTreeCommandsWarnOfOthersInTheCheckout(t *testing.T) {
	f := newFixture(t)
	a, b, far := newAgent("c1", "a", 10), newAgent("c2", "a", 20), newAgent("c3", "b", 30)
	f.hook(far, api.HookBefore, writes("src/far.go"))
	reset := func(r *api.HookRequest) { r.Tool, r.Tree = "Bash", "git reset --hard" }
	f.quiet("alone in the checkout", f.hook(a, api.HookBefore, reset))
	f.hook(b, api.HookBefore, writes("src/b.go"))
	if got := f.hook(a, api.HookBefore, reset); got.Deny != "" || !strings.Contains(got.Tell, "src/b.go") {
		t.Errorf("git reset --hard beside another: %+v, want a warning", got)
	}
}

func TestTheEndOffersWhatIsLeft(t *testing.T) {
	f := newFixture(t)
	a, b := newAgent("c1", "a", 10), newAgent("c2", "a", 20)
	f.hook(b, api.HookStart, nil)
	f.hook(a, api.HookBefore, writes("src/a.go"))
	a.tree.dirty["src/a.go"] = "1"
	f.hook(a, api.HookEnd, nil)
	if list, err := f.HandoverList(t.Context(), b.Actor, api.HandoverListRequest{}); err != nil || len(list.Handovers) != 1 {
		t.Errorf("handovers = %+v, %v; want one of the uncommitted work", list, err)
	}
	f.quiet("its claims have ended", f.hook(b, api.HookBefore, writes("src/a.go")))
	f.hook(b, api.HookEnd, nil) // nothing dirty of its own: b's tree is another
	if list, _ := f.HandoverList(t.Context(), b.Actor, api.HandoverListRequest{}); len(list.Handovers) != 1 {
		t.Errorf("%d handovers after a clean end, want still one", len(list.Handovers))
	}
}

func TestGuard(t *testing.T) {
	f := newFixture(t)
	ada, bob := f.join("ada"), f.joinAt("bob", "b")
	guard := func(a room.Actor, paths ...string) api.GuardReply {
		t.Helper()
		reply, err := f.Guard(t.Context(), a, api.GuardRequest{Hook: "pre-commit", Paths: paths})
		if err != nil {
			t.Fatal(err)
		}
		return reply
	}
	if got := guard(ada, "src/a.go"); got.Deny != "" {
		t.Errorf("nobody holds anything: %+v", got)
	}
	c := f.claim(ada, "src/")
	if got := guard(ada, "src/a.go", "docs/x.md"); got.Deny != "" || len(got.Claims) != 1 || got.Claims[0].Epoch != c.Epoch {
		t.Errorf("the holder = %+v, want it passed with its claim", got)
	}
	if got := guard(bob, "src/a.go", "src/b.go"); got.Deny == "" || got.Hint == "" || len(got.Conflicts) != 1 {
		t.Errorf("another = %+v, want it refused with the one claim", got)
	}
	if got := guard(actor("", "a"), "src/a.go"); got.Deny == "" {
		t.Error("a person without a session may commit what another holds")
	}
	if got := guard(bob, "docs/x.md"); got.Deny != "" {
		t.Errorf("what nobody holds: %+v", got)
	}
	if _, err := f.Claim(t.Context(), bob, api.ClaimRequest{Scope: []string{"src/a.go"}, Break: true, Reason: "urgent"}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Release(t.Context(), bob, api.ReleaseRequest{All: true}); err != nil {
		t.Fatal(err)
	}
	if got := guard(ada, "src/z.go"); got.Deny == "" || !strings.Contains(got.Deny, "taken over") {
		t.Errorf("a commit under a void epoch = %+v, want it refused", got)
	}
	f.claim(ada, "src/")
	if got := guard(ada, "src/z.go"); got.Deny != "" {
		t.Errorf("claimed anew, and refused: %+v", got)
	}
}

// A path that no scope entry can name is covered by its folder's claim.
func TestPathsThatNoEntryCanName(t *testing.T) {
	f := newFixture(t)
	ada := f.join("ada")
	f.claim(ada, "docs/")
	long := "docs/" + strings.Repeat("long/", 60) + "name"
	for _, path := range []string{long, "docs/two\nlines"} {
		reply, err := f.Guard(t.Context(), actor("", "b"), api.GuardRequest{Hook: "pre-commit", Paths: []string{path}})
		if err != nil || reply.Deny == "" || strings.Contains(reply.Deny, "\n") {
			t.Errorf("guard of %.20q = %+v, %v; want it refused in one line", path, reply, err)
		}
		a := newAgent("c"+path[5:7], "b", 10)
		if got := f.hook(a, api.HookBefore, writes(path)); got.Deny == "" {
			t.Errorf("hook of %.20q passed", path)
		}
		free := strings.Replace(path, "docs/", "src/", 1)
		f.quiet("a folder that nobody holds", f.hook(a, api.HookBefore, writes(free)))
	}
}
