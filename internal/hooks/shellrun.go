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

// A frame is a compound command that is open.
type frame struct {
	kind    string // "{", "if", "loop" or "case"
	dir     string // where it began
	lost    bool
	moved   bool // some branch ended elsewhere
	follows bool // its variable is followed
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

// parenthesis begins a subshell, an arithmetic command, or the body of a
// function.
func (r *run) parenthesis() {
	if len(r.cmd.words) == 1 && r.cmd.words[0].text != "time" {
		r.cmd = command{} // name (
		r.blanks()
		if r.peek(0) == ')' {
			r.i++
			return
		}
		r.stop() // no shell understands this
		return
	}
	r.cmd.words = nil
	r.i--
	if r.arithmetic() {
		r.at.vars = nil
		return
	}
	r.i++
	r.inner()
}

// reserved sees the words that structure a script, and reports whether w is one.
func (r *run) reserved(w string) bool {
	switch w {
	case "!", "then", "do", "coproc":
	case mark(markOpen):
		r.push("{")
	case "}":
		r.pop("{")
	case "if":
		r.push("if")
	case "elif", "else":
		if k := len(r.frames) - 1; k >= 0 && r.frames[k].kind == "if" {
			r.branch(k)
		}
	case "fi":
		r.pop("if")
	case "while", "until":
		r.push("loop")
	case "for", "select":
		r.push("loop")
		r.each()
	case "done":
		r.pop("loop")
	case "case":
		r.push("case")
		r.next() // the word
		r.next() // in
		r.patterns()
	case "esac":
		r.pop("case")
	case "function":
		r.next()
	case mark(markGlob) + mark(markGlob): // [[
		r.test()
	default:
		return false
	}
	return true
}

func (r *run) push(kind string) {
	if len(r.frames) >= maxNesting {
		r.stop()
		return
	}
	r.frames = append(r.frames, frame{kind: kind, dir: r.at.dir, lost: r.at.lost})
	if kind != "{" {
		r.at.conds++
	}
	if kind == "loop" {
		r.at.loops++
	}
}

// pop closes the innermost frame, if it is one of that kind. Where the shell
// stands after a branch that may not have been taken is not known.
func (r *run) pop(kind string) {
	k := len(r.frames) - 1
	if k < 0 || r.frames[k].kind != kind {
		return
	}
	f := r.frames[k]
	r.frames = r.frames[:k]
	if kind == "{" {
		return
	}
	r.at.conds--
	if f.dir != r.at.dir || f.moved {
		r.at.lost = true
	}
	if kind == "loop" {
		r.at.loops--
	}
	if f.follows {
		r.at.forgetLoop()
	}
}

// branch begins another branch where the first one began.
func (r *run) branch(k int) {
	f := &r.frames[k]
	if r.at.lost != f.lost || r.at.dir != f.dir {
		r.at.dir, r.at.lost, f.moved = f.dir, f.lost, true
	}
}

func (s *standing) forgetLoop() {
	s.lost = s.lost || s.each
	s.loop, s.each = nil, false
	for name, v := range s.vars {
		if strings.IndexByte(v, markLoop) >= 0 {
			s.vars[name] = mark(markUnknown)
		}
	}
}

// each reads "NAME in WORDS" of a for.
func (r *run) each() {
	r.blanks()
	if r.peek(0) == '(' && r.arithmetic() {
		r.at.vars = nil
		return
	}
	name := r.next()
	if name.kind != tokenWord {
		return
	}
	r.at.set(name.text, mark(markUnknown))
	in := r.next()
	if in.kind != tokenWord || in.text != "in" {
		return
	}
	var words []string
	for {
		t := r.next()
		if t.kind != tokenWord {
			break
		}
		if len(words) <= maxFanOut {
			words = append(words, braces(t.text)...)
		}
	}
	r.through(name.text, words)
}

// through makes a variable go through words that are all known. Within a loop
// whose variable is followed already it is not.
func (r *run) through(name string, words []string) {
	if len(words) == 0 || len(words) > maxFanOut || r.at.loop != nil {
		return
	}
	for _, w := range words {
		if w == "" || hasMark(w) {
			return
		}
	}
	if k := len(r.frames) - 1; k >= 0 {
		r.frames[k].follows = true
	}
	r.at.loop = words
	r.at.set(name, mark(markLoop))
}

// patterns goes behind the pattern of the next branch of a case.
func (r *run) patterns() {
	first := true
	for {
		t := r.next()
		switch {
		case t.kind == tokenEnd || t.kind == tokenOp && t.op == ")":
			return
		case t.kind == tokenOp && t.op == "\n":
			first = true
		case t.kind == tokenWord && t.text == "esac" && !t.quoted && first:
			r.pop("case")
			return
		default:
			first = false
		}
	}
}

// test goes behind the ]] of a [[, in which < and > compare.
func (r *run) test() {
	for {
		t := r.next()
		if t.kind == tokenEnd || t.kind == tokenWord && t.text == "]]" {
			return
		}
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

// heredocs reads the texts that begin at this line.
func (sh *shell) heredocs() {
	for _, h := range sh.here {
		begin := sh.i
		end := len(sh.src)
		for sh.more() {
			at := sh.i
			line := sh.until('\n')
			if h.tabs {
				line = strings.TrimLeft(line, "\t")
			}
			if strings.TrimSuffix(line, "\r") == h.end {
				end = at
				break
			}
		}
		h.body, h.read = sh.src[begin:end], true
		if h.script != nil {
			sh.script(h.body, *h.script)
		} else if !h.quoted && strings.ContainsAny(h.body, "$`") {
			sh.expandText(h.body)
		}
	}
	sh.here = nil
}

// expandText runs the substitutions in a text that is as in double quotes.
func (sh *shell) expandText(text string) {
	if sh.depth >= maxNesting || !sh.found.spend(len(text)) {
		sh.found.anywhere = true
		return
	}
	in := &shell{src: text, depth: sh.depth + 1, at: sh.at.inner(), found: sh.found}
	var b builder
	for in.more() {
		b.text = b.text[:0]
		in.double(&b) // a quote in the text is text
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
