package node

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/internal/vfs/vfstest"
)

func mustFind(t *testing.T, n *node, dir string) *place {
	t.Helper()
	at, err := n.find(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// What git said of a folder is believed for a while, and not once anything that
// it depends on has changed.
func TestAPlaceIsRememberedUntilItChanges(t *testing.T) {
	for name, tt := range map[string]struct {
		change   func(t *testing.T, n *node, top string)
		believed bool
		sameRepo bool
	}{
		"nothing":      {func(*testing.T, *node, string) {}, true, true},
		"a new commit": {func(t *testing.T, _ *node, top string) { commit(t, top) }, true, true},
		"a while passes": {func(_ *testing.T, n *node, _ string) {
			n.clock.(interface{ Advance(time.Duration) }).Advance(placeLife + 1)
		}, false, true},
		"a declared name": {func(t *testing.T, _ *node, top string) {
			runGit(t, top, "config", "comity.repository", "declared")
		}, false, false},
		"another repository takes the place": {func(t *testing.T, _ *node, top string) {
			remove(t, filepath.Join(top, ".git"))
			runGit(t, top, "init", "-q")
			runGit(t, top, "-c", "user.name=bob", "-c", "user.email=bob@example.org", "commit", "-q", "--allow-empty", "-m", "another first commit")
		}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			top := newRepo(t)
			n := newTestNode(t, newClock(), vfstest.New())
			before := mustFind(t, n, top)
			tt.change(t, n, top)
			after := mustFind(t, n, top)
			if got := after == before; got != tt.believed {
				t.Errorf("believed what was known = %v, want %v", got, tt.believed)
			}
			if got := after.repo == before.repo; got != tt.sameRepo {
				t.Errorf("the same repository = %v, want %v", got, tt.sameRepo)
			}
		})
	}
}

func TestAPlaceThatIsGoneIsNotRemembered(t *testing.T) {
	top := newRepo(t)
	n := newTestNode(t, newClock(), vfstest.New())
	sub := filepath.Join(top, "sub")
	if err := os.Mkdir(sub, 0o700); err != nil {
		t.Fatal(err)
	}
	mustFind(t, n, sub)
	remove(t, sub)
	if _, err := n.find(t.Context(), sub); !errors.Is(err, api.ErrNoRepository) {
		t.Errorf("find of a removed folder = %v, want that there is no repository", err)
	}
	remove(t, filepath.Join(top, ".git"))
	if _, err := n.find(t.Context(), top); !errors.Is(err, api.ErrNoRepository) {
		t.Errorf("find without .git = %v, want that there is no repository", err)
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
}

func TestWhatIsRememberedOfPlacesIsBounded(t *testing.T) {
	var p places
	p.init()
	for i := range 3 * maxPlaces {
		p.remember(filepath.Join("/", time.Duration(i).String()), &place{})
		if len(p.byDir) > maxPlaces {
			t.Fatalf("%d places are remembered, want at most %d", len(p.byDir), maxPlaces)
		}
	}
}

// A path in another worktree is that worktree's, however it is written, and only
// in one of the same repository.
func TestElsewhereIsAnotherWorktreeOfTheRepository(t *testing.T) {
	top, other := newRepo(t), newRepo(t)
	worktree := filepath.Join(realDir(t), "wt")
	runGit(t, top, "worktree", "add", "-q", worktree)
	n := newTestNode(t, newClock(), vfstest.New())
	at, there := mustFind(t, n, top), mustFind(t, n, worktree)
	if at.repo != there.repo || at.checkout == there.checkout {
		t.Fatalf("worktrees: repository %s and %s, checkout %s and %s", at.repo, there.repo, at.checkout, there.checkout)
	}
	nested := filepath.Join(top, "sub", "nested") // a worktree in the checkout
	runGit(t, top, "worktree", "add", "-q", nested)
	below := mustFind(t, n, nested)
	link, deep := filepath.Join(top, "link"), filepath.Join(worktree, "deep")
	if err := os.Mkdir(deep, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(deep, link); err != nil {
		t.Skip(err)
	}
	up, err := filepath.Rel(top, worktree)
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := n.elsewhere(t.Context(), at, top)
	known := len(n.places.byDir)
	for _, word := range []string{filepath.Join(top, "sub", "a.go"), filepath.Join(top, "new", "er", "a.go"), filepath.Join("..", filepath.Base(top), "a")} {
		if _, _, ok := elsewhere(word); ok || len(n.places.byDir) != known {
			t.Errorf("elsewhere(%s) = %v, and git was asked %d times; want no, unasked", word, ok, len(n.places.byDir)-known)
		}
	}
	if id, where, ok := elsewhere(filepath.Join(nested, "deep", "a.go")); !ok || id != below.checkout || where != nested {
		t.Errorf("a worktree in the checkout = %s, %s, %v", id, where, ok)
	}
	for word, want := range map[string]bool{
		filepath.Join(worktree, "a.go"):              true,
		filepath.Join(worktree, "new", "er", "a.go"): true, // into folders that are not there yet
		filepath.Join(up, "a.go"):                    true,
		worktree:                                     true,
		filepath.Join(link, "a.go"):                  true,
		filepath.Join(top, "a.go"):                   false,
		"a.go":                                       false,
		filepath.Join("..", filepath.Base(top), "a"): false,
		filepath.Join(other, "a.go"):                 false,
		filepath.Join(realDir(t), "a.go"):            false, // in no repository
	} {
		id, where, ok := elsewhere(word)
		if ok != want || ok && (id != there.checkout || where != worktree) {
			t.Errorf("elsewhere(%s) = %s, %s, %v; want %v", word, id, where, ok, want)
		}
	}
}
