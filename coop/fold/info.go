package fold

import (
	"encoding/binary"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

// An info is what a session said of itself, packed: most sessions say it again and
// again, and nothing but the checkout is looked at before somebody asks.
type info struct {
	checkout ident.CheckoutID // part of text
	text     string
}

// What text has first: what is said of the working tree.
const (
	dirtyUnsaid = iota
	dirtyNo
	dirtyYes
)

// members are the texts of an info in their order in the pack. The name of the
// session is not among them: who holds the info knows it.
func members(i *event.SessionInfo) [11]*string {
	return [...]*string{
		(*string)(&i.Checkout), &i.Client, &i.By, &i.Host, &i.Branch, &i.Head, &i.Intent, &i.Issue, &i.Task, &i.Worker, &i.Context,
	}
}

// info packs what a session says, or returns the one that says just that.
func (s *State) info(last *info, said *event.SessionInfo) *info {
	b := append(s.text[:0], dirtyUnsaid)
	if said.Dirty != nil {
		b[0] = dirtyNo
		if *said.Dirty {
			b[0] = dirtyYes
		}
	}
	for _, m := range members(said) {
		b = append(binary.AppendUvarint(b, uint64(len(*m))), *m...)
	}
	s.text = b
	if last != nil && last.text == string(b) {
		return last
	}
	i := &info{text: string(b)}
	n, size := binary.Uvarint(b[1:])
	i.checkout = ident.CheckoutID(i.text[1+size : 1+size+int(n)])
	return i
}

// of is what was said by the session sid.
func (i *info) of(sid string) event.SessionInfo {
	said := event.SessionInfo{Session: sid}
	if d := i.text[0]; d != dirtyUnsaid {
		dirty := d == dirtyYes
		said.Dirty = &dirty
	}
	rest := i.text[1:]
	for _, m := range members(&said) {
		n, size := uvarint(rest)
		*m, rest = rest[size:size+n], rest[size+n:]
	}
	return said
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
