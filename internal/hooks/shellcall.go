package hooks

import "strings"

// A call is a command with its arguments.
type call struct {
	args   []string // the name first; with marks
	here   []*heredoc
	input  string
	before string // the operator in front of it
}

// perform notes what a command writes, if it is one of those that are known.
func (r *run) perform(c call) {
	for depth := 0; len(c.args) > 0; depth++ {
		name := base(c.args[0])
		args := c.args[1:]
		if depth > maxNesting || !r.found.spend(len(args)+1) {
			r.found.anywhere = true
			return
		}
		if p, ok := prefixOf(name); ok {
			opts, rest := leading(args, p.options, p.long...)
			if dir, ok := optionValue(opts, p.chdir...); ok {
				outer := r.at
				defer func() { r.at = outer }()
				r.at = outer.inner()
				r.at.cd(dir)
			}
			c.args = p.command(rest)
			continue
		}
		switch name {
		case "cd", "pushd", "popd":
			r.chdir(name, args, c.before)
		case "export", "local", "declare", "typeset", "readonly":
			r.declare(args, c.before)
		case "read", "mapfile", "readarray", "unset", "let", "getopts", "printf":
			r.forget(name, args)
		case "eval":
			r.at = r.script(strings.Join(args, " "), r.at)
		case "trap":
			if len(args) > 1 {
				r.script(args[0], r.at.inner())
			}
		case "sh", "bash", "dash", "zsh", "ksh", "ash":
			r.inShell(args, c)
		case "xargs":
			r.xargs(args)
			return
		case "find":
			r.find(args)
		case "git":
			r.git(args)
		default:
			if do := toolOf(name); do != nil {
				do(r.shell, args)
			}
		}
		return
	}
}

// A prefix is a command that runs another one.
type prefix struct {
	options  string // as of optionsOf
	long     []string
	operands int      // words before the command
	assigns  bool     // NAME=value too
	chdir    []string // options that name the folder to run in
}

func prefixOf(name string) (prefix, bool) {
	switch name {
	case "env":
		return prefix{options: "u:C:S:", long: []string{"unset", "chdir"}, assigns: true, chdir: []string{"C", "chdir"}}, true
	case "sudo", "doas":
		return prefix{options: "u:g:h:p:C:D:R:T:U:r:t:", long: []string{"user", "group", "host", "chdir"}, assigns: true, chdir: []string{"D", "chdir"}}, true
	case "time":
		return prefix{options: "f:o:", long: []string{"format", "output"}}, true
	case "nohup", "setsid", "command", "builtin", "exec", "noglob", "caffeinate", "unbuffer", "busybox", "nocorrect":
		return prefix{options: "a:"}, true
	case "nice":
		return prefix{options: "n:", long: []string{"adjustment"}}, true
	case "ionice":
		return prefix{options: "c:n:p:"}, true
	case "stdbuf":
		return prefix{options: "i:o:e:"}, true
	case "timeout":
		return prefix{options: "k:s:", long: []string{"kill-after", "signal"}, operands: 1}, true
	case "flock":
		return prefix{options: "w:E:", long: []string{"timeout"}, operands: 1}, true
	}
	return prefix{}, false
}

// command is what is run, of what stands behind the options.
func (p prefix) command(rest []string) []string {
	for p.assigns && len(rest) > 0 {
		name, _, ok := strings.Cut(rest[0], "=")
		if !ok || !isName(name) {
			break
		}
		rest = rest[1:]
	}
	return rest[min(p.operands, len(rest)):]
}

func (r *run) chdir(name string, args []string, before string) {
	for len(args) > 0 && (args[0] == "-L" || args[0] == "-P" || args[0] == "--" || args[0] == "-q") {
		args = args[1:]
	}
	switch {
	case before == "||": // only when something failed
		r.at.lost = true
	case name == "popd":
		k := len(r.at.past) - 1
		if k < 0 || len(args) > 0 || r.at.conds > 0 {
			r.at.lost, r.at.past = true, nil
			return
		}
		if back := r.at.past[k]; back == mark(markUnknown) {
			r.at.lost = true
		} else {
			r.at.dir, r.at.lost, r.at.vague = back, false, false
		}
		r.at.past = r.at.past[:k]
	case len(args) == 0 && name == "pushd", len(args) > 0 && (args[0] == "-" || strings.HasPrefix(args[0], "+")):
		r.at.lost = true
	case len(args) == 0:
		r.at.cd(mark(markHome))
	default:
		if name == "pushd" && len(r.at.past) < maxNesting {
			here := r.at.dir
			if r.at.lost || r.at.vague {
				here = mark(markUnknown)
			}
			r.at.past = append(r.at.past, here)
		}
		r.at.cd(args[0])
	}
}

