package scope

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

//go:generate go run gen.go

// Two spellings are one path when their keys are equal. The key of a text is
//
//	normal(fold(normal(text)))
//
// where fold maps each character by the simple case folding of UnicodeVersion
// and normal is NFC of that version. It is folded between two normalisations
// because folding can make a pair that composes: J with a caron has no
// composed capital, its small form has one.
//
// NFC of a later Unicode version agrees with ours on every text made of
// characters that ours has, by Unicode's stability policy. Only code points
// that were unassigned can differ, so normal leaves them alone and keeps what
// stands before one apart from what stands behind it, as our version does.

// A foldRun maps each stride-th character of lo to hi to itself plus delta.
type foldRun struct{ lo, hi, stride, delta rune }

// A span is the characters lo to hi, both included.
type span struct{ lo, hi rune }

// key is what is compared. Bytes that are not UTF-8 stand for themselves.
func key(s string) string {
	if isASCII(s) {
		return lowerASCII(s)
	}
	return normal(foldAll(normal(s)))
}

// normal is NFC of the pinned version.
func normal(s string) string {
	if isASCII(s) {
		return s
	}
	var out strings.Builder
	from := 0
	for i, r := range s {
		if r >= utf8.RuneSelf && within(unassigned[:], r) {
			out.WriteString(norm.NFC.String(s[from:i]))
			from = i + utf8.RuneLen(r)
			out.WriteString(s[i:from])
		}
	}
	if from == 0 {
		return norm.NFC.String(s)
	}
	out.WriteString(norm.NFC.String(s[from:]))
	return out.String()
}

func foldAll(s string) string {
	var out strings.Builder
	out.Grow(len(s))
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			out.WriteByte(s[i])
		} else {
			out.WriteRune(foldRune(r))
		}
		i += n
	}
	return out.String()
}

// foldRune is the one character that stands for r and its case variants.
func foldRune(r rune) rune {
	if r < utf8.RuneSelf {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}
	lo, hi := 0, len(caseFolds)
	for lo < hi {
		switch m := int(uint(lo+hi) >> 1); {
		case r < caseFolds[m].lo:
			hi = m
		case r > caseFolds[m].hi:
			lo = m + 1
		case (r-caseFolds[m].lo)%caseFolds[m].stride == 0:
			return r + caseFolds[m].delta
		default:
			return r
		}
	}
	return r
}

// nextCluster is the length of the first cluster of a key: one character and
// the marks that combine with it. A key cut between clusters and joined again
// is the same key, so clusters are the letters that patterns are made of.
func nextCluster(key string) int {
	if len(key) == 1 || key[0] < utf8.RuneSelf && key[1] < utf8.RuneSelf {
		return 1
	}
	_, n := utf8.DecodeRuneInString(key)
	for n < len(key) {
		r, size := utf8.DecodeRuneInString(key[n:])
		if !within(joining[:], r) {
			break
		}
		n += size
	}
	return n
}

func joins(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return r >= utf8.RuneSelf && within(joining[:], r)
}

func within(spans []span, r rune) bool {
	lo, hi := 0, len(spans)
	for lo < hi {
		switch m := int(uint(lo+hi) >> 1); {
		case r < spans[m].lo:
			hi = m
		case r > spans[m].hi:
			lo = m + 1
		default:
			return true
		}
	}
	return false
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func lowerASCII(s string) string {
	for i := range len(s) {
		if 'A' <= s[i] && s[i] <= 'Z' {
			return strings.ToLower(s)
		}
	}
	return s
}
