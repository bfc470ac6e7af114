package sim

import (
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/scope"
)

// A liar passes on what two machines say to each other. It can sign for nobody,
// and do all else: withhold, replay, hoard, and lie about ages and marks.
type liar struct {
	w    *World
	kept []message // what it may say again
}

func (l *liar) pass(from *machine, msg message) []message {
	w := l.w
	if len(l.kept) < 50 {
		l.kept = append(l.kept, msg)
	} else {
		l.kept[w.rng.IntN(len(l.kept))] = msg
	}
	switch w.rng.IntN(8) {
	case 0:
		w.log("the relay withholds a message of %s", from.name)
		return nil
	case 1:
		w.log("the relay plays an old message as %s's", from.name)
		return []message{msg, pick(w, l.kept)}
	case 2:
		w.log("the relay makes beats of %s young", from.name)
		return []message{l.age(msg, func(time.Duration) time.Duration { return 0 })}
	case 3:
		w.log("the relay makes beats of %s old", from.name)
		return []message{l.age(msg, func(d time.Duration) time.Duration { return d + w.between(0, time.Minute) })}
	case 4:
		w.log("the relay lies about marks of %s", from.name)
		return []message{l.mark(msg)}
	case 5:
		w.log("the relay turns round what %s says", from.name)
		msg.events = slices.Clone(msg.events)
		slices.Reverse(msg.events)
		return []message{msg}
	case 6:
		if len(msg.events) > 0 {
			w.log("the relay garbles an event of %s", from.name)
			msg.events = slices.Clone(msg.events)
			i := w.rng.IntN(len(msg.events))
			msg.events[i] = garble(msg.events[i])
		}
	}
	return []message{msg}
}

func (l *liar) age(msg message, f func(time.Duration) time.Duration) message {
	marks := event.Marks{}
	for _, s := range slices.Sorted(maps.Keys(msg.marks)) {
		m := msg.marks[s]
		m.Age = f(m.Age)
		marks[s] = m
	}
	msg.marks = marks
	return msg
}

func (l *liar) mark(msg message) message {
	marks := event.Marks{}
	for _, s := range slices.Sorted(maps.Keys(msg.marks)) {
		m := msg.marks[s]
		m.Seq = uint64(l.w.rng.IntN(int(m.Seq) + 5))
		marks[s] = m
	}
	msg.marks = marks
	return msg
}

// garble changes one digit of the signature.
func garble(raw []byte) []byte {
	raw = slices.Clone(raw)
	e, err := event.Parse(raw)
	if err != nil {
		return raw
	}
	sig := hex.EncodeToString(e.Sig)
	for i := range raw {
		if string(raw[i:min(i+len(sig), len(raw))]) == sig {
			raw[i] = "10"[raw[i]&1]
			break
		}
	}
	return raw
}

// An origin is a key that everybody trusts, in the hands of somebody who signs
// whatever does harm.
type origin struct {
	w    *World
	key  *ident.Key
	at   event.Header
	sent [][]byte
	n    int
}

func newOrigin(w *World) *origin {
	o := &origin{w: w, key: keyOf("mallory")}
	o.fresh()
	return o
}

// fresh begins another stream.
func (o *origin) fresh() {
	o.at = event.Header{Repo: o.w.repo, Stream: ident.NewStream(o.key.Node(), o.key.Runtime(o.w.repo), ident.NewInstance()), At: 1}
}

func (o *origin) seal(h event.Header, b event.Body) *event.Event {
	e, err := event.Seal(o.key, h, b)
	if err != nil {
		panic(fmt.Sprint("hostile event: ", err)) // unreachable: what it signs is in form
	}
	return e
}

func (o *origin) next(lamport uint64, b event.Body) *event.Event {
	o.at.Seq++
	o.at.Lamport = max(lamport, o.at.Lamport+1)
	e := o.seal(o.at, b)
	o.at.Prev = hexOf(e.Hash)
	return e
}

