package git

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// A Push is one line of what git says to pre-push: the objects that a ref has
// here and at the remote. One of zeros only is none.
type Push struct{ Local, Remote string }

// Pushed is what a push brings to a remote.
type Pushed struct {
	Paths
	Commits int
	Older   bool // there are older commits, which were not looked at
}

// Pushed lists what the commits change that a push brings to remote, sorted,
// from at most the maxCommits newest of them. Of a merge it is only what the
// merge itself changes. Commits that another worktree has checked out, and what
// they build on, are that worktree's and left out.
//
// remote is a name of git remote; what it is known to have is left out. Of
// another word, such as a URL, that is what any remote has.
func (c Checkout) Pushed(ctx context.Context, remote string, pushes []Push, maxCommits int) (Pushed, error) {
	commits, err := c.unpushed(ctx, remote, pushes, maxCommits+1)
	if err != nil || len(commits) == 0 {
		return Pushed{}, err
	}
	p := Pushed{Commits: len(commits)}
	if p.Older = p.Commits > maxCommits; p.Older {
		p.Commits, commits = maxCommits, commits[:maxCommits]
	}
	// -c names of a merge what differs from all of its parents.
	diff := c.list("diff-tree", "--stdin", "-r", "-c", "--root", "-z", "--name-only", "--no-commit-id", "--no-renames", "--no-ext-diff", "--ignore-submodules=none")
	diff.stdin = strings.Join(commits, "\n") + "\n"
	a, err := diff.ask(ctx)
	if err != nil {
		return Pushed{}, fmt.Errorf("list what is pushed: %w", err)
	}
	p.Paths = sortedPaths(a)
	return p, nil
}

// unpushed lists the newest commits of pushes that the remote does not have.
func (c Checkout) unpushed(ctx context.Context, remote string, pushes []Push, most int) ([]string, error) {
	here, there, err := c.ends(ctx, pushes)
	if err != nil || len(here) == 0 {
		return nil, err
	}
	others, err := c.elsewhere(ctx)
	if err != nil {
		return nil, err
	}
	known := "--remotes"
	if c.isRemote(ctx, remote) {
		known += "=" + remote
	}
	list := c.list("rev-list", fmt.Sprintf("--max-count=%d", most), "--stdin", "--not", known)
	list.stdin = strings.Join(here, "\n") + "\n"
	for _, oid := range append(there, others...) {
		list.stdin += "^" + oid + "\n"
	}
	a, err := list.ask(ctx)
	if err != nil {
		return nil, fmt.Errorf("list what is pushed: %w", err)
	}
	return slices.DeleteFunc(strings.Split(string(a.out), "\n"), func(s string) bool { return !isOID(s) }), nil
}

// ends are the commits that are pushed, and those that the remote's refs had, as
// far as they are known here. What is no commit, as a tag of a file, has none.
func (c Checkout) ends(ctx context.Context, pushes []Push) (here, there []string, err error) {
	var revs []string
	for _, p := range pushes {
		for _, oid := range []string{p.Local, p.Remote} {
			if !isOID(oid) {
				return nil, nil, fmt.Errorf("%q is no object name", oid)
			}
			revs = append(revs, oid+"^{commit}")
		}
	}
	if len(revs) == 0 {
		return nil, nil, nil
	}
	oids, err := c.resolve(ctx, revs...)
	if err != nil {
		return nil, nil, err
	}
	for i := 0; i < len(oids); i += 2 {
		if oids[i] != "" {
			here = append(here, oids[i])
		}
		if oids[i+1] != "" {
			there = append(there, oids[i+1])
		}
	}
	return here, there, nil
}

// elsewhere lists what the other worktrees have checked out.
func (c Checkout) elsewhere(ctx context.Context) ([]string, error) {
	listed, err := c.worktrees(ctx)
	if err != nil {
		return nil, err
	}
	var heads []string
	for _, w := range listed {
		if w.head != "" && strings.Trim(w.head, "0") != "" && !sameFile(w.path, c.dir()) {
			heads = append(heads, w.head)
		}
	}
	return heads, nil
}

func (c Checkout) isRemote(ctx context.Context, name string) bool {
	if name == "" || strings.ContainsAny(name, "*?[\\:= \n") {
		return false
	}
	_, ok, err := c.Config(ctx, "remote."+name+".url")
	return err == nil && ok
}
