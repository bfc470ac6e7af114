package install

import (
	"bytes"
	"strings"
)

// insert returns the edits that put kids, array elements or fields, behind the
// last one of container c. They only add bytes: a comma where one is missing,
// and the new text behind the comments that follow the last kid.
func (d *document) insert(c *node, kids ...any) []Edit {
	s := d.style()
	if len(c.kids) == 0 {
		return []Edit{d.insertFirst(c, s, kids)}
	}
	head, last := c.kids[0], c.kids[len(c.kids)-1]
	oneLine := !bytes.ContainsAny(d.b[c.start:head.first], "\r\n")
	behind := last.end
	if last.comma >= 0 {
		behind = last.comma + 1
	}
	at := d.behindComments(behind, c.end)
	indent := d.indent(head.first)
	lead := s.nl + indent
	if oneLine && !d.inLineComment(at) {
		s.inline, lead = true, s.gap
	} else if oneLine {
		lead += s.unit
	}
	text := lead + s.join(kids, lead, indent)
	if last.comma >= 0 {
		return []Edit{{At: at, New: text + ","}}
	}
	if at == last.end {
		return []Edit{{At: at, New: "," + text}}
	}
	return []Edit{{At: last.end, New: ","}, {At: at, New: text}}
}

// insertFirst is insert for a container that is empty but for comments.
func (d *document) insertFirst(c *node, s style, kids []any) Edit {
	at := d.behindComments(c.start+1, c.end)
	if s.inline {
		return Edit{At: at, New: s.join(kids, s.gap, "")}
	}
	outer := d.indent(c.start)
	lead := s.nl + outer + s.unit
	text := lead + s.join(kids, lead, outer+s.unit)
	if !bytes.ContainsAny(d.b[at:c.end-1], "\r\n") {
		text += s.nl + outer
	}
	return Edit{At: at, New: text}
}

func (s style) join(kids []any, lead, indent string) string {
	var b strings.Builder
	for i, kid := range kids {
		if i > 0 {
			b.WriteString("," + lead)
		}
		if f, ok := kid.(field); ok {
			s.field(&b, f, indent)
			continue
		}
		s.write(&b, kid, indent)
	}
	return b.String()
}

// behindComments is the end of the last comment between from and to, or from.
func (d *document) behindComments(from, to int) int {
	for _, c := range d.comments {
		if c.start >= from && c.end <= to {
			from = c.end
		}
	}
	return from
}

// inLineComment says that a // comment ends at at: what is put there without a
// line end before it would become part of the comment.
func (d *document) inLineComment(at int) bool {
	for _, c := range d.comments {
		if c.end == at && d.b[c.start+1] == '/' {
			return true
		}
	}
	return false
}