func (o *origin) claim(words ...string) event.Body {
	set, err := scope.ParseSet(words)
	if err != nil {
		panic(err) // unreachable: the words are stored forms
	}
	return event.ClaimAcquired{Session: "m", Scope: set, Mode: event.ModeExclusive}
}

func (o *origin) opening() event.Body {
	return event.SessionOpened{Info: event.SessionInfo{Session: "m", Client: "far", Checkout: "00000000000000ff"}}
}

// attack says something to one machine.
func (o *origin) attack(m *machine) {
	w := o.w
	o.n++
	var batch [][]byte
	add := func(e *event.Event) { batch = append(batch, e.Raw) }
	what := ""
	switch w.rng.IntN(7) {
	case 0:
		what = "backdates a claim in a fresh stream"
		o.fresh()
		add(o.next(1, o.opening()))
		add(o.next(2, o.claim("dir:src")))
	case 1:
		what = "forks"
		h := o.at
		h.Seq++
		h.Lamport++
		add(o.seal(h, o.claim("dir:src")))
		add(o.seal(h, o.claim("dir:docs")))
		if w.chance(2) {
			slices.Reverse(batch)
		}
	case 2:
		what = "sends what is too large"
		batch = append(batch, make([]byte, event.MaxEventBytes+1))
	case 3:
		what = "stamps ahead"
		h := o.at
		h.Seq++
		h.Lamport += 1 << 40
		add(o.seal(h, o.opening()))
	case 4:
		what = "leaves a hole"
		h := o.at
		h.Seq += uint64(2 + w.rng.IntN(30))
		h.Lamport += 100
		h.Prev = "00000000000000000000000000000000000000000000000000000000000000ff"
		for range 20 {
			h.Seq++
			h.Lamport++
			add(o.seal(h, o.opening()))
		}
	case 5:
		what = "signs badly"
		batch = append(batch, garble(o.next(0, o.opening()).Raw))
		o.fresh()
	case 6:
		what = "forges an event of an honest machine"
		for _, k := range w.known(m) {
			batch = o.forge(batch, event.Key{Stream: k.Stream, Seq: k.Seq + 1 + uint64(w.rng.IntN(4))})
		}
	}
	w.log("mallory %s at %s", what, m.name)
	o.sent = append(o.sent, batch...)
	m.sync()
	m.ingest("mallory", batch)
}

// forge adds an event of an honest machine's stream that nobody signed.
func (o *origin) forge(batch [][]byte, k event.Key) [][]byte {
	h := event.Header{Repo: o.w.repo, Stream: k.Stream, Seq: k.Seq, Lamport: 1 << 20, At: 1, Prev: hex.EncodeToString(make([]byte, 32))}
	e, err := event.Seal(o.w.facts.writer[k.Stream].key, h, o.claim("dir:docs"))
	if err != nil { // the machine has another key now
		return batch
	}
	return append(batch, garble(e.Raw))
}

// block leaves at each machine, for each stream of another one that it hears, a forged
// event that waits for those before it: it must keep none of them away.
func (o *origin) block(core []*machine) {
	for _, m := range core {
		var batch [][]byte
		for _, s := range slices.Sorted(maps.Keys(m.held.heads)) {
			if by := o.w.facts.writer[s]; by != nil && by != m && by.running() && s == by.j.Stream() {
				batch = o.forge(batch, event.Key{Stream: s, Seq: m.held.heads[s] + 4})
			}
		}
		m.sync()
		m.ingest("mallory", batch)
	}
}

// known is one event of an honest machine that m holds.
func (w *World) known(m *machine) []event.Key {
	streams := slices.DeleteFunc(slices.Sorted(maps.Keys(m.held.heads)), func(s ident.Stream) bool { return w.facts.writer[s] == nil })
	if len(streams) == 0 {
		return nil
	}
	s := pick(w, streams)
	return []event.Key{{Stream: s, Seq: m.held.heads[s]}}
}
