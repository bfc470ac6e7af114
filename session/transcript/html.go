package transcript

import (
	_ "embed"
	"fmt"
	"html"
	"strings"

	"github.com/comity-dev/comity/session/event"
)

// page writes one HTML file. It has no script, asks nobody for anything, and says so to
// the browser.
type page struct{}

//go:embed page.css
var pageCSS string

func (p page) write(o *out, entry any) {
	switch e := entry.(type) {
	case head:
		p.head(o, e)
	case turnStart:
		if e.index > 0 {
			o.str(`<section class="turn" id="`, p.anchor(e.mark), `"><h2>Turn `, fmt.Sprint(e.index))
		} else {
			o.str(`<section class="turn"><h2>Turn`)
		}
		o.str(p.time(e.at), "</h2>\n")
		if len(e.input) > 0 {
			o.str(`<article class="message user"><h4>`, speaker(event.RoleUser, e.agency), "</h4>\n")
			p.prose(o, e.input)
			o.str("</article>\n")
		}
	case turnEnd:
		o.str(`<p class="meta">Turn: `, p.outcome(e.outcome), dot(usageOf(e.usage)), "</p>\n")
		p.blocks(o, plain(e.err))
		o.str("</section>\n")
	case stepStart:
		o.str(`<section class="step"><h3>Step `, fmt.Sprint(e.n), "</h3>\n")
	case stepEnd:
		if s := strings.Join(add(nil, esc(e.model), esc(e.stop), usageOf(e.usage)), " · "); s != "" {
			o.str(`<p class="meta">Step: `, s, "</p>\n")
		}
		o.str("</section>\n")
	case message:
		o.str(`<article class="message `, esc(string(e.role)), `" id="`, p.anchor(e.mark), `"><h4>`, speaker(e.role, ""), p.time(e.at), "</h4>\n")
		p.prose(o, e.content)
		o.str("</article>\n")
	case note:
		p.note(o, e)
	case *call:
		p.call(o, e)
	case *gateEntry:
		p.gate(o, e)
	case *delegate:
		p.delegate(o, e)
	case foot:
		p.foot(o, e)
	default:
		panic(fmt.Sprintf("no form of a %T", e)) // unreachable unless an entry is new
	}
}

func (p page) head(o *out, h head) {
	title := esc(titleFor(h))
	o.str("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n",
		`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">`, "\n",
		`<meta name="viewport" content="width=device-width, initial-scale=1">`, "\n",
		`<meta name="referrer" content="no-referrer">`, "\n",
		`<meta name="color-scheme" content="light dark">`, "\n",
		"<title>", html.EscapeString(inTitle(titleFor(h))), "</title>\n<style>\n", pageCSS, "</style>\n</head>\n<body>\n<header>\n<h1>", title, "</h1>\n<dl>\n")
	for _, fact := range factsOf(h) {
		o.str("<dt>", fact[0], "</dt><dd>", esc(fact[1]), "</dd>\n")
	}
	o.str("</dl>\n</header>\n<main>\n")
}

func (p page) note(o *out, n note) {
	if len(n.detail) == 0 {
		o.str(`<p class="note" id="`, p.anchor(n.mark), `">`, esc(n.line), p.time(n.at), "</p>\n")
		return
	}
	o.str(`<details class="note" id="`, p.anchor(n.mark), `"><summary>`, esc(n.line), p.time(n.at), "</summary>\n")
	p.blocks(o, n.detail)
	o.str("</details>\n")
}

func (p page) call(o *out, c *call) {
	name, how := callOf(c)
	o.str(`<details class="call `, esc(c.outcome), `" id="`, p.anchor(c.mark), `"><summary><b>`, esc(name), `</b> <span class="how">`, esc(how), "</span>")
	if line := glance(c.input); line != "" {
		o.str(" <code>", esc(line), "</code>")
	}
	o.str(p.time(c.at), "</summary>\n")
	if c.input.s != "" {
		o.str("<h5>Input</h5>\n")
		p.input(o, c.input)
	}
	if len(c.result) > 0 {
		o.str("<h5>Result</h5>\n")
		p.blocks(o, c.result)
	}
	o.str("</details>\n")
	// What people look for is not folded away with the call.
	for _, g := range c.gates {
		p.gate(o, g)
	}
	for _, d := range c.delegates {
		p.delegate(o, d)
	}
}

// input writes the members of an input apart, if it has any.
func (p page) input(o *out, t text) {
	members, ok := membersOf(t)
	if !ok {
		p.pre(o, t)
		return
	}
	o.str("<dl class=\"input\">\n")
	for _, m := range members {
		o.str("<dt>", esc(m.name), "</dt><dd>")
		if m.lines() || len(m.value) > maxLine {
			p.pre(o, text{s: m.value})
		} else {
			o.str("<code>", esc(m.value), "</code>")
		}
		o.str("</dd>\n")
	}
	o.str("</dl>\n")
}

