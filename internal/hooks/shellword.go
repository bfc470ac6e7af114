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
// within braces, and more than maxFanOut words, come to a word that is not
// known.
func braces(w string) []string {
	words := []string{""}
	for {
		open := strings.IndexByte(w, markOpen)
		if open < 0 {
			break
		}
		head, rest := w[:open], w[open+1:]
		end := strings.IndexByte(rest, markClose)
		inner := rest[:max(end, 0)]
		switch {
		case end < 0: // not closed: text
			words, w = times(words, []string{head + "{"}), rest
			continue
		case strings.IndexByte(inner, markOpen) >= 0:
			return []string{bare(head) + mark(markUnknown)}
		case strings.IndexByte(inner, markComma) < 0 && strings.Contains(inner, ".."):
			words = times(words, []string{head + mark(markUnknown)})
		case strings.IndexByte(inner, markComma) < 0:
			words = times(words, []string{head + "{" + inner + "}"})
		default:
			words = times(words, []string{head})
			words = times(words, strings.Split(inner, mark(markComma)))
		}
		w = rest[end+1:]
		if len(words) > maxFanOut {
			return []string{bare(words[0]) + mark(markUnknown)}
		}
	}
	words = times(words, []string{w})
	for i := range words {
		words[i] = bare(words[i])
	}
	return words
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
