package hooks

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// MaxText is the most bytes of a text for an agent. Claude Code moves what
	// has over 10,000 characters into a file, and a character has at least one
	// byte.
	MaxText = 10000

	maxPrompt = 512  // of a prompt that are passed on
	maxID     = 256  // of a conversation's id
	maxPath   = 4096 // of a path, PATH_MAX
	maxWord   = 64   // of a source, a reason, a sub-agent's type or id
	maxTool   = 256  // of a tool's name
)

const leftOut = "\n(the rest is left out)"

// tidy makes s fit to be read by an agent: UTF-8, no control characters, at
// most MaxText bytes.
func tidy(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, s)
	s = strings.TrimSpace(s)
	if len(s) > MaxText {
		s = clip(s, MaxText-len(leftOut)) + leftOut
	}
	return s
}

// clip returns the beginning of s: at most n bytes, no broken character.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// namable reports whether some system can have a file of that name.
func namable(path string) bool {
	return path != "" && len(path) <= maxPath && strings.IndexByte(path, 0) < 0
}
