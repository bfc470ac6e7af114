package node

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"sync"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/journal"
	"github.com/comity-dev/comity/coop/room"
)

// rooms are the repositories that were asked for, each opened on first need and
// kept until the daemon stops.
type rooms struct {
	node *node

	mu     sync.Mutex
	byRepo map[ident.RepositoryID]*tenancy
	closed bool
}

// A tenancy is one repository's room and what runs for it. Its fields are set
// when ready is closed.
type tenancy struct {
	ready chan struct{}
	room  *room.Room
	err   error

	procs processes
	end   context.CancelFunc // ends the room's Run
	ran   sync.WaitGroup     // it
}

func (r *rooms) init(n *node) {
	r.node = n
	r.byRepo = map[ident.RepositoryID]*tenancy{}
}

// get is the room of a repository. A journal that a disk error stopped is
// closed and opened anew, which starts a new run; one that stops again each time
// is the error. Opening one repository keeps nobody waiting for another.
func (r *rooms) get(ctx context.Context, repo ident.RepositoryID) (*room.Room, error) {
	var broken error
	for range reopenings {
		t, mine, err := r.claim(repo)
		if err != nil {
			return nil, err
		}
		if mine {
			r.open(ctx, repo, t)
		}
		select {
		case <-t.ready:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if errors.Is(t.err, errReopened) {
			continue
		}
		if t.err != nil {
			return nil, t.err
		}
		if !stopped(t.room) {
			return t.room, nil
		}
		broken = t.room.Broken()
		r.drop(repo, t)
	}
	return nil, openError(cmp.Or(broken, errReopened))
}

// stopped tells that a room takes no writes for a reason that opening it again
// may cure.
func stopped(m *room.Room) bool {
	err := m.Broken()
	return err != nil && !errors.Is(err, journal.ErrNewerFormat)
}

// claim finds the tenancy of a repository, or makes the one that the caller has
// to open.
func (r *rooms) claim(repo ident.RepositoryID) (t *tenancy, mine bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, false, api.Errorf(api.CodeStopping, "the daemon is stopping").WithHint("repeat the command")
	}
	if t := r.byRepo[repo]; t != nil {
		return t, false, nil
	}
	t = &tenancy{ready: make(chan struct{})}
	r.byRepo[repo] = t
	return t, true, nil
}

func (r *rooms) open(ctx context.Context, repo ident.RepositoryID, t *tenancy) {
	defer close(t.ready)
	n := r.node
	// The journal is everybody's: who asked first may go away, it stays.
	m, err := room.Open(context.WithoutCancel(ctx), room.Config{
		Journal: journal.Config{
			Key: n.key, Repo: repo, Machine: n.machine, Folder: n.folder,
			Dir: filepath.Join(n.opts.Home.RepositoryDir(string(repo)), "journal"),
		},
		Open:      n.openJournal,
		Clock:     n.clock,
		Processes: &t.procs,
	})
	if err != nil {
		t.err = openError(err)
		n.opts.Log.Error("open journal", "repository", repo, "err", err)
		r.mu.Lock()
		delete(r.byRepo, repo) // the next caller tries again
		r.mu.Unlock()
		return
	}
	if err := noteIncarnation(n.opts.Home, repo, m.Incarnation()); err != nil {
		n.opts.Log.Warn("note the log's name", "repository", repo, "err", err) // doctor knows less then
	}
	run, end := context.WithCancel(context.Background())
	t.room, t.end = m, end
	t.ran.Go(func() { m.Run(run) })
}

func openError(err error) error {
	switch {
	case errors.Is(err, journal.ErrNewerFormat):
		return api.Errorf(api.CodeNewerFormat, "%v", err).WithHint("a newer comity wrote this journal: upgrade this one; nothing of it was touched")
	case errors.Is(err, journal.ErrNoSpace):
		return api.Errorf(api.CodeDiskFull, "the disk of the state folder is full: %v", err).WithHint("free some space and repeat the command; nothing was lost")
	}
	return api.Errorf(api.CodeInternal, "the journal cannot be opened: %v", err).
		WithHint("see to the disk of the state folder and repeat the command; comity stop and then comity doctor reads the journal from disk")
}

// errReopened sends those who met a placeholder on to the room behind it.
var errReopened = errors.New("the journal is opened anew")

// drop closes a tenancy that is no longer used.
func (r *rooms) drop(repo ident.RepositoryID, t *tenancy) {
	r.mu.Lock()
	if r.byRepo[repo] != t {
		r.mu.Unlock()
		return // another caller does it
	}
	// A closed placeholder keeps the place: the journal must be closed before it
	// is opened again.
	hold := &tenancy{ready: make(chan struct{})}
	r.byRepo[repo] = hold
	r.mu.Unlock()
	r.close(t)
	r.mu.Lock()
	if r.byRepo[repo] == hold {
		delete(r.byRepo, repo)
	}
	r.mu.Unlock()
	hold.err = errReopened
	close(hold.ready)
}

func (r *rooms) close(t *tenancy) {
	<-t.ready
	if t.room == nil {
		return
	}
	t.end()
	t.ran.Wait()
	if err := t.room.Close(context.Background()); err != nil {
		r.node.opts.Log.Error("close journal", "err", err)
	}
	t.procs.wait()
}

// stop closes every room; from then on none is opened.
func (r *rooms) stop() {
	r.mu.Lock()
	r.closed = true
	all := r.byRepo
	r.byRepo = map[ident.RepositoryID]*tenancy{}
	r.mu.Unlock()
	for _, t := range all {
		r.close(t)
	}
}

// busy tells whether any room has a session or a wait.
func (r *rooms) busy() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range r.byRepo {
		select {
		case <-t.ready:
			if t.room != nil && t.room.Busy() {
				return true
			}
		default:
			return true // being opened
		}
	}
	return false
}
