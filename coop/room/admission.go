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
	conflicts meetings          // refuse it
	holders   []ident.SessionID // of the conflicts
	broken    []event.Key       // claims behind the conflicts: what --break ends
	pending   bool              // a conflict is not written yet, and cannot be broken
	overlaps  meetings          // meet it without excluding it
	lapsed    []event.Key       // of the dead, fenced by nobody yet: it fences them
	fenced    meetings          // the same, described
}

// MaxConflicts is how many claims in the way an answer describes; it says how
// many more there are.
const MaxConflicts = 64

// meetings are described claims, the first MaxConflicts of them.
type meetings struct {
	list []api.Conflict
	more int
}

func (m *meetings) add(describe func() api.Conflict) {
	if len(m.list) == MaxConflicts {
		m.more++
		return
	}
	m.list = append(m.list, describe())
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
	live := v.Liveness(c.Stream)
	describe := func() api.Conflict { return r.conflict(v, q, c, live) }
	switch {
	case len(c.FencedBy) > 0: // lost already, whatever becomes of the winner
	case !excludes(q.mode, q.checkout, c.Mode, c.Checkout):
		if live != journal.Expired {
			out.overlaps.add(describe)
		}
	case live == journal.Expired, plantUnknown && live == journal.Unknown:
		out.lapsed = append(out.lapsed, c.Key)
		out.fenced.add(describe)
	default: // held, or beaten and still there
		out.conflicts.add(describe)
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
	describe := func() api.Conflict {
		return api.Conflict{
			Claim: e.Key().String(), Short: r.names.short(e.Key()), Epoch: e.Lamport, Session: b.Session, Client: info.Client, By: info.By,
			Intent: b.Intent, Scope: b.Scope.Strings(), Mode: string(b.Mode), Meets: m.Witness,
			Live: api.LiveLive, Pending: true,
		}
	}
	if !excludes(q.mode, q.checkout, b.Mode, info.Checkout) {
		out.overlaps.add(describe)
		return
	}
	out.conflicts.add(describe)
	out.holders = append(out.holders, id)
	out.pending = true
}

// liveMaybe: too little time has passed to tell; it counts as live.
const liveMaybe = "maybe_live"

// conflict describes a claim that meets q.
func (r *Room) conflict(v look, q ask, c fold.Claim, live journal.Liveness) api.Conflict {
	m, _ := q.scope.Meets(c.Scope)
	s, _ := v.State().Session(c.Session)
	out := api.Conflict{
		Claim: c.Key.String(), Short: r.names.short(c.Key), Epoch: c.Epoch, Session: c.Session.SID,
		Client: s.Info.Client, By: s.Info.By, Intent: c.Intent, Scope: c.Scope.Strings(), Mode: string(c.Mode), Checkout: string(c.Checkout),
		Meets: m.Witness, Live: api.LiveLive, AgeMS: r.ages.claim(c.Key, c.At),
	}
	switch live {
	case journal.Unknown:
		out.Live = liveMaybe
		out.MaybeMS = max(0, v.Left(c.Stream)).Milliseconds()
	case journal.Expired:
		out.Live = api.LiveExpired
	}
	return out
}

// covered finds a claim of the session that already holds all that q asks, in a
// mode at least as strong, and is not on its way out.
func (r *Room) covered(v look, q ask) (fold.Claim, bool) {
	for _, c := range v.State().ClaimsOf(q.session) {
		switch {
		case strength(c.Mode) < strength(q.mode), !includes(c.Scope, q.scope):
		case c.Mode == event.ModeCheckout && c.Checkout != q.checkout: // it protects another checkout
		case r.releasing(v, c.Key):
		case held(v.State().Standing(c.Key, r.gone(v))):
			return c, true
		}
	}
	return fold.Claim{}, false
}

// covering tells that the session's claim on all that q asks is on its way to
// the disk.
func (r *Room) covering(v look, q ask) bool {
	return slices.ContainsFunc(v.Pending(), func(e *event.Event) bool {
		b, ok := e.Body.(event.ClaimAcquired)
		return ok && r.id(b.Session) == q.session && strength(b.Mode) >= strength(q.mode) && includes(b.Scope, q.scope)
	})
}

func strength(m event.Mode) int {
	return slices.Index([]event.Mode{event.ModeAdvisory, event.ModeCheckout, event.ModeExclusive}, m)
}

// includes tells that have covers every entry of want: it is an entry of have,
// or a path, or a folder within a folder. It may say no for patterns: then a
// second claim is written, which harms nobody.
func includes(have, want scope.Set) bool {
	return !slices.ContainsFunc(want, func(e scope.Entry) bool {
		if slices.Contains(have, e) {
			return false
		}
		switch e.Form() {
		case scope.FormPath:
			_, ok := have.Covers(e.Text())
			return !ok
		case scope.FormDir:
			return !slices.ContainsFunc(have, func(h scope.Entry) bool { return h.Form() == scope.FormDir && h.Covers(e.Text()) })
		}
		return true
	})
}
