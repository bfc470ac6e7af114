package room

import (
	"context"
	"maps"
	"slices"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/fold"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/journal"
)

// SetTrust changes whose events are believed: see [journal.Journal.SetTrust]. When it
// returns, waits that this serves have been woken and the notices told.
func (r *Room) SetTrust(ctx context.Context, trust func(ident.NodeID) bool) error {
	err := r.journal.SetTrust(ctx, trust)
	r.settle()
	return failure(err)
}

// Forget drops what machines wrote that a person says are gone: see
// [journal.Journal.Forget]. When it returns, waits that this serves have been woken
// and the notices told.
func (r *Room) Forget(ctx context.Context, gone ...ident.Runtime) (journal.CompactReport, error) {
	rep, err := r.journal.Forget(ctx, gone...)
	r.settle()
	return rep, failure(err)
}

// left hears, under the lock, that a stream has left the state: it was dropped, or
// its key is not believed any more. Others may be about to leave with it, so what
// stands is looked at when all have: by who asked for it, or by Run.
func (r *Room) left(journal.View, fold.Changes) {
	r.moved = true
	r.poke()
}

// settle does what is due once streams have left: it forgets what was remembered of
// them, looks at what stands without them, and has all waits try again.
func (r *Room) settle() {
	var moved bool
	r.view(func(look) { moved = r.moved })
	if !moved {
		return
	}
	peers := len(r.journal.Peers()) > 0 || len(r.journal.Health().SecondUsers) > 0
	r.journal.View(func(v journal.View) {
		r.moved = false
		held := map[ident.Stream]bool{}
		others := peers
		for s := range v.State().Streams() {
			held[s.Stream] = true
			others = others || s.Stream.Runtime() != r.runtime
		}
		r.others = others
		r.names.keep(func(s ident.Stream) bool { return held[s] })
		maps.DeleteFunc(r.expired, func(s ident.Stream, _ bool) bool { return !held[s] })
		r.ages.keep(v.State())
		r.restand(v)
	})
}

// keep forgets since when things have stood that are not there any more.
func (a *ages) keep(s *fold.State) {
	for id := range a.sessions {
		if now, ok := s.Session(id); !ok || now.State != fold.SessionOpen {
			delete(a.sessions, id)
		}
	}
	for k := range a.claims {
		if c, ok := s.Claim(k); !ok || !c.Live() {
			delete(a.claims, k)
		}
	}
}

// restand looks at every own claim, tells what has become of it without an event,
// and has all waits try again.
func (r *Room) restand(v journal.View) {
	for _, k := range slices.SortedFunc(maps.Keys(r.standings), event.Key.Compare) {
		r.noteClaim(v, journal.Arrival{}, k)
	}
	r.wakeAll()
}
