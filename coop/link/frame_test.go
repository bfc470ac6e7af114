package link_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"runtime"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/link"
	"github.com/comity-dev/comity/coop/link/linktest"
)

// samples are one frame of each type that carries what the exchange tells, and
// its value; equal on every run.
func samples(t testing.TB) map[string][]byte {
	t.Helper()
	a := linktest.NewStore("ada")
	a.Append(2, 100)
	beat, _ := a.Beat()
	held, err := a.Missing(event.Marks{}, 1<<20, func(ident.Stream) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	b := linktest.NewStore("bob").Stream
	marks := []link.StreamMark{{Stream: b, Mark: event.Mark{Seq: 7}}, {Stream: a.Stream, Mark: event.Mark{Seq: 2, Beat: beat, Age: 1500 * time.Millisecond}}}
	if b > a.Stream {
		marks[0], marks[1] = marks[1], marks[0]
	}
	return map[string][]byte{
		"marks":  link.MarksFrame{First: true, Last: true, Marks: marks}.Append(nil),
		"events": link.EventsFrame{Runs: []link.Run{{Stream: a.Stream, First: 1, Raw: [][]byte{held[0].Raw, held[1].Raw}}}}.Append(nil),
		"report": link.Report{
			Batch: 3, Accepted: 5, Duplicate: 1, Pending: 2, NotStored: 1, Rejected: map[event.Reason]int{event.Untrusted: 2, event.Capacity: 1},
			Blocked: []event.Blocked{{Stream: a.Stream, Seq: 3, Why: event.Untrusted}},
		}.Append(nil),
		"again":     link.Again{Streams: []ident.Stream{a.Stream}}.Append(nil),
		"again_all": link.Again{}.Append(nil),
		"beat":      link.BeatFrame(beat),
		"ping":      link.NumberFrame(link.TypePing, 7),
		"pong":      link.PongFrame(7, beat),
		"pong_bare": link.PongFrame(7, nil),
		"ask":       link.NumberFrame(link.TypeAsk, 1),
		"level":     link.NumberFrame(link.TypeLevel, 1),
		"goodbye":   link.GoodbyeFrame("stopped"),
	}
}

// reprint reads a body and prints what it says.
func reprint(f link.Frame) ([]byte, error) {
	switch f.Type {
	case link.TypeMarks:
		v, err := link.ParseMarks(f.Body)
		return v.Append(nil), err
	case link.TypeEvents:
		v, err := link.ParseEvents(f.Body)
		if err != nil {
			return nil, err
		}
		return v.Append(nil), err
	case link.TypeReport:
		v, err := link.ParseReport(f.Body)
		if err != nil {
			return nil, err
		}
		return v.Append(nil), err
	case link.TypeAgain:
		v, err := link.ParseAgain(f.Body)
		return v.Append(nil), err
	case link.TypeBeat:
		v, err := link.ParseBeat(f.Body)
		if err != nil {
			return nil, err
		}
		return link.BeatFrame(v), nil
	case link.TypePong:
		n, v, err := link.ParsePong(f.Body)
		return link.PongFrame(n, v), err
	case link.TypePing, link.TypeAsk, link.TypeLevel:
		n, err := link.ParseNumber("number", f.Body)
		return link.NumberFrame(f.Type, n), err
	case link.TypeGoodbye:
		v, err := link.ParseGoodbye(f.Body)
		return link.GoodbyeFrame(v), err
	}
	return nil, errors.New("no such type")
}

// What is read prints the same bytes: one meaning, one spelling.
func TestFramesReadBackAsTheyWere(t *testing.T) {
	for name, b := range samples(t) {
		got, err := reprint(frame(t, b))
		if err != nil || !bytes.Equal(got, b) {
			t.Errorf("%s: %v\n%s", name, err, cmp.Diff(hex.EncodeToString(b), hex.EncodeToString(got)))
		}
	}
}

// A body that is cut, or longer by a byte, says something else or nothing: never
// the same.
func TestBodiesAreWhole(t *testing.T) {
	for name, b := range samples(t) {
		f := frame(t, b)
		if name == "goodbye" { // every beginning of a word is a word
			continue
		}
		for n := range f.Body {
			cut := link.Frame{Type: f.Type, Body: f.Body[:n]}
			if got, err := reprint(cut); err == nil && len(got) != n+len(b)-len(f.Body) {
				t.Errorf("%s: %d of %d bytes read as %x", name, n, len(f.Body), got)
			}
			var bad *link.ProtocolError
			if _, err := reprint(cut); err != nil && (!errors.As(err, &bad) || bad.Code != link.CodeMalformed) {
				t.Errorf("%s: %d bytes: %v, want a malformed *ProtocolError", name, n, err)
			}
		}
		if _, err := reprint(link.Frame{Type: f.Type, Body: append(bytes.Clone(f.Body), 0)}); err == nil && name != "again_all" {
			t.Errorf("%s: a byte after the end passes", name)
		}
	}
}

func TestBodiesOutOfBoundsAreRefused(t *testing.T) {
	all := samples(t)
	body := func(name string) []byte { return bytes.Clone(frame(t, all[name]).Body) }
	change := func(name string, at int, b byte) []byte {
		raw := body(name)
		if at < 0 {
			at += len(raw)
		}
		raw[at] = b
		return raw
	}
	a, b := linktest.NewStore("ada").Stream, linktest.NewStore("bob").Stream
	if a > b {
		a, b = b, a
	}
	fall := link.Again{Streams: []ident.Stream{b, a}}.Append(nil)
	twice := link.Again{Streams: []ident.Stream{a, a}}.Append(nil)
	swapped := link.MarksFrame{Marks: []link.StreamMark{{Stream: b, Mark: event.Mark{Seq: 1}}, {Stream: a, Mark: event.Mark{Seq: 1}}}}.Append(nil)
	for _, tt := range []struct {
		name string
		t    link.Type
		body []byte
	}{
		{"unknown flags of marks", link.TypeMarks, change("marks", 0, 4)},
		{"marks that fall", link.TypeMarks, swapped[5:]},
		{"a mark over 2^53-1", link.TypeMarks, change("marks", 1+32, 0x20)},
		{"no flags", link.TypeMarks, nil},
		{"no run", link.TypeEvents, nil},
		{"a run from 0", link.TypeEvents, change("events", 32+7, 0)},
		{"a run over 2^53-1", link.TypeEvents, change("events", 32, 0x20)},
		{"a run of more events than there are", link.TypeEvents, change("events", 41, 9)},
		{"a batch 0", link.TypeReport, change("report", 7, 0)},
		{"a reason that is no word", link.TypeReport, change("report", -1, '!')},
		{"a reason that is empty", link.TypeReport, change("report", -10, 0)},
		{"streams that fall", link.TypeAgain, fall[5:]},
		{"a stream twice", link.TypeAgain, twice[5:]},
		{"a beat of another version", link.TypeBeat, change("beat", 0, 9)},
		{"a ping 0", link.TypePing, change("ping", 7, 0)},
		{"a reason with a space", link.TypeGoodbye, []byte("so long")},
		{"no reason", link.TypeGoodbye, nil},
	} {
		var bad *link.ProtocolError
		if got, err := reprint(link.Frame{Type: tt.t, Body: tt.body}); !errors.As(err, &bad) {
			t.Errorf("%s: reads as %x, %v", tt.name, got, err)
		}
	}
}

func TestReadFrame(t *testing.T) {
	ping := samples(t)["ping"]
	head := func(kind byte, n uint32) []byte { return binary.BigEndian.AppendUint32([]byte{kind}, n) }
	for _, tt := range []struct {
		name  string
		in    []byte
		limit int
		want  error
	}{
		{"nothing", nil, link.MaxFrame, io.EOF},
		{"within the header", ping[:3], link.MaxFrame, io.ErrUnexpectedEOF},
		{"within the body", ping[:9], link.MaxFrame, io.ErrUnexpectedEOF},
		{"no body at all", ping[:5], link.MaxFrame, io.ErrUnexpectedEOF},
		{"within what is passed over", append(head(99, 10), 1), link.MaxFrame, io.ErrUnexpectedEOF},
		{"one byte too long", head(25, link.MaxFrame-4), link.MaxFrame, new(link.ProtocolError)},
		{"as long as can be said", head(25, 1<<32-1), link.MaxFrame, new(link.ProtocolError)},
		{"too long for a stranger", head(25, link.MaxGreeting), link.MaxGreeting, new(link.ProtocolError)},
		{"too long, of no known type", head(99, link.MaxFrame), link.MaxFrame, new(link.ProtocolError)},
	} {
		_, err := link.ReadFrame(iotest.OneByteReader(bytes.NewReader(tt.in)), tt.limit)
		var bad *link.ProtocolError
		if _, typed := tt.want.(*link.ProtocolError); typed && (!errors.As(err, &bad) || bad.Code != link.CodeOversized) || !typed && !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
	}
	longest := append(head(17, link.MaxFrame-5), make([]byte, link.MaxFrame-5)...)
	if f, err := link.ReadFrame(iotest.HalfReader(bytes.NewReader(longest)), link.MaxFrame); err != nil || f.Size != link.MaxFrame || len(f.Body) != link.MaxFrame-5 {
		t.Errorf("the longest frame: %d bytes, %v", f.Size, err)
	}
	skipped := append(append(head(99, 70_000), make([]byte, 70_000)...), ping...)
	r := bytes.NewReader(skipped)
	if f, err := link.ReadFrame(r, link.MaxFrame); err != nil || f.Type != 99 || f.Body != nil || f.Size != 70_005 {
		t.Errorf("an unknown frame: %+v, %v", f, err)
	}
	if f, err := link.ReadFrame(r, link.MaxFrame); err != nil || f.Type != link.TypePing {
		t.Errorf("behind an unknown frame: %+v, %v", f, err)
	}
}

// Who announces much and sends little gets little memory.
func TestMemoryGrowsWithWhatComes(t *testing.T) {
	in := append(binary.BigEndian.AppendUint32([]byte{17}, link.MaxFrame-5), make([]byte, 1000)...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 100 {
		link.ReadFrame(bytes.NewReader(in), link.MaxFrame)
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / 100; each > 200<<10 {
		t.Errorf("a frame of which 1,000 bytes came took %d bytes", each)
	}
}

func FuzzFrame(f *testing.F) {
	for _, b := range samples(f) {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		one, err := link.ReadFrame(bytes.NewReader(in), link.MaxFrame)
		if err != nil || one.Body == nil {
			return
		}
		link.ParseHello(one.Body)
		link.ParseWelcome(one.Body)
		link.ParseRefusal(one.Body)
		got, err := reprint(one)
		if err == nil && !bytes.Equal(got, in[:one.Size]) {
			t.Errorf("%x reads and prints %x", in[:one.Size], got)
		}
	})
}
