package transcript

import (
	"strings"

	"github.com/comity-dev/comity/session/event"
)

// prose writes a content that somebody wrote: of its Markdown, paragraphs, headings, fenced
// code, code in lines and strong words. All else stands as it was written; line breaks
// and lists are kept as they are.
func (p page) prose(o *out, blocks []block) {
	for _, b := range blocks {
		switch b.Type {
		case event.BlockFile:
			o.str(`<p class="file">`, esc(fileOf(b)), "</p>\n")
			continue
		case event.BlockThinking:
			o.str(`<details class="thinking"><summary>Thinking</summary>`, "\n")
			p.pre(o, b.text)
			o.str("</details>\n")
			continue
		}
		p.markdown(o, b.text.s)
		if more := leftOut(b.text); more != "" {
			o.str(`<p class="meta">`, more, "</p>\n")
		}
	}
}

func (p page) markdown(o *out, s string) {
	var lines []string // of the paragraph or the code
	fence := ""        // of the code
	end := func() {
		if len(lines) == 0 {
			return
		}
		o.str("<p>")
		strong(o, strings.Join(lines, "\n"))
		o.str("</p>\n")
		lines = nil
	}
	for line := range strings.SplitSeq(s, "\n") {
		mark := fenceOf(line)
		switch {
		case fence != "" && closes(mark, line, fence):
			p.pre(o, text{s: strings.Join(lines, "\n")})
			lines, fence = nil, ""
		case fence != "":
			lines = append(lines, line)
		case mark != "":
			end()
			fence = mark
		case strings.TrimSpace(line) == "":
			end()
		case heading(line) != "":
			end()
			o.str(`<p class="heading">`)
			strong(o, heading(line))
			o.str("</p>\n")
		default:
			lines = append(lines, line)
		}
	}
	if fence != "" {
		p.pre(o, text{s: strings.Join(lines, "\n")})
		return
	}
	end()
}

// fenceOf returns the backquotes or tildes that a line begins with, "" if they are not three.
func fenceOf(line string) string {
	t := strings.TrimLeft(line, " ")
	if len(line)-len(t) > 3 || t == "" || t[0] != '`' && t[0] != '~' {
		return ""
	}
	n := len(t) - len(strings.TrimLeft(t, t[:1]))
	if n < 3 || t[0] == '`' && strings.Contains(t[n:], "`") {
		return ""
	}
	return t[:n]
}

func closes(mark, line, fence string) bool {
	return mark != "" && mark[0] == fence[0] && len(mark) >= len(fence) && strings.Trim(line, " \r"+fence[:1]) == ""
}

// heading returns the text of a line that is a heading, else "".
func heading(line string) string {
	t := strings.TrimLeft(line, "#")
	if n := len(line) - len(t); n < 1 || n > 6 || !strings.HasPrefix(t, " ") {
		return ""
	}
	return strings.TrimSpace(t)
}

// strong writes a paragraph with its code and strong words.
func strong(o *out, s string) {
	for s != "" {
		at := strings.IndexAny(s, "`*")
		if at < 0 {
			break
		}
		mark, tag := "`", "code"
		if strings.HasPrefix(s[at:], "**") {
			mark, tag = "**", "b"
		} else if s[at] == '*' {
			mark = ""
		}
		rest := s[at+max(len(mark), 1):]
		length := strings.Index(rest, mark)
		if mark == "" || length <= 0 {
			escTo(o, s[:at+max(len(mark), 1)])
			s = rest
			continue
		}
		escTo(o, s[:at])
		o.str("<", tag, ">")
		escTo(o, rest[:length])
		o.str("</", tag, ">")
		s = rest[length+len(mark):]
	}
	escTo(o, s)
}
