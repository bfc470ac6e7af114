package node

import (
	"context"
	"errors"
	"io/fs"
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
// and its .git are the same files and the repository's settings are unchanged.
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
	settings    edition       // may declare the repository
	found       time.Duration // boot time
}

// An edition tells one content of a file from the next.
type edition struct {
	size int64
	mod  time.Time
}

func editionOf(name string) edition {
	info, err := os.Stat(name)
	if err != nil {
		return edition{}
	}
	return edition{info.Size(), info.ModTime()}
}

// A named is the id of a repository and the commit that it is made of.
type named struct {
	root string
	id   ident.RepositoryID
}

// places remembers what git said of folders, so that a check costs no process.
type places struct {
	mu    sync.Mutex
	byDir map[string]*place
	repos map[string]named // by common git folder
}

func (p *places) init() {
	p.byDir = map[string]*place{}
	p.repos = map[string]named{}
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
	var gone *fs.PathError
	if errors.As(err, &gone) {
		return nil, api.Errorf(api.CodeNoRepository, "folder %s: %v", dir, gone.Err).WithHint("go to a folder that is there, or name it: comity --repo DIR")
	}
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
	if !same(dir, at.dir) || !same(filepath.Join(at.git.Top, ".git"), at.dotgit) || editionOf(settingsOf(at.git)) != at.settings {
		return nil
	}
	return at
}

func settingsOf(c git.Checkout) string { return filepath.Join(c.CommonDir, "config") }

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
	settings := editionOf(settingsOf(c)) // before they are read: a later change shows
	repo, err := n.repository(ctx, c)
	if err != nil {
		return nil, err
	}
	at := &place{git: c, repo: repo, checkout: n.key.Checkout(c.GitDir), by: c.UserName(ctx), settings: settings, found: n.clock.Boot()}
	at.dir, _ = os.Stat(dir) // nil: asked again every time
	at.dotgit, _ = os.Stat(filepath.Join(c.Top, ".git"))
	return at, nil
}

// repository is the id of c's repository: declared by a setting, else of its
// root commit. It is looked for once in each common git folder, unless declared,
// and while the commit is there: another repository may have taken the place.
func (n *node) repository(ctx context.Context, c git.Checkout) (ident.RepositoryID, error) {
	declared, ok, err := c.Config(ctx, "comity.repository")
	if err != nil {
		return "", err
	}
	if ok {
		id, err := ident.RepositoryDeclared(declared)
		if err != nil {
			return "", api.Errorf(api.CodeUsage, "setting comity.repository: %v", err).WithHint("git config comity.repository NAME, of 1 to 128 bytes")
		}
		return id, nil
	}
	n.places.mu.Lock()
	known := n.places.repos[c.CommonDir]
	n.places.mu.Unlock()
	if known.root != "" {
		if _, _, err := c.Tree(ctx, known.root); err == nil {
			return known.id, nil
		}
	}
	root, err := c.RootCommit(ctx)
	if err != nil {
		return "", err
	}
	id, err := ident.RepositoryFromRoot(root)
	if err != nil {
		return "", err
	}
	n.places.mu.Lock()
	n.places.repos[c.CommonDir] = named{root, id}
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
		return api.Errorf(api.CodeNoRepository, "%v", err).WithHint("comity doctor looks at git and at this repository")
	case errors.Is(err, git.ErrNoCommit):
		return api.Errorf(api.CodeUsage, "%v", err).WithHint("name a branch, a tag or a commit of this repository")
	case errors.Is(err, git.ErrOutside):
		return api.Errorf(api.CodeOutside, "%v", err).WithHint("name a path inside one of the repository's worktrees")
	}
	return err
}
