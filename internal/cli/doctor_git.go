package cli

import (
	"context"
	"errors"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/internal/git"
)

// checkGit looks for the program and at the repository of dir.
func checkGit(ctx context.Context, dir string) []api.Check {
	checkout, err := git.Find(ctx, dir)
	switch {
	case errors.Is(err, git.ErrNoGit), errors.Is(err, git.ErrTooOld):
		return []api.Check{fails("git", err.Error(), "no repository can be told", "install git 2.31 or newer")}
	case errors.Is(err, git.ErrNoRepository):
		return []api.Check{well("git", "present"), warns("repository", dir+" is in no git repository", "there is nothing to claim here", "go to a repository, or name one with --repo")}
	case err != nil:
		return []api.Check{well("git", "present"), fails("repository", "could not be read: "+err.Error(), "commands do not work here", "git status in that folder says more")}
	}
	root, err := checkout.RootCommit(ctx)
	present := well("git", "present")
	switch {
	case errors.Is(err, git.ErrShallow):
		return []api.Check{present, fails("repository", "a shallow clone does not have its root commit, which names the repository", "commands do not work here", "git fetch --unshallow, or git config comity.repository NAME in every clone")}
	case errors.Is(err, git.ErrEmpty):
		return []api.Check{present, fails("repository", "it has no commit yet, and its root commit names it", "commands do not work here", "make a first commit")}
	case err != nil:
		return []api.Check{present, fails("repository", "its root commit could not be read: "+err.Error(), "commands do not work here", "git log in that folder says more")}
	}
	return []api.Check{present, well("repository", "%s, root commit %.12s", checkout.Top, root)}
}
