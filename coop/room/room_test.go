package room_test

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/journal"
	"github.com/comity-dev/comity/coop/room"
	"github.com/comity-dev/comity/internal/clock"
	"github.com/comity-dev/comity/internal/vfs"
)

// A fixture is a room in memory with a clock, processes and a checkout that the
// test moves.
type fixture struct {
	*testing.T
	*room.Room
	clock *clock.Fake
	procs *procs
	fsys  vfs.FS
	dir   string
	cfg   room.Config
}

func newFixture(t *testing.T) *fixture { return newFixtureIn(t, "") }

// newFixtureIn keeps the journal in dir, so that it can be opened again.
func newFixtureIn(t *testing.T, dir string) *fixture {
	t.Helper()
	f := &fixture{T: t, clock: clock.NewFake(time.Unix(1_800_000_000, 0), time.Hour, "boot"), procs: newProcs(), fsys: vfs.OS(), dir: dir}
	key, err := ident.KeyFromSeed([]byte("0123456789abcdef0123456789abcdef"))
	if err != nil {
		t.Fatal(err)
	}
	repo, err := ident.RepositoryDeclared("test")
	if err != nil {
		t.Fatal(err)
	}
	f.cfg = room.Config{
		Journal: journal.Config{Key: key, Repo: repo, Dir: dir, Machine: "m"}, Clock: f.clock, Processes: f.procs,
		Open: func(ctx context.Context, cfg journal.Config) (*journal.Journal, error) {
			return journal.OpenOn(ctx, cfg, f.fsys, f.clock)
		},
	}
	f.open()
	t.Cleanup(func() { f.shut() })
	return f
}

func (f *fixture) open() {
	f.Helper()
	r, err := room.Open(f.Context(), f.cfg)
	if err != nil {
		f.Fatalf("open the room: %v", err)
	}
	f.Room = r
}

func (f *fixture) shut() {
	f.Helper()
	if err := f.Room.Close(context.Background()); err != nil {
		f.Errorf("close the room: %v", err)
	}
}

// reopen is a restart of the daemon.
func (f *fixture) reopen() {
	f.Helper()
	f.shut()
	f.open()
}

// actor stands in the checkout named.
func actor(session, checkout string) room.Actor {
	id := ident.CheckoutID(strings.Repeat("0", 15) + checkout)
	return room.Actor{Session: session, Checkout: id, Top: "/repo" + checkout, By: "Test Person", Host: "host", Tree: tree{}, Git: newGit()}
}

func (f *fixture) join(name string) room.Actor { return f.joinAt(name, "a") }

func (f *fixture) joinAt(name, checkout string) room.Actor {
	f.Helper()
	a := actor("", checkout)
	if _, err := f.SessionOpen(f.Context(), a, api.SessionOpenRequest{Name: name, Intent: name + "'s work"}, nil); err != nil {
		f.Fatalf("open session %s: %v", name, err)
	}
	a.Session = name
	return a
}

func (f *fixture) claim(a room.Actor, words ...string) api.ClaimReply {
	f.Helper()
	reply, err := f.Claim(f.Context(), a, api.ClaimRequest{Scope: words})
	if err != nil {
		f.Fatalf("%s claims %v: %v", a.Session, words, err)
	}
	return reply
}

func (f *fixture) refused(a room.Actor, req api.ClaimRequest, want error) *api.Error {
	f.Helper()
	reply, err := f.Claim(f.Context(), a, req)
	if !errors.Is(err, want) {
		f.Fatalf("%s claims %v = %+v, %v; want %v", a.Session, req.Scope, reply, err, want)
	}
	return api.AsError(err)
}

func (f *fixture) status(a room.Actor) api.Status {
	f.Helper()
	s, err := f.Status(f.Context(), a, api.StatusRequest{})
	if err != nil {
		f.Fatalf("status: %v", err)
	}
	return s
}

func (f *fixture) notices(a room.Actor) []api.Notice {
	f.Helper()
	n, err := f.Notices(f.Context(), a, api.NoticesRequest{})
	if err != nil {
		f.Fatalf("notices of %s: %v", a.Session, err)
	}
	return n.Notices
}

func (f *fixture) kinds() []string {
	f.Helper()
	page, err := f.Log(f.Context(), room.Actor{}, api.LogRequest{Limit: 1000})
	if err != nil {
		f.Fatalf("log: %v", err)
	}
	var out []string
	for _, e := range page.Events {
		out = append(out, e.Kind)
	}
	return out
}

// tree is a checkout whose folders are src, src/api and docs and whose files
// are all names with a dot in them.
type tree struct{}

func (tree) Rel(word string) (string, error) {
	if strings.HasPrefix(word, "/") || strings.HasPrefix(word, "..") {
		return "", api.Errorf(api.CodeOutside, "%s is outside", word)
	}
	return path.Clean(word), nil
}

func (tree) Kind(p string) (room.Kind, error) {
	switch {
	case p == "." || slices.Contains([]string{"src", "src/api", "docs"}, p):
		return room.Folder, nil
	case strings.Contains(path.Base(p), ".") && !strings.ContainsAny(p, "*?[{"):
		return room.File, nil
	}
	return room.Missing, nil
}

// git is a checkout on branch main whose tree the test moves.
type git struct {
	mu      sync.Mutex
	tree    string
	changed []string
}

func newGit() *git {
	return &git{tree: strings.Repeat("1", 40), changed: []string{"src/a.go", "src/b.go"}}
}

func (g *git) move(tree string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.tree = strings.Repeat(tree, 40)
}

func (g *git) Head(context.Context) (string, string, error) {
	return "main", strings.Repeat("c", 40), nil
}

func (g *git) Commit(_ context.Context, rev string) (string, string, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if rev == "missing" {
		return "", "", api.Errorf(api.CodeUsage, "no such revision: %s", rev)
	}
	return strings.Repeat("c", 40), g.tree, nil
}

func (g *git) Changed(context.Context) ([]string, bool, error) { return g.changed, false, nil }

// procs are processes that the test ends.
type procs struct {
	mu    sync.Mutex
	dead  map[room.Process]bool
	watch map[room.Process][]func()
}

func newProcs() *procs {
	return &procs{dead: map[room.Process]bool{}, watch: map[room.Process][]func(){}}
}

func (p *procs) Alive(q room.Process) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.dead[q]
}

func (p *procs) Watch(q room.Process, ended func()) func() {
	p.mu.Lock()
	defer p.mu.Unlock()
	live := true
	p.watch[q] = append(p.watch[q], func() {
		if live {
			ended()
		}
	})
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		live = false
	}
}

func (p *procs) end(q room.Process) {
	p.mu.Lock()
	p.dead[q] = true
	all := p.watch[q]
	p.mu.Unlock()
	for _, f := range all {
		f()
	}
}

func proc(pid int) *room.Process { return &room.Process{PID: pid, Start: "s", Boot: "b"} }

// until runs the room until cond holds.
func (f *fixture) until(what string, cond func() bool) {
	f.Helper()
	ctx, cancel := context.WithCancel(f.Context())
	var wg sync.WaitGroup
	wg.Go(func() { f.Room.Run(ctx) })
	defer wg.Wait()
	defer cancel()
	for deadline := time.Now().Add(10 * time.Second); !cond(); {
		if time.Now().After(deadline) {
			f.Fatalf("never: %s", what)
		}
		if grown := f.Room; grown != nil {
			time.Sleep(time.Millisecond)
		}
	}
}
