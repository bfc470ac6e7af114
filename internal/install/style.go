package install

import (
	"bytes"
	"github.com/go-json-experiment/json/jsontext"
	"strings"
)

// A style is how a document is written, so that what we add looks the same.
type style struct {
	nl     string // line end
	unit   string // one step of indent
	colon  string // behind a name
	gap    string // behind a comma on one line
	inline bool   // the whole document is on one line
}

func (d *document) style() style {
	s := style{nl: "\n", unit: "  ", colon: ": ", gap: " "}
	if i := bytes.IndexByte(d.b, '\n'); i > 0 && d.b[i-1] == '\r' {
		s.nl = "\r\n"
	}
	if d.root == nil || len(d.root.kids) == 0 {
		return s
	}
	s.inline = !bytes.ContainsAny(d.b[d.root.start:d.root.end], "\r\n")
	first := d.root.kids[0]
	if own := strings.TrimPrefix(d.indent(first.first), d.indent(d.root.start)); own != "" {
		s.unit = own
	}
	if c := bytes.IndexByte(d.b[first.first:first.start], ':'); c >= 0 && first.first+c+1 == first.start {
		s.colon = ":"
		if s.inline {
			s.gap = ""
		}
	}
	return s
}

// indent is the white space that the line of at begins with.
func (d *document) indent(at int) string {
	line := d.b[bytes.LastIndexAny(d.b[:at], "\r\n")+1 : at]
	if bytes.HasPrefix(line, []byte(bom)) {
		line = line[len(bom):]
	}
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// A fresh value is a string, a number as its text, an array, or an object.
type (
	number string
	array  []any
	object []field
	field  struct {
		name  string
		value any
	}
)

// write appends v to b; indent is that of the line it begins on.
func (s style) write(b *strings.Builder, v any, indent string) {
	switch v := v.(type) {
	case string:
		b.WriteString(quote(v))
	case number:
		b.WriteString(string(v))
	case array:
		s.list(b, "[", "]", indent, len(v), func(i int) { s.write(b, v[i], indent+s.unit) })
	case object:
		s.list(b, "{", "}", indent, len(v), func(i int) { s.field(b, v[i], indent+s.unit) })
	}
}

func (s style) field(b *strings.Builder, f field, indent string) {
	b.WriteString(quote(f.name) + s.colon)
	s.write(b, f.value, indent)
}

func (s style) list(b *strings.Builder, open, end, indent string, n int, kid func(i int)) {
	b.WriteString(open)
	for i := range n {
		switch {
		case i > 0:
			b.WriteString(",")
			if s.inline {
				b.WriteString(s.gap)
			}
		}
		if !s.inline {
			b.WriteString(s.nl + indent + s.unit)
		}
		kid(i)
	}
	if !s.inline && n > 0 {
		b.WriteString(s.nl + indent)
	}
	b.WriteString(end)
}

func quote(text string) string {
	b, err := jsontext.AppendQuote(nil, text)
	if err != nil {
		panic(err) // unreachable unless our own words are not UTF-8
	}
	return string(b)
}
