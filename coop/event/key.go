package event

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/comity-dev/comity/coop/ident"
)

// MaxInt is the highest integer of the format, 2^53-1: what every JSON
// implementation keeps exactly.
const MaxInt = 1<<53 - 1

// A Key names an event, and with it the claim, review request or publication
// that it made. It is comparable.
type Key struct {
	Stream ident.Stream
	Seq    uint64
}

// String returns "<stream>/<seq>".
func (k Key) String() string {
	return string(k.Stream) + "/" + strconv.FormatUint(k.Seq, 10)
}

// Compare orders keys by stream, then by seq as a number: -1, 0 or +1. It is
// the order of every list of keys in an event.
func (k Key) Compare(l Key) int {
	if c := strings.Compare(string(k.Stream), string(l.Stream)); c != 0 {
		return c
	}
	return cmp.Compare(k.Seq, l.Seq)
}

// Valid reports whether k has a well-formed stream and a seq from 1 to MaxInt.
func (k Key) Valid() bool {
	return k.Stream.Valid() && k.Seq >= 1 && k.Seq <= MaxInt
}

// ParseKey reads what Key.String prints, and nothing else: no sign, no leading
// zero, no uppercase.
func ParseKey(s string) (Key, error) {
	stream, seq, ok := strings.Cut(s, "/")
	k := Key{Stream: ident.Stream(stream)}
	if ok && seq != "" && seq[0] != '0' && seq[0] != '+' {
		if n, err := strconv.ParseUint(seq, 10, 53); err == nil {
			k.Seq = n
		}
	}
	if !k.Valid() {
		return Key{}, fmt.Errorf("key %.120q: want <stream>/<seq>", s)
	}
	return k, nil
}
