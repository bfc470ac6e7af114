package git

import (
	"os"
	"path/filepath"
	"strings"
)

// within maps a real path to its repository path by the nearest worktree root
// above it, or says why there is none.
func (c Checkout) within(real string) (path, reason string) {
	rest := ""
	for dir := real; ; dir = filepath.Dir(dir) {
		switch common := commonDir(dir); {
		case common != "" && sameFile(common, c.CommonDir), c.Top != "" && sameFile(dir, c.Top):
			return asPath(rest)
		case common != "" && dir != real: // real itself may be a submodule, which is a path of ours
			return "", "belongs to the repository " + dir
		}
		if dir == filepath.Dir(dir) {
			return "", "is in none of its worktrees"
		}
		rest = filepath.Join(filepath.Base(dir), rest)
	}
}

func asPath(rest string) (path, reason string) {
	if rest == "" {
		return ".", ""
	}
	path = filepath.ToSlash(rest)
	if first, _, _ := strings.Cut(path, "/"); strings.EqualFold(first, ".git") {
		return "", "is in git's own folder"
	}
	return path, ""
}

// commonDir is the common folder of the worktree whose root is dir; empty when
// dir is no such root.
func commonDir(dir string) string {
	git := filepath.Join(dir, ".git")
	info, err := os.Stat(git)
	if err != nil {
		return ""
	}
	if !info.IsDir() {
		line, ok := strings.CutPrefix(readLine(git), "gitdir: ")
		if !ok {
			return ""
		}
		git = below(dir, line)
	}
	if _, err := os.Lstat(filepath.Join(git, "HEAD")); err != nil {
		return ""
	}
	if shared := readLine(filepath.Join(git, "commondir")); shared != "" {
		return below(git, shared)
	}
	if bare(git) { // the folder beside a bare repository, where its worktrees live
		return ""
	}
	return git
}

// bare reports whether git's folder says that its repository has no main worktree.
func bare(git string) bool {
	for _, name := range []string{"config", "config.worktree"} {
		for line := range strings.SplitSeq(readLine(filepath.Join(git, name)), "\n") {
			if strings.ToLower(strings.Join(strings.Fields(line), "")) == "bare=true" {
				return true
			}
		}
	}
	return false
}

func below(dir, path string) string {
	path = filepath.FromSlash(path)
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// readLine is what a small file of git's holds, without its last newline.
func readLine(name string) string {
	b, err := os.ReadFile(name)
	if err != nil {
		return ""
	}
	return strings.TrimRight(string(b), "\r\n")
}

func sameFile(a, b string) bool {
	if a == b {
		return true
	}
	ai, aerr := os.Stat(a)
	bi, berr := os.Stat(b)
	return aerr == nil && berr == nil && os.SameFile(ai, bi)
}
