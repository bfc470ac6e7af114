package hooks

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// A shell reads one text of commands. Reading and running go together, since a
// substitution is commands within a word.
type shell struct {
	src   string
	i     int // next byte of src
	depth int // of nesting, over all texts
	at    standing
	found *found
	here  []*heredoc // whose text begins at the next new line
}

type tokenKind uint8

const (
	tokenEnd tokenKind = iota
	tokenWord
	tokenOp    // ; & && || | |& ( ) ;; newline
	tokenRedir // op is what stands, without the number before it
)

type token struct {
	kind   tokenKind
	text   string // of a word, with marks
	op     string
	quoted bool // some of the word was, so it is no reserved word
	assign int  // where the value begins when it is an assignment, else 0
}

func (sh *shell) peek(n int) byte {
	if sh.i+n < len(sh.src) {
		return sh.src[sh.i+n]
	}
	return 0
}

func (sh *shell) more() bool { return sh.i < len(sh.src) }

// stop leaves the rest unread: it may write anywhere.
func (sh *shell) stop() {
	sh.found.anywhere = true
	sh.i = len(sh.src)
}

// next reads one token. Where text is cut, the token ends with it.
func (sh *shell) next() token {
	sh.blanks()
	if !sh.more() {
		return token{}
	}
	if sh.src[sh.i] == '\n' {
		sh.i++
		sh.heredocs()
		return token{kind: tokenOp, op: "\n"}
	}
	if op := sh.redirection(); op != "" {
		return token{kind: tokenRedir, op: op}
	}
	for _, op := range [...]string{";;&", ";;", ";&", ";", "&&", "&", "||", "|&", "|", "(", ")"} {
		if strings.HasPrefix(sh.src[sh.i:], op) {
			sh.i += len(op)
			return token{kind: tokenOp, op: op}
		}
	}
	return sh.word()
}

// blanks skips what separates words, comments and continued lines too.
func (sh *shell) blanks() {
	for sh.more() {
		switch c := sh.src[sh.i]; {
		case c == ' ' || c == '\t' || c == '\r':
			sh.i++
		case c == '\\' && sh.peek(1) == '\n':
			sh.i += 2
		case c == '#':
			if n := strings.IndexByte(sh.src[sh.i:], '\n'); n >= 0 {
				sh.i += n
			} else {
				sh.i = len(sh.src)
			}
		default:
			return
		}
	}
}

// redirection reads the operator of one, with the number or {name} in front.
// <( and >( begin words.
func (sh *shell) redirection() string {
	i := sh.i
	for i < len(sh.src) && i-sh.i < 4 && sh.src[i] >= '0' && sh.src[i] <= '9' {
		i++
	}
	if i == sh.i && sh.src[i] == '{' {
		if end := strings.IndexByte(sh.src[i:min(i+64, len(sh.src))], '}'); end > 0 && isName(sh.src[i+1:i+end]) {
			i += end + 1
		}
	}
	ops := [...]string{"<<<", "<<-", "<<", "<>", "<&", "<", ">>", ">|", ">&", ">"}
	if i == sh.i && sh.src[i] == '&' {
		if strings.HasPrefix(sh.src[i:], "&>>") {
			sh.i += 3
			return ">>"
		}
		if strings.HasPrefix(sh.src[i:], "&>") {
			sh.i += 2
			return ">"
		}
		return ""
	}
	for _, op := range ops {
		if strings.HasPrefix(sh.src[i:], op) {
			if len(op) == 1 && strings.HasPrefix(sh.src[i+1:], "(") {
				return ""
			}
			sh.i = i + len(op)
			return op
		}
	}
	return ""
}

// A builder collects one word.
type builder struct {
	text   []byte
	quoted bool
	assign int
	open   int // braces
}

func (sh *shell) word() token {
	var b builder
	for sh.more() {
		c := sh.src[sh.i]
		if strings.IndexByte(" \t\r\n;&|()", c) >= 0 || (c == '<' || c == '>') && (len(b.text) > 0 || sh.peek(1) != '(') {
			if c != '(' || !sh.pattern(&b) {
				break
			}
			continue
		}
		sh.unquoted(&b, c)
	}
	return token{kind: tokenWord, text: string(b.text), quoted: b.quoted, assign: b.assign}
}

// pattern reads the ( of a=(...) or of an extended pattern such as !(x).
func (sh *shell) pattern(b *builder) bool {
	n := len(b.text)
	switch {
	case n == 0:
		return false
	case b.assign == n:
		b.text = append(b.text, markUnknown)
	case b.assign > 0 && b.assign == n-1 && b.text[n-1] == markUnknown: // +=
	case b.text[n-1] == markGlob || strings.IndexByte("+@!", b.text[n-1]) >= 0:
		b.text[n-1] = markGlob
	default:
		return false
	}
	sh.i++
	sh.skipParens(1)
	return true
}

// skipParens goes behind the ) that closes the open ones.
func (sh *shell) skipParens(open int) {
	var b builder
	for sh.more() && open > 0 {
		switch c := sh.src[sh.i]; c {
		case '(':
			open++
			sh.i++
		case ')':
			open--
			sh.i++
		default:
			b.text = b.text[:0]
			sh.unquoted(&b, c)
		}
	}
}

