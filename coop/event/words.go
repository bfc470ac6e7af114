package event

// words hold short strings that were read lately, by slot, so that what the events
// of a day say over and over is made once. A nil one holds nothing.
type words [256]string

// maxWord bounds a string that is held, in bytes.
const maxWord = 64

// of returns b as a string.
func (w *words) of(b []byte) string {
	n := len(b)
	if w == nil || n == 0 || n > maxWord {
		return string(b)
	}
	p := &w[(int(b[0])+int(b[n/2])*7+int(b[n-1])*31+n*131)%len(w)]
	if *p != string(b) {
		*p = string(b)
	}
	return *p
}
