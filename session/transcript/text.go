package transcript

import (
	"strings"
	"unicode/utf8"

	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/gate"
)

const (
	defaultMaxText = 1 << 20
	maxTitle       = 80 // characters
)

// cut returns s within the bound of a text.
func (b *builder) cut(s string) text {
	limit := b.opt.MaxText
	if limit <= 0 {
		limit = defaultMaxText
	}
	if len(s) <= limit {
		return text{s: s}
	}
	end := limit
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return text{strings.Clone(s[:end]), len(s) - end} // the whole is not held for a part
}

// blocks returns a content within the bounds, and what it counts while it waits.
func (b *builder) blocks(content []event.Block) ([]block, int) {
	var blocks []block
	for _, c := range content {
		t := b.cut(c.Text)
		c.Text = ""
		blocks = append(blocks, block{c, t})
	}
	return blocks, sizeOf(blocks)
}

func sizeOf(blocks []block) (n int) {
	for _, b := range blocks {
		n += entryBytes + len(b.text.s)
	}
	return n
}

// plain returns t as a content, none if it is empty.
func plain(t text) []block {
	if t.s == "" {
		return nil
	}
	return []block{{event.Block{Type: event.BlockText}, t}}
}

// cutPayload returns a copy of p within the bounds.
func (b *builder) cutPayload(p gate.Payload) *gate.Payload {
	if p.Permission != nil {
		own := *p.Permission
		if t := b.cut(own.Input); t.more > 0 {
			own.Input = t.s + " …"
		}
		p.Permission = &own
	}
	return &p
}

func payloadSize(p *gate.Payload) int {
	switch {
	case p == nil:
		return 0
	case p.Permission != nil:
		return entryBytes + len(p.Permission.Input) + len(p.Permission.Description) + len(p.Permission.Tool)
	}
	n := entryBytes + len(p.Form.Message)
	for _, f := range p.Form.Fields {
		n += entryBytes + len(f.Name) + len(f.Label) + len(f.Help)
		for _, c := range f.Choices {
			n += entryBytes + len(c.Value) + len(c.Label) + len(c.Help)
		}
	}
	return n
}

// titleOf returns the first line of the first text, at most maxTitle characters of it.
func titleOf(content []event.Block) string {
	for _, b := range content {
		if line := firstLine(b.Text); b.Type == event.BlockText && line != "" {
			return line
		}
	}
	return ""
}

func firstLine(s string) string {
	s = strings.TrimSpace(s)
	if len(s) > 16*maxTitle { // do not look through all of a long text
		s = strings.ToValidUTF8(s[:16*maxTitle], "")
	}
	s, _, _ = strings.Cut(s, "\n")
	s = strings.TrimSpace(s)
	n := 0
	for at := range s {
		if n++; n > maxTitle {
			return strings.Clone(s[:at]) + "…"
		}
	}
	return strings.Clone(s)
}

// because returns ": why" when there is a reason, and the end of a sentence.
func because(reason string) string {
	if reason == "" {
		return "."
	}
	return ": " + reason
}

func by(name, source string) string {
	switch {
	case name == "" && source == "":
		return ""
	case name == "":
		return " by " + source
	case source == "":
		return " by " + name
	}
	return " by " + name + " (" + source + ")"
}