// unquoted takes what stands at c, outside of quotes.
func (sh *shell) unquoted(b *builder, c byte) {
	sh.i++
	switch c {
	case '\\':
		if !sh.more() {
			return
		}
		if sh.src[sh.i] != '\n' {
			b.quoted = true
			b.text = append(b.text, sh.src[sh.i])
		}
		sh.i++
	case '\'':
		b.quoted = true
		b.text = append(b.text, sh.until('\'')...)
	case '"':
		b.quoted = true
		sh.double(b)
	case '`':
		sh.backquote(b)
	case '$':
		sh.dollar(b, false)
	case '<', '>':
		if sh.peek(0) == '(' {
			sh.i++
			sh.inner()
			b.text = append(b.text, markUnknown)
			return
		}
		b.text = append(b.text, c)
	case '*', '?', '[':
		b.text = append(b.text, markGlob)
	case '{':
		b.open++
		b.text = append(b.text, markOpen)
	case '}':
		if b.open > 0 {
			b.open--
			b.text = append(b.text, markClose)
			return
		}
		b.text = append(b.text, c)
	case ',':
		if b.open > 0 {
			c = markComma
		}
		b.text = append(b.text, c)
	case '~':
		sh.tilde(b)
	case '=':
		sh.equals(b)
	default:
		b.text = append(b.text, c)
	}
}

// equals sees that NAME= and NAME+= begin an assignment.
func (sh *shell) equals(b *builder) {
	plain := b.assign == 0 && !b.quoted
	name, added := strings.CutSuffix(string(b.text[:min(len(b.text), 256)]), "+")
	b.text = append(b.text, '=')
	if plain && isName(name) {
		b.assign = len(b.text)
		if added {
			b.text = append(b.text, markUnknown)
		}
	}
}

func (sh *shell) tilde(b *builder) {
	if b.quoted || len(b.text) != b.assign {
		b.text = append(b.text, '~')
		return
	}
	if sh.more() && strings.IndexByte("/ \t\r\n;&|()<>", sh.src[sh.i]) < 0 {
		b.text = append(b.text, markUnknown) // another user's, or an older folder
		return
	}
	b.text = append(b.text, markHome)
}

// until returns the text up to c, which it goes behind.
func (sh *shell) until(c byte) string {
	rest := sh.src[sh.i:]
	n := strings.IndexByte(rest, c)
	if n < 0 {
		sh.i = len(sh.src)
		return rest
	}
	sh.i += n + 1
	return rest[:n]
}

// double reads to the closing double quote.
func (sh *shell) double(b *builder) {
	for sh.more() {
		c := sh.src[sh.i]
		sh.i++
		switch c {
		case '"':
			return
		case '\\':
			sh.escapedInDouble(b)
		case '$':
			sh.dollar(b, true)
		case '`':
			sh.backquote(b)
		default:
			b.text = append(b.text, c)
		}
	}
}

func (sh *shell) escapedInDouble(b *builder) {
	if !sh.more() {
		return
	}
	c := sh.src[sh.i]
	sh.i++
	switch c {
	case '\n':
	case '$', '`', '"', '\\':
		b.text = append(b.text, c)
	default:
		b.text = append(b.text, '\\', c)
	}
}

// ansi reads the text of $'...'.
func (sh *shell) ansi(b *builder) {
	const from, to = `abefnrtv\'"?`, "\a\b\x1b\f\n\r\t\v\\'\"?"
	for sh.more() {
		c := sh.src[sh.i]
		sh.i++
		if c == '\'' {
			return
		}
		if c != '\\' || !sh.more() {
			b.text = append(b.text, c)
			continue
		}
		c = sh.src[sh.i]
		sh.i++
		if k := strings.IndexByte(from, c); k >= 0 {
			b.text = append(b.text, to[k])
			continue
		}
		sh.numbered(b, c)
	}
}

// numbered reads the escapes \123, \x41, \u20ac and \cx.
func (sh *shell) numbered(b *builder, c byte) {
	digits, radix := 0, 16
	switch {
	case c >= '0' && c <= '7':
		digits, radix = 3, 8
		sh.i--
	case c == 'x':
		digits = 2
	case c == 'u':
		digits = 4
	case c == 'U':
		digits = 8
	case c == 'c' && sh.more():
		b.text = append(b.text, sh.src[sh.i]&0x1f)
		sh.i++
		return
	default:
		b.text = append(b.text, '\\', c)
		return
	}
	n := 0
	for n < digits && sh.i+n < len(sh.src) {
		if _, err := strconv.ParseUint(sh.src[sh.i+n:sh.i+n+1], radix, 8); err != nil {
			break
		}
		n++
	}
	v, err := strconv.ParseUint(sh.src[sh.i:sh.i+n], radix, 32)
	sh.i += n
	switch {
	case err != nil || v > utf8.MaxRune:
		b.text = append(b.text, markUnknown)
	case v < utf8.RuneSelf:
		b.text = append(b.text, byte(v))
	case c == 'u' || c == 'U':
		b.text = utf8.AppendRune(b.text, rune(v))
	default: // a byte of a longer character
		b.text = append(b.text, markUnknown)
	}
}
