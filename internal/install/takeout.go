package install

import (
	"bytes"
	"slices"
	"strings"
)

// takeOut returns the edits that take kid i out of container c, the reverse of
// insert: with the white space before it and the comma that it needed. Comments
// inside it stay: we write none, so they are somebody's.
func (d *document) takeOut(c *node, i int) []Edit {
	k := c.kids[i]
	start := d.behindComments(c.start+1, k.first)
	if i > 0 {
		start = max(start, c.kids[i-1].comma+1)
	}
	kept := d.commentsIn(k, d.indent(k.first))
	if kept != "" || d.inLineComment(start) {
		if !d.lineEnds(k) { // or what follows would become a part of a comment
			kept += d.style().nl
		}
	}
	edits := []Edit{{At: start, Old: string(d.b[start:k.end]), New: kept}}
	switch {
	case k.comma >= 0:
		edits = append(edits, Edit{At: k.comma, Old: ","})
	case i > 0:
		edits = append(edits, Edit{At: c.kids[i-1].comma, Old: ","})
	}
	return sorted(edits)
}

// lineEnds says that nothing but blanks and the comma of k is between k and the
// end of its line.
func (d *document) lineEnds(k *node) bool {
	rest := bytes.TrimLeft(d.b[k.end:], " \t")
	if k.comma >= 0 {
		rest = bytes.TrimLeft(bytes.TrimPrefix(rest, []byte(",")), " \t")
	}
	return len(rest) > 0 && (rest[0] == '\n' || rest[0] == '\r')
}

// commentsIn is the comments inside k, each on a line of its own.
func (d *document) commentsIn(k *node, indent string) string {
	var kept strings.Builder
	nl := d.style().nl
	for _, c := range d.comments {
		if c.start >= k.first && c.end <= k.end {
			kept.WriteString(nl + indent + string(d.b[c.start:c.end]))
		}
	}
	return kept.String()
}

// hollow says that c holds neither kids nor comments.
func (d *document) hollow(c *node) bool {
	return len(c.kids) == 0 && len(bytes.TrimSpace(d.b[c.start+1:c.end-1])) == 0
}

// A holding is one of our handlers in a document: hooks.<event>[group].hooks[handler].
type holding struct {
	event, group, handler int
	whole                 bool // the group holds nothing else
}

// find returns the first handler whose command is one of commands.
func (d *document) find(commands []string) (holding, bool) {
	hooks := d.root.member("hooks")
	if hooks == nil || hooks.kind != '{' {
		return holding{}, false
	}
	for e, event := range hooks.kids {
		if event.kind != '[' {
			continue
		}
		for g, group := range event.kids {
			handlers := group.member("hooks")
			if handlers == nil || handlers.kind != '[' {
				continue
			}
			for h, handler := range handlers.kids {
				if slices.ContainsFunc(commands, func(c string) bool { return d.says(handler.member("command"), c) }) {
					return holding{e, g, h, len(handlers.kids) == 1 && bare(group)}, true
				}
			}
		}
	}
	return holding{}, false
}

// bare says that a group has no members but those that we write.
func bare(group *node) bool {
	return !slices.ContainsFunc(group.kids, func(m *node) bool { return m.name != "matcher" && m.name != "hooks" })
}

// takeOutHandlers takes all our handlers out of b, and the groups that held
// nothing else. from lists the events that it took one from.
func takeOutHandlers(path string, b []byte, commands []string) (out []byte, from []string, err error) {
	for {
		d, err := parse(path, b)
		if err != nil {
			return nil, nil, err
		}
		h, ok := d.find(commands)
		if !ok {
			return b, from, nil
		}
		event := d.root.member("hooks").kids[h.event]
		from = append(from, event.name)
		edits := d.takeOut(event, h.group)
		if !h.whole {
			edits = d.takeOut(event.kids[h.group].member("hooks"), h.handler)
		}
		if b, err = apply(b, edits); err != nil {
			return nil, nil, err // unreachable unless takeOut misplaces
		}
	}
}
