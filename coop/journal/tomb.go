package journal

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

// A tomb is what is remembered of a stream that was dropped: how far it was held
// and how far it was heard. Nothing of it is news that is no further.
type tomb struct {
	stream ident.Stream
	head   uint64 // the highest number held
	at     uint64 // the highest index of the log when it was dropped
	// returned: it is held again, or asked for. Its events up to head come a
	// second time.
	returned bool

	uptime            time.Duration // of the latest beat, 0 for none
	measured          bool          // in this boot: the two below are set
	difference, taken time.Duration // see life
}

// tombs are the streams that were dropped, those dropped last behind.
type tombs struct {
	byStream map[ident.Stream]*tomb
	order    []*tomb
}

func newTombs() tombs { return tombs{byStream: map[ident.Stream]*tomb{}} }

// of is the tomb of a stream that is not held; nil when it has none.
func (ts *tombs) of(s ident.Stream) *tomb {
	if t := ts.byStream[s]; t != nil && !t.returned {
		return t
	}
	return nil
}

// again reports whether an event at an index of the log had been dropped before.
func (ts *tombs) again(k event.Key, index uint64) bool {
	t := ts.byStream[k.Stream]
	return t != nil && k.Seq <= t.head && index > t.at
}

// put adds one behind the others and takes out the one dropped first when there
// are more than the bound of them: that one, when there was one.
func (ts *tombs) put(t *tomb, bound int) (over *tomb) {
	ts.remove(t.stream)
	ts.byStream[t.stream] = t
	ts.order = append(ts.order, t)
	if len(ts.order) > bound {
		over = ts.order[0]
		ts.remove(over.stream)
	}
	return over
}

func (ts *tombs) remove(s ident.Stream) {
	if t := ts.byStream[s]; t != nil {
		delete(ts.byStream, s)
		ts.order = slices.DeleteFunc(ts.order, func(u *tomb) bool { return u == t })
	}
}

// A record of tombs has all of them and takes the place of every record before
// it. It is, integers in big endian,
//
//	length of boot id (1) | boot id | for each, the one dropped first in front:
//	flags (1: 1 returned, 2 measured in that boot) | node (16) | runtime (8) | instance (8) |
//	head (8) | index (8) | uptime in milliseconds (8) | difference (8, signed) | taken (8)
//
// with the last two in nanoseconds since that boot.
const tombBytes = 1 + 16 + 8 + 8 + 5*8

const (
	tombReturned = 1
	tombMeasured = 2
)

func encodeTombs(boot string, all []*tomb) []byte {
	b := append([]byte{byte(len(boot))}, boot...)
	for _, t := range all {
		flags := byte(0)
		if t.returned {
			flags |= tombReturned
		}
		if t.measured {
			flags |= tombMeasured
		}
		b = append(b, flags)
		for _, digits := range []string{string(t.stream.Node()), string(t.stream.RuntimeID()), string(t.stream.Instance())} {
			part, _ := hex.DecodeString(digits) // a stream is parsed
			b = append(b, part...)
		}
		b = binary.BigEndian.AppendUint64(b, t.head)
		b = binary.BigEndian.AppendUint64(b, t.at)
		b = binary.BigEndian.AppendUint64(b, uint64(t.uptime.Milliseconds()))
		b = binary.BigEndian.AppendUint64(b, uint64(t.difference))
		b = binary.BigEndian.AppendUint64(b, uint64(t.taken))
	}
	return b
}

// decodeTombs reads what encodeTombs prints, and nothing else.
func decodeTombs(b []byte) (boot string, all []*tomb, err error) {
	if len(b) < 1 || len(b) < 1+int(b[0]) || (len(b)-1-int(b[0]))%tombBytes != 0 {
		return "", nil, fmt.Errorf("dropped streams: %d bytes, want whole entries", len(b))
	}
	boot = string(b[1 : 1+int(b[0])])
	seen := map[ident.Stream]bool{}
	for rest := b[1+len(boot):]; len(rest) > 0; rest = rest[tombBytes:] {
		t, err := decodeTomb(rest[:tombBytes])
		if err == nil && seen[t.stream] {
			err = fmt.Errorf("dropped stream %s: twice", t.stream)
		}
		if err != nil {
			return "", nil, err
		}
		seen[t.stream] = true
		all = append(all, t)
	}
	return boot, all, nil
}

func decodeTomb(b []byte) (*tomb, error) {
	digits := hex.EncodeToString(b[1:33])
	number := func(i int) uint64 { return binary.BigEndian.Uint64(b[33+8*i:]) }
	t := &tomb{
		stream:     ident.NewStream(ident.NodeID(digits[:32]), ident.RuntimeID(digits[32:48]), ident.InstanceID(digits[48:])),
		head:       number(0),
		at:         number(1),
		returned:   b[0]&tombReturned != 0,
		measured:   b[0]&tombMeasured != 0,
		difference: time.Duration(number(3)),
		taken:      time.Duration(number(4)),
	}
	uptime := number(2)
	if b[0] > tombReturned|tombMeasured || t.head > event.MaxInt || uptime > uint64(event.MaxUptime.Milliseconds()) {
		return nil, fmt.Errorf("dropped stream %s: flags %d, head %d, uptime %d", t.stream, b[0], t.head, uptime)
	}
	t.uptime = time.Duration(uptime) * time.Millisecond
	return t, nil
}
