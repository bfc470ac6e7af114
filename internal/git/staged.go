package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Paths are repository paths as git has them: bytes, which need not be UTF-8.
type Paths struct {
	Names []string
	Cut   bool // there are more
}

// Staged lists what a commit of the index would change, sorted: what differs
// from the head, before the first commit all of it. Of a merge it is only what
// the merge itself changes, that is what differs from the head and from all that
// is merged. A renamed file is there under both names.
//
// index is the index file to commit from, as git names it to a hook
// (GIT_INDEX_FILE; relative to the root of the worktree); empty is that of c.
func (c Checkout) Staged(ctx context.Context, index string) (Paths, error) {
	merged, err := c.merging()
	if err != nil {
		return Paths{}, err
	}
	all, err := c.stagedAgainst(ctx, index)
	for _, oid := range merged {
		if err != nil || len(all.Names) == 0 {
			break
		}
		var other Paths
		other, err = c.stagedAgainst(ctx, index, oid)
		all = all.and(other)
	}
	if err != nil {
		return Paths{}, fmt.Errorf("list what is staged: %w", err)
	}
	return all, nil
}

// stagedAgainst lists what differs between the index and a commit, without one
// the head.
func (c Checkout) stagedAgainst(ctx context.Context, index string, commit ...string) (Paths, error) {
	args := []string{"diff", "--cached", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-color", "--ignore-submodules=none"}
	diff := c.list(append(append(args, commit...), "--")...)
	diff.index = index
	a, err := diff.ask(ctx)
	if err != nil {
		return Paths{}, err
	}
	return sortedPaths(a), nil
}

// sortedPaths are the names in an answer, each once.
func sortedPaths(a answer) Paths {
	names := slices.DeleteFunc(records(a), func(s string) bool { return s == "" })
	slices.Sort(names)
	return Paths{slices.Compact(names), a.full}
}

// and is what both have. What was cut of either may be missing.
func (p Paths) and(q Paths) Paths {
	both := slices.DeleteFunc(p.Names, func(name string) bool {
		_, found := slices.BinarySearch(q.Names, name)
		return !found
	})
	return Paths{both, p.Cut || q.Cut}
}

// maxMerged bounds what is read of the file that names what is merged.
const maxMerged = 64 << 10

// merging lists the commits of a merge that is not committed yet. git keeps them
// in a file, however it keeps its refs.
func (c Checkout) merging() ([]string, error) {
	f, err := os.Open(filepath.Join(c.GitDir, "MERGE_HEAD"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for a merge: %w", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxMerged))
	if err != nil {
		return nil, fmt.Errorf("look for a merge: %w", err)
	}
	return slices.DeleteFunc(strings.Fields(string(b)), func(s string) bool { return !isOID(s) }), nil
}
