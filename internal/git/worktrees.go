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
	var tops []string
	if c.Top != "" {
		tops = append(tops, c.Top)
	}
	for entry := range strings.SplitSeq(string(a.out), end+end) {
		path, attributes, _ := strings.Cut(entry, end)
		if !strings.HasPrefix(attributes, "bare") {
			tops = appendWorktree(tops, strings.TrimPrefix(path, "worktree "))
		}
	}
	slices.Sort(tops)
	return slices.Compact(tops), nil
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
