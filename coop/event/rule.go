package event

import (
	"cmp"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/scope"
)

// A rule is what a string of the format must be: at most max bytes, where max
// is not 0, and of a form, which says what is wrong or "".
type rule struct {
	max  int
	form func(string) string
}

// line is at most n bytes without control characters.
func line(n int) rule { return rule{n, lineForm} }

// text is a line that may also hold newlines and tabs.
func text(n int) rule { return rule{n, textForm} }

var (
	isIdent  = rule{ident.MaxSIDBytes, identForm} // a sid, a kind, a reason
	isOID    = rule{0, oidForm}
	isKey    = rule{0, keyForm}
	isFile   = rule{MaxFileBytes, fileForm}
	isEntry  = rule{MaxEntryBytes, utf8Form}
	hex16    = rule{0, func(s string) string { return hexForm(s, 16, "want 16 lowercase hex digits") }}
	hex32    = rule{0, func(s string) string { return hexForm(s, 32, "want 32 lowercase hex digits") }}
	hex64    = rule{0, func(s string) string { return hexForm(s, 64, "want 64 lowercase hex digits") }}
	isMode   = rule{0, modeForm}
	isAnswer = rule{0, verdictForm}
	isBody   = rule{MaxHandoverBytes, utf8Form}
)

func lineForm(s string) string { return controlForm(s, "") }
func textForm(s string) string { return controlForm(s, "\n\t") }

// controlForm refuses what is not UTF-8 and the control characters (Unicode
// category Cc) that are not in but.
func controlForm(s, but string) string {
	if printable(s) {
		return ""
	}
	for i, c := range s {
		switch {
		case c == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"):
			return "not UTF-8"
		case (c < 0x20 || 0x7f <= c && c < 0xa0) && !strings.ContainsRune(but, c):
			return "holds a control character"
		}
	}
	return ""
}

// printable reports whether s is of ASCII characters that print alone.
func printable(s string) bool {
	for i := range len(s) {
		if s[i]-0x20 >= 0x7f-0x20 {
			return false
		}
	}
	return true
}

func utf8Form(s string) string {
	if !utf8.ValidString(s) {
		return "not UTF-8"
	}
	return ""
}

func hexForm(s string, digits int, wrong string) string {
	if !ident.IsHex(s, digits) {
		return wrong
	}
	return ""
}

func oidForm(s string) string {
	if !ident.IsHex(s, 40) && !ident.IsHex(s, 64) {
		return "want 40 or 64 lowercase hex digits"
	}
	return ""
}

func identForm(s string) string {
	if ident.ValidSID(s) != nil {
		return "want 1 to 64 letters, digits and . _ : # -"
	}
	return ""
}

const wantKey = "want <stream>/<seq>"

func keyForm(s string) string {
	if _, err := ParseKey(s); err != nil {
		return wantKey
	}
	return ""
}

func streamForm(s string) string {
	if !ident.Stream(s).Valid() {
		return "want <node>-<runtime>-<instance>"
	}
	return ""
}

// fileForm wants a path within the repository in its one spelling.
func fileForm(s string) string {
	switch {
	case lineForm(s) != "":
		return lineForm(s)
	case path.IsAbs(s), s == ".", s == "..", strings.HasPrefix(s, "../"), path.Clean(s) != s:
		return "want a clean path within the repository"
	}
	return ""
}

func modeForm(s string) string {
	switch Mode(s) {
	case ModeExclusive, ModeCheckout, ModeAdvisory:
		return ""
	}
	return "unknown mode"
}

func verdictForm(s string) string {
	switch Verdict(s) {
	case VerdictApproved, VerdictChangesRequested, VerdictCommented:
		return ""
	}
	return "unknown verdict"
}

// scopes visits a scope, as the list of its entries.
func (c *codec) scopes(name string, p *scope.Set, n span) {
	if c.err != nil {
		return
	}
	var entries []string
	if !c.reading {
		entries = p.Strings()
	}
	list(c, name, &entries, n, strs(isEntry))
	if c.err != nil {
		return
	}
	if len(entries) == 0 {
		*p = nil
		return
	}
	set, err := c.set(entries, *p)
	if err != nil {
		c.fail(name, err.Error())
		return
	}
	*p = set
}

// set is the set of entries that were read, or of given, which was written as them.
func (c *codec) set(entries []string, given scope.Set) (scope.Set, error) {
	if c.reading {
		return scope.ParseSet(entries)
	}
	return scope.NewSet(given...)
}

// strs is a list of strings under rule.
func strs(rule rule) item[string] {
	return item[string]{
		rule.max,
		func(s string) (string, string) { return s, rule.form(s) },
		func(s string) string { return s },
		strings.Compare,
	}
}

func streams() item[ident.Stream] {
	return item[ident.Stream]{
		0,
		func(s string) (ident.Stream, string) { return ident.Stream(s), streamForm(s) },
		func(s ident.Stream) string { return string(s) },
		cmp.Compare[ident.Stream],
	}
}

func keys() item[Key] {
	return item[Key]{
		0,
		func(s string) (Key, string) {
			k, err := ParseKey(s)
			if err != nil {
				return Key{}, wantKey
			}
			return k, ""
		},
		Key.String,
		Key.Compare,
	}
}
