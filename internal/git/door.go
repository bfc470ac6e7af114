package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"unicode/utf8"
)

// A Kind is what stands at a repository path in a worktree.
type Kind int

const (
	Missing Kind = iota
	File
	Dir
)

func (k Kind) String() string {
	switch k {
	case File:
		return "file"
	case Dir:
		return "folder"
	}
	return "missing"
}

// ErrOutside is what every [*OutsideError] is.
var ErrOutside = errors.New("git: outside the repository")

// An OutsideError reports a name that stands for no path of the repository.
type OutsideError struct {
	Name   string // as it was given
	Real   string // where it leads
	Reason string
}

func (e *OutsideError) Error() string {
	return fmt.Sprintf("%q is outside the repository: %q %s", e.Name, e.Real, e.Reason)
}

func (e *OutsideError) Is(target error) bool { return target == ErrOutside }

// Rel returns the repository path of name: with slashes, relative to the root of
// the worktree that holds it, "." for that root. Any worktree of c's repository
// will do, also one inside another. A relative name is taken from cwd.
//
// Symbolic links and ".." are followed as the system follows them, to the file
// that a write would change; what does not exist yet may follow. Errors:
// [*OutsideError], [ErrNotText].
func (c Checkout) Rel(cwd, name string) (string, error) {
	abs := filepath.FromSlash(name)
	if !filepath.IsAbs(abs) {
		abs = cwd + string(filepath.Separator) + abs // not Join: ".." after a link is the link's target's parent
	}
	if !filepath.IsAbs(abs) {
		return "", fmt.Errorf("repository path of %q: %q is not absolute", name, cwd)
	}
	real, err := resolve(abs)
	if err != nil {
		return "", fmt.Errorf("repository path of %q: %w", name, err)
	}
	path, reason := c.within(real)
	switch {
	case reason != "":
		return "", &OutsideError{Name: name, Real: real, Reason: reason}
	case !utf8.ValidString(path):
		return "", fmt.Errorf("repository path %q: %w", path, ErrNotText)
	}
	return path, nil
}

// Kind returns what stands at path, a repository path, in c's worktree. A link
// counts as what it leads to, and is an [*OutsideError] when that is outside the
// repository. In a bare repository everything is missing.
func (c Checkout) Kind(ctx context.Context, path string) (Kind, error) {
	if err := ctx.Err(); err != nil {
		return Missing, err
	}
	if !filepath.IsLocal(filepath.FromSlash(path)) {
		return Missing, &OutsideError{Name: path, Real: path, Reason: "is not relative to the repository's root"}
	}
	if c.Top == "" {
		return Missing, nil
	}
	real, err := resolve(filepath.Join(c.Top, filepath.FromSlash(path)))
	if err != nil {
		return Missing, fmt.Errorf("look at %q: %w", path, err)
	}
	if _, reason := c.within(real); reason != "" {
		return Missing, &OutsideError{Name: path, Real: real, Reason: reason}
	}
	switch info, err := os.Lstat(real); {
	case missing(err):
		return Missing, nil
	case err != nil:
		return Missing, fmt.Errorf("look at %q: %w", path, err)
	case info.IsDir():
		return Dir, nil
	}
	return File, nil
}
