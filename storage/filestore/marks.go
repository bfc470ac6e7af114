package filestore

import (
	"encoding/binary"
	"sort"
)

const (
	// reach is how far behind a mark its records lie, in indexes of the log. Small
	// enough that a record among those of other ledgers has a mark of its own,
	// large enough that a ledger that is written alone has fewer.
	reach = 4
	// every so many marks there is an anchor.
	anchorEvery = 32
)

// A mark says where in the log to begin to look for a record of a ledger.
type mark struct{ seq, index uint64 }

// A marks is the marks of a ledger in order, two or three bytes each. It is only
// ever appended to, so that a copy of it, made under the lock, can be read
// without it.
type marks struct {
	n       int
	last    mark
	b       []byte // of each mark what it adds to the one before, as varints
	anchors []anchor
}

// An anchor is a mark with the place in b behind it.
type anchor struct {
	mark
	at int
}

// add appends a mark.
func (ms *marks) add(m mark) {
	ms.b = binary.AppendUvarint(ms.b, m.seq-ms.last.seq)
	ms.b = binary.AppendUvarint(ms.b, m.index-ms.last.index)
	if ms.n%anchorEvery == 0 {
		ms.anchors = append(ms.anchors, anchor{m, len(ms.b)})
	}
	ms.n++
	ms.last = m
}

// parseMarks returns the marks that b holds.
func parseMarks(b []byte) (ms marks, ok bool) {
	ms.b = b
	for at := 0; at < len(b); ms.n++ {
		m, n := takeMark(b[at:], ms.last)
		if n == 0 {
			return marks{}, false
		}
		ms.last = m
		if at += n; ms.n%anchorEvery == 0 {
			ms.anchors = append(ms.anchors, anchor{m, at})
		}
	}
	ms.b = b[:len(b):len(b)]
	return ms, true
}

// takeMark decodes the mark behind prev. n is its length, 0 when there is none.
func takeMark(b []byte, prev mark) (m mark, n int) {
	seq, i := binary.Uvarint(b)
	if i <= 0 {
		return m, 0
	}
	index, j := binary.Uvarint(b[i:])
	if j <= 0 {
		return m, 0
	}
	return mark{prev.seq + seq, prev.index + index}, i + j
}

// A trail is the marks from one on.
type trail struct {
	cur  mark
	next mark // if more
	more bool
	b    []byte
}

// from returns the trail from the last mark that is not behind seq.
func (ms *marks) from(seq uint64) (t trail, ok bool) {
	i := sort.Search(len(ms.anchors), func(i int) bool { return ms.anchors[i].seq > seq })
	if i == 0 {
		return t, false
	}
	a := ms.anchors[i-1]
	t = trail{cur: a.mark, b: ms.b[a.at:]}
	t.peek()
	for t.more && t.next.seq <= seq {
		t.step()
	}
	return t, true
}

func (t *trail) peek() {
	m, n := takeMark(t.b, t.cur)
	t.next, t.more, t.b = m, n > 0, t.b[n:]
}

// step goes to the next mark.
func (t *trail) step() {
	t.cur = t.next
	t.peek()
}
