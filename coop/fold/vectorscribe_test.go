package fold_test

import (
	"encoding/hex"
	"slices"
	"strings"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

// A scribe writes the history of a vector: also what this build does not write, and
// what is lost.
type scribe struct {
	*writer
	lost []event.Key
}

// begin is the first run of a node, in which sid is open in a checkout.
func (w *scribe) begin(node int, sid string, checkout byte) ident.Stream {
	st := w.stream(node, 0)
	w.write(st, run1())
	w.write(st, open(sid, checkout))
	return st
}

func (w *scribe) claim(st ident.Stream, sid string, mode event.Mode, stored ...string) *event.Event {
	return w.write(st, claim(w.writer, sid, mode, stored...))
}

// fence claims, in mode exclusive, what fences others.
func (w *scribe) fence(st ident.Stream, sid, stored string, of ...*event.Event) *event.Event {
	return w.write(st, w.fencing(sid, event.ModeExclusive, stored, of...))
}

func (w *scribe) fencing(sid string, mode event.Mode, stored string, of ...*event.Event) event.ClaimAcquired {
	c := claim(w.writer, sid, mode, stored)
	for _, e := range of {
		c.Fences = append(c.Fences, e.Key())
	}
	return c
}

func (w *scribe) release(st ident.Stream, sid string, e *event.Event) *event.Event {
	return w.write(st, event.ClaimReleased{Claim: e.Key(), Session: sid, Reason: "done"})
}

func (w *scribe) end(st ident.Stream, sid string) *event.Event {
	return w.write(st, event.SessionClosed{Session: sid, Reason: "done"})
}

// edited writes an event of a later build: in its signed bytes old is replaced.
func (w *scribe) edited(st ident.Stream, b event.Body, old, with string) *event.Event {
	w.t.Helper()
	e := w.write(st, b)
	msg := string(event.SignedBytes(e.Raw))
	if strings.Count(msg, old) != 1 {
		w.t.Fatalf("%s is not once in %s", old, msg)
	}
	msg = strings.Replace(msg, old, with, 1)
	key := w.keys[slices.IndexFunc(w.keys, func(k *ident.Key) bool { return k.Node() == st.Node() })]
	sig := hex.EncodeToString(key.Sign(ident.DomainEvent, []byte(msg)))
	e, err := event.Parse([]byte(strings.Replace(msg, `,"stream":"`, `,"sig":"`+sig+`","stream":"`, 1)))
	if err != nil {
		w.t.Fatal(err)
	}
	w.events[len(w.events)-1] = e
	h := w.next[st]
	h.Prev = hex.EncodeToString(e.Hash[:])
	w.next[st] = h
	return e
}

// lose takes out an event as the disk does.
func (w *scribe) lose(e *event.Event) {
	w.events = slices.DeleteFunc(w.events, func(x *event.Event) bool { return x == e })
	w.lost = append(w.lost, e.Key())
}

// arrive brings what was written into another order: stream by stream.
func (w *scribe) arrive(streams ...ident.Stream) {
	slices.SortStableFunc(w.events, func(a, b *event.Event) int {
		return slices.Index(streams, a.Stream) - slices.Index(streams, b.Stream)
	})
}

// keeping is a checkpoint that names some events.
func (w *scribe) keeping(covers []ident.Stream, kept ...*event.Event) event.StreamCheckpoint {
	return w.checkpoint(covers, func(e *event.Event) bool { return slices.Contains(kept, e) })
}

// without is a checkpoint that names all of the streams up to here but some events.
func (w *scribe) without(covers []ident.Stream, out ...*event.Event) event.StreamCheckpoint {
	return w.checkpoint(covers, func(e *event.Event) bool { return !slices.Contains(out, e) })
}

func handover(sid, text string) event.HandoverPublished {
	return event.HandoverPublished{Session: sid, Handover: event.Handover{ID: event.HandoverID(text), Body: text}}
}

// run1 is the first event of the first run of a record.
func run1() event.StreamSucceeded { return event.StreamSucceeded{Record: record(0), Run: 1} }

func claim(w *writer, sid string, mode event.Mode, stored ...string) event.ClaimAcquired {
	return event.ClaimAcquired{Session: sid, Scope: set(w.t, stored...), Mode: mode}
}
