package room

import (
	"slices"
	"strings"
	"time"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/fold"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/scope"
)

// MaxWaits bounds the queue of one repository.
const MaxWaits = 1024

// A wait is a claim in the queue. It is local and lives as long as its caller
// waits. Whom it waits for is as of its last try; it tries again whenever a claim
// that meets it changes, so at rest no edge of the graph of waits is missing.
type wait struct {
	ask
	holders []ident.SessionID // of the claims in its way
	before  []*wait           // earlier ones of other sessions that it would exclude
	ahead   []*wait           // those of them that it may not overtake
	wake    chan struct{}     // buffered: a try is due
	since   time.Duration     // boot time
}

// modeQueued marks a conflict with a claim that is not held but comes first.
const modeQueued = "queued"

// blockers are the sessions that w waits for, each once, in order.
func (w *wait) blockers() []ident.SessionID {
	out := slices.Clone(w.holders)
	for _, u := range w.ahead {
		out = append(out, u.session)
	}
	slices.SortFunc(out, ident.SessionID.Compare)
	return slices.Compact(out)
}

// rouse has w try again.
func (w *wait) rouse() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// ahead are the waits that c may not overtake.
func (r *Room) ahead(c *claiming) []*wait {
	if c.wait != nil {
		return c.wait.ahead
	}
	before := r.before(c.ask)
	if len(before) == 0 || !r.waitedFor(0)[c.session] {
		return before
	}
	return r.inFront(before, c.session, len(r.waits))
}

// before are the waits of other sessions that q would exclude.
func (r *Room) before(q ask) []*wait {
	var out []*wait
	for _, w := range r.waits {
		if w.session == q.session || !excludes(q.mode, q.checkout, w.mode, w.checkout) {
			continue
		}
		if _, ok := q.scope.Meets(w.scope); ok {
			out = append(out, w)
		}
	}
	return out
}

// inFront are those of before that a claim of the session at a place in the
// queue may not overtake: all but those that wait, directly or not, for the
// session itself, since who is waited for must be able to go on. What counts is
// who holds what, and who of those in front of the place may not overtake whom:
// so each place depends on the ones in front of it only, and no cycle of waits
// ever has a place in the queue in it, but only claims that are held.
func (r *Room) inFront(before []*wait, session ident.SessionID, place int) []*wait {
	return slices.DeleteFunc(slices.Clone(before), func(u *wait) bool {
		return r.chain(u.session, session, place) != nil
	})
}

// waitedFor are the sessions at which a chain of waits can end, at a quick look:
// somebody waits for what they hold, or they have more places in the queue than
// so many.
func (r *Room) waitedFor(places int) map[ident.SessionID]bool {
	out := map[ident.SessionID]bool{}
	queued := map[ident.SessionID]int{}
	for _, w := range r.waits {
		for _, h := range w.holders {
			out[h] = true
		}
		if queued[w.session]++; queued[w.session] > places {
			out[w.session] = true
		}
	}
	return out
}

// chain finds a way from one session to another along "waits for"; nil when
// there is none. It begins with from and ends with to. It goes over the claims
// that are held, and over the queue in front of a place.
func (r *Room) chain(from, to ident.SessionID, place int) []ident.SessionID {
	next := map[ident.SessionID][]ident.SessionID{}
	for i, w := range r.waits {
		next[w.session] = append(next[w.session], w.holders...)
		if i < place {
			for _, u := range w.ahead {
				next[w.session] = append(next[w.session], u.session)
			}
		}
	}
	seen := map[ident.SessionID]bool{}
	var walk func(at ident.SessionID) []ident.SessionID
	walk = func(at ident.SessionID) []ident.SessionID {
		if at == to {
			return []ident.SessionID{at}
		}
		if seen[at] {
			return nil
		}
		seen[at] = true
		for _, b := range next[at] {
			if rest := walk(b); rest != nil {
				return append([]ident.SessionID{at}, rest...)
			}
		}
		return nil
	}
	return walk(from)
}

