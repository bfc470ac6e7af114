package node

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/internal/clock"
	"github.com/comity-dev/comity/internal/git"
)

// placeLife is how long what git said of a folder is believed, while the folder
// and its .git are the same files.
const placeLife = time.Minute

// maxPlaces bounds what is remembered; beyond it all is asked anew.
const maxPlaces = 4096

// A place is where a caller stands: the checkout and its repository.
type place struct {
	git      git.Checkout
	repo     ident.RepositoryID
	checkout ident.CheckoutID
	by       string

	dir, dotgit os.FileInfo   // nil where there is none
	found       time.Duration // boot time
}

// places remembers what git said of folders, so that a check costs no process.
type places struct {
	mu    sync.Mutex
	byDir map[string]*place
	repos map[string]ident.RepositoryID // by common git folder
}

func (p *places) init() {
	p.byDir = map[string]*place{}
	p.repos = map[string]ident.RepositoryID{}
}

// find tells where dir is.
func (n *node) find(ctx context.Context, dir string) (*place, error) {
	if !filepath.IsAbs(dir) {
		return nil, api.Errorf(api.CodeUsage, "folder %q is not an absolute path", dir)
	}
	if at := n.places.recall(dir, n.clock); at != nil {
		return at, nil
	}
	at, err := n.look(ctx, dir)
	if err != nil {
		return nil, gitError(err, dir)
	}
	n.places.remember(dir, at)
	return at, nil
}

func (p *places) recall(dir string, c clock.Clock) *place {
	p.mu.Lock()
	at := p.byDir[dir]
	p.mu.Unlock()
	if at == nil || c.Boot()-at.found > placeLife {
		return nil
	}
	if !same(dir, at.dir) || !same(filepath.Join(at.git.Top, ".git"), at.dotgit) {
		return nil
	}
	return at
}

func same(name string, was os.FileInfo) bool {
	now, err := os.Stat(name)
	return err == nil && was != nil && os.SameFile(now, was)
}

func (p *places) remember(dir string, at *place) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.byDir) >= maxPlaces {
		clear(p.byDir)
	}
	p.byDir[dir] = at
}

func (n *node) look(ctx context.Context, dir string) (*place, error) {
	c, err := git.Find(ctx, dir)
	if err != nil {
		return nil, err
	}
	repo, err := n.repository(ctx, c)
	if err != nil {
		return nil, err
	}
	at := &place{git: c, repo: repo, checkout: n.key.Checkout(c.GitDir), by: c.UserName(ctx), found: n.clock.Boot()}
	at.dir, _ = os.Stat(dir) // nil: asked again every time
	at.dotgit, _ = os.Stat(filepath.Join(c.Top, ".git"))
	return at, nil
}

// repository is the id of c's repository: declared by a setting, else of its
// root commit. It is asked once for each common git folder, unless declared.
func (n *node) repository(ctx context.Context, c git.Checkout) (ident.RepositoryID, error) {
	declared, ok, err := c.Config(ctx, "comity.repository")
	if err != nil {
		return "", err
	}
	if ok {
		id, err := ident.RepositoryDeclared(declared)
		if err != nil {
			return "", api.Errorf(api.CodeUsage, "setting comity.repository: %v", err)
		}
		return id, nil
	}
	n.places.mu.Lock()
	id, known := n.places.repos[c.CommonDir]
	n.places.mu.Unlock()
	if known {
		return id, nil
	}
	root, err := c.RootCommit(ctx)
	if err != nil {
		return "", err
	}
	if id, err = ident.RepositoryFromRoot(root); err != nil {
		return "", err
	}
	n.places.mu.Lock()
	n.places.repos[c.CommonDir] = id
	n.places.mu.Unlock()
	return id, nil
}

// gitError puts what git said into the words of the API.
func gitError(err error, dir string) error {
	var known *api.Error
	switch {
	case errors.As(err, &known):
		return err
	case errors.Is(err, git.ErrNoRepository):
		return api.Errorf(api.CodeNoRepository, "%s is in no git repository", dir).WithHint("go to one, or name it: comity --repo DIR")
	case errors.Is(err, git.ErrEmpty):
		return api.Errorf(api.CodeEmptyRepository, "the repository of %s has no commit yet, so it has no name that its clones share", dir).
			WithHint("make the first commit, or declare a name: git config comity.repository NAME")
	case errors.Is(err, git.ErrShallow):
		return api.Errorf(api.CodeShallow, "the clone of %s is shallow, so its first commit is not known", dir).
			WithHint("git fetch --unshallow, or declare the name that the others use: git config comity.repository NAME")
	case errors.Is(err, git.ErrNoGit), errors.Is(err, git.ErrTooOld), errors.Is(err, git.ErrUnsafe):
		return api.Errorf(api.CodeNoRepository, "%v", err)
	case errors.Is(err, git.ErrNoCommit):
		return api.Errorf(api.CodeUsage, "%v", err).WithHint("name a branch, a tag or a commit of this repository")
	case errors.Is(err, git.ErrOutside):
		return api.Errorf(api.CodeOutside, "%v", err).WithHint("name a path inside one of the repository's worktrees")
	}
	return err
}
