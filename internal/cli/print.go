package cli

import (
	"bufio"
	"fmt"
	"strings"
)

// columns is the width that every line for people fits.
const columns = 80

// A printer writes lines for people. Its first failure stays.
type printer struct {
	w      *bufio.Writer
	colour bool
}

func (p *printer) printf(format string, args ...any) { fmt.Fprintf(p.w, format, args...) }

func (p *printer) flush() error { return p.w.Flush() }

// A style is how a cell looks on a terminal with colours.
type style string

const (
	plain  style = ""
	bold   style = "1"
	faint  style = "2"
	red    style = "31"
	green  style = "32"
	yellow style = "33"
)

// paint is text in a style, where colours are on.
func (p *printer) paint(s style, text string) string {
	if !p.colour || s == plain || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

// A cell is one part of a row.
type cell struct {
	text string
	flex bool // may be cut in its middle
	min  int  // padded to this width
	style
}

// key is a cell that is never cut, flex one that may be.
func key(text string) cell          { return cell{text: text} }
func flex(text string) cell         { return cell{text: text, flex: true} }
func (c cell) as(s style) cell      { c.style = s; return c }
func (c cell) pad(n int) cell       { c.min = n; return c }
func (c cell) width() int           { return max(width(c.text), c.min) }
func keyf(f string, a ...any) cell  { return key(fmt.Sprintf(f, a...)) }
func flexf(f string, a ...any) cell { return flex(fmt.Sprintf(f, a...)) }

// minFlex is as short as a cell is ever cut.
const minFlex = 16

// row prints cells on one line with two spaces between them. What is too wide is
// cut where it may be; what then still does not fit goes on the next line.
func (p *printer) row(indent int, cells ...cell) {
	cells = prepare(cells)
	shrink(cells, columns-indent)
	var line strings.Builder
	line.WriteString(strings.Repeat(" ", indent))
	at, first := indent, true
	for _, c := range cells {
		if !first && at+2+width(c.text) > columns {
			p.printf("%s\n", strings.TrimRight(line.String(), " "))
			line.Reset()
			line.WriteString(strings.Repeat(" ", indent+4))
			at, first = indent+4, true
		}
		if !first {
			line.WriteString("  ")
			at += 2
		}
		line.WriteString(p.paint(c.style, c.text))
		line.WriteString(strings.Repeat(" ", c.width()-width(c.text)))
		at += c.width()
		first = false
	}
	p.printf("%s\n", strings.TrimRight(line.String(), " "))
}

// prepare is cells as single lines, without the empty ones.
func prepare(cells []cell) []cell {
	var out []cell
	for _, c := range cells {
		if c.text = oneLine(c.text); c.text != "" || c.min > 0 {
			out = append(out, c)
		}
	}
	return out
}

// shrink cuts the widest of the cells that may be cut until all fit into room.
func shrink(cells []cell, room int) {
	total := 2 * (len(cells) - 1)
	for _, c := range cells {
		total += c.width()
	}
	for total > room {
		widest := -1
		for i, c := range cells {
			if c.flex && width(c.text) > minFlex && (widest < 0 || width(c.text) > width(cells[widest].text)) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		c := &cells[widest]
		before := c.width()
		c.min = 0
		c.text = middle(c.text, max(minFlex, min(width(c.text)-1, width(c.text)-(total-room)/2)))
		total += c.width() - before
	}
}

// widest is the column that the first words of n lines need so that what follows
// stands in one line; a longer word than maxColumn sticks out.
func widest(n int, word func(i int) string) int {
	w := 0
	for i := range n {
		if k := width(oneLine(word(i))); k <= maxColumn {
			w = max(w, k)
		}
	}
	return w
}

const maxColumn = 20

// heading prints a title and how many things follow.
func (p *printer) heading(title string, n int) {
	p.printf("%s %d\n", p.paint(bold, title), n)
}

// wrapped prints text over as many lines as it needs, all but the first with
// indent. The first begins at column start. A word is only broken when it has no
// room on a line of its own; what is left of it then begins the next line.
func (p *printer) wrapped(start, indent int, text string) {
	at, fresh := start, true
	for _, word := range strings.Fields(text) {
		for i, part := range pieces(word, columns-max(start, indent)) {
			n := width(part)
			if i > 0 || !fresh && at+1+n > columns {
				p.printf("\n%s", strings.Repeat(" ", indent))
				at, fresh = indent, true
			}
			if !fresh {
				p.printf(" ")
				at++
			}
			p.printf("%s", part)
			at += n
			fresh = false
		}
	}
	p.printf("\n")
}

// pieces cuts a word into parts of at most room columns.
func pieces(word string, room int) []string {
	var out []string
	for width(word) > room {
		n, at := 0, 0
		for i, r := range word {
			if n += runeWidth(r); n > room {
				at = i
				break
			}
		}
		out = append(out, word[:at])
		word = word[at:]
	}
	return append(out, word)
}

// body prints a text of several lines as it is.
func (p *printer) body(text string) {
	p.printf("%s\n", strings.TrimRight(text, "\n"))
}
