package journal

import (
	"iter"
	"slices"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

// A tie is what holds a stream to others: what it may end there, and what it may
// need of them. A stream that is dropped must not have ended, fenced or answered
// anything that stays.
type tie struct {
	first  *event.StreamSucceeded // its first event
	refs   map[ident.Stream]bool  // whose claims, reviews and publications it names
	needs  map[ident.Stream]bool  // whose events its checkpoints keep
	sids   map[string]deeds       // what sessions did in it
	handed bool                   // it published a handover, or said what became of one

	latest string // who did something last, and what it is noted to have done
	done   deeds
}

// deeds are what one session did in a stream.
type deeds uint8

const (
	didOpen  deeds = 1 << iota
	didWrite       // opened, claimed or asked
	didClose
)

func newTie() *tie {
	return &tie{refs: map[ident.Stream]bool{}, needs: map[ident.Stream]bool{}, sids: map[string]deeds{}}
}

// note adds to what a session did.
func (t *tie) note(sid string, d deeds) {
	if sid == t.latest && t.done|d == t.done {
		return
	}
	was := t.sids[sid]
	if was|d != was {
		t.sids[sid] = was | d
	}
	t.latest, t.done = sid, was|d
}

// did yields the sessions that did something.
func (t *tie) did(d deeds) iter.Seq2[string, deeds] {
	return func(yield func(string, deeds) bool) {
		for sid, all := range t.sids {
			if all&d != 0 && !yield(sid, all) {
				return
			}
		}
	}
}

// names reports whether the run carries what stands in another stream.
func (t *tie) names(s ident.Stream) bool {
	return t.first != nil && slices.Contains(t.first.Streams, s)
}

func (t *tie) lists(sid string) bool {
	return t.first != nil && slices.Contains(t.first.Sessions, sid)
}

// observe takes in an event of the stream.
func (t *tie) observe(e *event.Event) {
	name := func(keys ...event.Key) {
		for _, k := range keys {
			if k.Stream != e.Stream {
				t.refs[k.Stream] = true
			}
		}
	}
	switch b := e.Body.(type) {
	case event.StreamSucceeded:
		if e.Seq == 1 {
			t.first = &b
		}
	case event.SessionOpened:
		t.note(b.Info.Session, didOpen|didWrite)
	case event.SessionClosed:
		t.note(b.Session, didClose)
	case event.ClaimAcquired:
		t.note(b.Session, didWrite)
		name(b.Fences...)
	case event.ClaimReleased:
		name(b.Claim)
	case event.HandoverPublished:
		t.handed = true
	case event.HandoverConsumed:
		t.handed = true
		name(b.Publications...)
	case event.HandoverDeclined:
		t.handed = true
		name(b.Publications...)
	case event.HandoverWithdrawn:
		t.handed = true
		name(b.Publication)
	case event.ReviewRequested:
		t.note(b.Session, didWrite)
	case event.ReviewAnswered:
		name(b.Request)
	case event.ReviewClosed:
		name(b.Request)
	case event.StreamCheckpoint:
		t.checkpoint(b)
	}
}

func (t *tie) checkpoint(b event.StreamCheckpoint) {
	for _, s := range b.Covers {
		t.refs[s] = true
	}
	for s := range b.Kept {
		t.needs[s] = true
	}
}
