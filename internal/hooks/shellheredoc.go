package hooks

import "strings"

// A heredoc is the text below a command. quoted: nothing in it is expanded.
type heredoc struct {
	end    string
	tabs   bool // leading ones are taken away
	quoted bool
	read   bool
	body   string
	script *standing // set when a shell runs it
}

// heredocs reads the texts that begin at this line.
func (sh *shell) heredocs() {
	for _, h := range sh.here {
		begin := sh.i
		end := len(sh.src)
		for sh.more() {
			at := sh.i
			line := sh.until('\n')
			if h.tabs {
				line = strings.TrimLeft(line, "\t")
			}
			if strings.TrimSuffix(line, "\r") == h.end {
				end = at
				break
			}
		}
		h.body, h.read = sh.src[begin:end], true
		if h.script != nil {
			sh.script(h.body, *h.script)
		} else if !h.quoted && strings.ContainsAny(h.body, "$`") {
			sh.expandText(h.body)
		}
	}
	sh.here = nil
}

// expandText runs the substitutions in a text that is as in double quotes.
func (sh *shell) expandText(text string) {
	if sh.depth >= maxNesting || !sh.found.spend(len(text)) {
		sh.found.anywhere = true
		return
	}
	in := &shell{src: text, depth: sh.depth + 1, at: sh.at.inner(), found: sh.found}
	var b builder
	for in.more() {
		b.text = b.text[:0]
		in.double(&b) // a quote in the text is text
	}
}
