package room_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/journal"
	"github.com/comity-dev/comity/coop/room"
	"github.com/comity-dev/comity/coop/scope"
	"github.com/comity-dev/comity/internal/clock"
	"github.com/comity-dev/comity/internal/seglog"
	"github.com/comity-dev/comity/internal/vfs"
)

// tb puts a test's methods behind a room's: both have a Log.
type tb struct{ testing.TB }

// A fixture is a room with a clock, processes and a checkout that the test moves.
type fixture struct {
	tb
	*room.Room
	clock *clock.Fake
	procs *procs
	fsys  vfs.FS
	cfg   room.Config
	j     *journal.Journal // of the room that is open
	live  bool             // Run runs
	stop  context.CancelFunc
	ran   sync.WaitGroup
	down  bool
}

// newFixture is a room in memory.
func newFixture(t testing.TB) *fixture { return newFixtureOn(t, nil, nil) }

// newLive is a room in memory whose Run runs; the test is in a bubble of package
// synctest, where Wait lets everything come to rest.
func newLive(t testing.TB) *fixture { return newFixtureOn(t, nil, func(f *fixture) { f.live = true }) }

// newFixtureOn keeps the journal on a disk, so that it can be opened again.
func newFixtureOn(t testing.TB, fsys vfs.FS, change func(*fixture)) *fixture {
	t.Helper()
	f := &fixture{tb: tb{t}, clock: clock.NewFake(time.Unix(1_800_000_000, 0), time.Hour, "boot"), procs: newProcs(), fsys: fsys}
	dir := ""
	if fsys != nil {
		dir = "/journal"
	}
	f.cfg = room.Config{
		Journal: journal.Config{Key: newKey(t, 0), Repo: testRepo(t), Dir: dir, Machine: "m"}, Clock: f.clock, Processes: f.procs,
		Open: func(ctx context.Context, cfg journal.Config) (*journal.Journal, error) {
			j, err := journal.OpenOn(ctx, cfg, f.fsys, f.clock)
			f.j = j
			return j, err
		},
	}
	if change != nil {
		change(f)
	}
	f.open()
	t.Cleanup(f.shut)
	return f
}

