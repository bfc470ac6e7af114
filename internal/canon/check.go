package canon

// MaxInt is the highest integer of the form; -MaxInt is the lowest.
const MaxInt = 1<<53 - 1

// MaxDepth is how deep objects and arrays may nest.
const MaxDepth = 64

// Check reports whether b is one value in canonical form, whole: nil, or an
// *Error.
func Check(b []byte) error {
	r := NewReader(b)
	r.Skip()
	return r.End()
}
