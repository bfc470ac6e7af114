package hooks

import "strings"

// dollar reads an expansion behind its $.
func (sh *shell) dollar(b *builder, quoted bool) {
	switch c := sh.peek(0); {
	case c == '\'' && !quoted:
		sh.i++
		b.quoted = true
		sh.ansi(b)
	case c == '"' && !quoted:
		sh.i++
		b.quoted = true
		sh.double(b)
	case c == '(' && sh.arithmetic():
		sh.at.vars = nil // $((i++)) may have changed one
		b.text = append(b.text, markUnknown)
	case c == '(':
		sh.i++
		sh.substitution(b)
	case c == '{':
		sh.i++
		sh.parameter(b, quoted)
	case c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z':
		n := 1
		for sh.i+n < len(sh.src) && isName(sh.src[sh.i:sh.i+1]+sh.src[sh.i+n:sh.i+n+1]) {
			n++
		}
		name := sh.src[sh.i : sh.i+n]
		sh.i += n
		sh.variable(b, name, quoted)
	case c != 0 && strings.IndexByte("0123456789@*#?-$!", c) >= 0:
		sh.i++
		b.text = append(b.text, markUnknown)
	default:
		b.text = append(b.text, '$')
	}
}

// arithmetic goes behind ((...)), if that is what stands here: what opens with
// two and does not close with two is a subshell.
func (sh *shell) arithmetic() bool {
	const longest = 4096
	if sh.peek(0) != '(' || sh.peek(1) != '(' {
		return false
	}
	open := 0
	for i := sh.i; i < len(sh.src) && i-sh.i < longest; i++ {
		switch sh.src[i] {
		case '(':
			open++
		case ')':
			open--
			if open == 1 {
				if i+1 >= len(sh.src) || sh.src[i+1] != ')' {
					return false
				}
				sh.i = i + 2
				return true
			}
		}
	}
	return false
}

// substitution runs the commands of $(...). Two have a value that is known:
// pwd and mktemp.
func (sh *shell) substitution(b *builder) {
	begin := sh.i
	sh.inner()
	sh.value(b, sh.src[begin:sh.i])
}

func (sh *shell) value(b *builder, command string) {
	v := sh.valueOf(command)
	if !sh.found.spend(len(v)) {
		sh.stop()
		return
	}
	b.text = append(b.text, v...)
}

func (sh *shell) valueOf(command string) string {
	switch strings.TrimSpace(strings.TrimSuffix(command, ")")) {
	case "pwd":
		return sh.folder()
	case "mktemp", "mktemp -d":
		return tempDir + mark(markUnknown)
	}
	return mark(markUnknown)
}

// folder is where the shell stands, as a word.
func (sh *shell) folder() string {
	switch dir := sh.at.dir; {
	case sh.at.lost || sh.at.vague:
		return mark(markUnknown)
	case dir == "" && strings.HasPrefix(sh.at.cwd, "/"):
		return sh.at.cwd
	case dir == "":
		return "."
	case strings.HasPrefix(dir, homeDir):
		return mark(markHome) + dir[len(homeDir):]
	case !strings.HasPrefix(dir, "/") && strings.HasPrefix(sh.at.cwd, "/"):
		return strings.TrimSuffix(sh.at.cwd, "/") + "/" + dir
	default:
		return dir
	}
}

// inner runs commands up to the closing parenthesis in a subshell.
func (sh *shell) inner() {
	if sh.depth >= maxNesting || !sh.found.spend(1) {
		sh.stop()
		return
	}
	outer := sh.at
	sh.depth++
	sh.at = outer.inner()
	sh.run(true)
	sh.at = outer
	sh.depth--
}

func (sh *shell) backquote(b *builder) {
	var text []byte
	for sh.more() && sh.src[sh.i] != '`' {
		if sh.src[sh.i] == '\\' && sh.i+1 < len(sh.src) && strings.IndexByte("`\\$", sh.src[sh.i+1]) >= 0 {
			sh.i++
		}
		text = append(text, sh.src[sh.i])
		sh.i++
	}
	sh.i = min(sh.i+1, len(sh.src))
	sh.script(string(text), sh.at.inner())
	sh.value(b, string(text))
}

// script runs another text, from where at is.
func (sh *shell) script(text string, at standing) standing {
	if sh.depth >= maxNesting || !sh.found.spend(len(text)+1) {
		sh.found.anywhere = true
		return at
	}
	in := &shell{src: text, depth: sh.depth + 1, at: at, found: sh.found}
	in.run(false)
	return in.at
}

// parameter reads ${...} behind its brace.
func (sh *shell) parameter(b *builder, quoted bool) {
	n := 0
	for sh.i+n < len(sh.src) && isName("_"+sh.src[sh.i+n:sh.i+n+1]) {
		n++
	}
	name := sh.src[sh.i : sh.i+n]
	sh.i += n
	rest := sh.i
	sh.closeParameter(quoted)
	switch op := strings.TrimSuffix(sh.src[rest:sh.i], "}"); {
	case op == "" && isName(name), name == "TMPDIR":
		sh.variable(b, name, quoted)
	default:
		if strings.Contains(op, "=") {
			sh.at.set(name, mark(markUnknown))
		}
		b.text = append(b.text, markUnknown)
	}
}

// closeParameter goes behind the } of a ${, whose words may hold expansions.
func (sh *shell) closeParameter(quoted bool) {
	if sh.depth >= maxNesting {
		sh.stop()
		return
	}
	sh.depth++
	defer func() { sh.depth-- }()
	var b builder
	for sh.more() {
		c := sh.src[sh.i]
		switch {
		case c == '}':
			sh.i++
			return
		case c == '\'' && quoted, c == '{':
			sh.i++
		default:
			b.text = b.text[:0]
			sh.unquoted(&b, c)
		}
	}
}

// variable puts the value of $name into the word. Of what the shell inherited
// only the folders are known.
func (sh *shell) variable(b *builder, name string, quoted bool) {
	value, ok := sh.at.vars[name]
	switch {
	case ok && quoted, ok && !strings.ContainsAny(value, " \t\n*?["):
	case ok:
		value = mark(markUnknown)
	case name == "HOME":
		value = mark(markHome)
	case name == "PWD":
		value = sh.folder()
	case name == "TMPDIR":
		value = strings.TrimSuffix(tempDir, "/")
	default:
		value = mark(markUnknown)
	}
	if len(b.text) > b.assign && value != "" && value[0] == markHome {
		value = mark(markUnknown)
	}
	b.text = append(b.text, value...)
	// A value that is used again and again makes words longer than the text.
	if !sh.found.spend(len(value)) {
		sh.stop()
	}
}
