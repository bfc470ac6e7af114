package link

import (
	"encoding/binary"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

// Again voids refusals: the receiver of events may take now what it did not
// before. Its bytes are the streams, rising (32 each); none means all, which
// says that its trust changed, and that its marks follow from the first.
type Again struct{ Streams []ident.Stream }

// Append appends the frame; Streams must be sorted.
func (a Again) Append(b []byte) []byte {
	frame := begin(TypeAgain)
	for _, s := range a.Streams {
		frame = appendStream(frame, s)
	}
	return append(b, seal(frame)...)
}

func parseAgain(raw []byte) (a Again, err error) {
	b := body{what: "again", rest: raw}
	for b.more() {
		s := b.stream()
		if n := len(a.Streams); n > 0 && s <= a.Streams[n-1] {
			b.fail("streams that do not rise")
		}
		a.Streams = append(a.Streams, s)
	}
	return a, b.end()
}

// A beat frame is the beat. A pong is the number of the ping (8), and the beat
// when the sender has one.

func beatFrame(beat *event.Beat) []byte { return seal(append(begin(TypeBeat), beat.Raw...)) }

func parseBeat(raw []byte) (*event.Beat, error) {
	b := body{what: "beat", rest: raw}
	beat := b.beat()
	return beat, b.end()
}

func pongFrame(n uint64, beat *event.Beat) []byte {
	frame := binary.BigEndian.AppendUint64(begin(TypePong), n)
	if beat != nil {
		frame = append(frame, beat.Raw...)
	}
	return seal(frame)
}

func parsePong(raw []byte) (n uint64, beat *event.Beat, err error) {
	b := body{what: "pong", rest: raw}
	n = b.number(1)
	if b.more() {
		beat = b.beat()
	}
	return n, beat, b.end()
}

// numberFrame is a ping, an ask or a level: one number from 1.
func numberFrame(t Type, n uint64) []byte {
	return seal(binary.BigEndian.AppendUint64(begin(t), n))
}

func parseNumber(what string, raw []byte) (uint64, error) {
	b := body{what: what, rest: raw}
	n := b.number(1)
	return n, b.end()
}

func goodbyeFrame(reason string) []byte {
	return seal(append(begin(TypeGoodbye), reason...))
}

func parseGoodbye(raw []byte) (string, error) {
	if !isWord(string(raw)) {
		return "", malformed("goodbye", "want a reason")
	}
	return string(raw), nil
}
