package link

import (
	"encoding/binary"
	"time"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

// A MarksFrame is a piece of what the sender tells of the streams that it holds
// or hears of. Its bytes are flags (1: 1 first, 2 last) and then for each stream,
// rising by its bytes,
//
//	stream (32) | seq (8) | beat (1: 0 none, 1 there) | when there: age in ms (8) | beat (185)
//
// First voids all that was told before, last ends what belongs together.
type MarksFrame struct {
	First, Last bool
	Marks       []StreamMark
}

// A StreamMark is the mark of one stream.
type StreamMark struct {
	Stream ident.Stream
	event.Mark
}

const (
	flagFirst = 1
	flagLast  = 2

	bareMarkBytes = streamBytes + 8 + 1
	maxMarkBytes  = bareMarkBytes + 8 + event.BeatBytes
)

func appendMark(b []byte, m StreamMark) []byte {
	b = binary.BigEndian.AppendUint64(appendStream(b, m.Stream), m.Seq)
	if m.Beat == nil {
		return append(b, 0)
	}
	b = binary.BigEndian.AppendUint64(append(b, 1), uint64(min(max(m.Age, 0), event.MaxUptime).Milliseconds()))
	return append(b, m.Beat.Raw...)
}

// Append appends the frame; Marks must be sorted by stream.
func (f MarksFrame) Append(b []byte) []byte {
	frame := append(begin(TypeMarks), f.flags())
	for _, m := range f.Marks {
		frame = appendMark(frame, m)
	}
	return append(b, seal(frame)...)
}

func (f MarksFrame) flags() (flags byte) {
	if f.First {
		flags |= flagFirst
	}
	if f.Last {
		flags |= flagLast
	}
	return flags
}

func parseMarks(raw []byte) (f MarksFrame, err error) {
	b := body{what: "marks", rest: raw}
	flags := b.byte()
	if flags > flagFirst|flagLast {
		b.fail("unknown flags")
	}
	f.First, f.Last = flags&flagFirst > 0, flags&flagLast > 0
	last := ident.Stream("")
	for b.more() {
		m := b.mark()
		if m.Stream <= last {
			b.fail("streams that do not rise")
		}
		f.Marks, last = append(f.Marks, m), m.Stream
	}
	return f, b.end()
}

func (b *body) mark() StreamMark {
	m := StreamMark{Stream: b.stream()}
	m.Seq = b.number(0)
	switch b.byte() {
	case 0:
	case 1:
		m.Age, m.Beat = b.age(), b.beat()
		if m.Beat != nil && m.Beat.Stream != m.Stream {
			b.fail("the beat of another stream")
		}
	default:
		b.fail("neither a beat nor none")
	}
	return m
}

func (b *body) age() time.Duration {
	ms := b.number(0)
	if ms > uint64(event.MaxUptime.Milliseconds()) {
		b.fail("an age out of its bounds")
		return 0
	}
	return time.Duration(ms) * time.Millisecond
}

func (b *body) beat() *event.Beat {
	raw := b.take(event.BeatBytes)
	if raw == nil {
		return nil
	}
	beat, err := event.ParseBeat(raw)
	if err != nil {
		b.fail(err.Error())
		return nil
	}
	return beat
}
