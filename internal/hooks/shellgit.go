package hooks

import (
	"slices"
	"strings"
)

// git reads a git command. What only changes the index, the history or another
// branch writes nothing.
func (r *run) git(args []string) {
	global, rest := leading(args, "C:c:", "git-dir", "work-tree", "namespace", "exec-path")
	if len(rest) == 0 {
		return
	}
	outer := r.at
	defer func() { r.at = outer }()
	for _, o := range global {
		switch o.name {
		case "C":
			r.at = r.at.inner()
			r.at.cd(o.value)
		case "work-tree":
			r.at = r.at.inner()
			r.at.cd(o.value)
		}
	}
	if do := gitOf(rest[0]); do != nil {
		do(r.shell, rest[1:])
	}
}

func gitOf(name string) func(*shell, []string) {
	switch name {
	case "checkout":
		return gitCheckout
	case "switch":
		return gitSwitch
	case "restore":
		return gitRestore
	case "reset":
		return gitReset
	case "clean":
		return gitClean
	case "stash":
		return gitStash
	case "rm":
		return gitRemove
	case "mv":
		return copies{moves: true}.run
	case "apply":
		return gitApply
	case "worktree":
		return gitWorktree
	case "am", "merge", "rebase", "pull", "cherry-pick", "revert":
		return gitWhole("git "+name, "show-current-patch", "--show-current-patch", "--help", "-h", "--edit-todo")
	case "bisect":
		return gitWhole("git bisect", "log", "view", "visualize", "terms", "help")
	case "read-tree":
		return gitOption("git read-tree -u", "u")
	case "checkout-index":
		return gitOption("git checkout-index", "a", "f")
	case "submodule":
		return gitWord("git submodule", "update", "deinit", "add")
	case "sparse-checkout":
		return gitWord("git sparse-checkout", "set", "add", "reapply", "init", "disable")
	}
	return nil
}

// gitWhole is a command over the whole checkout, unless one of the words makes
// it one that only shows.
func gitWhole(name string, shows ...string) func(*shell, []string) {
	return func(sh *shell, args []string) {
		if len(args) == 0 || !slices.Contains(shows, args[0]) {
			sh.tree(name)
		}
	}
}

func gitOption(name string, letters ...string) func(*shell, []string) {
	return func(sh *shell, args []string) {
		if opts, _ := parse(args, ""); has(opts, letters...) {
			sh.tree(name)
		}
	}
}

func gitWord(name string, words ...string) func(*shell, []string) {
	return func(sh *shell, args []string) {
		if _, rest := leading(args, ""); len(rest) > 0 && slices.Contains(words, rest[0]) {
			sh.tree(name)
		}
	}
}

// pathspecs notes the paths of a git command called name; those that mean all
// are the whole checkout.
func (sh *shell) pathspecs(name string, specs []string) {
	for _, p := range specs {
		switch {
		case strings.TrimRight(p, "/") == "." && sh.at.dir == "", p == ":/", p == ":" || p == "*" || p == mark(markGlob):
			sh.tree(name)
		case strings.HasPrefix(p, ":"): // magic
			sh.found.anywhere = true
		case strings.ContainsAny(p, "*?["): // git has patterns of its own, in quotes too
			sh.write(globs(p))
		default:
			sh.write(p)
		}
	}
}

// globs makes marks of the characters of patterns.
func globs(p string) string {
	b := []byte(p)
	for i, c := range b {
		if c == '*' || c == '?' || c == '[' {
			b[i] = markGlob
		}
	}
	return string(b)
}

// gitCheckout: of "git checkout WORD", whether it is a branch or a path only the
// repository tells. What looks like the name of a file is taken for one, all
// else for a branch.
func gitCheckout(sh *shell, args []string) {
	opts, operands, dashed := parseDashed(args, "b:B:", "orphan", "conflict", "pathspec-from-file")
	force := has(opts, "f", "force")
	switch {
	case has(opts, "pathspec-from-file"):
		sh.found.anywhere = true
	case dashed > 0:
		sh.pathspecs("git checkout .", operands[len(operands)-dashed:])
	case has(opts, "b", "B", "orphan"):
		if len(operands) > 0 || force {
			sh.tree("git checkout")
		}
	case len(operands) == 0:
		if force || has(opts, "d", "detach") {
			sh.tree("git checkout")
		}
	case len(operands) == 1 && !isFile(operands[0]) && !has(opts, "ours", "theirs", "p", "patch", "m"):
		sh.tree("git checkout")
	default:
		if !isFile(operands[0]) && len(operands) > 1 {
			operands = operands[1:] // the commit
		}
		sh.pathspecs("git checkout .", operands)
	}
}