// reorder brings up to date whom each may not overtake, from the front of the
// queue to its end, and rouses those for whom that changed.
func (r *Room) reorder() {
	waitedFor := r.waitedFor(1)
	for i, w := range r.waits {
		ahead := w.before
		if len(ahead) > 0 && waitedFor[w.session] {
			ahead = r.inFront(ahead, w.session, i)
		}
		if !slices.Equal(ahead, w.ahead) {
			w.ahead = ahead
			w.rouse()
		}
	}
}

// queue gives c its place, or renews whom it waits for. A wait that would close
// a cycle is refused: nobody in it could ever go on.
func (r *Room) queue(c *claiming, holders []ident.SessionID, conflicts []api.Conflict) error {
	for _, h := range holders {
		if path := r.chain(h, c.session, 0); path != nil {
			return cycleError(c.session, path, conflicts)
		}
	}
	slices.SortFunc(holders, ident.SessionID.Compare)
	holders = slices.Compact(holders)
	if c.wait != nil && slices.Equal(c.wait.holders, holders) {
		return nil
	}
	if c.wait == nil {
		if len(r.waits) >= MaxWaits {
			return api.Errorf(api.CodeBound, "%d claims are waiting already, no more fit", MaxWaits).WithHint("repeat later")
		}
		c.wait = &wait{ask: c.ask, before: r.before(c.ask), wake: make(chan struct{}, 1), since: r.clock.Boot()}
		r.waits = append(r.waits, c.wait)
	}
	c.wait.holders = holders
	r.reorder()
	return nil
}

func cycleError(self ident.SessionID, path []ident.SessionID, conflicts []api.Conflict) error {
	names := []string{self.SID}
	for _, id := range path {
		names = append(names, id.SID)
	}
	e := api.Errorf(api.CodeCycle, "nobody could go on: %s", strings.Join(names, " waits for ")).
		WithHint("release something first, or hand over: comity release, comity handover publish")
	e.Detail = map[string]any{"cycle": names}
	e.Conflicts = conflicts
	return e
}

// leaveQueue takes c out and lets those behind it try. Having waited counts as
// a command of its session until now.
func (r *Room) leaveQueue(c *claiming) {
	if c.wait == nil {
		return
	}
	r.view(func(look) {
		gone := func(w *wait) bool { return w == c.wait }
		r.waits = slices.DeleteFunc(r.waits, gone)
		for _, w := range r.waits {
			if slices.Contains(w.before, c.wait) { // ahead may be the same slice
				w.before = slices.DeleteFunc(slices.Clone(w.before), gone)
			}
		}
		r.reorder()
		if o := r.owners[c.session.SID]; o != nil {
			o.last = r.clock.Boot()
		}
		r.poke()
	})
}

// waiting tells that a command of the session waits.
func (r *Room) waiting(sid string) bool {
	return slices.ContainsFunc(r.waits, func(w *wait) bool { return w.session == r.id(sid) })
}

func (r *Room) wakeAll() {
	for _, w := range r.waits {
		w.rouse()
	}
}

// wakeChanged lets those waits try again that what changed may concern: they
// meet a claim that came, went or stands differently, or their session did.
func (r *Room) wakeChanged(v look, ch fold.Changes) {
	if len(r.waits) == 0 {
		return
	}
	var changed []scope.Set
	for _, k := range ch.Claims {
		if c, ok := v.State().Claim(k); ok {
			changed = append(changed, c.Scope)
		}
	}
	for _, w := range r.waits {
		if slices.Contains(ch.Sessions, w.session) || slices.ContainsFunc(changed, func(s scope.Set) bool {
			_, ok := w.scope.Meets(s)
			return ok
		}) {
			w.rouse()
		}
	}
}

func (r *Room) waitViews() []api.Wait {
	var out []api.Wait
	for i, w := range r.waits {
		v := api.Wait{Session: w.session.SID, Scope: w.scope.Strings(), Place: i + 1, AgeMS: (r.clock.Boot() - w.since).Milliseconds()}
		for _, b := range w.blockers() {
			v.For = append(v.For, b.SID)
		}
		out = append(out, v)
	}
	return out
}
