package install

import (
	"bytes"
	"fmt"
	"strings"
)

// section is what git's config gets for a hook, git 2.54 and newer. git hands
// the hook's arguments on behind the last word of the command.
func (o Options) section(hook string) string {
	return "[hook \"" + sectionName + hook + "\"]\n\tevent = " + hook + "\n\tcommand = \"" + o.gitLine(hook) + "\"\n"
}

const sectionName = "comity-"

func (o Options) sections(hooks []string) string {
	var b strings.Builder
	for _, hook := range hooks {
		b.WriteString(o.section(hook))
	}
	return b.String()
}

func (o Options) addConfig(b []byte, hooks []string) []Edit {
	text := o.sections(hooks)
	if len(b) > 0 && b[len(b)-1] != '\n' {
		text = "\n" + text
	}
	return []Edit{{At: len(b), New: text}}
}

// configComplete says that b has the sections of hooks, in our words, and of no
// other hook of ours.
func (o Options) configComplete(b []byte, hooks []string) bool {
	for _, hook := range gitHooks {
		want := 0
		for _, h := range hooks {
			if h == hook {
				want = 1
			}
		}
		if bytes.Count(b, []byte(o.section(hook))) != want || countHeads(b, hook) != want {
			return false
		}
	}
	return true
}

func countHeads(b []byte, hook string) (n int) {
	for _, l := range configLines(b) {
		if l.ours(hook) {
			n++
		}
	}
	return n
}

// stripConfig takes our sections out of b: the very bytes that were added, where
// they still stand together, else each section by its name. Others have no
// business in it, but comments in it stay.
func (o Options) stripConfig(b []byte, f *File) []byte {
	if f != nil && len(f.Edits) == 1 {
		added := []byte(f.Edits[0].New)
		if i := bytes.Index(b, added); i >= 0 {
			rest := b[i+len(added):]
			if bytes.HasPrefix(added, []byte("\n")) && len(rest) > 0 {
				i++ // what follows must not end up on the line before
			}
			return append(b[:i:i], rest...)
		}
	}
	var out []byte
	in := false
	for _, l := range configLines(b) {
		if l.head {
			in = l.anyOurs()
		}
		if !in || !l.head && l.bare() {
			out = append(out, l.b...)
		}
	}
	return out
}

// A configLine is a line of git's config with those that it goes on in.
type configLine struct {
	b    []byte
	head bool // begins a section
}

func configLines(b []byte) []configLine {
	var lines []configLine
	for len(b) > 0 {
		n := logicalLine(b)
		l := configLine{b: b[:n]}
		l.head = bytes.HasPrefix(bytes.TrimLeft(l.b, " \t"), []byte("["))
		lines, b = append(lines, l), b[n:]
	}
	return lines
}

// logicalLine is the length of the first line of b. A backslash at the end of a
// line that is no comment joins the next one.
func logicalLine(b []byte) int {
	n := 0
	for {
		i := bytes.IndexByte(b[n:], '\n')
		if i < 0 {
			return len(b)
		}
		line := bytes.TrimSuffix(b[n:n+i], []byte("\r"))
		n += i + 1
		slashes := len(line) - len(bytes.TrimRight(line, `\`))
		if slashes%2 == 0 || n == len(b) || isComment(line) {
			return n
		}
	}
}

func isComment(line []byte) bool {
	line = bytes.TrimLeft(line, " \t")
	return len(line) > 0 && (line[0] == '#' || line[0] == ';')
}

// bare says that a line is blank or a comment.
func (l configLine) bare() bool { return len(bytes.TrimSpace(l.b)) == 0 || isComment(l.b) }

func (l configLine) ours(hook string) bool {
	text := strings.TrimSpace(string(l.b))
	name, ok := strings.CutPrefix(strings.ToLower(text), "[hook")
	if !l.head || !ok {
		return false
	}
	return strings.HasPrefix(strings.TrimLeft(name, " \t"), fmt.Sprintf("%q]", sectionName+hook))
}

func (l configLine) anyOurs() bool {
	for _, hook := range gitHooks {
		if l.ours(hook) {
			return true
		}
	}
	return false
}
