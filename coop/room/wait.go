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
// waits. What it waits for is as of its last try; it tries again whenever a
// claim that meets it changes, so no edge of the graph of waits is missing.
type wait struct {
	ask
	holders []ident.SessionID // of the claims in its way
	ahead   []*wait           // that it may not overtake
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

// ahead are the waits that c may not overtake: earlier ones of other sessions
// that it would exclude, unless they wait, directly or not, for c's own session:
// who is waited for must be able to go on.
func (r *Room) ahead(c *claiming) []*wait {
	var out []*wait
	waitedFor := r.isWaitedFor(c)
	for _, w := range r.waits {
		if w == c.wait {
			break
		}
		if w.session == c.session || !excludes(c.mode, c.checkout, w.mode, w.checkout) {
			continue
		}
		if _, ok := c.scope.Meets(w.scope); ok && !(waitedFor && r.chain(w.session, c) != nil) {
			out = append(out, w)
		}
	}
	return out
}

// isWaitedFor is a quick look whether any chain of waits can end at c's
// session: somebody waits for what it holds, or for another wait of its own.
func (r *Room) isWaitedFor(c *claiming) bool {
	return slices.ContainsFunc(r.waits, func(w *wait) bool {
		return w != c.wait && (w.session == c.session || slices.Contains(w.holders, c.session))
	})
}

// chain finds a way from a session to c's along "waits for"; nil when there is
// none. It begins with from and ends with c's session. Whoever only waits behind
// c itself is not in it: it may overtake c as soon as c waits for it.
func (r *Room) chain(from ident.SessionID, c *claiming) []ident.SessionID {
	bySession := map[ident.SessionID][]*wait{}
	for _, w := range r.waits {
		bySession[w.session] = append(bySession[w.session], w)
	}
	seen := map[ident.SessionID]bool{}
	var walk func(at ident.SessionID) []ident.SessionID
	walk = func(at ident.SessionID) []ident.SessionID {
		if at == c.session {
			return []ident.SessionID{at}
		}
		if seen[at] {
			return nil
		}
		seen[at] = true
		for _, w := range bySession[at] {
			next := w.holders
			for _, u := range w.ahead {
				if u != c.wait {
					next = append(slices.Clip(next), u.session)
				}
			}
			for _, b := range next {
				if rest := walk(b); rest != nil {
					return append([]ident.SessionID{at}, rest...)
				}
			}
		}
		return nil
	}
	return walk(from)
}

// queue gives c its place, or renews whom it waits for. A wait that would close
// a cycle is refused: nobody in it could ever go on.
func (r *Room) queue(c *claiming, holders []ident.SessionID, ahead []*wait, conflicts []api.Conflict) error {
	next := wait{holders: holders, ahead: ahead}
	if r.isWaitedFor(c) {
		for _, b := range next.blockers() {
			if path := r.chain(b, c); path != nil {
				return cycleError(c.session, path, conflicts)
			}
		}
	}
	if c.wait == nil {
		if len(r.waits) >= MaxWaits {
			return api.Errorf(api.CodeBound, "%d claims are waiting already, no more fit", MaxWaits).WithHint("repeat later")
		}
		c.wait = &wait{ask: c.ask, wake: make(chan struct{}, 1), since: r.clock.Boot()}
		r.waits = append(r.waits, c.wait)
	}
	if c.wait.ahead = ahead; !slices.Equal(c.wait.holders, holders) {
		c.wait.holders = holders
		r.wakeBehind(c.wait) // one that c waits for now may overtake it
	}
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
		r.waits = slices.DeleteFunc(r.waits, func(w *wait) bool { return w == c.wait })
		if o := r.owners[c.session.SID]; o != nil {
			o.last = r.clock.Boot()
		}
		r.poke()
		r.wakeBehind(c.wait)
	})
}

// waiting tells that a command of the session waits.
func (r *Room) waiting(sid string) bool {
	return slices.ContainsFunc(r.waits, func(w *wait) bool { return w.session == r.id(sid) })
}

func (r *Room) wakeBehind(front *wait) {
	for _, w := range r.waits {
		if slices.Contains(w.ahead, front) {
			w.rouse()
		}
	}
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
