package link

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/comity-dev/comity/coop/event"
)

// NotStored is why a stream is blocked of which nothing was wrong: the
// receiver's disk did not take it.
const NotStored event.Reason = "not_stored"

// A Report says what became of one batch. Its bytes are
//
//	number of the batch on this link, from 1 (8) | accepted, duplicate, pending, not stored (4 each) |
//	count of reasons (1) | for each, rising: reason | events (4) |
//	for each blocked stream, rising: stream (32) | number (8) | reason
//
// with each reason as length (1) and 1 to 64 of [A-Za-z0-9._:#-].
type Report struct {
	Batch                                   uint64
	Accepted, Duplicate, Pending, NotStored int
	Rejected                                map[event.Reason]int
	Blocked                                 []event.Blocked // by stream
}

// Append appends the frame.
func (r Report) Append(b []byte) []byte {
	frame := binary.BigEndian.AppendUint64(begin(TypeReport), r.Batch)
	for _, n := range []int{r.Accepted, r.Duplicate, r.Pending, r.NotStored} {
		frame = binary.BigEndian.AppendUint32(frame, uint32(n))
	}
	frame = append(frame, byte(len(r.Rejected)))
	for _, why := range slices.Sorted(maps.Keys(r.Rejected)) {
		frame = binary.BigEndian.AppendUint32(appendWord(frame, string(why)), uint32(r.Rejected[why]))
	}
	for _, s := range r.Blocked {
		frame = binary.BigEndian.AppendUint64(appendStream(frame, s.Stream), s.Seq)
		frame = appendWord(frame, string(s.Why))
	}
	return append(b, seal(frame)...)
}

func parseReport(raw []byte) (r Report, err error) {
	b := body{what: "report", rest: raw}
	r.Batch = b.number(1)
	r.Accepted, r.Duplicate, r.Pending, r.NotStored = b.uint32(), b.uint32(), b.uint32(), b.uint32()
	last := ""
	for range b.byte() {
		why := b.word()
		if why <= last {
			b.fail("reasons that do not rise")
		}
		if r.Rejected == nil {
			r.Rejected = map[event.Reason]int{}
		}
		r.Rejected[event.Reason(why)] = b.uint32()
		last = why
	}
	for b.more() {
		s := event.Blocked{Stream: b.stream(), Seq: b.number(1), Why: event.Reason(b.word())}
		if n := len(r.Blocked); n > 0 && s.Stream <= r.Blocked[n-1].Stream {
			b.fail("streams that do not rise")
		}
		r.Blocked = append(r.Blocked, s)
	}
	return r, b.end()
}
