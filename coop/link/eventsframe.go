package link

import (
	"encoding/binary"
	"fmt"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

// A Run is events of one stream that follow each other.
type Run struct {
	Stream ident.Stream
	First  uint64   // number of the first one
	Raw    [][]byte // as stored; at least one
}

// Last is the number of the last one.
func (r Run) Last() uint64 { return r.First + uint64(len(r.Raw)) - 1 }

// An EventsFrame is one batch. Its bytes are, for each run,
//
//	stream (32) | number of the first event (8) | count (2) | for each event: length (2) | bytes
//
// Stream and number are the sender's word: the events say themselves what they
// are, and the receiver's journal goes by that.
type EventsFrame struct{ Runs []Run }

const runBytes = streamBytes + 8 + 2

// Append appends the frame. What does not fit into a frame is left out: fit says
// how much does.
func (f EventsFrame) Append(b []byte) []byte {
	frame := begin(TypeEvents)
	for _, r := range f.Runs {
		frame = binary.BigEndian.AppendUint64(appendStream(frame, r.Stream), r.First)
		frame = binary.BigEndian.AppendUint16(frame, uint16(len(r.Raw)))
		for _, raw := range r.Raw {
			frame = append(binary.BigEndian.AppendUint16(frame, uint16(len(raw))), raw...)
		}
	}
	return append(b, seal(frame)...)
}

// maxRun bounds the events of one run.
const maxRun = 1<<16 - 1

// runsOf makes runs of events that lie within budget bytes of a frame's body;
// rest is what did not.
func runsOf(all []event.Stored, budget int) (runs []Run, rest []event.Stored) {
	for i, e := range all {
		cost := 2 + len(e.Raw)
		n := len(runs)
		goesOn := n > 0 && runs[n-1].Stream == e.Key.Stream && runs[n-1].Last()+1 == e.Key.Seq && len(runs[n-1].Raw) < maxRun
		if !goesOn {
			cost += runBytes
		}
		if budget -= cost; budget < 0 {
			return runs, all[i:]
		}
		if goesOn {
			runs[n-1].Raw = append(runs[n-1].Raw, e.Raw)
			continue
		}
		runs = append(runs, Run{e.Key.Stream, e.Key.Seq, [][]byte{e.Raw}})
	}
	return runs, nil
}

func parseEvents(raw []byte) (f EventsFrame, err error) {
	b := body{what: "events", rest: raw}
	for first := true; first || b.more(); first = false {
		r := Run{Stream: b.stream(), First: b.number(1)}
		count := b.uint16()
		if b.err == nil && (count == 0 || r.First+uint64(count)-1 > event.MaxInt) {
			b.fail("a run out of its bounds")
		}
		for range count {
			n := b.uint16()
			if b.err == nil && (n == 0 || n > event.MaxEventBytes) {
				b.fail(fmt.Sprintf("an event of %d bytes", n))
			}
			one := b.take(n)
			if b.err != nil {
				break
			}
			r.Raw = append(r.Raw, one)
		}
		f.Runs = append(f.Runs, r)
	}
	return f, b.end()
}
