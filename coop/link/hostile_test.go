package link_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/link"
	"github.com/comity-dev/comity/coop/link/linktest"
)

// A hostile peer has a key that is trusted, and says what it likes: the test
// says it for side 0.
type hostile struct {
	*wire
	victim *link.Core
	a, b   *linktest.Store
}

func newHostile(t testing.TB) *hostile {
	a, b := duo()
	a.Append(5, 100)
	b.Append(5, 100)
	w := join(t, time.Hour, a, b)
	w.settle()
	return &hostile{w, w.side[1].core, a, b}
}

func (h *hostile) say(b []byte) error { return h.victim.Receive(h.now, frame(h.t, b)) }

// out is all that the victim has to say now.
func (h *hostile) out() (all []link.Frame) {
	for b := h.victim.Next(h.now); b != nil; b = h.victim.Next(h.now) {
		all = append(all, frame(h.t, b))
	}
	return all
}

func count(all []link.Frame, t link.Type) (n int) {
	for _, f := range all {
		if f.Type == t {
			n++
		}
	}
	return n
}

func stream(n int) ident.Stream {
	return ident.NewStream(ident.NodeID(fmt.Sprintf("%032x", n)), ident.RuntimeID(fmt.Sprintf("%016x", n)), ident.InstanceID(fmt.Sprintf("%016x", n)))
}

// What no honest peer sends ends the link at once, and is answered by a signed
// word of why.
func TestViolationsEndTheLink(t *testing.T) {
	raw := [][]byte{[]byte("no event")}
	run := func(s ident.Stream, first uint64) []byte {
		return link.EventsFrame{Runs: []link.Run{{Stream: s, First: first, Raw: raw}}}.Append(nil)
	}
	for _, tt := range []struct {
		name string
		code link.Code
		says func(h *hostile) [][]byte
	}{
		{"events that came before", link.CodeMalformed, func(h *hostile) [][]byte { return [][]byte{run(h.a.Stream, 5)} }},
		{"a batch twice", link.CodeMalformed, func(h *hostile) [][]byte { return [][]byte{run(stream(1), 1), run(stream(1), 1)} }},
		{"one stream twice in a batch, falling", link.CodeMalformed, func(h *hostile) [][]byte {
			return [][]byte{link.EventsFrame{Runs: []link.Run{{Stream: stream(1), First: 9, Raw: raw}, {Stream: stream(1), First: 8, Raw: raw}}}.Append(nil)}
		}},
		{"more batches than the window", link.CodeMalformed, func(h *hostile) [][]byte {
			return [][]byte{run(stream(1), 1), run(stream(1), 2), run(stream(1), 3)}
		}},
		{"a report on nothing", link.CodeMalformed, func(h *hostile) [][]byte { return [][]byte{link.Report{Batch: 2}.Append(nil)} }},
		{"a pong to nothing", link.CodeMalformed, func(h *hostile) [][]byte { return [][]byte{link.PongFrame(99, nil)} }},
		{"a level to nothing", link.CodeMalformed, func(h *hostile) [][]byte { return [][]byte{link.NumberFrame(link.TypeLevel, 99)} }},
		{"a ping twice", link.CodeMalformed, func(h *hostile) [][]byte {
			ping := link.NumberFrame(link.TypePing, 9)
			return [][]byte{ping, ping}
		}},
		{"an ask twice", link.CodeMalformed, func(h *hostile) [][]byte {
			ask := link.NumberFrame(link.TypeAsk, 9)
			return [][]byte{ask, ask}
		}},
		{"another's beat as its own", link.CodeMalformed, func(h *hostile) [][]byte {
			b, _ := h.b.Beat()
			return [][]byte{link.BeatFrame(b)}
		}},
		{"events of too many streams", link.CodeCapacity, func(h *hostile) (all [][]byte) {
			var f link.EventsFrame
			for n := range link.MaxStreams + 1 {
				f.Runs = append(f.Runs, link.Run{Stream: stream(n + 1), First: 1, Raw: raw})
			}
			return [][]byte{f.Append(nil)}
		}},
	} {
		h := newHostile(t)
		var err error
		for _, f := range tt.says(h) {
			err = h.say(f)
		}
		var wrong *link.ProtocolError
		if !errors.As(err, &wrong) || wrong.Code != tt.code {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.code)
			continue
		}
		last := h.out()
		if len(last) != 1 || last[0].Type != link.TypeRefusal {
			t.Errorf("%s: the last word is %v", tt.name, last)
			continue
		}
		if r, by, err := link.ParseRefusal(last[0].Body); err != nil || r.Code != tt.code || by != h.b.Key.Node() {
			t.Errorf("%s: refused with %+v by %s, %v", tt.name, r, by, err)
		}
	}
}

// A peer that reads nothing gets no further than its window either: what is to be
// told of its batches does not pile up.
func TestReportsThatAreNotReadBoundTheBatches(t *testing.T) {
	h := newHostile(t)
	send := func(n int) error {
		err := h.say(link.EventsFrame{Runs: []link.Run{{Stream: stream(1), First: uint64(n), Raw: [][]byte{[]byte("no event")}}}}.Append(nil))
		h.side[1].ingest(h.wire)
		return err
	}
	for n := range 5 * link.Window { // one that reads them may go on
		if err := send(n + 1); err != nil || count(h.out(), link.TypeReport) != 1 {
			t.Fatalf("batch %d: %v", n, err)
		}
	}
	for n := range link.Window {
		if err := send(100 + n); err != nil {
			t.Fatalf("batch %d within the window: %v", n, err)
		}
	}
	var wrong *link.ProtocolError
	if err := send(200); !errors.As(err, &wrong) || wrong.Code != link.CodeMalformed {
		t.Errorf("a batch beyond the window: %v, want %s", err, link.CodeMalformed)
	}
}