func (p page) gate(o *out, g *gateEntry) {
	class := string(g.decision.Action)
	if class == "" {
		class = open
	}
	o.str(`<div class="gate `, esc(class), `" id="`, p.anchor(g.mark), `"><b>`, esc(askedOf(g)), "</b>: ", esc(decidedOf(g)), p.time(g.decidedAt), "\n")
	if s := privateOf(g); s != "" {
		p.pre(o, text{s: s})
	}
	o.str("</div>\n")
}

func (p page) delegate(o *out, d *delegate) {
	name, how := delegateOf(d)
	o.str(`<details class="delegate `, esc(d.outcome), `" id="`, p.anchor(d.mark), `"><summary>Delegate <b>`, esc(name), `</b> <span class="how">`, esc(how), dot(esc(d.model)),
		"</span>", p.time(d.at), "</summary>\n")
	if len(d.task) > 0 {
		o.str(`<article class="message user"><h4>Task</h4>`, "\n")
		p.prose(o, d.task)
		o.str("</article>\n")
	}
	if d.work != nil && o.err == nil {
		o.err = d.work.copyTo(o.w)
	}
	if len(d.result) > 0 || d.err.s != "" {
		o.str(`<article class="message assistant"><h4>Result</h4>`, "\n")
		p.blocks(o, plain(d.err))
		p.prose(o, d.result)
		o.str("</article>\n")
	}
	o.str("</details>\n")
}

func (p page) foot(o *out, e foot) {
	o.str("</main>\n<footer>\n<p>", endOf(e), fmt.Sprintf(" %d turns, %d tool calls", e.sum.Turns, e.sum.Calls))
	if s := usageOf(e.usage); s != "" {
		o.str(", ", s)
	}
	o.str(".</p>\n")
	if len(e.waiting) > 0 {
		o.str("<h2>Inputs that nothing came of yet</h2>\n<ul>\n")
		for _, w := range e.waiting {
			o.str(fmt.Sprintf("<li>record %d: ", w.seq), esc(w.text), "</li>\n")
		}
		o.str(listMore(e.moreWait), "</ul>\n")
	}
	if len(e.warnings) > 0 {
		o.str("<h2>Warnings</h2>\n<ul class=\"warnings\">\n")
		for _, w := range e.warnings {
			o.str(fmt.Sprintf("<li>record %d: ", w.seq), esc(w.text), "</li>\n")
		}
		o.str(listMore(e.moreWarns), "</ul>\n")
	}
	o.str("</footer>\n</body>\n</html>\n")
}

func listMore(n uint64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("<li>and %d more</li>\n", n)
}

func (page) anchor(m mark) string { return fmt.Sprintf("r%d", m.seq) }

func (page) time(millis uint64) string {
	if s := timeOf(millis); s != "" {
		return ` <time datetime="` + stamp(millis) + `">` + s + "</time>"
	}
	return ""
}

func (page) outcome(s string) string {
	return `<span class="` + esc(s) + `">` + esc(outcomeOf(s)) + "</span>"
}

func dot(s string) string {
	if s == "" {
		return ""
	}
	return " · " + s
}

// blocks writes a content as it is, letter by letter.
func (p page) blocks(o *out, blocks []block) {
	for _, b := range blocks {
		if b.Type == event.BlockFile {
			o.str(`<p class="file">`, esc(fileOf(b)), "</p>\n")
			continue
		}
		p.pre(o, b.text)
	}
}

func (page) pre(o *out, t text) {
	o.str("<pre>\n") // a line feed here is not of the text
	escTo(o, t.s)
	o.str("</pre>\n")
	if more := leftOut(t); more != "" {
		o.str(`<p class="meta">`, more, "</p>\n")
	}
}

// esc returns s escaped for text and for attributes in quotes, with hidden characters
// shown.
func esc(s string) string {
	var b strings.Builder
	o := &out{w: &b}
	escTo(o, s)
	return b.String()
}

// inTitle is s without the characters that steer what shows it: the title of a page
// has no markup that could show them.
func inTitle(s string) string {
	var b strings.Builder
	visible(s, func(run string) { b.WriteString(run) }, func(rune) { b.WriteByte(' ') })
	return b.String()
}

func escTo(o *out, s string) {
	visible(s, func(run string) { o.str(html.EscapeString(run)) }, func(r rune) {
		o.str(`<span class="hidden">`, codePoint(r), "</span>")
	})
}
