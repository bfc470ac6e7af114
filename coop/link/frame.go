package link

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// A Type is what a frame says.
type Type uint8

// The types of frames. 32 to 39 are kept for the acknowledgement of claims,
// which no build sends yet. A type that a build does not know is skipped and
// counted, so that a newer peer may send it.
const (
	TypeHello   Type = 1 // who dials, signed
	TypeWelcome Type = 2 // who answers, signed
	TypeConfirm Type = 3 // the dialer's proof that its hello is no replay, signed
	TypeRefusal Type = 4 // no link, or no more, and why; signed
	TypeGoodbye Type = 5 // a clean end

	TypeMarks  Type = 16 // how far the sender holds streams, and beats
	TypeEvents Type = 17 // one batch
	TypeReport Type = 18 // what became of one batch
	TypeAgain  Type = 19 // what was refused may be offered again

	TypeBeat  Type = 24 // the sender lives
	TypePing  Type = 25 // asks for a beat made after it
	TypePong  Type = 26 // that beat
	TypeAsk   Type = 27 // asks to be told when all was sent
	TypeLevel Type = 28 // all that was held when it was asked for was sent, or is refused
)

// MaxFrame bounds a frame, header and all, whatever it says.
const MaxFrame = 900 << 10

// MaxGreeting bounds a frame of somebody who is not greeted yet.
const MaxGreeting = 16 << 10

// headerBytes is type (1) and length of the body (4, big endian).
const headerBytes = 5

// A Frame is one message of a link.
type Frame struct {
	Type Type
	Body []byte // nil for a type that this build does not know: it is passed over unread
	Size int    // in bytes, header and all
}

func (t Type) known() bool {
	switch t {
	case TypeHello, TypeWelcome, TypeConfirm, TypeRefusal, TypeGoodbye, TypeMarks, TypeEvents, TypeReport, TypeAgain,
		TypeBeat, TypePing, TypePong, TypeAsk, TypeLevel:
		return true
	}
	return false
}

// ReadFrame reads one frame of at most limit bytes. It returns io.EOF when r
// ends before one begins and io.ErrUnexpectedEOF when it ends within one; a frame
// that is longer is a *ProtocolError. Memory grows with the bytes that come, not
// with those that are announced.
func ReadFrame(r io.Reader, limit int) (Frame, error) {
	var head [headerBytes]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return Frame{}, err
	}
	length := int64(binary.BigEndian.Uint32(head[1:]))
	f := Frame{Type: Type(head[0])}
	if length > int64(min(limit, MaxFrame)-headerBytes) {
		return f, &ProtocolError{Code: CodeOversized, Detail: fmt.Sprintf("frame of type %d: %d bytes, limit %d", f.Type, length+headerBytes, min(limit, MaxFrame))}
	}
	f.Size = headerBytes + int(length)
	if !f.Type.known() {
		return f, whole(io.CopyN(io.Discard, r, length))
	}
	body, err := readBody(r, int(length))
	f.Body = body
	return f, err
}

// readStep is how much is asked for at once.
const readStep = 64 << 10

func readBody(r io.Reader, length int) ([]byte, error) {
	body := make([]byte, 0, min(length, readStep))
	for len(body) < length {
		from := len(body)
		if n := min(length-from, max(readStep, from)); cap(body) < from+n {
			body = append(make([]byte, 0, from+n), body...)
		}
		body = body[:min(length, cap(body))]
		if n, err := io.ReadFull(r, body[from:]); err != nil {
			return nil, whole(int64(n), err)
		}
	}
	return body, nil
}

// whole is an end of the input within a frame.
func whole(_ int64, err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// begin starts a frame of type t, which seal ends.
func begin(t Type) []byte { return []byte{byte(t), 0, 0, 0, 0} }

func seal(frame []byte) []byte {
	binary.BigEndian.PutUint32(frame[1:], uint32(len(frame)-headerBytes))
	return frame
}

// ParseFrame reads the one frame that b is, as Core.Next makes it. The frame
// keeps b.
func ParseFrame(b []byte) (Frame, error) {
	if len(b) < headerBytes || len(b) > MaxFrame || int64(binary.BigEndian.Uint32(b[1:])) != int64(len(b)-headerBytes) {
		return Frame{}, malformed("frame", fmt.Sprintf("%d bytes are not one frame", len(b)))
	}
	return Frame{Type: Type(b[0]), Body: b[headerBytes:], Size: len(b)}, nil
}
