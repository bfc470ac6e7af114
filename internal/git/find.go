package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// between separates the paths that rev-parse prints, which may hold newlines:
// it prints a flag that it does not know as it is, and no path of its own holds
// two slashes in a row between newlines.
const between = "--//"

// Find returns the checkout that dir lies in, by one run of git.
//
// In git's own folder it is the worktree that the folder belongs to. Errors:
// [ErrNoGit], [ErrTooOld], [ErrNoRepository], [ErrUnsafe], fs.ErrNotExist when
// there is no dir.
func Find(ctx context.Context, dir string) (Checkout, error) {
	c, inside, err := find(ctx, dir)
	if err != nil || inside || c.Bare {
		return c, err
	}
	top := c.home()
	if top == "" {
		return c, nil
	}
	// dir lies in .git, where git knows no worktree: ask where it should be.
	if own, inside, err := find(ctx, top); err == nil && inside && own.GitDir == c.GitDir {
		return own, nil
	}
	return c, nil
}

// find asks git once; inside says that dir lies in a worktree.
func find(ctx context.Context, dir string) (c Checkout, inside bool, err error) {
	if dir == "" {
		dir = "."
	}
	if _, err := os.Stat(dir); err != nil {
		return Checkout{}, false, fmt.Errorf("find the repository: %w", err)
	}
	a, err := call{dir: dir, args: []string{"rev-parse", "--path-format=absolute",
		"--is-bare-repository", "--is-inside-work-tree", between,
		"--git-dir", between, "--git-common-dir", between, "--show-toplevel"}}.run(ctx)
	if err != nil {
		return Checkout{}, false, fmt.Errorf("find the repository of %s: %w", dir, err)
	}
	if strings.HasPrefix(string(a.out), "--path-format") { // a flag that it does not know
		return Checkout{}, false, ErrTooOld
	}
	// Without a worktree only the last question fails.
	parts := strings.Split(string(a.out), "\n"+between+"\n")
	if len(parts) < 4 {
		return Checkout{}, false, a.whyNotFound(dir)
	}
	c.Bare = strings.HasPrefix(parts[0], "true\n")
	inside = strings.HasSuffix(parts[0], "\ntrue")
	if inside && a.code != 0 {
		return Checkout{}, false, fmt.Errorf("find the repository of %s: %w", dir, a.fail("rev-parse"))
	}
	if c.GitDir, err = realPath(parts[1]); err != nil {
		return Checkout{}, false, err
	}
	if c.CommonDir, err = realPath(parts[2]); err != nil {
		return Checkout{}, false, err
	}
	if inside {
		c.Top, err = realPath(strings.TrimSuffix(parts[3], "\n"))
	}
	return c, inside, err
}

// home is where the worktree of c should be, told by git's own folder.
func (c Checkout) home() string {
	if c.GitDir == c.CommonDir {
		if filepath.Base(c.GitDir) == ".git" {
			return filepath.Dir(c.GitDir)
		}
		return ""
	}
	b, err := os.ReadFile(filepath.Join(c.GitDir, "gitdir"))
	if err != nil {
		return ""
	}
	link := filepath.FromSlash(strings.TrimSuffix(string(b), "\n"))
	if !filepath.IsAbs(link) {
		link = filepath.Join(c.GitDir, link)
	}
	return filepath.Dir(link)
}

// whyNotFound tells the known reasons of a failed search apart.
func (a answer) whyNotFound(dir string) error {
	switch {
	case strings.Contains(a.message, "dubious ownership"), strings.Contains(a.message, "safe.directory"):
		return fmt.Errorf("%w: %s: if you trust it, run: git config --global --add safe.directory '%s'", ErrUnsafe, a.reason(), a.unsafeDir(dir))
	case strings.Contains(a.message, "not a git repository"):
		return fmt.Errorf("%s: %w", dir, ErrNoRepository)
	}
	return fmt.Errorf("find the repository of %s: %w", dir, a.fail("rev-parse"))
}

// unsafeDir is the folder that git names in its complaint about an owner, or dir.
func (a answer) unsafeDir(dir string) string {
	_, rest, _ := strings.Cut(a.reason(), " at '")
	if named, ok := strings.CutSuffix(rest, "'"); ok {
		return named
	}
	return dir
}

// realPath is path in the system's form without symbolic links.
func realPath(path string) (string, error) {
	real, err := filepath.EvalSymlinks(filepath.FromSlash(path))
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%w: git names a folder that is gone: %w", ErrNoRepository, err)
	}
	return real, err
}
