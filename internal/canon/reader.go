package canon

// A Reader reads one value from front to back and checks the canonical form of
// what it passes. After an error every method returns zero values; End tells
// the error. What it returns aliases the bytes it was given where it can.
type Reader struct {
	b     []byte
	pos   int
	depth int
	err   *Error
}

// An Object is the place of a Reader in an object it entered.
type Object struct {
	last []byte // name of the member before, decoded
	some bool   // a member was read
}

// NewReader returns a Reader of b.
func NewReader(b []byte) Reader { return Reader{b: b} }

// Offset returns where the next byte is read.
func (r *Reader) Offset() int { return r.pos }

// Err returns the first error, or nil.
func (r *Reader) Err() error {
	if r.err == nil {
		return nil
	}
	return r.err
}

// End returns the first error; bytes that are left are one.
func (r *Reader) End() error {
	if r.err == nil && r.pos != len(r.b) {
		r.fail("more bytes after the value")
	}
	return r.Err()
}

func (r *Reader) fail(detail string) {
	if r.err == nil {
		r.err = &Error{Offset: r.pos, Detail: detail}
	}
}

// Peek returns the next byte, which tells the kind of the next value; 0 at the
// end and after an error.
func (r *Reader) Peek() byte {
	if r.err != nil || r.pos >= len(r.b) {
		return 0
	}
	return r.b[r.pos]
}

func (r *Reader) expect(c byte, detail string) bool {
	if r.err != nil || r.pos >= len(r.b) || r.b[r.pos] != c {
		r.fail(detail)
		return false
	}
	r.pos++
	return true
}

func (r *Reader) enter(c byte, detail string) bool {
	if !r.expect(c, detail) {
		return false
	}
	if r.depth++; r.depth > MaxDepth {
		r.fail("nested too deep")
		return false
	}
	return true
}

// OpenObject enters an object; Next reads its members.
func (r *Reader) OpenObject() (Object, bool) {
	return Object{}, r.enter('{', "want an object")
}

// Next returns the decoded name of o's next member, whose value the caller then
// reads; false at the end of o, which it leaves, and after an error.
func (r *Reader) Next(o *Object) (name []byte, ok bool) {
	if r.Peek() == '}' {
		r.pos++
		r.depth--
		return nil, false
	}
	if o.some && !r.expect(',', "want a comma or the end of the object") {
		return nil, false
	}
	at := r.pos
	name, ok = r.String()
	if !ok {
		return nil, false
	}
	if o.some && Compare(o.last, name) >= 0 {
		r.pos = at
		if string(o.last) == string(name) {
			r.fail("a name occurs twice in one object")
		} else {
			r.fail("names are not sorted")
		}
		return nil, false
	}
	o.last, o.some = name, true
	return name, r.expect(':', "want a colon")
}

// OpenArray enters an array; More reads its commas.
func (r *Reader) OpenArray() bool { return r.enter('[', "want an array") }

// More reports whether another element follows, which the caller then reads;
// first tells that none was read. It leaves the array at its end.
func (r *Reader) More(first bool) bool {
	if r.Peek() == ']' {
		r.pos++
		r.depth--
		return false
	}
	return r.err == nil && (first || r.expect(',', "want a comma or the end of the array"))
}

// Bool reads true or false.
func (r *Reader) Bool() (v, ok bool) {
	switch r.Peek() {
	case 't':
		return true, r.word("true")
	case 'f':
		return false, r.word("false")
	}
	r.fail("want true or false")
	return false, false
}

func (r *Reader) word(w string) bool {
	if len(r.b)-r.pos < len(w) || string(r.b[r.pos:r.pos+len(w)]) != w {
		r.fail("want " + w)
		return false
	}
	r.pos += len(w)
	return true
}

// Int reads an integer from -MaxInt to MaxInt.
func (r *Reader) Int() (n int64, ok bool) {
	if r.err != nil {
		return 0, false
	}
	start, neg := r.pos, false
	if r.Peek() == '-' {
		neg = true
		r.pos++
	}
	digits := r.pos
	for r.pos < len(r.b) && r.b[r.pos]-'0' <= 9 && r.pos-digits < 17 {
		n = n*10 + int64(r.b[r.pos]-'0')
		r.pos++
	}
	detail := ""
	switch c := r.Peek(); {
	case r.pos == digits:
		detail = "want an integer"
	case c == '.' || c == 'e' || c == 'E':
		detail = "a number with a fraction or an exponent"
	case n > MaxInt:
		detail = "an integer outside ±(2^53-1)"
	case r.b[digits] == '0' && (neg || r.pos > digits+1):
		detail = "a leading zero or minus zero"
	}
	if detail != "" {
		r.pos = start
		r.fail(detail)
		return 0, false
	}
	if neg {
		n = -n
	}
	return n, true
}

// Skip passes one value of any kind.
func (r *Reader) Skip() {
	switch c := r.Peek(); c {
	case '{':
		r.skipObject()
	case '[':
		r.skipArray()
	case '"':
		r.skipString()
	case 't', 'f':
		r.Bool()
	case 'n':
		r.word("null")
	default:
		if c == '-' || '0' <= c && c <= '9' {
			r.Int()
		} else {
			r.fail("want a value")
		}
	}
}

// Raw passes one value of any kind and returns its bytes.
func (r *Reader) Raw() []byte {
	start := r.pos
	if r.Skip(); r.err != nil {
		return nil
	}
	return r.b[start:r.pos:r.pos]
}

func (r *Reader) skipObject() {
	o, ok := r.OpenObject()
	for ok {
		if _, ok = r.Next(&o); ok {
			r.Skip()
		}
	}
}

func (r *Reader) skipArray() {
	if !r.OpenArray() {
		return
	}
	for first := true; r.More(first); first = false {
		r.Skip()
	}
}
