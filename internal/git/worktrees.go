package git

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Worktrees returns the real paths of the roots of all worktrees of c's
// repository that exist on disk, sorted.
func (c Checkout) Worktrees(ctx context.Context) ([]string, error) {
	listed, err := c.worktrees(ctx)
	if err != nil {
		return nil, err
	}
	var tops []string
	if c.Top != "" {
		tops = append(tops, c.Top)
	}
	for _, w := range listed {
		if !w.bare {
			tops = appendWorktree(tops, w.path)
		}
	}
	slices.Sort(tops)
	return slices.Compact(tops), nil
}

// A worktree is one as git lists it, also when it was deleted.
type worktree struct {
	path string
	head string // the commit; empty in a bare repository
	bare bool
}

func (c Checkout) worktrees(ctx context.Context) ([]worktree, error) {
	a, err := c.git("worktree", "list", "--porcelain", "-z").run(ctx)
	end := "\x00"
	if err == nil && a.code == 129 { // -z is git 2.36
		a, err = c.git("worktree", "list", "--porcelain").run(ctx)
		end = "\n"
	}
	if err == nil && a.code != 0 {
		err = a.fail("worktree list")
	}
	if err != nil {
		return nil, err
	}
	var all []worktree
	for entry := range strings.SplitSeq(string(a.out), end+end) {
		path, attributes, _ := strings.Cut(entry, end)
		first, _, _ := strings.Cut(attributes, end)
		head, _ := strings.CutPrefix(first, "HEAD ")
		if !isOID(head) {
			head = ""
		}
		all = append(all, worktree{strings.TrimPrefix(path, "worktree "), head, strings.HasPrefix(attributes, "bare")})
	}
	return all, nil
}

// appendWorktree appends the real path of top if a worktree is there. git also
// lists those that were deleted.
func appendWorktree(tops []string, top string) []string {
	real, err := filepath.EvalSymlinks(filepath.FromSlash(top))
	if err != nil {
		return tops
	}
	if _, err := os.Lstat(filepath.Join(real, ".git")); err != nil {
		return tops
	}
	return append(tops, real)
}
