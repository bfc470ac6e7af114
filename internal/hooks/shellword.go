package hooks

import (
	"strings"
)

// A word of a shell is kept as the text that it comes to. What its text does
// not tell stands in it as a mark: a byte that is in no UTF-8 text.
const (
	markGlob    = 0xF8 // an unquoted *, ? or [, or an extended pattern
	markOpen    = 0xF9 // an unquoted {
	markComma   = 0xFA // an unquoted , within one
	markClose   = 0xFB // an unquoted }
	markUnknown = 0xFC // what an expansion gives
	markHome    = 0xFD // an unquoted ~ at the beginning, or $HOME
	markLoop    = 0xFE // the variable of the innermost for
)

// markAt is where the first mark of s is, or -1.
func markAt(s string) int {
	for i := range len(s) {
		if s[i] >= markGlob {
			return i
		}
	}
	return -1
}

func hasMark(s string) bool { return markAt(s) >= 0 }

func mark(b byte) string { return string([]byte{b}) }

// braces gives the words that w comes to: "a{b,c}" is "ab" and "ac". Braces
// within braces, more than maxFanOut words and very long ones come to a word that
// is not known.
func braces(w string) []string {
	if strings.IndexByte(w, markOpen) < 0 {
		return []string{bare(w)}
	}
	words := []string{""}
	for range maxFanOut {
		open := strings.IndexByte(w, markOpen)
		end := strings.IndexByte(w, markClose)
		switch {
		case open < 0 || end < open: // none, or one that is not closed
			return times(words, []string{bare(w)})
		case len(w) > maxPath || strings.IndexByte(w[open+1:end], markOpen) >= 0:
			return []string{bare(words[0]+w[:open]) + mark(markUnknown)}
		}
		words = times(times(words, []string{bare(w[:open])}), inBraces(w[open+1:end]))
		if len(words) > maxFanOut {
			break
		}
		w = w[end+1:]
	}
	return []string{words[0] + mark(markUnknown)}
}

// inBraces is what stands for {s}.
func inBraces(s string) []string {
	switch {
	case strings.IndexByte(s, markComma) >= 0:
		return strings.Split(s, mark(markComma))
	case strings.Contains(s, ".."):
		return []string{mark(markUnknown)}
	}
	return []string{"{" + s + "}"}
}

func times(heads, tails []string) []string {
	if len(tails) == 1 {
		for i := range heads {
			heads[i] += tails[0]
		}
		return heads
	}
	all := make([]string, 0, len(heads)*len(tails))
	for _, h := range heads {
		for _, t := range tails {
			all = append(all, h+t)
		}
	}
	return all
}

// bare makes text of the marks of braces.
func bare(w string) string {
	if !hasMark(w) {
		return w
	}
	b := []byte(w)
	for i, c := range b {
		switch c {
		case markOpen:
			b[i] = '{'
		case markComma:
			b[i] = ','
		case markClose:
			b[i] = '}'
		}
	}
	return string(b)
}

// isName reports whether s can be the name of a variable.
func isName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !(c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' || i > 0 && c >= '0' && c <= '9') {
			return false
		}
	}
	return s != ""
}

// base is the last name of a path, without the slashes at its end; "" when it
// has none that is known.
func base(p string) string {
	p = strings.TrimRight(p, "/")
	b := p[strings.LastIndexByte(p, '/')+1:]
	if b == "" || b == "." || b == ".." || hasMark(b) {
		return ""
	}
	return b
}
