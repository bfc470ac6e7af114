package hooks

import "strings"

// A command is a simple one while it is read.
type command struct {
	words  []token
	writes []string // targets of redirections, with marks
	here   []*heredoc
	input  string // of <<<, with marks
}

func (c *command) empty() bool { return len(c.words) == 0 }

// name is the first word that is no assignment.
func (c *command) name() string {
	for _, t := range c.words {
		if t.assign == 0 {
			return t.text
		}
	}
	return ""
}

// A run is the reading of one list of commands in one shell.
type run struct {
	*shell
	cmd    command
	before string // the operator in front of the command
	frames []frame
}

// run reads and runs commands to the end of the text, or to the closing
// parenthesis of a subshell.
func (sh *shell) run(paren bool) {
	r := run{shell: sh}
	for {
		t := sh.next()
		if !sh.found.spend(1 + len(t.text)) {
			sh.stop()
			return
		}
		switch t.kind {
		case tokenEnd:
			r.finish("")
			sh.heredocs()
			return
		case tokenRedir:
			r.redirect(t.op)
		case tokenWord:
			if !r.cmd.empty() || t.quoted || !r.reserved(t.text) {
				r.cmd.words = append(r.cmd.words, t)
			}
		case tokenOp:
			if t.op == ")" && paren {
				r.finish("")
				return
			}
			r.operator(t.op)
		}
	}
}

func (r *run) operator(op string) {
	switch op {
	case "(":
		r.parenthesis()
	case ";;", ";&", ";;&":
		r.finish(";")
		if k := len(r.frames) - 1; k >= 0 && r.frames[k].kind == "case" {
			r.branch(k)
			r.patterns()
		}
	default:
		r.finish(op)
	}
}

// redirect reads what stands behind a redirection.
func (r *run) redirect(op string) {
	r.blanks()
	if r.more() && r.src[r.i] == '\n' {
		return
	}
	quoted := strings.IndexByte(`'"\`, r.peek(0)) >= 0
	begin := r.i
	t := r.next()
	if t.kind != tokenWord {
		r.i = begin // the operator is still to be seen
		return
	}
	switch op {
	case "<<", "<<-":
		h := &heredoc{end: bare(t.text), tabs: op == "<<-", quoted: quoted || t.quoted}
		r.here = append(r.here, h)
		r.cmd.here = append(r.cmd.here, h)
	case "<<<":
		r.cmd.input = t.text
	case "<", "<&":
	case ">&":
		if strings.Trim(t.text, "0123456789-") != "" {
			r.cmd.writes = append(r.cmd.writes, t.text)
		}
	default:
		r.cmd.writes = append(r.cmd.writes, t.text)
	}
}

// finish runs the command that was read, if any. after is the operator behind
// it.
func (r *run) finish(after string) {
	cmd, before := r.cmd, r.before
	r.cmd = command{}
	if after != "\n" || !cmd.empty() || len(cmd.writes) > 0 || before != "|" && before != "&&" && before != "||" {
		r.before = after
	}
	if cmd.empty() && len(cmd.writes) == 0 {
		return
	}
	// What is part of a pipe, or in the background, is a subshell.
	if apart := piped(before) || piped(after) || after == "&"; apart {
		outer := r.at
		r.at = outer.inner()
		r.simple(cmd, before)
		r.at = outer
		return
	}
	r.simple(cmd, before)
}

func piped(op string) bool { return op == "|" || op == "|&" }

// simple runs a command: its redirections, its assignments, what it does. A
// command with the variable of a for in it runs once for each of its values.
func (r *run) simple(cmd command, before string) {
	if len(r.at.loop) == 0 || !r.at.each && !r.uses(cmd) || cmd.name() == "cd" || cmd.name() == "pushd" {
		r.once(cmd, before, "")
		return
	}
	dir := r.at.dir
	for _, value := range r.at.loop {
		here := strings.ReplaceAll(dir, mark(markLoop), value)
		r.at.dir = here
		r.once(cmd, before, value)
		if r.at.dir != here { // a cd within an eval
			r.at.lost = true
		}
	}
	r.at.dir = dir
}

func (r *run) uses(cmd command) bool {
	has := func(s string) bool { return strings.IndexByte(s, markLoop) >= 0 }
	for _, t := range cmd.words {
		if has(t.text) && (t.assign == 0 || len(cmd.words) > 1) {
			return true
		}
	}
	for _, w := range cmd.writes {
		if has(w) {
			return true
		}
	}
	return has(cmd.input)
}

func (r *run) once(cmd command, before, value string) {
	fill := func(s string) string {
		if value == "" {
			return s
		}
		return strings.ReplaceAll(s, mark(markLoop), value)
	}
	for _, w := range cmd.writes {
		if !r.found.spend(1 + len(w)) {
			return
		}
		for _, one := range braces(fill(w)) {
			r.write(one)
		}
	}
	k := 0
	for k < len(cmd.words) && cmd.words[k].assign > 0 {
		k++
	}
	if k == len(cmd.words) {
		for _, t := range cmd.words {
			r.assign(t.text, before)
		}
		return
	}
	args := make([]string, 0, len(cmd.words)-k)
	for _, t := range cmd.words[k:] {
		if !r.found.spend(1 + len(t.text)) {
			return
		}
		args = append(args, braces(fill(t.text))...)
	}
	r.perform(call{args: args, here: cmd.here, input: fill(cmd.input), before: before})
}

// assign takes NAME=value. What is known of it afterwards must be so in every
// case.
func (r *run) assign(word, before string) {
	name, value, _ := strings.Cut(word, "=")
	name = strings.TrimSuffix(name, "+")
	old, had := r.at.vars[name]
	switch {
	case strings.IndexByte(value, markLoop) >= 0:
		value = mark(markUnknown)
	case r.at.conds > 0 || before == "||" || before == "&&" && had && old != value:
		value = mark(markUnknown)
	}
	r.at.set(name, value)
}
