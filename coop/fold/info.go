package fold

import (
	"encoding/binary"
	"encoding/hex"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

// An info is what a session said of itself, packed: most sessions say it again and
// again, and nothing but the checkout is looked at before somebody asks.
type info struct {
	who  *who
	text string // whether the tree is dirty, the commit, and the texts of told
}

// A who is what the sessions of one person in one place say alike, held once.
type who struct {
	checkout ident.CheckoutID // part of text
	text     string           // the texts of named
}

// What text has first: what is said of the working tree.
const (
	dirtyUnsaid = iota
	dirtyNo
	dirtyYes
)

// named and told are the texts of an info in their order in the pack. The name of
// the session is not among them: who holds the info knows it.
func named(i *event.SessionInfo) [5]*string {
	return [...]*string{(*string)(&i.Checkout), &i.Client, &i.By, &i.Host, &i.Worker}
}

func told(i *event.SessionInfo) [5]*string {
	return [...]*string{&i.Intent, &i.Branch, &i.Issue, &i.Task, &i.Context}
}

// info packs what a session says, or returns the one that says just that.
func (s *State) info(last *info, said *event.SessionInfo) *info {
	who := s.who(last, said)
	b := append(s.text[:0], dirtyUnsaid)
	if said.Dirty != nil {
		b[0] = dirtyNo
		if *said.Dirty {
			b[0] = dirtyYes
		}
	}
	b = appendHead(b, said.Head)
	for _, m := range told(said) {
		b = appendText(b, *m)
	}
	s.text = b
	if last != nil && last.who == who && last.text == string(b) {
		return last
	}
	return &info{who, string(b)}
}

func (s *State) who(last *info, said *event.SessionInfo) *who {
	b := s.text[:0]
	for _, m := range named(said) {
		b = appendText(b, *m)
	}
	s.text = b
	if last != nil && last.who.text == string(b) {
		return last.who
	}
	if w := s.whos[string(b)]; w != nil {
		return w
	}
	w := &who{text: string(b)}
	checkout, _ := cutText(w.text)
	w.checkout = ident.CheckoutID(checkout)
	s.whos[w.text] = w
	return w
}

// checkout is the one in which the session says to be.
func (i *info) checkout() ident.CheckoutID { return i.who.checkout }

// intent shares memory with i.
func (i *info) intent() string {
	_, rest := cutHead(i.text[1:])
	intent, _ := cutText(rest)
	return intent
}

// of is what was said by the session sid.
func (i *info) of(sid string) event.SessionInfo {
	said := event.SessionInfo{Session: sid}
	if d := i.text[0]; d != dirtyUnsaid {
		dirty := d == dirtyYes
		said.Dirty = &dirty
	}
	rest := i.who.text
	for _, m := range named(&said) {
		*m, rest = cutText(rest)
	}
	said.Head, rest = cutHead(i.text[1:])
	for _, m := range told(&said) {
		*m, rest = cutText(rest)
	}
	return said
}

func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

func cutText(packed string) (text, rest string) {
	n, size := uvarint(packed)
	return packed[size : size+n], packed[size+n:]
}

// appendHead packs the id of a commit in half its digits, and what is none as it is.
func appendHead(b []byte, head string) []byte {
	n := len(head) / 2
	first := len(b)
	b = binary.AppendUvarint(b, uint64(len(head))<<1|1)
	at := len(b)
	b = append(b, head[:n]...) // room for it
	if len(head)%2 == 0 && ident.Unhex(b[at:], head) {
		return b
	}
	b[first] &^= 1
	return append(b[:at], head...)
}

func cutHead(packed string) (head, rest string) {
	n, size := uvarint(packed)
	packed = packed[size:]
	if n&1 == 0 {
		return packed[:n>>1], packed[n>>1:]
	}
	n /= 4
	return hex.EncodeToString([]byte(packed[:n])), packed[n:]
}

// uvarint is binary.Uvarint of a string.
func uvarint(s string) (n, size int) {
	for shift := 0; ; shift += 7 {
		c := s[size]
		size++
		n |= int(c&0x7f) << shift
		if c < 0x80 {
			return n, size
		}
	}
}
