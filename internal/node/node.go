// Package node is the daemon: one process for each user and machine, which
// holds every repository and every worktree of that machine and answers the
// local API. Since all decisions about a repository are made here, under one
// lock, two worktrees can never both win.
//
// It is the place that knows everything: it finds the repository and the
// session of a caller, opens a room for each repository on first need, owns
// every goroutine, and stops in order: no new request, waiting ones told to come
// back, the rooms closed, the lock given up.
package node

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/journal"
	"github.com/comity-dev/comity/internal/clock"
	"github.com/comity-dev/comity/internal/home"
	"github.com/comity-dev/comity/internal/httpapi"
	"github.com/comity-dev/comity/internal/vfs"
)

// DefaultIdle is how long a daemon stays with nobody to serve.
const DefaultIdle = 10 * time.Minute

// shutdown bounds the time that open requests get to end.
const shutdown = 5 * time.Second

// Options says how to serve.
type Options struct {
	Home  home.Home
	Build string        // names this build; clients of another replace it
	Idle  time.Duration // 0: DefaultIdle; negative: for ever
	Log   *slog.Logger  // nil: nowhere
	Ready func()        // called once the socket answers; may be nil
}

// Serve runs the daemon until ctx ends, it was asked to stop, or nobody needed
// it for the idle time; then it returns nil. It returns an error when it cannot
// begin: another daemon holds the state folder (*home.LockedError), the folder or
// the key cannot be used, the socket cannot be made.
func Serve(ctx context.Context, o Options) error { return serve(ctx, o, clock.System()) }

func withDefaults(o Options) Options {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Idle == 0 {
		o.Idle = DefaultIdle
	}
	return o
}

func serve(ctx context.Context, o Options, c clock.Clock) error {
	o = withDefaults(o)
	fsys := vfs.OS()
	if err := o.Home.Prepare(fsys); err != nil {
		return err
	}
	lock, err := o.Home.Lock(fsys, home.Info{PID: os.Getpid(), Build: o.Build, Socket: o.Home.Socket, API: api.Version})
	if err != nil {
		return err
	}
	defer lock.Close()
	key, err := loadKey(fsys, o.Home)
	if err != nil {
		return err
	}
	listener, err := httpapi.Listen(o.Home.Socket)
	if err != nil {
		return err
	}
	return newNode(o, key, c).run(ctx, listener)
}

// A node is the running daemon.
type node struct {
	opts    Options
	key     *ident.Key
	clock   clock.Clock
	started time.Duration // boot time
	host    string
	machine string
	folder  string // tells the state folder from its copies; "" where nothing does

	// openJournal opens a repository's journal; nil means journal.Open.
	openJournal func(context.Context, journal.Config) (*journal.Journal, error)

	places   places
	rooms    rooms
	activity activity

	// stopping is closed when the daemon is about to stop: waiting claims and
	// watchers are told to come back to the next one.
	stopping context.Context
	stop     context.CancelFunc
}

func newNode(o Options, key *ident.Key, c clock.Clock) *node {
	n := &node{opts: o, key: key, clock: c}
	n.started = n.clock.Boot()
	n.host, _ = os.Hostname()         // "" is left out where it is shown
	n.machine, _ = o.Home.MachineID() // "" is no machine: see the doctor
	n.folder = vfs.FolderID(o.Home.Dir)
	n.stopping, n.stop = context.WithCancel(context.Background())
	n.places.init()
	n.rooms.init(n)
	return n
}

// run serves until something ends it, and then stops in order.
func (n *node) run(ctx context.Context, listener *httpapi.Listener) error {
	ops, watch := n.operations()
	handler, err := httpapi.Handler(ops, watch, &httpapi.Options{Build: n.opts.Build, Log: n.opts.Log})
	if err != nil {
		listener.Close()
		return err
	}
	server := httpapi.NewServer(n.activity.count(handler, n.clock), n.opts.Log)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return serveOn(server, listener) })
	g.Go(func() error {
		n.stayReachable(g, server, listener)
		return nil
	})
	g.Go(func() error {
		n.awaitEnd(ctx)
		return n.shutDown(ctx, server)
	})
	n.opts.Log.Info("serving", "socket", n.opts.Home.Socket, "build", n.opts.Build, "node", n.key.Node())
	if n.opts.Ready != nil {
		n.opts.Ready()
	}
	return g.Wait()
}

// awaitEnd returns when the daemon should stop.
func (n *node) awaitEnd(ctx context.Context) {
	idle := make(chan struct{})
	if n.opts.Idle > 0 {
		go func() {
			defer close(idle)
			n.awaitIdle(ctx)
		}()
	}
	select {
	case <-ctx.Done():
	case <-n.stopping.Done():
	case <-idle:
	}
	n.stop()
	if n.opts.Idle > 0 {
		<-idle // it has been told
	}
}

// shutDown lets open requests end, then closes the rooms.
func (n *node) shutDown(ctx context.Context, server *http.Server) error {
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdown)
	defer cancel()
	err := server.Shutdown(end)
	n.rooms.stop()
	n.opts.Log.Info("stopped")
	if errors.Is(err, context.DeadlineExceeded) {
		server.Close()
		return nil
	}
	return err
}
