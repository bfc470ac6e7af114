package journal

import (
	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
)

// A found event is one that was read from the log at index.
type found struct {
	event *event.Event
	index uint64
}

// authentic sorts events into authentic ones and others. An event is authentic
// when this node vouched for it before, when its own signature is good, or when
// a later authentic event of its stream reaches it through prev. One that waits
// for that is handed on together with the one that reached it.
type authentic struct {
	bound   int    // events that may wait in one stream
	checked uint64 // signatures
	waiting map[ident.Stream][]found
	alone   [1]found // room for an answer
}

func newAuthentic(bound int) *authentic {
	return &authentic{bound: bound, waiting: map[ident.Stream][]found{}}
}

// admit takes the next event of the log, vouched for or not. It returns those
// that are known to be authentic now, in the order of their stream, and those
// that will never be. Both are good until the next call.
func (a *authentic) admit(f found, vouched bool) (good, bad []found) {
	s := f.event.Stream
	wait := a.waiting[s]
	if vouched && wait == nil {
		a.alone[0] = f
		return a.alone[:], nil
	}
	if n := len(wait); n > 0 && !reaches(f.event, wait[n-1].event) {
		bad, wait = wait, nil
	}
	wait = append(wait, f)
	switch {
	case vouched || a.signed(f.event):
		delete(a.waiting, s)
		return wait, bad
	case len(wait) > a.bound:
		delete(a.waiting, s)
		return nil, append(bad, wait...)
	}
	a.waiting[s] = wait
	return nil, bad
}

func (a *authentic) signed(e *event.Event) bool {
	a.checked++
	return e.Verify()
}

// rest returns what still waits: nothing is going to reach it.
func (a *authentic) rest() []found {
	var bad []found
	for _, wait := range a.waiting {
		bad = append(bad, wait...)
	}
	return bad
}

func reaches(e, before *event.Event) bool {
	return e.Seq == before.Seq+1 && names(e, before)
}
