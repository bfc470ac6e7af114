// Package git asks the git program about a repository: where it is, what is
// checked out, what has changed, what is configured, and which repository path
// a name on disk stands for.
//
// It runs git instead of reading its files, so that linked worktrees, reftables,
// sha256 and partial clones are git's business. Every call is bounded by its
// context and in its output, takes no lock, asks no question on a terminal, and
// ignores the GIT_* variables that a hook inherits: they speak of the repository
// of that hook. What a hook must know of them it says, as the index of
// [Checkout.Staged]. A leaf: it imports nothing of this module, and it writes nothing.
package git

import "errors"

// A Checkout is one worktree of a repository, or a bare repository. It is a
// plain comparable value: GitDir names the checkout and CommonDir the repository
// on this machine, so both can key a cache.
type Checkout struct {
	// Top is the real path of the worktree's root; empty when there is no worktree.
	Top string

	// GitDir is the real path of git's folder for this worktree.
	GitDir string

	// CommonDir is the real path of the folder that all worktrees of the
	// repository share. It equals GitDir in the main worktree.
	CommonDir string

	// Bare says that the repository has no main worktree. It is false in a linked
	// worktree of a bare repository.
	Bare bool
}

var (
	// ErrNoGit reports that no git program could be run.
	ErrNoGit = errors.New("git: no git program found on PATH; install git 2.31 or newer")

	// ErrTooOld reports a git program that does not know what we must ask.
	ErrTooOld = errors.New("git: the git program is older than 2.31; install a newer one")

	// ErrNoRepository reports a folder that lies in no repository.
	ErrNoRepository = errors.New("git: not in a repository; run git init, or go to a folder of one")

	// ErrUnsafe reports a repository that git does not open because it belongs to
	// somebody else. The error that wraps it carries the command that allows it.
	ErrUnsafe = errors.New("git: the repository belongs to another user")

	// ErrNoCommit reports a revision that names no commit here.
	ErrNoCommit = errors.New("git: no such commit")

	// ErrEmpty reports a repository without a commit.
	ErrEmpty = errors.New("git: the repository has no commit yet; make the first one, or set comity.repository")

	// ErrShallow reports that the history ends before the root commit.
	ErrShallow = errors.New("git: the clone is shallow, so its root commit is unknown; run git fetch --unshallow, or set comity.repository")

	// ErrNotText reports a name that is not UTF-8, which no journal can carry.
	ErrNotText = errors.New("git: the name is not UTF-8; rename it")
)