func (r *run) declare(args []string, before string) {
	for _, a := range args {
		if name, _, ok := strings.Cut(a, "="); ok && isName(name) {
			r.assign(a, before)
		}
	}
}

// forget drops what is known of variables that a builtin sets.
func (r *run) forget(name string, args []string) {
	if name == "printf" && (len(args) == 0 || args[0] != "-v") {
		return
	}
	if name == "let" {
		r.at.vars = nil
		return
	}
	for _, a := range args {
		if isName(a) {
			r.at.set(a, mark(markUnknown))
		}
	}
}

// inShell runs the script of sh -c, or the one that a shell reads from a text
// within the command.
func (r *run) inShell(args []string, c call) {
	opts, operands := leading(args, "o:O:", "rcfile", "init-file")
	at := r.at.inner()
	at.vars = nil
	switch {
	case has(opts, "c"):
		if len(operands) > 0 {
			r.script(operands[0], at)
		}
	case len(operands) > 0 && operands[0] != "-" && !has(opts, "s"):
		// a script in a file
	case c.input != "":
		r.script(c.input, at)
	case len(c.here) > 0:
		h := c.here[len(c.here)-1]
		if h.read {
			r.script(h.body, at)
			return
		}
		h.script = &at
	}
}

// xargs runs a command with words that nobody knows yet.
func (r *run) xargs(args []string) {
	opts, cmd := leading(args, "I:i::n:P:L:d:E:s:a:", "max-args", "max-procs", "delimiter", "arg-file", "max-lines")
	if len(cmd) == 0 {
		return
	}
	unknown := mark(markUnknown)
	hole := ""
	for _, o := range opts {
		if o.name == "I" || o.name == "i" || o.name == "replace" {
			if hole = o.value; hole == "" {
				hole = "{}"
			}
		}
	}
	words := make([]string, 0, len(cmd)+1)
	for _, w := range cmd {
		if hole != "" {
			w = strings.ReplaceAll(w, hole, unknown)
		}
		words = append(words, w)
	}
	if hole == "" {
		words = append(words, unknown)
	}
	r.perform(call{args: words})
}

// find deletes or runs commands somewhere below its folders.
func (r *run) find(args []string) {
	var roots []string
	k := 0
	for k < len(args) && (args[k] == "-H" || args[k] == "-L" || args[k] == "-P") {
		k++
	}
	for ; k < len(args) && !strings.HasPrefix(args[k], "-") && args[k] != "(" && args[k] != "!"; k++ {
		roots = append(roots, args[k])
	}
	if len(roots) == 0 {
		roots = []string{"."}
	}
	for ; k < len(args); k++ {
		switch args[k] {
		case "-delete":
			for _, root := range roots {
				r.under(root)
			}
		case "-fprint", "-fprint0", "-fls", "-fprintf":
			if k+1 < len(args) {
				r.write(args[k+1])
			}
		case "-exec", "-execdir", "-ok", "-okdir":
			begin := k + 1
			for k++; k < len(args) && args[k] != ";" && args[k] != "+"; k++ {
			}
			r.findExec(roots, args[min(begin, len(args)):min(k, len(args))])
		}
	}
}

func (r *run) findExec(roots, cmd []string) {
	if len(roots) > maxFanOut {
		roots = []string{mark(markUnknown)}
	}
	for _, root := range roots {
		words := make([]string, len(cmd))
		for i, w := range cmd {
			words[i] = strings.ReplaceAll(w, "{}", strings.TrimSuffix(root, "/")+"/"+mark(markUnknown))
		}
		if !r.found.spend(len(cmd) * (1 + len(root))) {
			return
		}
		at := r.at.inner()
		outer := r.at
		r.at = at
		r.perform(call{args: words})
		r.at = outer
	}
}
