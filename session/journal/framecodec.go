package journal

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
)

const (
	frameMagic  = "cmjr"
	frameHeader = 64
	refBytes    = 40

	flagBodyRef   = 1 << 0
	flagPublic    = 1 << 1
	flagPublicRef = 1 << 2
	flagSemantic  = 1 << 3
	flagPrev      = 1 << 4
	knownFlags    = 1<<5 - 1
	atVersion     = 4
	atFamily      = 5
	atFlags       = 6
	atCRC         = 8
	atSchema      = 12
	atProjection  = 14
	atEpoch       = 16
	atToken       = 24
	atBatch       = 40
	atOf          = 42
	atKindBytes   = 44
	atRouteBytes  = 45
	atIDBytes     = 46
	atBodyBytes   = 48
	atPublicBytes = 52
	atReserved    = 56
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// AppendTo appends the bytes of f to b. The error is a *FrameError or an
// *UnknownFamilyError, and b is returned as it was.
func (f *Frame) AppendTo(b []byte) ([]byte, error) {
	if err := f.check(); err != nil {
		return b, err
	}
	if max(uint64(len(f.Body.Bytes)), uint64(len(f.Public.Bytes))) > math.MaxUint32 {
		return b, &FrameError{"a field that is too long for a frame"}
	}
	start := len(b)
	b = slices.Grow(b, f.room())
	b = append(b, make([]byte, frameHeader)...)
	b = append(append(append(b, f.Kind...), f.Route...), f.ID...)
	var flags uint16
	add := func(flag uint16, d Digest) {
		if d != (Digest{}) {
			flags |= flag
			b = append(b, d[:]...)
		}
	}
	add(flagSemantic, f.Semantic)
	add(flagPrev, f.Prev)
	b, bodyBytes := f.Body.appendTo(b, &flags, flagBodyRef)
	publicBytes := 0
	if f.HasPublic {
		flags |= flagPublic
		b, publicBytes = f.Public.appendTo(b, &flags, flagPublicRef)
	}
	h := b[start : start+frameHeader]
	copy(h, frameMagic)
	h[atVersion], h[atFamily] = FrameVersion, byte(f.Family)
	le := binary.LittleEndian
	le.PutUint16(h[atFlags:], flags)
	le.PutUint16(h[atSchema:], f.Schema)
	le.PutUint16(h[atProjection:], f.Projection)
	le.PutUint64(h[atEpoch:], f.Epoch)
	copy(h[atToken:], f.Token[:])
	le.PutUint16(h[atBatch:], f.Batch)
	le.PutUint16(h[atOf:], f.Of)
	h[atKindBytes], h[atRouteBytes] = byte(len(f.Kind)), byte(len(f.Route))
	le.PutUint16(h[atIDBytes:], uint16(len(f.ID)))
	le.PutUint32(h[atBodyBytes:], uint32(bodyBytes))
	le.PutUint32(h[atPublicBytes:], uint32(publicBytes))
	le.PutUint32(h[atCRC:], frameCRC(b[start:]))
	return b, nil
}

// room is the most bytes that f takes.
func (f *Frame) room() int {
	return frameHeader + len(f.Kind) + len(f.Route) + len(f.ID) + 2*len(Digest{}) +
		len(f.Body.Bytes) + len(f.Public.Bytes) + 2*refBytes
}

func (f Field) appendTo(b []byte, flags *uint16, ref uint16) (out []byte, n int) {
	if f.Ref == (Ref{}) {
		return append(b, f.Bytes...), len(f.Bytes)
	}
	*flags |= ref
	b = append(b, f.Ref.Digest[:]...)
	return binary.LittleEndian.AppendUint64(b, f.Ref.Size), refBytes
}

// frameCRC is over all of a frame but the four bytes that hold it.
func frameCRC(b []byte) uint32 {
	return crc32.Update(crc32.Checksum(b[:atCRC], castagnoli), castagnoli, b[atCRC+4:])
}

// ParseFrame reads the bytes of one frame. What it returns aliases b. The error
// is a *FrameError when b is damaged, a *NewerFrameError or an
// *UnknownFamilyError when it is whole and of a later build.
func ParseFrame(b []byte) (*Frame, error) {
	f := new(Frame)
	if err := f.Parse(b); err != nil {
		return nil, err
	}
	return f, nil
}

// Parse is ParseFrame into a frame that is of no use any more. After an error
// f holds nothing that can be used.
func (f *Frame) Parse(b []byte) error {
	if len(b) < atSchema || string(b[:atVersion]) != frameMagic {
		return &FrameError{fmt.Sprintf("no frame in %d bytes", len(b))}
	}
	le := binary.LittleEndian
	if want := le.Uint32(b[atCRC:]); want != frameCRC(b) {
		return &FrameError{"checksum"}
	}
	if v := b[atVersion]; v > FrameVersion {
		return &NewerFrameError{v, FrameVersion}
	} else if v == 0 {
		return &FrameError{"version 0"}
	}
	if len(b) < frameHeader {
		return &FrameError{fmt.Sprintf("header of %d bytes", len(b))}
	}
	flags := le.Uint16(b[atFlags:])
	if flags&^knownFlags != 0 || le.Uint64(b[atReserved:]) != 0 {
		return &FrameError{"bits that have no meaning"}
	}
	kind := f.Kind
	*f = Frame{
		Family:     Family(b[atFamily]),
		Epoch:      le.Uint64(b[atEpoch:]),
		Token:      Token(b[atToken:atBatch]),
		Batch:      le.Uint16(b[atBatch:]),
		Of:         le.Uint16(b[atOf:]),
		Schema:     le.Uint16(b[atSchema:]),
		Projection: le.Uint16(b[atProjection:]),
		HasPublic:  flags&flagPublic != 0,
	}
	if !f.Family.known() {
		return &UnknownFamilyError{f.Family}
	}
	r := fieldReader{b: b[frameHeader:]}
	f.Kind = same(kind, r.take(uint64(b[atKindBytes])))
	f.Route = string(r.take(uint64(b[atRouteBytes])))
	f.ID = string(r.take(uint64(le.Uint16(b[atIDBytes:]))))
	f.Semantic = r.digest(flags&flagSemantic != 0)
	f.Prev = r.digest(flags&flagPrev != 0)
	f.Body = r.field(le.Uint32(b[atBodyBytes:]), flags&flagBodyRef != 0)
	f.Public = r.field(le.Uint32(b[atPublicBytes:]), flags&flagPublicRef != 0)
	if r.bad || len(r.b) > 0 {
		return &FrameError{"its lengths do not add up"}
	}
	return f.check()
}

// same returns b as a string: s, if it is that one.
func same(s string, b []byte) string {
	if s == string(b) {
		return s
	}
	return string(b)
}

type fieldReader struct {
	b   []byte
	bad bool
}

func (r *fieldReader) take(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.bad = true
		return nil
	}
	part := r.b[:n:n]
	r.b = r.b[n:]
	return part
}

// digest reads one that its flag says is there, and must not be zero then.
func (r *fieldReader) digest(there bool) Digest {
	if !there {
		return Digest{}
	}
	part := r.take(32)
	if part == nil || Digest(part) == (Digest{}) {
		r.bad = true
		return Digest{}
	}
	return Digest(part)
}

func (r *fieldReader) field(n uint32, ref bool) Field {
	part := r.take(uint64(n))
	if !ref {
		return Field{Bytes: part}
	}
	if len(part) != refBytes {
		r.bad = true
		return Field{}
	}
	f := Field{Ref: Ref{Digest(part[:32]), binary.LittleEndian.Uint64(part[32:])}}
	if f.Ref == (Ref{}) {
		r.bad = true
	}
	return f
}
