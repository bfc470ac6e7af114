package cli

import (
	"strings"
	"unicode"

	wide "golang.org/x/text/width"
)

// width is how many columns of a terminal s takes.
func width(s string) int {
	n := 0
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}

func runeWidth(r rune) int {
	if r < 0x300 {
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	switch wide.LookupRune(r).Kind() {
	case wide.EastAsianWide, wide.EastAsianFullwidth:
		return 2
	}
	return 1
}

// middle is s in at most n columns, cut in its middle: the two ends of a name or
// a path say most.
func middle(s string, n int) string {
	if width(s) <= n {
		return s
	}
	if n < 1 {
		return ""
	}
	left, right := (n-1)/2, n-1-(n-1)/2
	runes := []rune(s)
	var head, tail strings.Builder
	for _, r := range runes {
		if left -= runeWidth(r); left < 0 {
			break
		}
		head.WriteRune(r)
	}
	from := len(runes)
	for from > 0 && right >= runeWidth(runes[from-1]) {
		from--
		right -= runeWidth(runes[from])
	}
	tail.WriteString(string(runes[from:]))
	return head.String() + "…" + tail.String()
}
