package journal

import (
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
	opened map[string]bool        // sids
	wrote  map[string]bool        // sids that opened, claimed or asked in it
	closed map[string]bool        // sids
	handed bool                   // it published a handover, or said what became of one
}

func newTie() *tie {
	return &tie{
		refs: map[ident.Stream]bool{}, needs: map[ident.Stream]bool{},
		opened: map[string]bool{}, wrote: map[string]bool{}, closed: map[string]bool{},
	}
}

// names reports whether the run carries what stands in another stream.
func (t *tie) names(s ident.Stream) bool {
	return t.first != nil && slices.Contains(t.first.Streams, s)
}

func (t *tie) lists(sid string) bool {
	return t.first != nil && slices.Contains(t.first.Sessions, sid)
}

// ties are those of all streams held.
type ties map[ident.Stream]*tie

func (ts ties) observe(e *event.Event) {
	t := ts[e.Stream]
	if t == nil {
		t = newTie()
		ts[e.Stream] = t
	}
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
		t.opened[b.Info.Session], t.wrote[b.Info.Session] = true, true
	case event.SessionClosed:
		t.closed[b.Session] = true
	case event.ClaimAcquired:
		t.wrote[b.Session] = true
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
		t.wrote[b.Session] = true
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