// Marks of streams that nobody has cost a bounded memory and nothing else.
func TestFloodOfMarks(t *testing.T) {
	h := newHostile(t)
	for from := 0; from < 40_000; from += 1000 {
		var f link.MarksFrame
		for n := range 1000 {
			f.Marks = append(f.Marks, link.StreamMark{Stream: stream(from + n + 1), Mark: event.Mark{Seq: event.MaxInt}})
		}
		if err := h.say(f.Append(nil)); err != nil {
			t.Fatal(err)
		}
	}
	if n := h.victim.Stats().Ignored; n != 40_000-link.MaxStreams+2 {
		t.Errorf("of 40,000 marks %d were ignored, want all but %d", n, link.MaxStreams-2)
	}
	h.b.Append(3, 100)
	h.victim.News()
	if n := count(h.out(), link.TypeEvents); n != 1 {
		t.Errorf("behind the flood %d batches are sent, want 1", n)
	}
}

// BenchmarkVoidedMarks is a peer that voids all its marks over and over, in 6 bytes each.
func BenchmarkVoidedMarks(b *testing.B) {
	h := newHostile(b)
	f := link.MarksFrame{First: true}
	for n := range link.MaxStreams - 2 {
		f.Marks = append(f.Marks, link.StreamMark{Stream: stream(n + 1), Mark: event.Mark{Seq: event.MaxInt}})
	}
	again := link.MarksFrame{First: true}.Append(nil)
	if err := h.say(f.Append(nil)); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := h.say(again); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLevel is a peer that says it is level over and over, behind as many streams that are
// refused as a link remembers.
func BenchmarkLevel(b *testing.B) {
	h := newHostile(b)
	var f link.EventsFrame
	for n := range link.MaxStreams - 2 {
		f.Runs = append(f.Runs, link.Run{Stream: stream(n + 1), First: 1, Raw: [][]byte{[]byte("no event")}})
	}
	if err := h.say(f.Append(nil)); err != nil {
		b.Fatal(err)
	}
	batch, _ := h.victim.Batch()
	h.victim.Ingested(h.now, h.b.Ingest(b.Context(), batch))
	level := link.NumberFrame(link.TypeLevel, 1)
	for b.Loop() {
		if err := h.say(level); err != nil {
			b.Fatal(err)
		}
	}
}

// Who claims to have everything gets nothing, and says nothing about others.
func TestLyingMarks(t *testing.T) {
	h := newHostile(t)
	h.say(link.MarksFrame{Last: true, Marks: []link.StreamMark{{Stream: h.b.Stream, Mark: event.Mark{Seq: event.MaxInt}}}}.Append(nil))
	h.b.Append(3, 100)
	h.victim.News()
	if n := count(h.out(), link.TypeEvents); n != 0 {
		t.Error("events are sent to who says it holds them")
	}
	for range 100 { // back and forth: each event was sent once, and is not again
		h.say(link.MarksFrame{First: true, Last: true}.Append(nil))
	}
	if all := h.out(); count(all, link.TypeEvents) != 1 {
		t.Errorf("%d batches, want the three new events in one", count(all, link.TypeEvents))
	}
}

// Asking again and again gets the history once a heartbeat, not more.
func TestFloodOfAgain(t *testing.T) {
	h := newHostile(t)
	h.out()
	batches := 0
	for range 1000 {
		h.say(link.Again{}.Append(nil))
		h.say(link.MarksFrame{First: true, Last: true}.Append(nil))
		h.say(link.Again{Streams: []ident.Stream{h.b.Stream}}.Append(nil))
		for _, f := range h.out() {
			if f.Type == link.TypeEvents {
				batches++
				h.say(link.Report{Batch: uint64(batches) + 1, Accepted: 5}.Append(nil))
			}
		}
	}
	if batches != 1 {
		t.Errorf("a thousand asks within a heartbeat got the history %d times", batches)
	}
	if err := h.victim.Err(); err != nil {
		t.Error(err)
	}
}

func TestFloodOfPings(t *testing.T) {
	h := newHostile(t)
	h.now += 4 * time.Second
	h.out()
	pongs := 0
	for n := range 10_000 {
		h.say(link.NumberFrame(link.TypePing, uint64(n+100)))
		pongs += count(h.out(), link.TypePong)
		if n%1000 == 0 {
			h.now += 100 * time.Millisecond
		}
	}
	if pongs > 2 || h.victim.Err() != nil {
		t.Errorf("10,000 pings within a second got %d signed beats; %v", pongs, h.victim.Err())
	}
}

// A core that hears anything at all goes on or ends with an error, and sends
// nothing too long.
func FuzzPeer(f *testing.F) {
	f.Add(uint64(1), []byte{16, 1, 17, 0})
	for i, b := range samples(f) {
		f.Add(uint64(len(i)), b)
	}
	f.Fuzz(func(t *testing.T, seed uint64, in []byte) {
		h := newHostile(t)
		all := samples(t)
		var known [][]byte
		for _, name := range slices.Sorted(maps.Keys(all)) {
			known = append(known, all[name])
		}
		r := rand.New(rand.NewPCG(seed, 1))
		for _, c := range in[:min(len(in), 64)] {
			body := known[int(c)%len(known)][5:]
			if c&0x40 > 0 && len(in) > 5 {
				body = in[r.IntN(len(in)):]
			}
			h.victim.Receive(h.now, link.Frame{Type: link.Type(known[int(c)%len(known)][0]), Body: body, Size: len(body) + 5})
			h.side[1].ingest(h.wire)
			h.now += time.Duration(c) * 10 * time.Millisecond
			h.victim.Tick(h.now)
			h.out()
		}
	})
}
