package scope

import (
	"fmt"
	"path"
	"strings"
	"unicode/utf8"
)

// maxMarks bounds the combining marks on one letter. Normalisation has a bound
// of its own, 30, above which it would change the text.
const maxMarks = 16

// maxText is far above every bound and keeps a huge word from being worked on.
const maxText = 64 << 10

func tooLong(n int) string {
	return fmt.Sprintf("%d bytes stored, more than %d", n, MaxEntryBytes)
}

// cleanText holds every form to one alphabet: UTF-8, NFC, nothing that a
// terminal would obey instead of show.
func cleanText(s string) (string, error) {
	if s != "" && len(s) <= maxText && isPlain(s) {
		return s, nil
	}
	if err := speakable(s); err != nil {
		return "", err
	}
	return normalised(s)
}

// normalised is s in its normal form, within the bound of marks. Normalisation breaks
// what has far too many, so they are looked at before it and, because one mark can
// become two, behind it.
func normalised(s string) (string, error) {
	clean := s
	if !tooManyMarks(s) {
		clean = normal(s)
	}
	if tooManyMarks(clean) {
		return "", refuse(fmt.Sprintf("more than %d combining marks on one letter", maxMarks), "claim the folder above it")
	}
	return clean, nil
}

// isPlain tells whether s is visible ASCII and spaces: it has one spelling.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

func tooManyMarks(s string) bool {
	marks := 0
	for _, r := range s {
		if r < utf8.RuneSelf || !within(joining[:], r) {
			marks = 0
		} else if marks++; marks > maxMarks {
			return true
		}
	}
	return false
}

// speakable refuses what no form has, before anything works on it.
func speakable(s string) error {
	switch {
	case s == "":
		return refuse("empty", "name a path, a folder, a pattern or @resource; . is the whole repository")
	case len(s) > maxText:
		return refuse(fmt.Sprintf("%d bytes, more than %d", len(s), MaxEntryBytes), "claim the folder above it")
	case !utf8.ValidString(s):
		return refuse("not UTF-8", "claim the folder above it")
	}
	for _, r := range s {
		if forbidden(r) {
			return refuse(fmt.Sprintf("holds the control character %U", r), "claim the folder above it")
		}
	}
	return nil
}

// forbidden are the characters that no entry has: controls, line and paragraph
// separators, and those that reorder the text around them on a screen.
func forbidden(r rune) bool { return within(controls[:], r) }

var controls = [...]span{{0, 0x1f}, {0x7f, 0x9f}, {0x2028, 0x202e}, {0x2066, 0x2069}}

// cleanPath is p with one spelling, inside the repository.
func cleanPath(p string, dir bool) (string, error) {
	switch {
	case strings.Contains(p, `\`):
		return "", refuse("holds a backslash", "write / between folders")
	case hasDrive(p):
		return "", refuse("begins with a drive letter", "write the path from the top of the repository")
	case strings.HasPrefix(p, "/"):
		return "", refuse("absolute", "write the path from the top of the repository")
	}
	p = path.Clean(p)
	switch {
	case p == ".." || strings.HasPrefix(p, "../"):
		return "", refuse("outside the repository", "only what is in the repository can be claimed; name anything else as @name")
	case p == "." && !dir:
		return "", refuse("the top of the repository is a folder", "write . for the whole repository")
	}
	return p, nil
}

func hasDrive(p string) bool {
	return len(p) >= 2 && p[1] == ':' && ('a' <= p[0]|0x20 && p[0]|0x20 <= 'z') && (len(p) == 2 || p[2] == '/')
}

// checkResource holds a name to parts of visible characters with / between.
func checkResource(name string) error {
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part == "." || part == ".." {
			return refuse("a resource name with an empty part", "write @name or @name/part")
		}
	}
	if i := strings.IndexAny(name, ` *?[]{}\@`); i >= 0 {
		return refuse(fmt.Sprintf("a resource name with %q in it", name[i]), "a resource is one name, as @port/3000; patterns are for paths")
	}
	return nil
}

// isRepositoryPath tells whether p is spelt as a repository path is: no empty
// part, no dots that climb, not absolute.
func isRepositoryPath(p string) bool {
	for part := range strings.SplitSeq(p, "/") {
		if part == "" || part == "." || part == ".." {
			return false
		}
	}
	return true
}
