package room

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/comity-dev/comity/coop/fold"
	"github.com/comity-dev/comity/coop/journal"
)

// living is asked by the journal before the first append of a run: the sessions
// of earlier runs that go on. Those to be kept come first: what does nothing is
// left behind before what holds something, and of both the oldest.
func (r *Room) living(v look) []string {
	orphans := r.orphans(v)
	var open []fold.Session
	for s := range v.State().OpenSessions() {
		if o := ownerIn(v, s.ID.SID); r.ours(v, s) && o != nil && !r.dead(o) {
			open = append(open, s)
		}
	}
	slices.SortStableFunc(open, func(a, b fold.Session) int {
		return cmp.Or(-cmp.Compare(min(a.Claims, 1), min(b.Claims, 1)), -cmp.Compare(a.OpenedAt, b.OpenedAt))
	})
	sids := slices.Sorted(maps.Keys(orphans))
	for _, s := range open {
		sids = append(sids, s.ID.SID)
	}
	return sids
}

// orphans are own sessions whose opening the disk has lost, and a claim of which
// is there and stands: the damage of one event must not cost another. Where what
// such a session lived by is lost too, it gets a time to live.
func (r *Room) orphans(v look) map[string]*owner {
	out := map[string]*owner{}
	for c := range v.State().Claims() {
		sid := c.Session.SID
		if !r.own(c.Session) || out[sid] != nil || v.Liveness(c.Stream) != journal.Own {
			continue
		}
		if s, ok := v.State().Session(c.Session); ok && s.State == fold.SessionOpen {
			continue
		}
		o := ownerIn(v, sid)
		if o == nil {
			o = &owner{Kind: ownerTTL, TTL: DefaultTTL}
		}
		if !r.dead(o) {
			out[sid] = o
		}
	}
	return out
}

// ours tells the sessions of this machine's own runs. One of a second user of
// this key (a copied state folder) has the same runtime and is not ours to end.
func (r *Room) ours(v look, s fold.Session) bool {
	return r.own(s.ID) && v.Liveness(s.Stream) == journal.Own
}

// resume takes up what lives on and closes what earlier runs left. When there is
// anything to take up or to end, the run's first event is written now, so that a
// reader of the journal need not guess. A disk that takes no writes is no reason
// to stay away: the journal is read and says what is wrong, what is over counts
// as closed, and Run tries again.
func (r *Room) resume(ctx context.Context) {
	rows := r.journal.Local(rowOwner)
	_, _ = r.decide(ctx, func(tx *journal.Tx) error { // why it failed is in Broken, and in every later write
		orphans := r.orphans(tx)
		for sid := range rows {
			if orphans[sid] != nil {
				continue
			}
			if s, ok := tx.State().Session(r.id(sid)); ok && s.State == fold.SessionEnded && r.ours(tx, s) {
				r.owners[sid] = &owner{closing: reasonProcess} // its close did not come to be written
			} else if !ok || s.State != fold.SessionOpen || !r.ours(tx, s) {
				r.forgetRows(tx, sid)
			}
		}
		for s := range tx.State().OpenSessions() {
			if r.ours(tx, s) {
				r.owners[s.ID.SID] = &owner{closing: reasonOf(ownerIn(tx, s.ID.SID))}
			}
		}
		for _, sid := range r.living(tx) {
			o := orphans[sid]
			if o == nil {
				o = ownerIn(tx, sid)
			}
			r.adopt(sid, o)
		}
		for sid, l := range r.notices {
			if o := r.owners[sid]; o == nil || o.closing != "" {
				delete(r.notices, sid)
				continue
			}
			l.acknowledge(toldIn(tx.Local(rowTold, sid)))
		}
		if len(r.owners) == 0 {
			return nil
		}
		return tx.Begin() // names the living, who go on
	})
	r.closeOver(ctx)
}

// reasonOf is why a session of an earlier run does not go on.
func reasonOf(o *owner) string {
	if o == nil {
		return reasonUnknown
	}
	return reasonProcess
}
