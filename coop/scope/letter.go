package scope

// A letter is what one token matches, made ready to be laid beside others:
// which characters of ASCII, and whether anything else.
type letter struct {
	ascii [2]uint64
	more  bool
	token *token
}

var (
	everyASCII = [2]uint64{1<<64 - 1, 1<<64 - 1}
	dotASCII   = [2]uint64{1 << '.', 0}
)

func (t *token) letter() letter {
	l := letter{token: t, more: true}
	switch t.kind {
	case tokenLiteral:
		if c := t.key[0]; len(t.key) == 1 && c < 0x80 {
			l.ascii[c>>6] = 1 << (c & 63)
			l.more = false
		}
	case tokenClass:
		l.ascii, l.more = t.class.ascii()
	default:
		l.ascii = everyASCII
	}
	return l
}

// ascii are the characters of ASCII in c, and whether it has other letters too.
// With not, they are also some that no name has; two of those meet in any case.
func (c *class) ascii() (set [2]uint64, more bool) {
	more = c.not
	for _, s := range c.spans {
		for r := s.lo; r <= min(s.hi, 0x7f); r++ {
			set[r>>6] |= 1 << (r & 63)
		}
		more = more || s.hi > 0x7f
	}
	if c.not {
		set[0], set[1] = ^set[0], ^set[1]
	}
	return set, more
}

// sharp tells whether l has more than the dot.
func (l *letter) sharp() bool { return l.more || l.ascii != dotASCII }

// meets tells whether some letter is in both, and whether one other than the dot is.
func (l *letter) meets(m *letter) (some, sharp bool) {
	lo, hi := l.ascii[0]&m.ascii[0], l.ascii[1]&m.ascii[1]
	if hi != 0 || lo&^dotASCII[0] != 0 || l.more && m.more && l.token.meetsBeyond(m.token) {
		return true, true
	}
	return lo != 0, false
}

// meetsBeyond tells whether two tokens, each of which has letters beyond ASCII,
// have one of them in common.
func (t *token) meetsBeyond(u *token) bool {
	switch {
	case t.kind == tokenLiteral:
		return u.matches(t.key)
	case u.kind == tokenLiteral:
		return t.matches(u.key)
	case t.kind != tokenClass || u.kind != tokenClass:
		return true
	case t.class.not && u.class.not:
		return true
	case t.class.not:
		return leavesBeyond(u.class.spans, t.class.spans)
	case u.class.not:
		return leavesBeyond(t.class.spans, u.class.spans)
	}
	return shareBeyond(t.class.spans, u.class.spans)
}

// shareBeyond tells whether a character beyond ASCII is in both.
func shareBeyond(a, b []span) bool {
	for len(a) > 0 && len(b) > 0 {
		if lo, hi := max(a[0].lo, b[0].lo), min(a[0].hi, b[0].hi); lo <= hi && hi > 0x7f {
			return true
		}
		if a[0].hi < b[0].hi {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return false
}

// leavesBeyond tells whether a character beyond ASCII is left of some spans when
// others are taken from them.
func leavesBeyond(from, what []span) bool {
	for _, f := range from {
		for f.lo = max(f.lo, 0x80); f.lo <= f.hi; f.lo = what[0].hi + 1 {
			for len(what) > 0 && what[0].hi < f.lo {
				what = what[1:]
			}
			if len(what) == 0 || what[0].lo > f.lo {
				return true
			}
		}
	}
	return false
}
