package node

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/comity-dev/comity/coop/room"
	"github.com/comity-dev/comity/internal/git"
)

// A tree is the door's view of a checkout, from the folder that the caller
// stands in.
type tree struct {
	ctx context.Context // of the request: a tree lives no longer
	git git.Checkout
	dir string
}

func (t tree) Rel(word string) (string, error) {
	path, err := t.git.Rel(t.dir, word)
	return path, gitError(err, t.dir)
}

func (t tree) Kind(path string) (room.Kind, error) {
	kind, err := t.git.Kind(t.ctx, path)
	switch {
	case err != nil:
		return room.Missing, gitError(err, t.dir)
	case kind == git.Dir:
		return room.Folder, nil
	case kind == git.File:
		return room.File, nil
	}
	return room.Missing, nil
}

// work looks at a checkout's working tree.
type work struct{ git git.Checkout }

// Dirty stamps each path with the size and the time of its file, so that a file
// that was dirty before and has changed again is seen.
func (w work) Dirty(ctx context.Context) (map[string]string, error) {
	c, err := w.git.Working(ctx)
	if err != nil {
		return nil, err
	}
	out := make(map[string]string, len(c.Paths))
	for _, p := range c.Paths {
		out[p] = "gone"
		if info, err := os.Lstat(filepath.Join(w.git.Top, filepath.FromSlash(p))); err == nil {
			out[p] = fmt.Sprintf("%d %d", info.Size(), info.ModTime().UnixNano())
		}
	}
	return out, nil
}

// facts are the room's questions to git.
type facts struct {
	git git.Checkout
	dir string
}

func (f facts) Head(ctx context.Context) (branch, commit string, err error) {
	h, err := f.git.Head(ctx)
	return h.Branch, h.OID, gitError(err, f.dir)
}

func (f facts) Commit(ctx context.Context, rev string) (commit, tree string, err error) {
	commit, tree, err = f.git.Tree(ctx, rev)
	return commit, tree, gitError(err, f.dir)
}

// Changed leaves out names that are no text: they cannot be stored.
func (f facts) Changed(ctx context.Context) (paths []string, more bool, err error) {
	c, err := f.git.Changed(ctx, "")
	if err != nil {
		return nil, false, gitError(err, f.dir)
	}
	for _, p := range c.Paths {
		if !strings.ContainsRune(p, 0) {
			paths = append(paths, p)
		}
	}
	return paths, c.Truncated || len(c.NotText) > 0, nil
}