// isFile reports whether w looks like the name of a file or folder rather than
// of a commit: ./x, x/, x.go, .x.
func isFile(w string) bool {
	if w == "." || strings.HasPrefix(w, "./") || strings.HasPrefix(w, "../") || strings.HasSuffix(w, "/") || w == ":/" {
		return true
	}
	if hasMark(w) {
		return strings.IndexByte(w, markGlob) >= 0
	}
	name := w[strings.LastIndexByte(w, '/')+1:]
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 || strings.Contains(w, "..") || strings.ContainsAny(w, "~^@:") {
		return false
	}
	ext := name[dot+1:]
	return ext != "" && len(ext) <= 10 && isName(ext)
}

func gitSwitch(sh *shell, args []string) {
	opts, operands := parse(args, "c:C:", "create", "force-create", "orphan", "conflict")
	if has(opts, "c", "C", "create", "force-create") && len(operands) == 0 && !has(opts, "f", "force", "discard-changes") {
		return // a new branch at the same commit
	}
	sh.tree("git switch")
}

func gitRestore(sh *shell, args []string) {
	opts, operands := parse(args, "s:U:", "source", "conflict", "pathspec-from-file")
	switch {
	case has(opts, "S", "staged") && !has(opts, "W", "worktree"):
	case has(opts, "pathspec-from-file"):
		sh.found.anywhere = true
	default:
		sh.pathspecs("git restore .", operands)
	}
}

func gitReset(sh *shell, args []string) {
	opts, _ := parse(args, "")
	for _, how := range [...]string{"hard", "merge", "keep"} {
		if has(opts, how) {
			sh.tree("git reset --" + how)
		}
	}
}

func gitClean(sh *shell, args []string) {
	opts, operands := parse(args, "e:", "exclude")
	switch {
	case has(opts, "n", "dry-run") || !has(opts, "f", "force", "i", "interactive"):
	case len(operands) == 0:
		sh.tree("git clean")
	default:
		sh.pathspecs("git clean", operands)
	}
}

func gitStash(sh *shell, args []string) {
	_, words := leading(args, "m:", "message")
	sub := "push"
	if len(words) > 0 {
		sub = words[0]
	}
	switch sub {
	case "list", "show", "drop", "clear", "create", "store", "export", "import":
	case "push":
		opts, operands := parse(args, "m:", "message", "pathspec-from-file")
		if len(operands) > 0 && operands[0] == "push" {
			operands = operands[1:]
		}
		if len(operands) == 0 || has(opts, "pathspec-from-file") {
			sh.tree("git stash")
			return
		}
		sh.pathspecs("git stash", operands)
	default:
		sh.tree("git stash")
	}
}

func gitRemove(sh *shell, args []string) {
	opts, operands := parse(args, "", "pathspec-from-file")
	if has(opts, "cached", "n", "dry-run") {
		return
	}
	if has(opts, "pathspec-from-file") {
		sh.found.anywhere = true
	}
	sh.pathspecs("git rm", operands)
}

// gitApply writes what the patch names.
func gitApply(sh *shell, args []string) {
	opts, _ := parse(args, "p:C:", "directory", "exclude", "include", "whitespace")
	if has(opts, "check", "stat", "numstat", "summary", "cached") && !has(opts, "apply") {
		return
	}
	sh.found.anywhere = true
}

// gitWorktree: to remove or move a worktree takes all that is in it.
func gitWorktree(sh *shell, args []string) {
	if len(args) == 0 || args[0] != "remove" && args[0] != "move" {
		return
	}
	_, operands := parse(args[1:], "")
	for _, o := range operands {
		sh.write(o)
	}
}
