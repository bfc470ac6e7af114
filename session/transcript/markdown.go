package transcript

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/comity-dev/comity/session/event"
)

// markdown writes CommonMark. What is not ours stands in fences, or, in a line of ours,
// with its marks escaped. The work of a delegate is a quotation.
type markdown struct{}

func (m markdown) write(o *out, entry any) {
	switch e := entry.(type) {
	case head:
		o.str("# ", inline(titleFor(e)), "\n\n")
		for _, fact := range factsOf(e) {
			o.str("- ", fact[0], ": ", inline(fact[1]), "\n")
		}
		o.str("\n")
	case turnStart:
		o.str("## Turn")
		if e.index > 0 {
			o.str(fmt.Sprintf(" %d", e.index))
		}
		o.str(dash(timeOf(e.at)), "\n\n")
		if len(e.input) > 0 {
			o.str("**", speaker(event.RoleUser, e.agency), "**\n\n")
		}
		m.blocks(o, e.input)
	case turnEnd:
		o.str("*Turn: ", inline(outcomeOf(e.outcome)), dash(usageOf(e.usage)), "*\n\n")
		m.blocks(o, plain(e.err))
	case stepStart:
		o.str("### Step ", fmt.Sprint(e.n), "\n\n")
	case stepEnd:
		if s := strings.Join(add(nil, inline(e.model), inline(e.stop), usageOf(e.usage)), " — "); s != "" {
			o.str("*Step: ", s, "*\n\n")
		}
	case message:
		o.str("**", speaker(e.role, ""), "**", dash(timeOf(e.at)), "\n\n")
		m.blocks(o, e.content)
	case note:
		o.str("*", inline(e.line), "*", dash(timeOf(e.at)), "\n\n")
		m.blocks(o, e.detail)
	case *call:
		m.call(o, e)
	case *gateEntry:
		m.gate(o, e)
	case *delegate:
		m.delegate(o, e)
	case foot:
		m.foot(o, e)
	default:
		panic(fmt.Sprintf("no form of a %T", e)) // unreachable unless an entry is new
	}
}

func (m markdown) call(o *out, c *call) {
	name, how := callOf(c)
	o.str("**Tool call: ", inline(name), "** — ", inline(how), dash(timeOf(c.at)), "\n\n")
	m.input(o, c.input)
	for _, g := range c.gates {
		m.gate(o, g)
	}
	for _, d := range c.delegates {
		m.delegate(o, d)
	}
	if len(c.result) > 0 {
		o.str("Result:\n\n")
		m.blocks(o, c.result)
	}
}

// input writes the members of an input apart if one of them has lines, else all as it is.
func (m markdown) input(o *out, t text) {
	members, ok := membersOf(t)
	if !ok || !slices.ContainsFunc(members, member.lines) {
		if t.s != "" {
			m.fence(o, "json", t)
		}
		return
	}
	for _, member := range members {
		o.str("- ", inline(member.name), ":")
		if member.lines() || len(member.value) > maxLine {
			o.str("\n\n")
			m.fence(o, "text", text{s: member.value})
		} else {
			o.str(" ", inline(member.value), "\n\n")
		}
	}
}

func (m markdown) gate(o *out, g *gateEntry) {
	o.str("**Gate: ", inline(askedOf(g)), "** — ", inline(decidedOf(g)), dash(timeOf(g.decidedAt)), "\n\n")
	if s := privateOf(g); s != "" {
		m.fence(o, "text", text{s: s})
	}
}

func (m markdown) delegate(o *out, d *delegate) {
	name, how := delegateOf(d)
	o.str("**Delegate: ", inline(name), "** — ", inline(how), dash(inline(d.model)), dash(timeOf(d.at)), "\n\n")
	if len(d.task) > 0 {
		o.str("Task:\n\n")
		m.blocks(o, d.task)
	}
	if d.work != nil && o.err == nil {
		q := &quotation{w: o.w, fresh: true}
		o.err = d.work.copyTo(q)
		o.str("\n")
	}
	if len(d.result) > 0 || d.err.s != "" {
		o.str("Result of ", inline(name), ":\n\n")
		m.blocks(o, plain(d.err))
		m.blocks(o, d.result)
	}
}

func (m markdown) foot(o *out, e foot) {
	o.str("---\n\n", endOf(e), fmt.Sprintf(" %d turns, %d tool calls", e.sum.Turns, e.sum.Calls))
	if s := usageOf(e.usage); s != "" {
		o.str(", ", s)
	}
	o.str(".\n\n")
	if len(e.waiting) > 0 {
		o.str("Inputs that nothing came of yet:\n\n")
		for _, w := range e.waiting {
			o.str(fmt.Sprintf("- record %d: ", w.seq), inline(w.text), "\n")
		}
		o.str(andMore(e.moreWait), "\n")
	}
	if len(e.warnings) > 0 {
		o.str("Warnings:\n\n")
		for _, w := range e.warnings {
			o.str(fmt.Sprintf("- record %d: ", w.seq), inline(w.text), "\n")
		}
		o.str(andMore(e.moreWarns), "\n")
	}
}

func andMore(n uint64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("- and %d more\n", n)
}

func (m markdown) blocks(o *out, blocks []block) {
	for _, b := range blocks {
		switch b.Type {
		case event.BlockFile:
			o.str("*", inline(fileOf(b)), "*\n\n")
		case event.BlockThinking:
			o.str("*Thinking:*\n\n")
			m.fence(o, "text", b.text)
		default:
			m.fence(o, "text", b.text)
		}
	}
}

// fence writes a text between fences that are longer than any run of backquotes in it.
func (markdown) fence(o *out, info string, t text) {
	s := shown(t.s)
	longest, run := 0, 0
	for i := range len(s) {
		if s[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", max(3, longest+1))
	o.str(fence, info, "\n", s)
	if s != "" && !strings.HasSuffix(s, "\n") {
		o.str("\n")
	}
	o.str(fence, "\n\n")
	if more := leftOut(t); more != "" {
		o.str("*", more, "*\n\n")
	}
}

// inline returns s for a line of ours: on one line, with its marks escaped.
func inline(s string) string {
	s = strings.Join(strings.Fields(shown(s)), " ")
	var b strings.Builder
	for i := range len(s) {
		if strings.IndexByte("\\`*_[]<>&~|!#$", s[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func dash(s string) string {
	if s == "" {
		return ""
	}
	return " — " + s
}

// A quotation writes with a mark at the beginning of each line.
type quotation struct {
	w     io.Writer
	fresh bool // a line begins
}

func (q *quotation) Write(b []byte) (n int, err error) {
	for len(b) > 0 {
		line := b
		if end := bytes.IndexByte(b, '\n'); end >= 0 {
			line = b[:end+1]
		}
		if q.fresh {
			mark := "> "
			if line[0] == '\n' {
				mark = ">"
			}
			if _, err := io.WriteString(q.w, mark); err != nil {
				return n, err
			}
		}
		k, err := q.w.Write(line)
		n += k
		if err != nil {
			return n, err
		}
		q.fresh = line[len(line)-1] == '\n'
		b = b[len(line):]
	}
	return n, nil
}
