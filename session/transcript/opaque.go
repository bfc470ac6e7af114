package transcript

import (
	"strconv"
	"unicode/utf8"

	"github.com/comity-dev/comity/session/journal"
)

// opaque takes a harness's own record: what it made public of it, and with Private all
// that there is. One without a public form is in no public view.
func (b *builder) opaque(r journal.OpaqueRecord, seq uint64) {
	body := r.Public
	if b.opt.Private {
		body = r.Body
	} else if body == nil {
		return
	}
	n := note{mark: mark{seq: seq}, kind: r.Kind, line: "A record of kind " + r.Kind + ".", detail: plain(b.cut(readable(body)))}
	b.add(b.root, n, len(n.line)+sizeOf(n.detail))
	b.flush(b.root, false)
}

// readable is a body as text, or how long it is when it is none.
func readable(body []byte) string {
	if utf8.Valid(body) {
		return string(body)
	}
	return strconv.Itoa(len(body)) + " bytes"
}
