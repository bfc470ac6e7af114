package link_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/link"
	"github.com/comity-dev/comity/coop/link/linktest"
)

// A refusedVector is a frame and what it is to a reader at a place of the link: a
// code, "taken" or "passed over". answering waits for a hello, dialling has said hello.json,
// proving has answered it with welcome.json, up is greeted, and has been told nothing.
type refusedVector struct {
	About string `json:"about"`
	At    string `json:"at"`
	Frame string `json:"frame,omitempty"` // in hex; one that is too long ends with its header
	Fill  *fill  `json:"fill,omitempty"`  // the frame, where it is long
	Want  string `json:"want"`
}

// A fill is prefix, count times repeat, in hex.
type fill struct {
	Prefix string `json:"prefix"`
	Repeat string `json:"repeat"`
	Count  int    `json:"count"`
}

func (v refusedVector) raw(t *testing.T) []byte {
	t.Helper()
	text := v.Frame
	if v.Fill != nil {
		text = v.Fill.Prefix + strings.Repeat(v.Fill.Repeat, v.Fill.Count)
	}
	raw, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

const (
	taken     = "taken"
	passed    = "passed over"
	malformed = string(link.CodeMalformed)
	oversized = string(link.CodeOversized)
)

func header(kind link.Type, body int) []byte {
	return binary.BigEndian.AppendUint32([]byte{byte(kind)}, uint32(body))
}

func framed(kind link.Type, body []byte) string {
	return hex.EncodeToString(append(header(kind, len(body)), body...))
}

func u64(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

func joined(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

func headers() []refusedVector {
	head := func(kind link.Type, frame int) string { return hex.EncodeToString(header(kind, frame-5)) }
	long := func(kind link.Type, frame int) *fill { return &fill{head(kind, frame), "00", frame - 5} }
	return []refusedVector{
		{About: "a frame over 900 KiB", At: "up", Frame: head(link.TypeEvents, link.MaxFrame+1), Want: oversized},
		{About: "a frame as long as can be said", At: "up", Frame: "11ffffffff", Want: oversized},
		{About: "an unknown type over 900 KiB", At: "up", Frame: head(99, link.MaxFrame+1), Want: oversized},
		{About: "an unknown type of 900 KiB", At: "up", Fill: long(99, link.MaxFrame), Want: passed},
		{About: "an unknown type", At: "up", Frame: framed(99, []byte("what")), Want: passed},
		{About: "a type that is kept", At: "up", Frame: framed(32, nil), Want: passed},
		{About: "type 0", At: "up", Frame: framed(0, nil), Want: passed},
		{About: "a hello over 16 KiB", At: "answering", Frame: head(link.TypeHello, link.MaxGreeting+1), Want: oversized},
		{About: "an unknown type over 16 KiB", At: "answering", Frame: head(99, link.MaxGreeting+1), Want: oversized},
		{About: "an unknown type of 16 KiB", At: "answering", Fill: long(99, link.MaxGreeting), Want: passed},
		{About: "a ping before the greeting", At: "answering", Frame: framed(link.TypePing, u64(1)), Want: malformed},
	}
}

func bodies(t *testing.T) []refusedVector {
	var all []refusedVector
	var kind link.Type
	row := func(want, about string, parts ...[]byte) {
		all = append(all, refusedVector{About: about, At: "up", Frame: framed(kind, joined(parts...)), Want: want})
	}
	s := samples(t)
	sample := func(name string) []byte { return bytes.Clone(s[name][5:]) }
	beat := sample("beat")
	own, err := event.ParseBeat(beat)
	if err != nil {
		t.Fatal(err)
	}
	stream := func(n byte) []byte { return bytes.Repeat([]byte{n}, 32) }
	mine := bytes.Clone(sample("again"))
	changed := func(at int, b byte) []byte {
		out := bytes.Clone(beat)
		out[at] = b
		return out
	}
	const over = event.MaxInt + 1
	flags, none, there, zero := []byte{3}, []byte{0}, []byte{1}, []byte{0}
	if string(own.Stream) != streamText(mine) {
		t.Fatal("the samples have two streams")
	}

	kind = link.TypeMarks
	row(malformed, "marks: no flags")
	row(taken, "marks: flags alone", zero)
	row(malformed, "marks: flags above 3", []byte{4})
	row(malformed, "marks: a stream of 31 bytes", flags, stream(1)[1:])
	row(malformed, "marks: no word of a beat", flags, stream(1), u64(1))
	row(malformed, "marks: neither a beat nor none", flags, stream(1), u64(1), []byte{2})
	row(taken, "marks: seq 0", flags, stream(1), u64(0), none)
	row(taken, "marks: seq 2^53-1", flags, stream(1), u64(event.MaxInt), none)
	row(malformed, "marks: seq 2^53", flags, stream(1), u64(over), none)
	row(malformed, "marks: a beat that is cut", flags, mine, u64(1), there, u64(0), beat[:184])
	row(taken, "marks: an age of 2^42-1 ms", flags, mine, u64(1), there, u64(1<<42-1), beat)
	row(malformed, "marks: an age of 2^42 ms", flags, mine, u64(1), there, u64(1<<42), beat)
	row(malformed, "marks: the beat of another stream", flags, stream(1), u64(1), there, u64(0), beat)
	row(malformed, "marks: a beat of another version", flags, mine, u64(1), there, u64(0), changed(0, 2))
	row(taken, "marks: streams that rise", flags, stream(1), u64(1), none, stream(2), u64(1), none)
	row(malformed, "marks: streams that fall", flags, stream(2), u64(1), none, stream(1), u64(1), none)
	row(malformed, "marks: a stream twice", flags, stream(1), u64(1), none, stream(1), u64(2), none)
	row(malformed, "marks: a byte behind", flags, stream(1), u64(1), none, zero)

	kind = link.TypeEvents
	count := func(n int) []byte { return binary.BigEndian.AppendUint16(nil, uint16(n)) }
	one := joined(count(1), []byte("x"))
	row(malformed, "events: no run")
	row(taken, "events: what is in one is for the journal to judge", stream(1), u64(1), count(1), one)
	row(malformed, "events: a count of 0", stream(1), u64(1), count(0))
	row(malformed, "events: a run from 0", stream(1), u64(0), count(1), one)
	row(malformed, "events: a run from 2^53", stream(1), u64(over), count(1), one)
	row(taken, "events: a run to 2^53-1", stream(1), u64(event.MaxInt-1), count(2), one, one)
	row(malformed, "events: a run beyond 2^53-1", stream(1), u64(event.MaxInt), count(2), one, one)
	row(malformed, "events: an event of 0 bytes", stream(1), u64(1), count(1), count(0))
	for _, n := range []int{event.MaxEventBytes, event.MaxEventBytes + 1} {
		want, about := taken, "events: an event of 49,152 bytes"
		if n > event.MaxEventBytes {
			want, about = malformed, "events: an event of 49,153 bytes"
		}
		run := joined(stream(1), u64(1), count(1), count(n))
		prefix := hex.EncodeToString(append(header(kind, len(run)+n), run...))
		all = append(all, refusedVector{About: about, At: "up", Fill: &fill{prefix, "78", n}, Want: want})
	}
	row(malformed, "events: fewer than the count", stream(1), u64(1), count(2), one)
	row(malformed, "events: one that is cut", stream(1), u64(1), count(1), count(2), []byte("x"))
	row(malformed, "events: a byte behind", stream(1), u64(1), count(1), one, zero)
	row(taken, "events: two runs of one stream", stream(1), u64(1), count(1), one, stream(1), u64(7), count(1), one)
	row(taken, "events: streams that fall", stream(2), u64(1), count(1), one, stream(1), u64(1), count(1), one)

	kind = link.TypeReport
	word := func(s string) []byte { return append([]byte{byte(len(s))}, s...) }
	n4 := func(n uint32) []byte { return binary.BigEndian.AppendUint32(nil, n) }
	counts := joined(n4(1), n4(0), n4(0), n4(0))
	row(taken, "report: the least", u64(1), counts, zero)
	row(malformed, "report: batch 0", u64(0), counts, zero)
	row(malformed, "report: batch 2^53", u64(over), counts, zero)
	row(malformed, "report: no count of reasons", u64(1), counts)
	row(taken, "report: a reason of 64 bytes", u64(1), counts, there, word(strings.Repeat("r", 64)), n4(1))
	row(malformed, "report: a reason of 65 bytes", u64(1), counts, there, word(strings.Repeat("r", 65)), n4(1))
	row(malformed, "report: a reason that is empty", u64(1), counts, there, word(""), n4(1))
	row(malformed, "report: a reason with a space", u64(1), counts, there, word("a b"), n4(1))
	row(malformed, "report: reasons that fall", u64(1), counts, []byte{2}, word("b"), n4(1), word("a"), n4(1))
	row(malformed, "report: a reason twice", u64(1), counts, []byte{2}, word("a"), n4(1), word("a"), n4(1))
	row(malformed, "report: fewer reasons than the count", u64(1), counts, []byte{2}, word("a"), n4(1))
	row(malformed, "report: a blocked stream from 0", u64(1), counts, zero, stream(1), u64(0), word("a"))
	row(malformed, "report: a blocked stream without a reason", u64(1), counts, zero, stream(1), u64(1))
	row(malformed, "report: blocked streams that fall", u64(1), counts, zero, stream(2), u64(1), word("a"), stream(1), u64(1), word("a"))
	row(malformed, "report: a blocked stream twice", u64(1), counts, zero, stream(1), u64(1), word("a"), stream(1), u64(2), word("a"))
	row(malformed, "report: a byte behind", u64(1), counts, zero, zero)

	kind = link.TypeAgain
	row(malformed, "again: a stream of 31 bytes", stream(1)[1:])
	row(malformed, "again: a byte behind", stream(1), zero)
	row(malformed, "again: streams that fall", stream(2), stream(1))
	row(malformed, "again: a stream twice", stream(1), stream(1))

	kind = link.TypeBeat
	row(malformed, "beat: none")
	row(malformed, "beat: 184 bytes", beat[:184])
	row(malformed, "beat: 186 bytes", beat, zero)
	row(malformed, "beat: another version", changed(0, 2))
	row(malformed, "beat: seq 0", changed(72, 0))
	row(malformed, "beat: a clock below its seq", changed(112, 0))
	row(malformed, "beat: an uptime of 2^42 ms", changed(113+2, 4))

	for _, k := range []struct {
		kind link.Type
		name string
	}{{link.TypePing, "ping"}, {link.TypePong, "pong"}, {link.TypeAsk, "ask"}, {link.TypeLevel, "level"}} {
		kind = k.kind
		row(malformed, k.name+": 0", u64(0))
		row(malformed, k.name+": 2^53", u64(over))
		row(taken, k.name+": 2^53-1", u64(event.MaxInt))
		row(malformed, k.name+": 7 bytes", u64(1)[1:])
		row(malformed, k.name+": a byte behind", u64(1), zero)
	}
	kind = link.TypePong
	row(malformed, "pong: a beat that is cut", u64(1), beat[:184])
	row(malformed, "pong: a byte behind the beat", u64(1), beat, zero)

	kind = link.TypeGoodbye
	row(malformed, "goodbye: no reason")
	row(taken, "goodbye: 64 bytes", bytes.Repeat([]byte("r"), 64))
	row(malformed, "goodbye: 65 bytes", bytes.Repeat([]byte("r"), 65))
	row(malformed, "goodbye: a space", []byte("so long"))
	row(malformed, "goodbye: not ASCII", []byte("caf\u00e9"))
	return all
}

func streamText(raw []byte) string {
	h := hex.EncodeToString(raw)
	return h[:32] + "-" + h[32:48] + "-" + h[48:]
}

// A signer makes greetings that differ from one of the vectors.
type signer struct {
	t    *testing.T
	k    *ident.Key
	kind link.Type
	at   string
	d    ident.Domain
	text string
	all  *[]refusedVector
}

func (s signer) frame(text string) string {
	return framed(s.kind, append(s.k.Sign(s.d, []byte(text)), text...))
}

func (s signer) row(want, about, text string) {
	*s.all = append(*s.all, refusedVector{About: about, At: s.at, Frame: s.frame(text), Want: want})
}

type missing struct{}

// member is a greeting with one member changed, of the card where it has a dot.
func (s signer) member(want, about, name string, v any) {
	s.t.Helper()
	var all map[string]any
	if err := json.Unmarshal([]byte(s.text), &all); err != nil {
		s.t.Fatal(err)
	}
	in := all
	if card, ok := strings.CutPrefix(name, "card."); ok {
		in = maps.Clone(all["card"].(map[string]any))
		all["card"], name = in, card
	}
	if in[name] = v; v == (missing{}) {
		delete(in, name)
	}
	frame, err := link.Signed(s.k, s.kind, s.d, all)
	if err != nil {
		s.t.Fatal(err)
	}
	*s.all = append(*s.all, refusedVector{About: about, At: s.at, Frame: hex.EncodeToString(frame), Want: want})
}

func (s signer) forged(about string) {
	raw, err := hex.DecodeString(s.frame(s.text))
	if err != nil {
		s.t.Fatal(err)
	}
	raw[5] ^= 1
	*s.all = append(*s.all, refusedVector{About: about, At: s.at, Frame: hex.EncodeToString(raw), Want: string(link.CodeSignature)})
}

func refusedGreetings(t *testing.T) (all []refusedVector) {
	said := greetings(t)
	as := func(name, at string, who *linktest.Store) signer {
		v := said[name]
		return signer{t, who.Key, link.Type(v.Type), at, ident.Domain(v.Domain), v.Signed, &all}
	}
	a, b := duo()
	x := strings.Repeat
	many := func(n int, s string) (l []any) {
		for range n {
			l = append(l, s)
		}
		return l
	}

	h := as("hello", "answering", a)
	h.member(taken, "hello: a member that is not listed, signed", "zz", 1)
	h.member(taken, "hello: a member of the card that is not listed", "card.zz", nil)
	for _, name := range []string{"name", "version", "features", "endpoints"} {
		empty := any("")
		if name == "features" || name == "endpoints" {
			empty = []any{}
		}
		h.member(taken, "hello: without "+name, "card."+name, missing{})
		h.member(taken, "hello: "+name+" is null, as if unsaid", "card."+name, nil)
		h.member(taken, "hello: "+name+" is empty, as if unsaid", "card."+name, empty)
	}
	h.member(taken, "hello: without to", "to", missing{})
	h.member(taken, "hello: to is null, as if unsaid", "to", nil)
	h.member(taken, "hello: to is empty, as if unsaid", "to", "")
	h.member(string(link.CodeChannel), "hello: channel is null, as if unsaid, on a channel that is bound", "channel", nil)
	h.member(string(link.CodeChannel), "hello: channel is empty, as if unsaid", "channel", "")
	h.member(taken, "hello: 16 features, which may repeat", "card.features", many(16, "a"))
	h.member(malformed, "hello: 17 features", "card.features", many(17, "a"))
	h.member(malformed, "hello: a feature that is no word", "card.features", []any{"a b"})
	h.member(malformed, "hello: a feature that is empty", "card.features", []any{""})
	h.member(malformed, "hello: features is a string", "card.features", "a")
	h.member(taken, "hello: 8 endpoints", "card.endpoints", many(8, x("e", 64)))
	h.member(malformed, "hello: 9 endpoints", "card.endpoints", many(9, "e"))
	h.member(malformed, "hello: an endpoint of 65 bytes", "card.endpoints", []any{x("e", 65)})
	h.member(malformed, "hello: an endpoint that is empty", "card.endpoints", []any{""})
	h.member(taken, "hello: a name of 64 bytes", "card.name", x("é", 32))
	h.member(malformed, "hello: a name of 65 bytes", "card.name", x("n", 65))
	h.member(malformed, "hello: a name of two lines", "card.name", "a\nb")
	h.member(malformed, "hello: a version of 33 bytes", "card.version", x("v", 33))
	h.member(malformed, "hello: fold 0", "card.fold", 0)
	h.member(malformed, "hello: no fold", "card.fold", missing{})
	h.member(malformed, "hello: fold is a string", "card.fold", "1")
	h.member(taken, "hello: another fold", "card.fold", 2)
	h.member(malformed, "hello: no card", "card", missing{})
	h.member(malformed, "hello: a pk in uppercase", "card.pk", strings.ToUpper(a.Key.PublicHex()))
	h.member(malformed, "hello: a repo of 31 digits", "card.repo", x("a", 31))
	h.member(malformed, "hello: no runtime", "card.runtime", missing{})
	h.member(malformed, "hello: an instance that is null", "card.instance", nil)
	h.member(malformed, "hello: no nonce", "nonce", missing{})
	h.member(malformed, "hello: a nonce of 30 digits", "nonce", x("1", 30))
	h.member(malformed, "hello: a channel of 62 digits", "channel", x("1", 62))
	h.member(malformed, "hello: to is no node", "to", "bob")
	h.member(malformed, "hello: proto_min 0", "proto_min", 0)
	h.member(malformed, "hello: no proto_max", "proto_max", missing{})
	h.row(string(link.CodeProtocol), "hello: versions that are all later", strings.Replace(h.text, `"proto_max":1,"proto_min":1`, `"proto_max":3,"proto_min":2`, 1))
	h.row(malformed, "hello: proto_min above proto_max", strings.Replace(h.text, `"proto_min":1`, `"proto_min":2`, 1))
	h.row(taken, "hello: later versions too", strings.Replace(h.text, `"proto_max":1`, `"proto_max":2`, 1))
	h.row(malformed, "hello: whitespace", h.text+"\n")
	h.row(malformed, "hello: a name twice", strings.Replace(h.text, `"proto_max":1`, `"proto_max":1,"proto_max":1`, 1))
	h.row(malformed, "hello: no object", "[]")
	h.row(malformed, "hello: null", "null")
	h.row(malformed, "hello: nothing behind the signature", "")
	all = append(all, refusedVector{About: "hello: 63 bytes", At: "answering", Frame: framed(link.TypeHello, make([]byte, 63)), Want: malformed})
	h.forged("hello: another signature")
	h.member(string(link.CodeMisaddressed), "hello: meant for another node", "to", x("0f", 16))
	h.member(string(link.CodeRepository), "hello: another repository", "card.repo", x("0f", 16))

	w := as("welcome", "dialling", b)
	w.row(taken, "welcome: as it is", w.text)
	w.member(taken, "welcome: name is null, as if unsaid", "card.name", nil)
	w.member(taken, "welcome: no clock, as if untold", "clock", missing{})
	w.member(taken, "welcome: the clock is null, as if untold", "clock", nil)
	w.member(taken, "welcome: a clock of 2^53-1", "clock", event.MaxInt)
	w.member(malformed, "welcome: a clock below 0", "clock", -1)
	w.member(malformed, "welcome: no to", "to", missing{})
	w.member(malformed, "welcome: no hello", "hello", missing{})
	w.member(string(link.CodeReplay), "welcome: to another hello", "hello", x("0f", 32))
	w.member(string(link.CodeProtocol), "welcome: version 0", "proto", 0)
	w.member(string(link.CodeProtocol), "welcome: no version", "proto", missing{})
	w.member(string(link.CodeProtocol), "welcome: version 2", "proto", 2)
	w.member(string(link.CodeChannel), "welcome: another channel", "channel", x("0f", 32))
	w.member(string(link.CodeMisaddressed), "welcome: to another node", "to", x("0f", 16))
	w.forged("welcome: another signature")

	c := as("confirm", "proving", a)
	c.row(taken, "confirm: as it is", c.text)
	c.member(taken, "confirm: no clock, as if untold", "clock", missing{})
	c.member(malformed, "confirm: a clock below 0", "clock", -1)
	c.member(malformed, "confirm: no welcome", "welcome", missing{})
	c.member(string(link.CodeReplay), "confirm: of another welcome", "welcome", x("0f", 32))
	c.forged("confirm: another signature")
	h.at = "proving"
	h.row(malformed, "a hello where a confirm is due", h.text)

	r := as("refusal", "dialling", b)
	r.row(taken, "refusal: as it is", r.text)
	r.member(taken, "refusal: a code of another build", "code", "a-new.one")
	r.member(taken, "refusal: detail is null, as if unsaid", "detail", nil)
	r.member(taken, "refusal: detail is empty, as if unsaid", "detail", "")
	r.member(taken, "refusal: re is empty, as if unsaid: nobody's word", "re", "")
	r.member(taken, "refusal: without versions", "proto_max", missing{})
	r.member(malformed, "refusal: no code", "code", missing{})
	r.member(malformed, "refusal: a code with a space", "code", "not you")
	r.member(taken, "refusal: a detail of 512 bytes", "detail", x("d", 512))
	r.member(malformed, "refusal: a detail of 513 bytes", "detail", x("d", 513))
	r.member(malformed, "refusal: no pk", "pk", missing{})
	r.member(malformed, "refusal: re of 62 digits", "re", x("0f", 31))
	return all
}

// reader is a core at a place of a link, to which nothing was said yet that a
// vector says.
func reader(t *testing.T, at string) *link.Core {
	t.Helper()
	a, b := duo()
	a.Append(1, 100)
	b.Append(2, 100)
	w := join(t, 0, a, b, vectorConfigs(b))
	next := func(i int) {
		w.side[1-i].core.Receive(0, frame(t, w.side[i].core.Next(0)))
	}
	switch at {
	case "answering":
		return w.side[1].core
	case "dialling":
		w.side[0].core.Next(0)
		return w.side[0].core
	case "proving":
		next(0)
		w.side[1].core.Next(0)
		return w.side[1].core
	}
	next(0)
	next(1)
	next(0)
	return w.side[1].core
}

// judged is what a reader makes of a frame. What is of good form and stands to nothing
// that was said before is taken, though a link may have to end for it.
func judged(t *testing.T, v refusedVector) string {
	t.Helper()
	c := reader(t, v.At)
	f, err := link.ReadFrame(bytes.NewReader(v.raw(t)), c.Limit())
	if err == nil && f.Body == nil && f.Size > 5 {
		if err := c.Receive(0, f); err != nil || c.Stats().Unknown != 1 {
			t.Errorf("%s: %v", v.About, err)
		}
		return passed
	}
	if err == nil {
		if err = c.Receive(0, f); v.At == "up" {
			if c.Stats().Unknown == 1 {
				return passed
			}
			if _, bad := reprint(f); bad == nil {
				return taken
			}
		}
	}
	var wrong *link.ProtocolError
	if errors.As(err, &wrong) {
		return string(wrong.Code)
	}
	return taken
}

func TestRefusedVectors(t *testing.T) {
	rows := append(headers(), bodies(t)...)
	rows = append(rows, refusedGreetings(t)...)
	golden(t, "refused.json", rows)
	var all []refusedVector
	text, err := os.ReadFile(filepath.Join(vectorDir, "refused.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	for _, v := range all {
		if got := judged(t, v); got != v.Want {
			t.Errorf("%s: %s, want %s", v.About, got, v.Want)
		}
	}
}
