package hooks

import "strings"

// A frame is a compound command that is open.
type frame struct {
	kind    string // "{", "if", "loop" or "case"
	dir     string // where it began
	lost    bool
	moved   bool // some branch ended elsewhere
	follows bool // its variable is followed
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
			s.set(name, mark(markUnknown))
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
