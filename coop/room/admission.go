package room

import (
	"slices"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/fold"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/journal"
	"github.com/comity-dev/comity/coop/scope"
)

// An ask is a claim request after the door: what it wants, for whom.
type ask struct {
	session  ident.SessionID
	checkout ident.CheckoutID
	scope    scope.Set
	mode     event.Mode
}

// A verdict is what stands in the way of an ask, and what it may end.
type verdict struct {
	conflicts []api.Conflict    // refuse it
	holders   []ident.SessionID // of the conflicts
	broken    []event.Key       // claims behind the conflicts: what --break ends
	overlaps  []api.Conflict    // meet it without excluding it
	lapsed    []event.Key       // of the dead, fenced by nobody yet: it fences them
	fenced    []api.Conflict    // the same, described
}

// excludes tells whether two claims of different sessions cannot both be held,
// where their scopes meet. checkout mode excludes within its checkout only.
func excludes(a event.Mode, ca ident.CheckoutID, b event.Mode, cb ident.CheckoutID) bool {
	if a == event.ModeAdvisory || b == event.ModeAdvisory {
		return false
	}
	if a == event.ModeExclusive && b == event.ModeExclusive {
		return true
	}
	return ca != "" && ca == cb
}

// judge looks at everything that meets q: folded claims and those that are
// written and not yet synced. It is the whole of admission; the caller holds
// the lock from here until its own claim is pending.
func (r *Room) judge(v look, q ask) verdict {
	var out verdict
	for c := range v.State().Meeting(q.scope) {
		if c.Session == q.session || !c.Live() {
			continue
		}
		r.weigh(v, q, c, &out)
	}
	for _, e := range v.Pending() {
		if b, ok := e.Body.(event.ClaimAcquired); ok {
			r.weighPending(v, q, e, b, &out)
		}
	}
	return out
}

func (r *Room) weigh(v look, q ask, c fold.Claim, out *verdict) {
	live := r.liveness(v, c.Stream)
	switch {
	case !excludes(q.mode, q.checkout, c.Mode, c.Checkout):
		if live != journal.Expired {
			out.overlaps = append(out.overlaps, r.conflict(v, q, c, live))
		}
	case len(c.FencedBy) > 0: // lost already, whatever becomes of the winner
	case live == journal.Expired:
		out.lapsed = append(out.lapsed, c.Key)
		out.fenced = append(out.fenced, r.conflict(v, q, c, live))
	default: // held, or beaten and still there
		out.conflicts = append(out.conflicts, r.conflict(v, q, c, live))
		out.holders = append(out.holders, c.Session)
		out.broken = append(out.broken, c.Key)
	}
}

// weighPending counts a claim that is on its way to the disk. It cannot be
// broken: it is not there yet.
func (r *Room) weighPending(v look, q ask, e *event.Event, b event.ClaimAcquired, out *verdict) {
	id := r.id(b.Session)
	if id == q.session {
		return
	}
	m, ok := q.scope.Meets(b.Scope)
	if !ok {
		return
	}
	info := r.infoOf(v, b.Session)
	c := api.Conflict{
		Claim: e.Key().String(), Epoch: e.Lamport, Session: b.Session, Client: info.Client, By: info.By,
		Intent: b.Intent, Scope: b.Scope.Strings(), Mode: string(b.Mode), Meets: m.Witness,
		Live: api.LiveLive, Pending: true,
	}
	if !excludes(q.mode, q.checkout, b.Mode, info.Checkout) {
		out.overlaps = append(out.overlaps, c)
		return
	}
	out.conflicts = append(out.conflicts, c)
	out.holders = append(out.holders, id)
}

func (r *Room) infoOf(v look, sid string) event.SessionInfo {
	if s, ok := v.State().Session(r.id(sid)); ok {
		return s.Info
	}
	for _, e := range v.Pending() {
		if b, ok := e.Body.(event.SessionOpened); ok && b.Info.Session == sid {
			return b.Info
		}
	}
	return event.SessionInfo{}
}

// conflict describes a claim that meets q.
func (r *Room) conflict(v look, q ask, c fold.Claim, live journal.Liveness) api.Conflict {
	m, _ := q.scope.Meets(c.Scope)
	s, _ := v.State().Session(c.Session)
	out := api.Conflict{
		Claim: c.Key.String(), Short: r.short(v, c.Key), Epoch: c.Epoch, Session: c.Session.SID,
		Client: s.Info.Client, By: s.Info.By, Intent: c.Intent, Scope: c.Scope.Strings(), Mode: string(c.Mode),
		Meets: m.Witness, Live: api.LiveLive, AgeMS: r.ageMS(c.Key.String(), c.At),
	}
	switch live {
	case journal.Unknown:
		out.Live = "maybe_live"
		out.MaybeMS = r.cfg.Journal.Limits.Expiry.Milliseconds()
	case journal.Expired:
		out.Live = api.LiveExpired
	}
	return out
}

// covered finds a claim of the session that already holds all that q asks, in a
// mode at least as strong.
func (r *Room) covered(v look, q ask) (fold.Claim, bool) {
	for _, c := range v.State().ClaimsOf(q.session) {
		if strength(c.Mode) < strength(q.mode) || !includes(c.Scope, q.scope) {
			continue
		}
		if v.State().Standing(c.Key, r.gone(v)).State == fold.StandingHeld {
			return c, true
		}
	}
	return fold.Claim{}, false
}

func strength(m event.Mode) int {
	return slices.Index([]event.Mode{event.ModeAdvisory, event.ModeCheckout, event.ModeExclusive}, m)
}

// includes tells that every entry of want is an entry of have, or a path that
// have covers. It may say no for globs within folders: then a second claim is
// written, which harms nobody.
func includes(have, want scope.Set) bool {
	for _, e := range want {
		if slices.Contains(have, e) {
			continue
		}
		if e.Form() != scope.FormPath {
			return false
		}
		if _, ok := have.Covers(e.Text()); !ok {
			return false
		}
	}
	return true
}
