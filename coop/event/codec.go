package event

import (
	"strconv"

	"github.com/comity-dev/comity/internal/canon"
)

// A codec reads or writes one body by the same description of it: the visit
// method of a body names each field once, in canonical order, with its bound.
// Writing appends canonical JSON to out. Reading is a merge of the visited
// names with the sorted members of the object, in which the members that no
// visit names are skipped. The first error stops it.
type codec struct {
	kind    string
	reading bool
	within  string // the member that the object is, "" for the body itself
	err     *BoundError

	r     canon.Reader
	words *words
	obj   canon.Object
	name  []byte // of the pending member
	have  bool   // a member is pending: its value is read next

	named bool // the member kind was read, and is kind

	out  []byte
	some bool // a member was written
}

// need says whether a field must be there.
type need bool

const (
	required need = true
	optional need = false
)

func (c *codec) fail(field, detail string) {
	if c.err == nil {
		c.err = &BoundError{Kind: c.kind, Field: c.field(field), Detail: detail}
	}
}

func (c *codec) over(field string, limit, got int, unit string) {
	if c.err == nil {
		c.err = &BoundError{Kind: c.kind, Field: c.field(field), Limit: limit, Got: got, Unit: unit}
	}
}

// field is the name of a field as an error gives it.
func (c *codec) field(name string) string {
	if c.within != "" {
		return c.within + "." + name
	}
	return name
}

// open enters the object whose members are visited next.
func (c *codec) open() {
	if !c.reading {
		c.out, c.some = append(c.out, '{'), false
		return
	}
	var ok bool
	if c.obj, ok = c.r.OpenObject(); !ok {
		c.fail("", "want an object")
		return
	}
	c.name, c.have = c.r.Next(&c.obj)
}

// close leaves the object.
func (c *codec) close() {
	if !c.reading {
		c.out = append(c.out, '}')
		return
	}
	for c.have {
		c.skip()
	}
}

func (c *codec) skip() {
	c.r.Skip()
	c.advance()
}

func (c *codec) advance() { c.name, c.have = c.r.Next(&c.obj) }

// at reports whether the object has the member name, whose value is then read;
// it skips the unknown ones before it. A required member that is missing fails.
func (c *codec) at(name string, n need) bool {
	if c.err != nil {
		return false
	}
	for c.have && string(c.name) != name && canon.Compare(c.name, []byte(name)) < 0 {
		c.skip()
	}
	if c.have && string(c.name) == name {
		return true
	}
	if n == required {
		c.fail(name, "missing")
	}
	return false
}

// put begins the member name in out.
func (c *codec) put(name string) {
	if c.some {
		c.out = append(c.out, ',')
	}
	c.some = true
	c.out = append(append(append(c.out, '"'), name...), '"', ':')
}

// A frame is what enter hides of an object until leave.
type frame struct {
	within string
	obj    canon.Object
}

// enter opens the required member name, an object.
func (c *codec) enter(name string) frame {
	switch {
	case !c.reading:
		c.put(name)
	case !c.at(name, required):
		return frame{}
	case c.r.Peek() != '{':
		c.fail(name, "want an object")
		return frame{}
	}
	f := frame{c.within, c.obj}
	c.within = name
	c.open()
	return f
}

// leave closes what enter opened.
func (c *codec) leave(f frame) {
	if c.err != nil {
		return
	}
	c.close()
	c.within, c.obj = f.within, f.obj
	if c.reading {
		c.advance()
	}
	c.some = true
}

// kindIs visits the member kind. That a body which is read has it, and it is c's,
// is for others to ask.
func (c *codec) kindIs() {
	if !c.reading {
		c.put("kind")
		c.out = canon.AppendString(c.out, c.kind)
		return
	}
	if c.at("kind", optional) && c.r.Peek() == '"' {
		kind, _ := c.r.String()
		c.named = string(kind) == c.kind
		c.advance()
	}
}

// str visits a string under rule. An empty one is unsaid: an optional member
// is then left out, and one that is written empty is refused.
func (c *codec) str(name string, p *string, rule rule, n need) {
	if c.err != nil {
		return
	}
	if c.reading {
		if !c.at(name, n) {
			return
		}
		b, ok := c.r.String()
		if !ok {
			c.fail(name, "want a string")
			return
		}
		*p = c.words.of(b)
		if len(b) == 0 {
			c.fail(name, "empty")
			return
		}
		c.advance()
	}
	switch {
	case *p != "":
		c.obey(name, *p, rule)
	case n == required:
		c.fail(name, "missing")
		return
	default:
		return
	}
	if !c.reading {
		c.put(name)
		c.out = canon.AppendString(c.out, *p)
	}
}

// obey checks s against rule.
func (c *codec) obey(name, s string, rule rule) {
	if c.err != nil {
		return
	}
	if rule.max > 0 && len(s) > rule.max {
		c.over(name, rule.max, len(s), "bytes")
	} else if wrong := rule.form(s); wrong != "" {
		c.fail(name, wrong)
	}
}

// flag visits an optional boolean.
func (c *codec) flag(name string, p **bool) {
	switch {
	case c.err != nil:
	case c.reading:
		if !c.at(name, optional) {
			return
		}
		v, ok := c.r.Bool()
		if !ok {
			c.fail(name, "want true or false")
			return
		}
		*p = &v
		c.advance()
	case *p != nil:
		v := **p
		*p = &v
		c.put(name)
		c.out = strconv.AppendBool(c.out, v)
	}
}

// count visits a required integer from 1 to MaxInt.
func (c *codec) count(name string, p *uint64) {
	if c.err != nil {
		return
	}
	if c.reading {
		if !c.at(name, required) {
			return
		}
		n, ok := c.r.Int()
		if !ok || n < 0 {
			c.fail(name, "want an integer from 1 to 2^53-1")
			return
		}
		*p = uint64(n)
		c.advance()
	}
	if *p < 1 || *p > MaxInt {
		c.fail(name, "want an integer from 1 to 2^53-1")
		return
	}
	if !c.reading {
		c.put(name)
		c.out = strconv.AppendUint(c.out, *p, 10)
	}
}

// key visits a required key.
func (c *codec) key(name string, p *Key) {
	var s string
	if !c.reading && *p != (Key{}) {
		s = p.String()
	}
	c.str(name, &s, isKey, required)
	if c.err == nil && c.reading {
		*p, _ = ParseKey(s)
	}
}

// keyOr visits an optional key.
func (c *codec) keyOr(name string, p **Key) {
	var s string
	if !c.reading && *p != nil {
		k := **p
		*p, s = &k, k.String()
	}
	c.str(name, &s, isKey, optional)
	if c.err == nil && c.reading && s != "" {
		k, _ := ParseKey(s)
		*p = &k
	}
}
