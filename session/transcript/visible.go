package transcript

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// hidden reports whether r is a character that is not seen and changes how others are
// seen or read: a control, a mark or override of direction, a space without width, a tag.
// A tab and a line feed are what they look like.
func hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < 0x20, 0x7f <= r && r <= 0x9f, // controls
		r == 0xad, r == 0x61c, r == 0x180e, // soft hyphen, Arabic mark, Mongolian separator
		r == 0x200b, r == 0x200e, r == 0x200f, // no width, marks of direction
		0x2028 <= r && r <= 0x202e, // separators, embeddings, overrides
		0x2060 <= r && r <= 0x206f, // no width, isolates
		r == 0xfeff, r == 0x3164,   // no width, filler
		0xfff9 <= r && r <= 0xfffb,   // annotations
		0xe0000 <= r && r <= 0xe0fff: // tags
		return true
	}
	return false
}

// codePoint is how a hidden character is shown.
func codePoint(r rune) string { return fmt.Sprintf("⟨U+%04X⟩", r) }

// visible calls plain with runs of s that are shown as they are, and mark for each hidden
// character between them. A carriage return before a line feed and the colour codes of
// terminals are left out.
func visible(s string, plain func(string), mark func(rune)) {
	from := 0
	for at := 0; at < len(s); {
		r, n := rune(s[at]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(s[at:])
		}
		if !hidden(r) {
			at += n
			continue
		}
		if from < at {
			plain(s[from:at])
		}
		if skip := noise(s[at:]); skip > 0 {
			n = skip
		} else {
			mark(r)
		}
		at += n
		from = at
	}
	if from < len(s) {
		plain(s[from:])
	}
}

// noise returns how many bytes at the beginning of s are left out.
func noise(s string) int {
	if strings.HasPrefix(s, "\r\n") {
		return 1
	}
	if !strings.HasPrefix(s, "\x1b[") {
		return 0
	}
	end := 2
	for end < len(s) && (s[end] >= '0' && s[end] <= '9' || s[end] == ';') {
		end++
	}
	if end < len(s) && s[end] == 'm' {
		return end + 1
	}
	return 0
}

// shown returns s with its hidden characters as code points.
func shown(s string) string {
	var b strings.Builder
	visible(s, func(run string) { b.WriteString(run) }, func(r rune) { b.WriteString(codePoint(r)) })
	return b.String()
}
