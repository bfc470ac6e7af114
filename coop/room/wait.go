package room

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/ident"
)

// MaxWaits bounds the queue of one repository.
const MaxWaits = 1024

// A wait is a claim in the queue. It is local and lives as long as its caller
// waits; order is the order of arrival.
type wait struct {
	ask
	blockers []ident.SessionID // whom it waits for, as of its last try
	wake     chan struct{}     // buffered: a try is due
	since    time.Duration     // boot time
}

// modeQueued marks a conflict with a claim that is not held but comes first.
const modeQueued = "queued"

// ahead are the waits that c may not overtake: earlier ones of other sessions
// that it would exclude, unless they wait, directly or not, for c's own session:
// who is waited for must be able to go on.
func (r *Room) ahead(v look, c *claiming) []*wait {
	var out []*wait
	for _, w := range r.waits {
		if w == c.wait {
			break
		}
		if w.session == c.session || !excludes(c.mode, c.checkout, w.mode, w.checkout) {
			continue
		}
		if _, ok := c.scope.Meets(w.scope); ok && r.chain(w.session, c.session) == nil {
			out = append(out, w)
		}
	}
	return out
}

func (r *Room) queuedConflict(v look, c *claiming, w *wait) api.Conflict {
	m, _ := c.scope.Meets(w.scope)
	info := r.infoOf(v, w.session.SID)
	return api.Conflict{
		Session: w.session.SID, Client: info.Client, By: info.By, Intent: info.Intent, Scope: w.scope.Strings(),
		Mode: modeQueued, Meets: m.Witness, Live: api.LiveLive, AgeMS: (r.clock.Boot() - w.since).Milliseconds(),
	}
}

// queue gives c its place, or renews whom it waits for. A wait that would close
// a cycle is refused: nobody in it could ever go on.
func (r *Room) queue(c *claiming, blockers []ident.SessionID, conflicts []api.Conflict) error {
	for _, b := range blockers {
		if path := r.chain(b, c.session); path != nil {
			return cycleError(c.session, path, conflicts)
		}
	}
	if c.wait == nil {
		if len(r.waits) >= MaxWaits {
			return api.Errorf(api.CodeBound, "%d claims are waiting already, no more fit", MaxWaits).WithHint("repeat later")
		}
		c.wait = &wait{ask: c.ask, wake: make(chan struct{}, 1), since: r.clock.Boot()}
		r.waits = append(r.waits, c.wait)
	}
	c.wait.blockers = blockers
	return nil
}

// chain finds a way from one session to another along "waits for"; nil when
// there is none. It begins with from and ends with to.
func (r *Room) chain(from, to ident.SessionID) []ident.SessionID {
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
		for _, w := range r.waits {
			if w.session != at {
				continue
			}
			for _, b := range w.blockers {
				if rest := walk(b); rest != nil {
					return append([]ident.SessionID{at}, rest...)
				}
			}
		}
		return nil
	}
	return walk(from)
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

// leaveQueue takes c out and lets the others try.
func (r *Room) leaveQueue(c *claiming) {
	if c.wait == nil {
		return
	}
	r.view(func(look) {
		r.waits = slices.DeleteFunc(r.waits, func(w *wait) bool { return w == c.wait })
	})
	r.wakeAll()
}

// wakeAll lets every waiting claim try again, in any order: each looks at those
// before it.
func (r *Room) wakeAll() { r.view(func(look) { r.wakeLocked() }) }

func (r *Room) wakeLocked() {
	for _, w := range r.waits {
		select {
		case w.wake <- struct{}{}:
		default:
		}
	}
}

func (r *Room) waitViews() []api.Wait {
	var out []api.Wait
	for i, w := range r.waits {
		v := api.Wait{Session: w.session.SID, Scope: w.scope.Strings(), Place: i + 1, AgeMS: (r.clock.Boot() - w.since).Milliseconds()}
		for _, b := range w.blockers {
			v.For = append(v.For, b.SID)
		}
		slices.Sort(v.For)
		v.For = slices.Compact(v.For)
		out = append(out, v)
	}
	return out
}

func (w *wait) String() string { return fmt.Sprintf("%s for %s", w.session.SID, showSet(w.scope)) }