func newKey(t testing.TB, n byte) *ident.Key {
	t.Helper()
	key, err := ident.KeyFromSeed(append([]byte("0123456789abcdef0123456789abcde"), 'a'+n))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func testRepo(t testing.TB) ident.RepositoryID {
	t.Helper()
	repo, err := ident.RepositoryDeclared("test")
	if err != nil {
		t.Fatal(err)
	}
	return repo
}

func (f *fixture) open() {
	f.Helper()
	r, err := room.Open(f.Context(), f.cfg)
	if err != nil {
		f.Fatalf("open the room: %v", err)
	}
	f.Room, f.down, f.stop = r, false, func() {}
	if f.live {
		ctx, cancel := context.WithCancel(context.Background())
		f.stop = cancel
		f.ran.Go(func() { r.Run(ctx) })
	}
}

func (f *fixture) shut() {
	f.Helper()
	if f.down {
		return
	}
	f.down = true
	f.stop()
	f.ran.Wait()
	broken := f.Broken() != nil // then closing says so too
	if err := f.Room.Close(context.Background()); err != nil && !broken {
		f.Errorf("close the room: %v", err)
	}
}

// reopen is a restart of the daemon.
func (f *fixture) reopen() {
	f.Helper()
	f.shut()
	f.open()
}

// hear has the journal hold what others wrote, as if it had come over a link:
// vouched for by its signatures alone.
func (f *fixture) hear(events ...*event.Event) {
	f.Helper()
	var recs [][]byte
	for _, e := range events {
		rec := append([]byte{byte(journal.RecordEvent), 1}, make([]byte, sha256.Size)...)
		recs = append(recs, append(rec, e.Raw...))
	}
	f.hearRecord(recs...)
}

// hearRecord puts records into the log between two runs.
func (f *fixture) hearRecord(recs ...[]byte) {
	f.Helper()
	f.shut()
	log, _, err := seglog.Open(f.fsys, f.cfg.Journal.Dir, nil)
	if err != nil {
		f.Fatal(err)
	}
	if _, err := log.Append(f.Context(), recs...); err != nil {
		f.Fatal(err)
	}
	if err := log.Close(); err != nil {
		f.Fatal(err)
	}
	f.open()
}

// A peer is another machine, as far as its events go.
type peer struct {
	t   testing.TB
	key *ident.Key
	at  event.Header
}

func newPeer(t testing.TB, n byte) *peer {
	key := newKey(t, n)
	repo := testRepo(t)
	stream := ident.NewStream(key.Node(), key.Runtime(repo), ident.NewInstance())
	return &peer{t: t, key: key, at: event.Header{Repo: repo, Stream: stream, At: 1_700_000_000}}
}

// says signs the next event. Its stamp is lamport, or the one after its last.
func (p *peer) says(lamport uint64, b event.Body) *event.Event {
	p.t.Helper()
	p.at.Seq++
	p.at.Lamport = max(lamport, p.at.Lamport+1)
	e, err := event.Seal(p.key, p.at, b)
	if err != nil {
		p.t.Fatal(err)
	}
	p.at.Prev = hex.EncodeToString(e.Hash[:])
	return e
}

func (p *peer) opens(sid string) *event.Event {
	return p.says(0, event.SessionOpened{Info: event.SessionInfo{Session: sid, Client: "far", Checkout: "00000000000000ff", Intent: sid + "'s work"}})
}

func (p *peer) claims(lamport uint64, sid string, stored ...string) *event.Event {
	p.t.Helper()
	return p.says(lamport, event.ClaimAcquired{Session: sid, Scope: scopes(p.t, stored...), Mode: event.ModeExclusive, Intent: "from afar"})
}

func scopes(t testing.TB, stored ...string) scope.Set {
	t.Helper()
	set, err := scope.ParseSet(stored)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// actor stands in the checkout named.
func actor(session, checkout string) room.Actor {
	id := ident.CheckoutID(strings.Repeat("0", 15) + checkout)
	return room.Actor{Session: session, Checkout: id, Top: "/repo" + checkout, By: "Test Person", Host: "host", Tree: tree{}, Git: newGit()}
}

// actorOf stands where a stands, as another session.
func actorOf(a room.Actor, session string) room.Actor {
	a.Session = session
	return a
}

func (f *fixture) join(name string) room.Actor { return f.joinAt(name, "a") }

func (f *fixture) joinAt(name, checkout string) room.Actor {
	f.Helper()
	a := actor("", checkout)
	f.openSession(a, api.SessionOpenRequest{Name: name, Intent: name + "'s work"}, nil)
	a.Session = name
	return a
}

func (f *fixture) openSession(a room.Actor, req api.SessionOpenRequest, p *room.Process) api.SessionOpenReply {
	f.Helper()
	reply, err := f.SessionOpen(f.Context(), a, req, p)
	if err != nil {
		f.Fatalf("open session %s: %v", req.Name, err)
	}
	return reply
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

// session finds one of all that are remembered.
func (f *fixture) session(sid string) api.Session {
	f.Helper()
	list, err := f.SessionList(f.Context(), room.Actor{}, api.SessionListRequest{All: true})
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range list.Sessions {
		if s.Session == sid {
			return s
		}
	}
	f.Fatalf("session %s is not known", sid)
	return api.Session{}
}

func (f *fixture) wantSession(sid, state, reason string) {
	f.Helper()
	if s := f.session(sid); s.State != state || s.Reason != reason {
		f.Errorf("session %s is %s (%s), want %s (%s)", sid, s.State, s.Reason, state, reason)
	}
}

func wantCode(t testing.TB, what string, err error, code api.Code) *api.Error {
	t.Helper()
	e := api.AsError(err)
	if e == nil {
		t.Fatalf("%s: no error, want %s", what, code)
	}
	if e.Code != code {
		t.Fatalf("%s: %s (%v), want %s", what, e.Code, err, code)
	}
	return e
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
	branch  string
	tree    string
	changed []string
	asked   int // for commits
}

func newGit() *git {
	return &git{branch: "main", tree: strings.Repeat("1", 40), changed: []string{"src/a.go", "src/b.go"}}
}

func (g *git) move(tree string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.tree = strings.Repeat(tree, 40)
}

func (g *git) Head(context.Context) (string, string, error) {
	return g.branch, strings.Repeat("c", 40), nil
}

func (g *git) Commit(_ context.Context, rev string) (string, string, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.asked++
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

// kill ends q before its watch tells.
func (p *procs) kill(q room.Process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dead[q] = true
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
