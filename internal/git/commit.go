package git

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// A Head is what is checked out.
type Head struct {
	Branch   string // without refs/heads/; empty when detached, or when the name is not UTF-8
	OID      string // the commit; empty before the first one
	Detached bool
}

// Head returns what is checked out in c. Before the first commit it has a branch
// and no commit.
func (c Checkout) Head(ctx context.Context) (Head, error) {
	a, err := c.git("symbolic-ref", "-q", "HEAD").run(ctx)
	if err != nil {
		return Head{}, err
	}
	var h Head
	ref := strings.TrimSuffix(string(a.out), "\n")
	switch {
	case a.code == 0 && ref != "":
		h.Branch = strings.TrimPrefix(ref, "refs/heads/")
	case a.code == 1:
		h.Detached, ref = true, "HEAD"
	default:
		return Head{}, a.fail("symbolic-ref")
	}
	if !utf8.ValidString(h.Branch) {
		h.Branch = ""
	}
	// The commit of the branch just read, not of a HEAD that moved meanwhile.
	oids, err := c.resolve(ctx, ref+"^{commit}")
	if err != nil {
		return Head{}, err
	}
	h.OID = oids[0]
	return h, nil
}

// Tree returns the full names of the commit that rev means and of its tree;
// [ErrNoCommit] when it means none.
func (c Checkout) Tree(ctx context.Context, rev string) (commit, tree string, err error) {
	if rev == "" || strings.ContainsAny(rev, "\n\x00") {
		return "", "", fmt.Errorf("%q: %w", rev, ErrNoCommit)
	}
	oids, err := c.resolve(ctx, rev+"^{commit}", rev+"^{tree}")
	if err != nil {
		return "", "", err
	}
	if oids[0] == "" || oids[1] == "" {
		return "", "", fmt.Errorf("%q: %w", rev, ErrNoCommit)
	}
	return oids[0], oids[1], nil
}

// Subject returns the first paragraph of rev's message in one line, as UTF-8;
// [ErrNoCommit] when rev means no commit.
func (c Checkout) Subject(ctx context.Context, rev string) (string, error) {
	commit, _, err := c.Tree(ctx, rev)
	if err != nil {
		return "", err
	}
	a, err := c.git("log", "-1", "--no-show-signature", "--no-color", "--encoding=UTF-8", "--format=%s", commit, "--").ask(ctx)
	if err != nil {
		return "", err
	}
	return strings.ToValidUTF8(strings.TrimSuffix(string(a.out), "\n"), "\uFFFD"), nil
}

// DefaultBranch returns the name of the branch that others build on: what
// origin/HEAD points to, else main, else master, else what is checked out.
// [ErrNoCommit] when all that is left is a detached head.
func (c Checkout) DefaultBranch(ctx context.Context) (string, error) {
	a, err := c.git("symbolic-ref", "-q", originHead).run(ctx)
	if err != nil {
		return "", err
	}
	if name, ok := strings.CutPrefix(strings.TrimSuffix(string(a.out), "\n"), "refs/remotes/origin/"); ok && utf8.ValidString(name) {
		return name, nil
	}
	ref, _, err := c.defaultRef(ctx)
	if err != nil && !errors.Is(err, ErrEmpty) {
		return "", err
	}
	for _, prefix := range []string{"refs/heads/", "refs/remotes/origin/"} {
		if name, ok := strings.CutPrefix(ref, prefix); ok {
			return name, nil
		}
	}
	h, err := c.Head(ctx)
	if err == nil && h.Branch == "" {
		err = fmt.Errorf("default branch of a detached head: %w", ErrNoCommit)
	}
	return h.Branch, err
}

// RootCommit returns the commit at the end of the first-parent line of the
// default branch: of origin/HEAD, else main, else master, here or at origin, else
// HEAD. Every clone of a repository has the same one. It walks that line, so
// callers keep the answer per CommonDir. Errors: [ErrEmpty], [ErrShallow].
func (c Checkout) RootCommit(ctx context.Context) (string, error) {
	_, oid, err := c.defaultRef(ctx)
	if err != nil {
		return "", err
	}
	a, err := c.git("rev-list", "--first-parent", "--max-parents=0", "--pretty=raw", oid, "--").ask(ctx)
	if err != nil {
		return "", err
	}
	// The raw form shows the parents that the commit names, also where the clone
	// is cut off and git takes it for a root.
	lines := strings.Split(string(a.out), "\n")
	root, ok := strings.CutPrefix(lines[0], "commit ")
	if !ok {
		return "", fmt.Errorf("git rev-list: no root commit of %s", oid)
	}
	for _, line := range lines[1:] {
		if strings.HasPrefix(line, "parent ") {
			return "", ErrShallow
		}
		if line == "" {
			break
		}
	}
	return root, nil
}

const originHead = "refs/remotes/origin/HEAD"

// defaultRef returns the first of the default branch's refs that names a commit,
// and the commit.
func (c Checkout) defaultRef(ctx context.Context) (ref, oid string, err error) {
	refs := []string{originHead, "refs/heads/main", "refs/heads/master",
		"refs/remotes/origin/main", "refs/remotes/origin/master", "HEAD"}
	revs := make([]string, len(refs))
	for i, ref := range refs {
		revs[i] = ref + "^{commit}"
	}
	oids, err := c.resolve(ctx, revs...)
	if err != nil {
		return "", "", err
	}
	for i, oid := range oids {
		if oid != "" {
			return refs[i], oid, nil
		}
	}
	return "", "", ErrEmpty
}

// resolve returns the full object name of each rev, empty where there is none, by
// one run of git. A rev holds no newline.
func (c Checkout) resolve(ctx context.Context, revs ...string) ([]string, error) {
	batch := c.git("cat-file", "--batch-check=%(objectname)")
	batch.stdin = strings.Join(revs, "\n") + "\n"
	a, err := batch.ask(ctx)
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSuffix(string(a.out), "\n"), "\n")
	if len(lines) != len(revs) {
		return nil, fmt.Errorf("git cat-file: %d answers to %d questions", len(lines), len(revs))
	}
	for i, line := range lines {
		if !isOID(line) { // "<rev> missing", "<rev> ambiguous"
			lines[i] = ""
		}
	}
	return lines, nil
}

func isOID(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}
