package git

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// MaxChanged is the number of paths that a Changes holds at most.
const MaxChanged = 10_000

// Changes is what differs in a checkout.
type Changes struct {
	// Paths are repository paths, sorted, each once. A renamed file is there under
	// both names. Any character but NUL may be in one.
	Paths []string

	// NotText are the names that are not UTF-8, as the bytes that they are, sorted.
	// No journal can carry them: show them with %q.
	NotText []string

	// Truncated says that there are more than MaxChanged, or more than fits one
	// answer of git.
	Truncated bool
}

// Changed returns what c's head has committed since it left since, and all that
// is staged, changed, unmerged or untracked and not ignored in its worktree.
//
// An empty since is the default branch. Where the two share no commit, they are
// compared as they are. Changes inside submodules and inside other repositories
// below Top are not this repository's. [ErrNoCommit] when since means none. A
// bare repository has no changes.
func (c Checkout) Changed(ctx context.Context, since string) (Changes, error) {
	if c.Top == "" {
		return Changes{}, nil
	}
	committed, cut1, err := c.committed(ctx, since)
	if err != nil {
		return Changes{}, fmt.Errorf("list what is committed: %w", err)
	}
	working, cut2, err := c.working(ctx)
	if err != nil {
		return Changes{}, fmt.Errorf("list what is changed: %w", err)
	}
	return changes(append(committed, working...), cut1 || cut2), nil
}

// Working is what Changed lists of the worktree alone: all that is staged,
// changed, unmerged or untracked and not ignored. It costs one process.
func (c Checkout) Working(ctx context.Context) (Changes, error) {
	if c.Top == "" {
		return Changes{}, nil
	}
	names, cut, err := c.working(ctx)
	if err != nil {
		return Changes{}, fmt.Errorf("list what is changed: %w", err)
	}
	return changes(names, cut), nil
}

// Dirty reports whether anything is staged, changed, unmerged or untracked and
// not ignored in c's worktree. A bare repository is clean.
func (c Checkout) Dirty(ctx context.Context) (bool, error) {
	if c.Top == "" {
		return false, nil
	}
	names, _, err := c.working(ctx)
	if err != nil {
		return false, fmt.Errorf("look for changes: %w", err)
	}
	return len(names) > 0, nil
}

func changes(names []string, truncated bool) Changes {
	slices.Sort(names)
	var ch Changes
	for _, name := range slices.Compact(names) {
		switch {
		case len(ch.Paths)+len(ch.NotText) == MaxChanged:
			ch.Truncated = true
			return ch
		case utf8.ValidString(name):
			ch.Paths = append(ch.Paths, name)
		default:
			ch.NotText = append(ch.NotText, name)
		}
	}
	ch.Truncated = truncated
	return ch
}

// committed lists what differs between the merge base of since and the head, and
// the head.
func (c Checkout) committed(ctx context.Context, since string) (names []string, cut bool, err error) {
	head, _, err := c.Tree(ctx, "HEAD")
	if err != nil {
		return nil, false, c.unlessUnborn(ctx, since, err)
	}
	base, err := c.base(ctx, since, head)
	if err != nil || base == head {
		return nil, false, err
	}
	a, err := c.list("diff-tree", "-r", "-z", "--name-only", "--no-renames", "--ignore-submodules=none", base, head, "--").ask(ctx)
	if err != nil {
		return nil, false, err
	}
	return records(a), a.full, nil
}

// unlessUnborn is nil where err comes from a branch without a commit and nothing
// more was asked for.
func (c Checkout) unlessUnborn(ctx context.Context, since string, err error) error {
	if since != "" {
		return err
	}
	if h, herr := c.Head(ctx); herr == nil && !h.Detached && h.OID == "" {
		return nil
	}
	return err
}

func (c Checkout) base(ctx context.Context, since, head string) (string, error) {
	from, err := "", error(nil)
	if since == "" {
		_, from, err = c.defaultRef(ctx)
	} else {
		from, _, err = c.Tree(ctx, since)
	}
	if err != nil {
		return "", err
	}
	a, err := c.git("merge-base", from, head).run(ctx)
	switch {
	case err != nil:
		return "", err
	case a.code == 1: // none
		return from, nil
	case a.code != 0:
		return "", a.fail("merge-base")
	}
	first, _, _ := strings.Cut(string(a.out), "\n")
	return first, nil
}

// working lists what is not as committed in the worktree.
func (c Checkout) working(ctx context.Context) (names []string, cut bool, err error) {
	a, err := c.list("status", "--porcelain=v2", "-z", "--no-renames", "--untracked-files=all", "--ignore-submodules=dirty").ask(ctx)
	if err != nil {
		return nil, false, err
	}
	return parseStatus(records(a)), a.full, nil
}

// parseStatus returns the paths of the records of git status --porcelain=v2 -z.
func parseStatus(recs []string) []string {
	var names []string
	for i := 0; i < len(recs); i++ {
		kind, rest, _ := strings.Cut(recs[i], " ")
		switch kind {
		case "1":
			names = appendField(names, recs[i], 9)
		case "u":
			names = appendField(names, recs[i], 11)
		case "2": // git was told to find no renames; were it to, the old name follows
			names = appendField(names, recs[i], 10)
			if i++; i < len(recs) && recs[i] != "" {
				names = append(names, recs[i])
			}
		case "?":
			// A folder among the untracked files is a repository of its own, often a
			// linked worktree of this one.
			if rest != "" && !strings.HasSuffix(rest, "/") {
				names = append(names, rest)
			}
		}
	}
	return names
}

// appendField appends the nth field of rec, counted from one, which runs to the
// end: only a path holds spaces.
func appendField(names []string, rec string, n int) []string {
	if f := strings.SplitN(rec, " ", n); len(f) == n && f[n-1] != "" {
		return append(names, f[n-1])
	}
	return names
}

// records splits an answer at its NULs and leaves out what was cut.
func records(a answer) []string {
	recs := strings.Split(string(a.out), "\x00")
	return recs[:len(recs)-1] // what follows the last NUL: nothing, or half a record
}
